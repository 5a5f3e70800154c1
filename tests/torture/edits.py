"""Exactness: after any edits the model is the one fitted to what it holds.

Scripts of random edits on every estimator: ridges of 1e-12 to 1e3, weights of 1e-6 to 1e6,
duplicates, outliers of 1e6 and 2³¹ − 1, classes that come and go, float64, float32 and CSR, four
kernels. Decision values on the ordinary held samples may differ from those of a fresh model by a
hundred times what two fresh models of the samples in another order differ by, or by the floor of
`common.FLOOR`, relative to the largest. What `fit` takes in any order `partial_fit` must take, and
`forget` never fails.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier

import gramian
from tests.torture.common import FLOOR, Clock, bad_error, distance, permuted, values

ESTIMATORS = {
    "kda": gramian.KernelDiscriminant,
    "kfd": gramian.KernelFisherDiscriminant,
    "lssvc": gramian.LeastSquaresSVC,
    "lssvr": gramian.LeastSquaresSVR,
    "lsvc": gramian.LagrangianSVC,
    "oks": gramian.OrthogonalKernelClassifier,
    "okr": gramian.OrthogonalKernelRegressor,
    "fuzzy": gramian.EllipsoidalFuzzyClassifier,
    "stack-c": gramian.StackedKernelClassifier,
    "stack-r": gramian.StackedKernelRegressor,
}
EDITS = 25  # in a script
LOST = 1e-3  # a fresh model with such a residual says nothing about another one
FEATURES = 4
ORDERS = 5  # in which fit must take what partial_fit refused, besides its own


def make_estimator(name, rng):
    """An estimator with random parameters; no search runs."""
    ridge = float(10.0 ** rng.uniform(-12, 3))
    options = {
        "kernel": str(rng.choice(["rbf", "laplacian", "linear", "poly"])),
        "gamma": float(10.0 ** rng.uniform(-1.5, 0.5)),
        "degree": 2,
    }
    if name in ("kda", "kfd"):
        options["ridge"] = ridge
    elif name in ("lssvc", "lssvr", "lsvc"):
        options["C"] = 1.0 / ridge
    elif name in ("oks", "okr"):
        options |= {"ridge": ridge, "max_basis": 12}
    elif name in ("stack-c", "stack-r"):
        kernels = tuple(rng.choice(["rbf", "laplacian", "exponential"], 2, replace=False).tolist())
        weight = float(rng.uniform(0.1, 0.9))
        options = {"kernel": kernels, "gamma": options["gamma"], "C": 1 / ridge, "weights": weight}
    else:
        options |= {"tune": False, "transductive": None, "epsilon": 1e-3}
    return ESTIMATORS[name](**options)


class Script:
    """Random edits of one model, which check themselves."""

    def __init__(self, name, rng):
        self.rng, self.name = rng, name
        self.model = make_estimator(name, rng)
        self.kind = str(rng.choice(["float64", "float64", "float32", "csr"]))
        self.weighted = bool(rng.integers(2))
        self.outliers = bool(rng.integers(2))
        self.edits, self.failures = 0, []

    def __str__(self):
        changed = clone(self.model).__repr__(N_CHAR_MAX=300).replace("\n", " ")
        return " ".join(f"{changed} {self.kind} weighted={self.weighted}".split())

    def samples(self, n):
        """New samples: some repeat held ones, some are outliers, some are of a new class."""
        rng = self.rng
        X = rng.standard_normal((n, FEATURES))
        score = X[:, 0] + np.sin(2 * X[:, 1])
        if self.outliers:
            for i in np.flatnonzero(rng.random(n) < 0.04):
                X[i, rng.integers(FEATURES)] = rng.choice([1e6, -1e6, 2**31 - 1])
        if hasattr(self, "pool"):
            for i in np.flatnonzero(rng.random(n) < 0.1):
                X[i] = self.pool[rng.integers(len(self.pool))]
        else:
            self.pool = X.copy()
        if self.kind == "csr":
            X[rng.random(X.shape) < 0.5] = 0.0
        y = score + 0.1 * rng.standard_normal(n)
        if is_classifier(self.model):
            y = (y > 0).astype(int)
            y[rng.random(n) < 0.03] = rng.integers(2, 5)
        weight = 10.0 ** rng.uniform(-6, 6, n) if self.weighted else np.ones(n)
        X = sparse.csr_array(X) if self.kind == "csr" else X.astype(self.kind.replace("csr", ""))
        return X, y, weight

    def begin(self):
        """Fit; False where `fit` refuses these parameters, as it may."""
        X, y, weight = self.samples(int(self.rng.integers(50, 200)))
        try:
            self.model.fit(X, y, sample_weight=weight)
            finite = np.isfinite(values(self.model, X)).all()
        except Exception as error:
            self._note(bad_error(error), "fit")
            return False
        return bool(finite)

    def step(self):
        """One edit, and now and then a comparison."""
        self.edits += 1
        n = len(self.model.ids_)
        if n > 60 and (n > 190 or self.rng.random() < 0.5):
            self.forget()
        else:
            self.learn()
        if self.edits % 6 == 0:
            self.compare()

    def learn(self):
        X, y, weight = self.samples(int(self.rng.choice([1, 1, 1, 3, 10])))
        model = self.model
        try:
            model.partial_fit(X, y, sample_weight=weight)
            return
        except Exception as error:
            self._note(bad_error(error), "partial_fit")
            refusal = f"{type(error).__name__}: {error}"
        join = partial(sparse.vstack, format="csr") if self.kind == "csr" else np.vstack
        X = join([model.X_fit_, X])
        y, weight = np.append(model.y_fit_, y), np.append(model.sample_weight_, weight)
        if self._fit_takes(X, y, weight):
            self._note(f"refused what fit takes: {refusal[:200]}", "partial_fit")

    def _fit_takes(self, X, y, weight):
        """Whether fit takes samples in each of some orders; in some alone, rounding decides."""
        for order in (np.arange(len(y)), *(self.rng.permutation(len(y)) for _ in range(ORDERS))):
            try:
                fresh = clone(self.model).fit(X[order], y[order], sample_weight=weight[order])
                if not np.isfinite(values(fresh, X)).all():
                    return False
            except Exception:
                return False
        return True

    def forget(self):
        ids, y, rng = self.model.ids_, self.model.y_fit_, self.rng
        leaving = rng.choice(len(ids), int(rng.choice([1, 1, 1, 3, 12])), replace=False)
        if self.outliers and rng.random() < 0.5:  # an outlier first
            leaving = np.union1d(leaving, np.flatnonzero(~self._ordinary())[:2])
        if is_classifier(self.model):
            if rng.random() < 0.1:  # all of a rare class
                leaving = np.union1d(leaving, np.flatnonzero(y >= 2))
            stay = np.delete(y, leaving)
            if min(np.sum(stay == 0), np.sum(stay == 1)) < 5:
                return
        try:
            self.model.forget(ids[leaving])
        except Exception as error:
            self._note(f"raised {error!r:.300}", "forget")

    def compare(self):
        model = self.model
        try:
            X = model.X_fit_[self._ordinary()]
            found, fresh = values(model, X), values(model.refitted(), X)
            orders = [self.rng.permutation(len(model.ids_)) for _ in range(2)]
            others = [values(permuted(model, order), X) for order in orders]
        except np.linalg.LinAlgError:  # what fit would not take either
            return
        except Exception as error:
            self._note(f"raised {error!r:.300}", "compare")
            return
        yardstick = max(distance(other, fresh) for other in others)
        floor = FLOOR["float32" if self.kind == "float32" else "float64"]
        off, allowed = distance(found, fresh), 100 * yardstick + floor
        if not off <= allowed and not self._is_no_worse():
            self._note(f"{off:.1e} off a refit, allowed {allowed:.1e}", f"{X.shape[0]} samples")

    def _is_no_worse(self):
        """Whether a fresh model is so ill-conditioned that it solves its equations no better."""
        fresh = self.model.refitted().drift()
        return fresh > LOST and self.model.drift() <= fresh

    def _ordinary(self):
        """Mask of the held samples that are no outliers."""
        X = abs(self.model.X_fit_)
        largest = X.max(axis=1)
        largest = largest.toarray() if sparse.issparse(largest) else largest
        return np.asarray(largest).ravel() < 1e5

    def _note(self, problem, doing):
        if problem:
            self.failures.append(f"{self}, edit {self.edits}, {doing}: {problem}")


def run_script(name, seed):
    """Number of edits and failures of one script."""
    script = Script(name, np.random.default_rng([seed, *name.encode()]))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if script.begin():
            while script.edits < EDITS and not script.failures:
                script.step()
    return script.edits, [f"edits {name} seed {seed}: {text}" for text in script.failures]


def main(seed=0, seconds=None, n=None, names=tuple(ESTIMATORS), most=np.inf):
    """Scripts for so many seconds, ``n`` of them, or ``most`` edits; how many edits, failures."""
    clock, tried, failures, at = Clock(seconds, n), 0, [], seed * 1_000_000
    while True:
        for name in names:
            if tried >= most or not clock.goes_on():
                return tried, failures
            edits, wrong = run_script(name, at)
            tried += edits
            failures += wrong
        at += 1
