"""Kernels of the distance between two samples: exp(−gamma · distance)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist, pdist
from scipy.special import xlogy

# The one use of scikit-learn in this package: sums of |x − y| over the entries of CSR rows.
from sklearn.metrics.pairwise import manhattan_distances

from gramian.arrays import Array, on_device, row_blocks, to_host
from gramian.kernels._base import Kernel, checked_gamma, float_type
from gramian.kernels._blocks import Exponents, exp_in_blocks
from gramian.kernels._dense_squares import FEW_PAIRS, FEW_SAMPLES, centre_of, dense_squares
from gramian.kernels._sparse_squares import as_csr, sparse_pair_squares, sparse_squares

_GRADIENT_BYTES = 2**19


class _Exponential(Kernel):
    """What the two kernels share.

    A value has a relative error of about eps · (1 + gamma · distance), whatever the other samples.
    """

    parameters: ClassVar[tuple[str, ...]] = ("gamma",)
    takes_gamma: ClassVar[bool] = True
    has_width: ClassVar[bool] = True
    gamma: Any

    def __call__(self, X: Any, Y: Any) -> Array:
        dtype = X.dtype if X.dtype.kind == "f" else np.dtype(float)
        m, n = X.shape[0], Y.shape[0]
        if m == 0 or n == 0:
            return super().__call__(X, Y)
        few = m * n <= FEW_PAIRS or min(m, n) < FEW_SAMPLES
        if few and type(X) is np.ndarray and type(Y) is np.ndarray:
            with np.errstate(all="ignore"):  # a distance that overflows gives the right value, 0
                values = self._direct(X, Y)
                return np.exp(values, dtype=dtype, casting="same_kind")
        return self._values(X, Y)

    def _values(self, X: Any, Y: Any) -> Array:
        if on_device(X):
            values = self._on_device(X, Y)
            return np.exp(values, out=values)
        dtype, symmetric = float_type(X), X is Y
        if sparse.issparse(X) or sparse.issparse(Y):
            X = as_csr(X)
            Y = X if symmetric else as_csr(Y)
        with np.errstate(all="ignore"):  # a distance that overflows gives the right value, 0
            return exp_in_blocks(self._exponents(X, Y), X, Y, dtype)

    @abstractmethod
    def _direct(self, X: Array, Y: Array) -> Array:
        """−gamma · distance for a few dense samples, as a new array."""

    @abstractmethod
    def _on_device(self, X: Any, Y: Any) -> Any:
        """−gamma · distance for samples on a device, as a new array."""

    @abstractmethod
    def _exponents(self, X: Any, Y: Any) -> Exponents:
        """The function that gives −gamma · distance for some rows of X and of Y."""

    @abstractmethod
    def _distances(self, X: Any) -> Array:
        """The distance of each pair of samples, without gamma and without cancellation."""

    def diagonal(self, X: Any) -> Array:
        like = X if hasattr(X, "tensor") else None
        return np.ones(X.shape[0], dtype=float_type(X), like=like)

    def typical_gamma(self, X: Any) -> float:
        with np.errstate(all="ignore"):
            distances = self._distances(as_csr(X) if sparse.issparse(X) else to_host(X))
            apart = distances[(distances > 0) & (distances < np.inf)]
            gamma = 1.0 / np.median(apart) if apart.size else 1.0
        return float(gamma) if 0 < gamma < np.inf else 1.0

    def gamma_gradient(self, K: Array, G: Array, X: Any) -> Array:
        # ∂K/∂log gamma = K log K, whatever the distance; by blocks, which stay in the cache.
        blocks = row_blocks(len(K), len(K), budget=_GRADIENT_BYTES)
        total = sum(np.einsum("ij,ij", G[rows], xlogy(K[rows], K[rows])) for rows in blocks)
        return np.array([total], dtype=float)


@dataclass(frozen=True, eq=False)
class RBF(_Exponential):
    """k(x, y) = exp(−gamma ‖x − y‖²), or exp(−Σ_f gamma_f (x_f − y_f)²).

    Parameters
    ----------
    gamma : float or ndarray of shape (n_features,)
        An array gives each feature its own width.

    Examples
    --------
    >>> RBF(0.5)(np.array([[0.0], [2.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.135]])
    """

    name: ClassVar[str] = "rbf"
    has_feature_widths: ClassVar[bool] = True

    gamma: Any = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", checked_gamma(self.gamma, self.name, per_feature=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RBF) and np.array_equal(self.gamma, other.gamma)

    def __hash__(self) -> int:
        return hash((self.name, np.asarray(self.gamma).tobytes()))

    def _direct(self, X: Array, Y: Array) -> Array:
        gamma = self.gamma
        if np.ndim(gamma) or not 1e-100 < gamma < 1e100:
            return self._exponents(X, Y)(slice(None), slice(None))
        if X.shape[0] > Y.shape[0]:  # cdist is faster with its longer loop inside
            return cdist(Y, X, "sqeuclidean").T * -gamma
        return cdist(X, Y, "sqeuclidean") * -gamma

    def _on_device(self, X: Any, Y: Any) -> Any:
        gamma = self.gamma
        if np.ndim(gamma):
            X, Y, gamma = X * np.sqrt(gamma), Y * np.sqrt(gamma), 1.0
        return X.through("squares", Y, gamma)

    def _exponents(self, X: Any, Y: Any) -> Exponents:
        if np.ndim(self.gamma) and len(self.gamma) != X.shape[1]:
            raise ValueError(
                f"gamma must have one number for each of the {X.shape[1]} features, got "
                f"{len(self.gamma)}."
            )
        return (sparse_squares if sparse.issparse(X) else dense_squares)(X, Y, self.gamma)

    def _distances(self, X: Any) -> Array:
        if not sparse.issparse(X):
            return pdist(X, "sqeuclidean")
        first, second = np.triu_indices(X.shape[0], 1)
        return sparse_pair_squares(X, X, first, second, 1.0)

    def gamma_gradient(self, K: Array, G: Array, X: Any) -> Array:
        """∂E/∂log gamma; for one gamma per feature, X is dense and the cost O(n² n_features).

        With the symmetric ``M = G ∘ K`` the derivative for feature f is
        ``−γ_f Σ_ij M_ij (x_if − x_jf)² = −2 γ_f (Σ_i x_if² (M1)_i − x_fᵀ M x_f)``.
        """
        if not np.ndim(self.gamma):
            return super().gamma_gradient(K, G, X)
        if sparse.issparse(X):
            raise ValueError("the gradient by one gamma per feature needs dense samples.")
        M = G * K
        np.fill_diagonal(M, 0.0)
        X = np.subtract(X, centre_of(X), dtype=float)
        X[~M.any(axis=1)] = 0.0  # no neighbours, no part in the sum: even where x² overflows
        return -2.0 * self.gamma * (M.sum(axis=1) @ X**2 - np.sum(X * (M @ X), axis=0))


@dataclass(frozen=True)
class Laplacian(_Exponential):
    """k(x, y) = exp(−gamma ‖x − y‖₁).

    Examples
    --------
    >>> Laplacian(0.5)(np.array([[0.0], [2.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.368]])
    """

    name: ClassVar[str] = "laplacian"

    gamma: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", checked_gamma(self.gamma, self.name))

    def _direct(self, X: Array, Y: Array) -> Array:
        return _manhattan(X, Y) * -self.gamma

    def _on_device(self, X: Any, Y: Any) -> Any:
        values = X.through("distances", Y, 1.0)
        values *= -self.gamma
        return values

    def _exponents(self, X: Any, Y: Any) -> Exponents:
        return lambda rows, columns: self._direct(X[rows], Y[columns])

    def _distances(self, X: Any) -> Array:
        if not sparse.issparse(X):
            return pdist(X, "cityblock")
        return _manhattan(X, X)[np.triu_indices(X.shape[0], 1)]


def _manhattan(X: Any, Y: Any) -> Array:
    """‖x − y‖₁ for all pairs, summed directly, in double precision."""
    if sparse.issparse(X):
        return manhattan_distances(_int32_indices(X), _int32_indices(Y))
    if X.shape[0] > Y.shape[0]:  # cdist is faster with its longer loop inside
        return cdist(Y, X, "cityblock").T
    return cdist(X, Y, "cityblock")


def _int32_indices(X: Any) -> Any:
    """CSR samples with the only kind of indices that scikit-learn's Manhattan distance takes."""
    if X.indices.dtype == X.indptr.dtype == np.int32:
        return X
    index = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sparse.csr_array((X.data, *index), shape=X.shape)
