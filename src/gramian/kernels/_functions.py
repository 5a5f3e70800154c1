"""Kernel functions: k(x, y) for all pairs of two sets of samples.

========== ============================== =========================
name       k(x, y)                        parameters
========== ============================== =========================
linear     x·y                            none
poly       (gamma x·y + coef0)^degree     gamma, degree, coef0
rbf        exp(−gamma ‖x − y‖²)           gamma
laplacian  exp(−gamma ‖x − y‖₁)           gamma
callable   f(X, Y, **params)              its own
========== ============================== =========================

Dense and CSR samples are taken alike; the result is always a dense array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.utils.extmath import row_norms, safe_sparse_dot

KERNELS = ("linear", "poly", "rbf", "laplacian")


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters, applied to two sets of samples.

    Parameters
    ----------
    name : {"linear", "poly", "rbf", "laplacian", "callable"}
    gamma : float or ndarray of shape (n_features,)
        An array gives the RBF kernel one width per feature: exp(−Σ_f gamma_f (x_f − y_f)²).
    degree, coef0 : float
        Of the polynomial kernel.
    function : callable, optional
        ``function(X, Y, **params)`` returning an array of shape (len(X), len(Y)).
    params : mapping
        Keyword arguments of ``function``.

    Examples
    --------
    >>> kernel = Kernel("rbf", gamma=0.5)
    >>> kernel(np.array([[0.0], [2.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.135]])
    """

    name: str
    gamma: Any = 1.0
    degree: float = 3
    coef0: float = 1.0
    function: Callable[..., Any] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, X: Any, Y: Any) -> np.ndarray:
        """The len(X) × len(Y) block of kernel values, O(len(X) len(Y) n_features)."""
        if self.name == "callable":
            return self._call(X, Y)
        if self.name == "linear":
            return safe_sparse_dot(X, Y.T, dense_output=True)
        if self.name == "poly":
            values = safe_sparse_dot(X, Y.T, dense_output=True)
            values *= self.gamma
            values += self.coef0
            return values**self.degree
        if self.name == "rbf":
            X, Y, gamma = self._scaled(X, Y)
            values = euclidean_distances(X, Y, squared=True)
        else:
            values, gamma = manhattan_distances(X, Y), self.gamma
        values *= -gamma
        return np.exp(values, out=values)

    def diagonal(self, X: Any) -> np.ndarray:
        """k(x, x) for each sample, in O(len(X) n_features)."""
        if self.name in ("rbf", "laplacian"):
            return np.ones(X.shape[0], dtype=X.dtype)
        if self.name == "callable":
            rows = (X[i : i + 1] for i in range(X.shape[0]))
            return np.array([self._call(row, row)[0, 0] for row in rows], dtype=X.dtype)
        squared = row_norms(X, squared=True).astype(X.dtype, copy=False)
        if self.name == "linear":
            return squared
        return (self.gamma * squared + self.coef0) ** self.degree

    def _call(self, X: Any, Y: Any) -> np.ndarray:
        assert self.function is not None
        values = np.asarray(self.function(X, Y, **self.params), dtype=X.dtype)
        expected = (X.shape[0], Y.shape[0])
        if values.shape != expected:
            raise ValueError(
                f"kernel must return an array of shape {expected} for these samples, got "
                f"{values.shape}. It is called with two sets of samples, not with two samples."
            )
        return values

    def _scaled(self, X: Any, Y: Any) -> tuple[Any, Any, Any]:
        """Samples scaled so that one width serves all features, and that width."""
        if np.ndim(self.gamma) == 0:
            return X, Y, self.gamma
        scale = np.sqrt(self.gamma).astype(X.dtype, copy=False)
        if sparse.issparse(X):
            return X.multiply(scale).tocsr(), Y.multiply(scale).tocsr(), 1.0
        return X * scale, Y * scale, 1.0


def make_kernel(
    kernel: str | Callable[..., Any] = "rbf",
    *,
    gamma: Any = 1.0,
    degree: float = 3,
    coef0: float = 1.0,
    params: Mapping[str, Any] | None = None,
) -> Kernel:
    """Build a `Kernel` from scikit-learn style parameters, checking each one.

    ``"precomputed"`` is not a function of samples and is handled by the estimators.
    """
    if callable(kernel):
        return Kernel("callable", function=kernel, params=dict(params or {}))
    if kernel not in KERNELS:
        names = ", ".join(f'"{name}"' for name in KERNELS)
        raise ValueError(f'kernel must be {names}, "precomputed" or callable, got {kernel!r}.')
    if np.any(~(np.asarray(gamma) > 0)):
        raise ValueError(f"gamma must be > 0, got {gamma!r}.")
    if kernel == "poly" and (degree < 1 or coef0 < 0):
        raise ValueError(
            f"the polynomial kernel needs degree >= 1 and coef0 >= 0, got {degree!r} and {coef0!r}."
        )
    return Kernel(kernel, gamma=gamma, degree=degree, coef0=coef0)
