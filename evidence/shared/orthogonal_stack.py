"""Orthogonal estimators with choices, put together outside the library to see their worth."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from evidence.shared.data import SEED
from gramian import (
    KernelDiscriminant,
    LeastSquaresSVR,
    OrthogonalKernelClassifier,
    OrthogonalKernelRegressor,
    StackedKernelClassifier,
    StackedKernelRegressor,
)
from gramian.core.equations import ClassTargets
from gramian.stack._weights import class_weights, response_weights

PARTS = (("rbf", False), ("laplacian", False), ("exponential", True), ("rbf", True))
"""Kernels, and whether features are multiplied by factors."""
LEFT_OUT, METRIC_ON = 0.2, 2000


class ChosenKernel:
    """An orthogonal estimator with the best of three kernels, by leave-one-out on 2,000 rows."""

    def __init__(self, classes: bool) -> None:
        self.classes = classes

    def fit(self, X: Any, y: Any) -> ChosenKernel:
        some = np.random.default_rng(SEED).permutation(len(y))[:METRIC_ON]
        one = KernelDiscriminant if self.classes else LeastSquaresSVR
        self.kernel = one("loo", random_state=SEED).fit(X[some], y[some]).kernel_.name
        kind = OrthogonalKernelClassifier if self.classes else OrthogonalKernelRegressor
        self.model = kind(self.kernel, random_state=SEED).fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.model.predict(X)


class OrthogonalStack:
    """Four orthogonal estimators, weighted on a fifth of the rows, which they learn afterwards.

    Factors of the features are those of a part "exponential+diagonal" on 2,000 rows.

    Parameters
    ----------
    classes : bool
    centres : int
        The most centres of each part.
    """

    def __init__(self, classes: bool, centres: int) -> None:
        self.classes, self.centres = classes, centres

    def fit(self, X: Any, y: Any) -> OrthogonalStack:
        self.factors = self._factors(X, y)
        rest, left = train_test_split(
            np.arange(len(y)),
            test_size=LEFT_OUT,
            random_state=SEED,
            stratify=y if self.classes else None,
        )
        kind = OrthogonalKernelClassifier if self.classes else OrthogonalKernelRegressor
        self.parts = [
            kind(kernel, max_basis=self.centres, random_state=SEED).fit(
                self._scaled(X[rest], scaled), y[rest]
            )
            for kernel, scaled in PARTS
        ]
        F = self._outputs(X[left], range(len(PARTS)))
        self.offset: Any = 0.0
        if self.classes:
            self.labels = self.parts[0].classes_
            targets = ClassTargets(np.searchsorted(self.labels, y[left]), len(self.labels))
            self.weights = class_weights(F, targets)
        else:
            self.weights, self.offset = response_weights(F, y[left][:, None], np.ones(len(left)))
        self.used = np.flatnonzero(self.weights)
        for s in self.used:
            self.parts[s].partial_fit(self._scaled(X[left], PARTS[s][1]), y[left])
        return self

    def predict(self, X: Any) -> Any:
        found = np.tensordot(self.weights[self.used], self._outputs(X, self.used), 1) + self.offset
        if not self.classes:
            return found[:, 0]
        two = found.shape[1] == 1
        return self.labels[(found[:, 0] > 0).astype(int) if two else found.argmax(axis=1)]

    def _factors(self, X: Any, y: Any) -> Any:
        some = np.random.default_rng(SEED).permutation(len(y))[:METRIC_ON]
        kind = StackedKernelClassifier if self.classes else StackedKernelRegressor
        one = kind(("exponential+diagonal",), weights=1.0, random_state=SEED)
        factors = np.asarray(one.fit(X[some], y[some]).parts_[0]["metric"], dtype=float)
        return factors / np.sqrt(np.mean(factors**2))

    def _scaled(self, X: Any, scaled: bool) -> Any:
        return X * self.factors if scaled else X

    def _outputs(self, X: Any, numbers: Any) -> Any:
        found = []
        for s in numbers:
            scaled = self._scaled(X, PARTS[s][1])
            read = self.parts[s].decision_function if self.classes else self.parts[s].predict
            found.append(np.asarray(read(scaled)).reshape(len(X), -1))
        return np.stack(found)
