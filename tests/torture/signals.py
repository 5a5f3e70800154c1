"""Interrupts by real signals: the model is the one before the call or the one after.

A child process edits and reads one model in a loop while a timer sends it SIGINTs after random
times. After each interrupt the model must hold the samples of before or after, equal a fresh model
of what it holds, and go on.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone, is_classifier

import gramian
from gramian.stream import SlidingWindow
from tests.estimators.conftest import ONE_OF_EACH, make_samples
from tests.torture.common import distance, values

ROOT = Path(__file__).parents[2]
N = 40
EXACT = 1e-7  # of these well-conditioned models; a lost sample changes far more


class Model:
    """An estimator under attack."""

    def __init__(self, name):
        self.name, self.model = name, clone(ONE_OF_EACH[name])
        self.X, self.y = make_samples(self.model, 4 * N, seed=1)
        if is_classifier(self.model):
            self.y = np.arange(4 * N) % 2
        self.model.fit(self.X[:N], self.y[:N])
        self.next = N

    def calls(self):
        """Functions with, for each, the ids that it adds and the ids that it takes away."""
        i, ids = self.next // 2 * 3 % len(self.X), self.model.ids_  # of both classes in turn
        rows = slice(i, i + 1 + self.next % 2)
        new = [self.next + k for k in range(len(self.X[rows]))]
        self.next += 2
        calls = {
            "loo": (self.model.loo_score, [], []),
            "predict": (lambda: self.model.predict(self.X[:9]), [], []),
            "reselect": (self.model.reselect, [], []),
            "rebuild": (self.model.rebuild, [], []),
        }
        if len(ids) < 2 * N:
            learn = lambda: self.model.partial_fit(self.X[rows], self.y[rows], ids=new)  # noqa: E731
            calls["partial_fit"] = calls["learn"] = (learn, new, [])
        if len(ids) > N // 2:
            gone = ids[[0, len(ids) // 2]].tolist()
            calls["forget"] = calls["unlearn"] = (lambda: self.model.forget(gone), [], gone)
        everything = list(range(N))
        fit = lambda: self.model.fit(self.X[:N], self.y[:N])  # noqa: E731
        calls["fit"] = (fit, everything, ids.tolist())
        return calls

    def ids(self):
        return set(self.model.ids_.tolist())

    def judge(self):
        """What is wrong with the model now."""
        model = self.model
        lengths = {len(model.ids_), len(model.y_fit_), len(model.X_fit_), len(model.sample_weight_)}
        if len(lengths) > 1:
            return f"lengths differ: {lengths}"
        fresh = model.refitted()
        off = distance(values(model, self.X), values(fresh, self.X))
        left_out = distance(model.loo_decision_function(), fresh.loo_decision_function())
        if not max(off, left_out) <= EXACT:
            return f"values {off:.1e}, leave-one-out values {left_out:.1e} off a fresh model"
        return None


class Window(Model):
    """A sliding window: both the window and its model must agree."""

    def __init__(self, name):
        super().__init__("kda")
        self.window = SlidingWindow(clone(self.model), max_samples=N, min_samples=10)
        self.window.fit(self.X[:N], self.y[:N])

    def calls(self):
        i, start = self.next % len(self.X), int(self.window._state.next_id)
        self.next += 1
        ids = self.window.ids_
        learn = lambda: self.window.partial_fit(self.X[i : i + 1], self.y[i : i + 1])  # noqa: E731
        calls = {"learn": (learn, [start], ids[: max(0, len(ids) + 1 - N)].tolist())}
        if len(ids) > N // 2:
            gone = [int(ids[3])]
            calls["forget"] = (lambda: self.window.forget(gone), [], gone)
        calls["predict"] = (lambda: self.window.predict(self.X[:5]), [], [])
        return calls

    def ids(self):
        return set(self.window.ids_.tolist())

    def judge(self):
        self.model = self.window.estimator_
        if set(self.model.ids_.tolist()) != self.ids():  # their order may differ
            return "the model holds other samples than the window"
        return super().judge()


class Table(Model):
    """A model of a table."""

    def __init__(self, name):
        super().__init__("kda")
        estimator = gramian.KernelDiscriminant(gamma=0.5, ridge=0.1)
        self.table = gramian.TableModel(estimator, target="t", id_column="n").fit(self._rows(0, N))

    def _rows(self, start, stop):
        some = np.arange(start, stop)
        x = self.X[some % len(self.X)]
        return {"n": some, "a": x[:, 0], "b": x[:, 1], "t": np.where(some % 2, "no", "yes")}

    def calls(self):
        i, ids = self.next, self.table.ids_
        self.next += 1
        rows = self._rows(i, i + 1)
        calls = {"predict": (lambda: self.table.predict(rows), [], [])}
        if len(ids) < 2 * N:
            calls["learn"] = (lambda: self.table.partial_fit(rows), [str(i)], [])
        if len(ids) > N // 2:
            gone = [ids[0]]
            calls["forget"] = (lambda: self.table.forget(gone), [], [str(ids[0])])
        return calls

    def ids(self):
        return {str(name) for name in self.table.ids_.tolist()}

    def judge(self):
        model = self.table
        columns = {len(column) for column in model.table_.values()} | {len(model.ids_)}
        if len(columns) > 1:
            return f"lengths differ: {columns}"
        found = model.decision_function(model.table_)
        self.model = model.estimator_
        off = distance(found, values(self.model.refitted(), self.model.X_fit_))
        return None if off <= EXACT else f"{off:.1e} off a fresh model"


KINDS = {**dict.fromkeys(ONE_OF_EACH, Model), "window": Window, "table": Table}


def work(name, seed, seconds):
    """Interrupt one kind of model for so many seconds; one line of JSON at the end."""
    rng, failures, tried = random.Random(f"{seed} {name}"), [], 0
    victim, armed = KINDS[name](name), False

    def interrupt(signum, frame):
        if armed:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    typical, end = {}, time.monotonic() + seconds
    while time.monotonic() < end and len(failures) < 5:
        calls, before = victim.calls(), victim.ids()
        what = rng.choice(sorted(calls))
        call, added, gone = calls[what]
        began, stopped = time.perf_counter(), False
        try:
            armed = True
            signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, typical.get(what, 1e-3)))
            call()
            armed = False
        except KeyboardInterrupt:
            stopped, armed = True, False
        signal.setitimer(signal.ITIMER_REAL, 0)
        taken = time.perf_counter() - began
        if not stopped:  # interrupts are to fall anywhere in a call
            typical[what] = 1.1 * taken
            continue
        tried += 1
        try:
            after = (before - set(gone)) | set(added)
            if victim.ids() not in (before, after):
                failures.append(f"{what}: holds neither the samples of before nor those of after")
            problem = victim.judge()
        except Exception as error:
            problem = f"raised {error!r:.300}"
        if problem:
            failures.append(f"{what}: {problem}")
    print(json.dumps({"tried": tried, "failures": failures}))


def main(seed=0, seconds=60.0, names=tuple(KINDS)):
    """The same for every kind of model, in a child process each; interrupts and failures."""
    tried, failures = 0, []
    for name in names:
        words = ["-m", "tests.torture.signals", name, str(seed), str(seconds / len(names))]
        done = subprocess.run(
            [sys.executable, *words], capture_output=True, text=True, check=False, cwd=ROOT
        )
        if done.returncode:
            failures.append(f"signals {name}: exit {done.returncode} {done.stderr[-300:]}")
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        tried += found["tried"]
        failures += [f"signals {name}, {text}" for text in found["failures"]]
    return tried, failures


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
