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
        if X.shape[0] == 0 or Y.shape[0] == 0:
            return np.empty((X.shape[0], Y.shape[0]), dtype=X.dtype)
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
            gamma, moved = self._widened(X, Y)
            values = euclidean_distances(*moved, squared=True)
        else:
            values, gamma = self._manhattan(X, Y), self.gamma
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
        if not np.isfinite(values).all():
            raise ValueError("kernel must return finite numbers, got NaN or infinity.")
        return values

    @staticmethod
    def _manhattan(X: Any, Y: Any) -> np.ndarray:
        """‖x − y‖₁ for all pairs in the precision of X, the samples left as they are."""
        if sparse.issparse(X):  # scikit-learn sorts the indices of what it is given
            X, Y = X.sorted_indices(), Y.sorted_indices()
        return manhattan_distances(X, Y).astype(X.dtype, copy=False)

    def _widened(self, X: Any, Y: Any) -> tuple[Any, tuple[Any, Any]]:
        """One width for all features, and the samples moved so that distances keep their digits.

        Distances come from ``‖x‖² + ‖y‖² − 2 x·y``, which cancels far from the origin, so dense
        samples are centred first. Features with widths of their own are scaled by them.
        """
        gamma, scale = self.gamma, None
        if np.ndim(gamma):
            gamma, scale = 1.0, np.sqrt(gamma).astype(X.dtype, copy=False)
        centre = None if sparse.issparse(Y) else Y.mean(axis=0)

        def move(Z: Any) -> Any:
            if centre is not None:
                Z = Z - centre
            if scale is None:
                return Z
            return Z.multiply(scale).tocsr() if sparse.issparse(Z) else Z * scale

        moved = move(Y)
        return gamma, (moved if X is Y else move(X), moved)


def _widths(kernel: str, gamma: Any) -> Any:
    """``gamma`` as a Python float, or for the RBF kernel as an array of widths."""
    try:
        widths = np.asarray(None if isinstance(gamma, bool) else gamma, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"gamma must be a number > 0, got {gamma!r}.") from None
    if not np.all((widths > 0) & (widths < np.inf)):
        raise ValueError(f"gamma must be > 0, got {gamma!r}.")
    if widths.ndim and kernel != "rbf":
        raise ValueError(f"gamma must be one number for the {kernel} kernel, got {gamma!r}.")
    return widths if widths.ndim else float(widths)


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
    if kernel == "poly" and not (degree >= 1 and degree == int(degree) and 0 <= coef0 < np.inf):
        raise ValueError(
            f"the polynomial kernel needs degree >= 1 and coef0 >= 0, got {degree!r} and "
            f"{coef0!r}. The degree must be a whole number."
        )
    # Python numbers, which leave float32 samples in float32 where NumPy scalars do not.
    return Kernel(kernel, gamma=_widths(kernel, gamma), degree=int(degree), coef0=float(coef0))
