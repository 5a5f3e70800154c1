"""Copies: what one of them learns or forgets, the others do not see.

A model, its shallow and deep copies, snapshots and pickles, and copies of these, each with a ledger
of what it was given. After every edit of one of them, every one holds what its own ledger says, to
the last bit; in the end each predicts as a model does that was built from its ledger.
"""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier

from gramian import LeastSquaresSVC
from tests.estimators.conftest import ESTIMATORS, make_samples
from tests.torture.common import Clock, distance, values

WAYS = {
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "snapshot": lambda model: model.snapshot(),
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
}
MODELS = {**ESTIMATORS, "precomputed": LeastSquaresSVC("precomputed", C=10.0)}
EDITS, MOST = 16, 5  # in a script; copies
EXACT = 1e-7  # a wrong row is far above, the rounding of these few samples far below


class Family:
    """A model and its copies, and the numbers of the samples that each should hold."""

    def __init__(self, name, rng):
        self.rng, self.precomputed = rng, name == "precomputed"
        model = clone(MODELS[name])
        self.X, self.y = make_samples(model, 90, classes=3, seed=int(rng.integers(1000)))
        self.K = np.exp(-0.5 * np.square(self.X[:, None] - self.X).sum(axis=2))
        self.csr = not self.precomputed and rng.random() < 0.2
        ids = np.sort(rng.permutation(90)[: int(rng.integers(25, 40))]).tolist()
        self.members = [(model.fit(self.rows(ids, ids), self.y[ids], ids=ids), ids)]

    def rows(self, new, held):
        """Samples in the form in which the model takes them."""
        if self.precomputed:
            return self.K[np.ix_(new, held)]
        return sparse.csr_array(self.X[new]) if self.csr else self.X[new]

    def step(self):
        """Copy one of the models, or edit one."""
        rng = self.rng
        at = int(rng.integers(len(self.members)))
        model, held = self.members[at]
        if len(self.members) < MOST and rng.random() < 0.3:
            way = str(rng.choice([*WAYS]))
            self.members.append((WAYS[way](model), held))
            return way
        free = np.setdiff1d(np.arange(90), held)
        new = rng.permutation(free)[: int(rng.integers(1, 4))].tolist()
        gone = rng.permutation(held)[: int(rng.integers(1, 4))].tolist()
        stay = [i for i in held if i not in gone]
        how = str(rng.choice(["learn", "forget", "exchange", "read"]))
        if how == "learn" and new:
            held = held + new
            model.partial_fit(self.rows(new, held), self.y[new], ids=new)
        elif how == "forget" and len(stay) > 15:
            model.forget(gone)
            held = stay
        elif how == "exchange" and new and len(stay) > 15:
            model.exchange(gone, self.rows(new, held + new), self.y[new], new)
            held = stay + new
        else:
            values(model, self.rows(held[:3], held))
        self.members[at] = model, held
        return how

    def torn(self):
        """Which of the models hold anything but what they should."""
        for i, (model, held) in enumerate(self.members):
            found = model.X_fit_
            found = found.toarray() if sparse.issparse(found) else found
            wanted = self.K[np.ix_(held, held)] if self.precomputed else self.X[held]
            if not np.array_equal(found, wanted) or model.ids_.tolist() != held:
                yield f"model {i} holds other samples than it was given"

    def wrong(self):
        """Which of the models predict other values than one built from their samples."""
        for i, (model, held) in enumerate(self.members):
            queries = self.rows(np.arange(8), held)
            found, fresh = values(model, queries), values(model.refitted(), queries)
            off = distance(found, fresh, least=1.0 if is_classifier(model) else 0.0)
            if not off <= EXACT:
                yield f"model {i} is {off:.1e} off a fresh model"


def run_script(name, seed):
    """Number of steps and failures of one script."""
    done = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        family = Family(name, np.random.default_rng([seed, *name.encode()]))
        failures = []
        while len(done) < EDITS and not failures:
            done.append(family.step())
            failures = list(family.torn())
        failures = failures or list(family.wrong())
    return len(done), [f"copies {name} seed {seed}, {', '.join(done)}: {f}" for f in failures]


def main(seed=0, seconds=None, n=None, names=tuple(MODELS)):
    """Scripts for so many seconds, or ``n`` of each model; number of steps, and failures."""
    clock, tried, failures, at = Clock(seconds, n), 0, [], seed * 1_000_000
    while clock.goes_on():
        for name in names:
            steps, wrong = run_script(name, at)
            tried += steps
            failures += wrong
        at += 1
    return tried, failures
