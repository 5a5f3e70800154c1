"""What predictions need of a fitted estimator, and nothing else: centres and coefficients.

The terms are read from the object that computes the model's own predictions, and compared with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import is_classifier

from gramian.core.arrays import Array, from_tensor, to_host
from gramian.core.kernels import Kernel, ThresholdKernel
from gramian.core.kernels._expansion import KernelExpansion, SumOfExpansions

COMPARED = 100
"""Samples of the model on which an export is compared with it, at most."""
_VALUES = 2**22  # differences of features that a comparison computes at once
_ROUNDINGS = 4096  # the model's own sums are as many units of its last digit off, at most


class ExportError(ValueError):
    """A model that has no form outside of gramian."""


@dataclass(frozen=True, eq=False)
class Term:
    """``k(x, centres) Z``, a sum of one kernel.

    Attributes
    ----------
    kernel : {"rbf", "laplacian", "exponential", "poly", "linear"}
    gamma : float or ndarray of shape (n_features,)
    degree, coef0 : float
        Of the polynomial kernel.
    centres : ndarray of shape (m, n_features)
        Samples that the model holds and that have a coefficient. The linear kernel has none: its
        coefficients belong to features.
    coefficients : ndarray of shape (m, t), or (n_features, t) for the linear kernel
    columns, edges : ndarray of shape (D,), optional
        Of a kernel on thresholds: it takes D zeros and ones in place of the features of x and of
        the centres, 1 where feature ``columns[j]`` is above ``edges[j]``.
    """

    kernel: str
    gamma: Any
    degree: float
    coef0: float
    centres: Array
    coefficients: Array
    columns: Array | None = None
    edges: Array | None = None

    def values(self, X: Array) -> Array:
        """``k(x, centres)`` by its definition; for the linear kernel, the samples."""
        if self.edges is not None:
            return self.on_sides().values(self.sides(X))
        return X if self.kernel == "linear" else KERNELS[self.kernel](self, X)

    def sides(self, X: Array) -> Array:
        """1 where a feature is above a threshold, else 0."""
        return (X[:, self.columns] > self.edges).astype(float)

    def on_sides(self) -> Term:
        """The same sum as a function of what `sides` gives."""
        return replace(self, centres=self.sides(self.centres), columns=None, edges=None)


KERNELS: dict[str, Callable[[Term, Array], Array]] = {
    "rbf": lambda term, X: np.exp(-_distances(term, X, np.sqrt(term.gamma), "sqeuclidean")),
    "laplacian": lambda term, X: np.exp(-_distances(term, X, term.gamma, "cityblock")),
    "exponential": lambda term, X: np.exp(-_distances(term, X, term.gamma, "euclidean")),
    "poly": lambda term, X: (term.gamma * X @ term.centres.T + term.coef0) ** term.degree,
}


def _distances(term: Term, X: Array, factors: Any, metric: str) -> Array:
    found: Array = cdist(X * factors, term.centres * factors, metric)
    return found


@dataclass(frozen=True, eq=False)
class Expansion:
    """``f(x) = Σ_s k_s(x, centres_s) Z_s + b``, without ids and without targets.

    Attributes
    ----------
    terms : tuple of Term
        One; of a stack, one for each part.
    intercept : ndarray of shape (t,)
    classes : ndarray of shape (c,) or None
        Of a classifier; with two classes, t = 1.
    scale : float or None
        Probabilities are the softmax of the outputs times this, or of (0, f) times this.
    flat : bool
        Whether predictions are one number for each sample, as for a regression with one target.
    """

    terms: tuple[Term, ...]
    intercept: Array
    classes: Any = None
    scale: float | None = None
    flat: bool = True

    def outputs(self, X: Array) -> Array:
        """f(x) for each sample, of shape (len(X), t)."""
        return sum((t.values(X) @ t.coefficients for t in self.terms), self.intercept)

    def magnitude(self, X: Array) -> Array:
        """Sums of the sizes of what `outputs` adds up: how far rounding can reach."""
        sizes = (np.abs(t.values(X)) @ np.abs(t.coefficients) for t in self.terms)
        return sum(sizes, np.abs(self.intercept))

    def count(self) -> int:
        """Number of different samples among the centres of all terms."""
        centres = [term.centres for term in self.terms]
        different = len(np.unique(np.concatenate(centres), axis=0)) if len(centres) > 1 else 0
        return max(different, *(len(rows) for rows in centres), 0)


def expansion_of(model: Any) -> Expansion:
    """The expansion of a fitted estimator of this package, which predicts as the estimator does.

    Raises
    ------
    ExportError
        If its kernel is a function or precomputed, if it is no such expansion, or if the expansion
        differs from the model on the model's own samples.
    """
    _, predictor = model._reading()
    if not isinstance(predictor, SumOfExpansions):
        raise ExportError(
            f"cannot export this {type(model).__name__}: it is no sum of kernels. Keep it as a "
            f"model file, or fit another estimator."
        )
    sums = predictor.terms()
    terms = tuple(filter(_is_there, map(_term, sums))) or (_nothing(model, sums[0]),)
    constants = (np.asarray(to_host(part.intercept), dtype=float) for part in sums)
    outputs = terms[0].coefficients.shape[1]
    intercept = sum((*constants, *map(_constant, sums)), np.zeros(outputs))
    classifies = is_classifier(model)
    expansion = Expansion(
        terms,
        intercept,
        model.classes_ if classifies else None,
        float(model.calibration_) if classifies else None,
        classifies or model.y_fit_.ndim == 1,
    )
    X = own_samples(model, expansion)
    check_agrees(model, expansion, X, expansion.outputs(X), "expansion")
    return expansion


def own_samples(model: Any, expansion: Expansion) -> Array:
    """Samples that the model holds, spread over all of them, and points half-way between them."""
    holdings = next(filter(len, (_dense(model.X_fit_), *(t.centres for t in expansion.terms))),
                np.eye(model.n_features_in_))  # fmt: skip
    size = max(1, *(term.centres.size for term in expansion.terms))
    most = max(2, min(COMPARED, _VALUES // size) // 2)
    some = holdings[:: -(-len(holdings) // most)]
    return np.concatenate([some, 0.5 * (some + np.roll(some, 1, axis=0))])


def check_agrees(model: Any, expansion: Expansion, X: Array, found: Array, what: str) -> None:
    """Raise `ExportError` where an export's outputs are not the model's, but for rounding."""
    answers = model.decision_function if is_classifier(model) else model.predict
    expected = np.asarray(from_tensor(answers(X))).reshape(len(X), -1)
    rounding = _ROUNDINGS * np.finfo(expected.dtype).eps * expansion.magnitude(X)
    off = np.abs(found - expected)
    if not np.all(off <= 1e-9 * (1.0 + np.abs(expected)) + rounding):
        raise ExportError(
            f"the {what} of this {type(model).__name__} differs from the model by "
            f"{np.nanmax(off):.1e} on the model's own samples. Nothing was written; please report "
            f"this as an error of gramian."
        )


def _term(part: KernelExpansion) -> Term:
    """A term in double precision, without centres that have no coefficient."""
    if isinstance(part.kernel, ThresholdKernel):
        inside, found = _term(replace(part, kernel=part.kernel.kernel)), part.kernel.thresholds
        return replace(inside, columns=found.columns, edges=found.edges)
    kernel, coefficients = part.kernel, np.asarray(to_host(part.coefficients), dtype=float)
    if kernel.name not in ("linear", *KERNELS):
        known = ", ".join(("linear", *KERNELS))
        raise ExportError(f"cannot export the {kernel.name} kernel; known are {known}.")
    used = np.any(coefficients != 0, axis=1)
    centres, coefficients = _dense(part.centres)[used], coefficients[used]
    gamma, degree, coef0 = (np.asarray(getattr(kernel, name, 1.0), dtype=float)[()] for name in
                            ("gamma", "degree", "coef0"))  # fmt: skip
    if _is_linear(kernel):
        return Term("linear", 1.0, 1.0, 0.0, centres[:0], gamma * centres.T @ coefficients)
    return Term(kernel.name, gamma, float(degree), float(coef0), centres, coefficients)


def _is_there(term: Term) -> bool:
    return term.coefficients.size > 0


def _nothing(model: Any, part: KernelExpansion) -> Term:
    """A term that adds 0, for a model that is its intercept alone."""
    d, outputs = model.n_features_in_, part.coefficients.shape[1]
    return Term("linear", 1.0, 1.0, 0.0, np.empty((0, d)), np.zeros((d, outputs)))


def _is_linear(kernel: Kernel) -> bool:
    """Whether k(x, y) is gamma x·y and a constant: such a sum needs no centres."""
    return kernel.name == "linear" or getattr(kernel, "degree", None) == 1


def _constant(part: KernelExpansion) -> Any:
    """What the constant of a linear kernel adds to the intercept."""
    if not _is_linear(part.kernel):
        return 0.0
    return getattr(part.kernel, "coef0", 0.0) * np.asarray(to_host(part.coefficients)).sum(axis=0)


def _dense(X: Any) -> Array:
    X = from_tensor(to_host(X))
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float)
