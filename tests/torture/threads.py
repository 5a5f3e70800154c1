"""Threads: every answer is that of one version of the model, and writers take turns."""

from __future__ import annotations

import sys
import threading

import numpy as np
from sklearn.base import clone, is_classifier

from tests.estimators.conftest import ONE_OF_EACH, make_samples
from tests.torture.common import Clock, distance, values

EXACT = 1e-9


def one_writer(name, seed, edits=30):
    """One thread edits and two read; the number of answers, and those of no version."""
    rng = np.random.default_rng(seed)
    model = clone(ONE_OF_EACH[name])
    X, y = make_samples(model, 60, seed=seed)
    model.fit(X[:30], y[:30])
    queries = X[:6]
    seen, answers, failures = [values(model, queries)], [], []
    done = threading.Event()

    def write():
        try:
            for i in range(edits):
                k, row = int(rng.integers(1, 3)), int(rng.integers(30, 58))
                new = [1000 + 2 * i + j for j in range(k)]
                model.partial_fit(X[row : row + k], y[row : row + k], ids=new)
                seen.append(values(model, queries))
                model.forget(rng.choice(model.ids_[model.ids_ >= 30], 1))
                seen.append(values(model, queries))
        except Exception as error:
            failures.append(f"the writer raised {error!r:.200}")
        done.set()

    def read():
        try:
            while not done.is_set():
                answers.append(values(model, queries))
                left_out, ids = model.loo_decision_function(), model.ids_
                if not np.isfinite(np.nan_to_num(left_out)).all() or len(ids) < 20:
                    failures.append("a reader saw a torn model")
                if is_classifier(model):
                    p = model.predict_proba(queries)
                    if not np.allclose(p.sum(axis=1), 1.0):
                        failures.append("probabilities do not add up to one")
        except Exception as error:
            failures.append(f"a reader raised {error!r:.200}")

    _run(write, read, read)
    for answer in answers:
        if min(distance(answer, version) for version in seen) > EXACT:
            failures.append("an answer of no version")
    return len(answers), failures


def two_writers(name, seed):
    """Two threads learn and forget samples of their own; then the model equals a fresh one."""
    model = clone(ONE_OF_EACH[name])
    X, y = make_samples(model, 60, seed=seed)
    model.fit(X[:30], y[:30])
    failures = []

    def writer(first):
        def write():
            try:
                for i in range(first, 60, 2):
                    model.partial_fit(X[i : i + 1], y[i : i + 1], ids=[100 + i])
                    if i % 4 < 2:
                        model.forget(100 + i)
            except Exception as error:
                failures.append(f"a writer raised {error!r:.200}")

        return write

    _run(writer(30), writer(31))
    wanted = [*range(30), *(100 + i for i in range(30, 60) if i % 4 >= 2)]
    if sorted(model.ids_.tolist()) != wanted:
        failures.append("an edit was lost")
    elif distance(values(model, X), values(model.refitted(), X)) > EXACT:
        failures.append("another model than a fresh one")
    return 30, failures


def _run(*targets):
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main(seed=0, seconds=60.0, n=None):
    """Both for every estimator, with threads that switch often; answers and edits, failures."""
    clock, tried, failures, at = Clock(seconds, n), 0, [], 1000 * seed
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        while True:
            for name in ONE_OF_EACH:
                for attack in (one_writer, two_writers):
                    if not clock.goes_on():
                        return tried, failures
                    count, wrong = attack(name, at)
                    tried += count
                    failures += [f"threads {name} seed {at}: {text}" for text in wrong[:3]]
            at += 1
    finally:
        sys.setswitchinterval(interval)
