"""Stores that are opened again after every edit: what was acknowledged can be opened, unchanged.

Scripts of random edits of a store: rows of zeros, rows that repeat others, new classes, groups, and
classes that go; each estimator, linear kernels too, with a keyring and without. After each edit
another reader opens the store: it holds the same rows and predicts the same. What a store refuses
must leave the version that was there. Now and then the store is compacted, or closed and opened
anew; in the end it is audited, and its backup is opened as well.
"""

from __future__ import annotations

import tempfile
import warnings
from datetime import timedelta
from pathlib import Path

import numpy as np
from sklearn.base import clone, is_classifier

from gramian.store import Store, StoreError
from tests.estimators.conftest import ESTIMATORS, make_samples
from tests.torture.common import Clock, distance, values

NAMES = tuple(name for name in ESTIMATORS if name != "documented")  # files need a known class
EDITS = 10
SAME = 1e-6  # a lost row is far above; near-duplicates at these ridges are far below


class Script:
    """Random edits of one store."""

    def __init__(self, name, rng, folder):
        self.rng, self.path, self.done = rng, folder / "a.store", []
        model = clone(ESTIMATORS[name])
        if "kernel" in model.get_params() and "stack" not in name and rng.random() < 0.3:
            model.set_params(kernel="linear")
        self.X, self.y = make_samples(model, 60, classes=3, seed=int(rng.integers(1000)))
        self.classifies = is_classifier(model)
        self.options = {"keyring": folder / "keyring"} if rng.random() < 0.5 else {}
        self.grouped = bool(rng.random() < 0.3)
        groups = np.arange(30) // 2 if self.grouped else None
        model.fit(self.X[:30], self.y[:30], groups=groups)
        kept = bool(rng.integers(2))
        self.store = Store.create(self.path, model, snapshot=kept, **self.options)
        self.next = 30

    def step(self):
        """One edit; what is wrong with the store after it, or None."""
        rng, before = self.rng, self.store.version
        how = str(
            rng.choice(["learn", "learn", "forget", "relabel", "withhold", "compact", "open"])
        )
        self.done.append(how)
        try:
            getattr(self, how)()
        except (ValueError, np.linalg.LinAlgError, StoreError) as error:
            self.done[-1] += f" (refused: {str(error)[:80]})"
            if self.store.version != before:
                return "a refused edit made a new version"
        return self.look()

    def look(self):
        """Open the store beside the open one."""
        queries, live = self.X[:8], self.store.model
        try:
            with Store.open(self.path, readonly=True, **self.options) as reader:
                found = reader.model
                if found.ids_.tolist() != live.ids_.tolist():
                    return "other rows are there than were acknowledged"
                off = distance(values(found, queries), values(live, queries), least=1.0)
                return None if off <= SAME else f"opened again, it is {off:.1e} off"
        except Exception as error:
            return f"cannot be opened again: {error!r:.300}"

    # -- edits ----------------------------------------------------------------------------------

    def learn(self):
        rng, k = self.rng, int(self.rng.integers(1, 4))
        at = np.arange(self.next, self.next + k) % len(self.X)
        X, y = self.X[at].copy(), self.y[at].copy()
        strange = rng.random()
        if strange < 0.2:
            X[0] = 0.0
        elif strange < 0.4:
            X[0] = self.store.model.X_fit_[0]
        if self.classifies and rng.random() < 0.2:
            y[0] = 7  # a class of its own
        groups = {"groups": rng.integers(0, 40, k)} if self.grouped else {}
        self.store.learn(X, y, ids=list(range(self.next, self.next + k)), **groups)
        self.next += k

    def forget(self):
        model = self.store.model
        ids = model.ids_
        gone = self.rng.choice(ids, int(self.rng.integers(1, 4)), replace=False)
        if self.classifies and self.rng.random() < 0.3:  # all of a class
            gone = ids[model.y_fit_ == self.rng.choice(model.classes_)]
        self.store.forget(gone.tolist())

    def relabel(self):
        ids, y = self.store.model.ids_, self.store.model.y_fit_
        self.store.relabel([int(self.rng.choice(ids))], [self.rng.choice(y)])

    def withhold(self):
        waiting = list(self.store.withheld())
        if waiting and self.rng.random() < 0.5:
            self.store.take_back(waiting)
        elif waiting and self.rng.random() < 0.5:
            self.store.erase_due(waiting)
        else:
            one = int(self.rng.choice(self.store.model.ids_))
            self.store.forget([one], after=timedelta(days=30))

    def compact(self):
        self.store.compact()

    def open(self):
        self.store.close()
        self.store = Store.open(self.path, **self.options)

    def end(self):
        """What is wrong with the whole of it, or None."""
        copy = self.path.with_name("copy")
        self.store.backup(copy)
        report = self.store.audit(refit=True)
        if not report.passed:
            return f"the audit fails: {[check for check in report.checks if not check.passed]}"
        ids = self.store.model.ids_.tolist()
        self.store.close()
        with Store.open(copy, readonly=True, **self.options) as backup:
            return None if backup.model.ids_.tolist() == ids else "the backup has other rows"


def run_script(name, seed):
    """Number of edits and failures of one script."""
    rng = np.random.default_rng([seed, *name.encode()])
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        script, wrong = Script(name, rng, Path(folder)), None
        try:
            while len(script.done) < EDITS and not wrong:
                wrong = script.step()
            wrong = wrong or script.end()
        except Exception as error:
            wrong = f"raised {error!r:.300}"
        finally:
            script.store.close()
    edits = len(script.done)
    said = f"store-reopened {name} seed {seed}, {', '.join(script.done)}: {wrong}"
    return edits, [said] if wrong else []


def main(seed=0, seconds=None, n=None, names=NAMES):
    """Scripts for so many seconds, or ``n`` of each model; number of edits, and failures."""
    clock, tried, failures, at = Clock(seconds, n and n * len(names)), 0, [], seed * 1_000_000
    while True:
        for name in names:
            if not clock.goes_on():
                return tried, failures
            edits, wrong = run_script(name, at)
            tried += edits
            failures += wrong
        at += 1
