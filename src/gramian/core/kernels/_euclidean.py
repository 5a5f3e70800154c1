"""Kernels of the Euclidean distance: rbf of its square, exponential of the distance itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist, pdist

from gramian.core.arrays import Array
from gramian.core.kernels._base import Kernel
from gramian.core.kernels._blocks import Exponents
from gramian.core.kernels._dense_squares import (
    centre_of,
    dense_squares,
    doubtful_roots,
    within_range,
)
from gramian.core.kernels._distance import DistanceKernel
from gramian.core.kernels._sparse_squares import (
    scaled_features,
    sparse_pair_squares,
    sparse_squares,
)


class EuclideanKernel(DistanceKernel):
    """What the two kernels share: few samples are compared directly, by a metric of SciPy."""

    metric: ClassVar[str]

    def _direct(self, X: Array, Y: Array) -> Array:
        gamma = self.gamma
        if not isinstance(gamma, float) or not 1e-100 < gamma < 1e100:
            return self._exponents(X, Y)(slice(None), slice(None))
        swapped = X.shape[0] > Y.shape[0]  # cdist is faster with its longer loop inside
        values: Array = cdist(Y, X, self.metric).T if swapped else cdist(X, Y, self.metric)
        values *= -gamma
        return values

    def _distances(self, X: Any) -> Array:
        found: Array
        if sparse.issparse(X):
            squares = sparse_pair_squares(X, X, *np.triu_indices(X.shape[0], 1), 1.0)
            found = squares if self.metric == "sqeuclidean" else np.sqrt(squares)
        else:
            found = pdist(X, self.metric)
        return found


@dataclass(frozen=True, eq=False)
class RBF(EuclideanKernel):
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
    metric: ClassVar[str] = "sqeuclidean"

    gamma: Any = 1.0

    def _on_device(self, X: Any, Y: Any) -> Any:  # on a device
        if np.ndim(self.gamma):
            roots = np.sqrt(self.gamma)
            return (X * roots).through("squares", Y * roots, 1.0)
        return X.through("squares", Y, self.gamma)

    def _exponents(self, X: Any, Y: Any) -> Exponents:
        return (sparse_squares if sparse.issparse(X) else dense_squares)(X, Y, self.gamma)

    def with_scales(self, scales: Array) -> Kernel:
        return self.with_gamma(self.gamma * np.square(scales))

    def _feature_gradient(self, K: Array, G: Array, X: Array) -> Array:
        """``−γ_f Σ_ij M_ij (x_if − x_jf)²`` with M = G ∘ K."""
        result: Array = -self.gamma * _square_sums(G * K, X)
        return result

    def slopes(self, K: Array, X: Array, Z: Array) -> Array:
        """∂k/∂x = −2 γ k (x − y)."""
        return _slopes_along_differences(-2.0 * self.gamma * K, X, Z)


@dataclass(frozen=True, eq=False)
class Exponential(EuclideanKernel):
    """k(x, y) = exp(−gamma ‖x − y‖), or exp(−√Σ_f (gamma_f (x_f − y_f))²).

    The Matérn kernel of smoothness ½: functions of it are rough, and an outlier reaches far.

    Parameters
    ----------
    gamma : float or ndarray of shape (n_features,)
        An array gives each feature its own width.

    Examples
    --------
    >>> Exponential(0.5)(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0]])).round(3)
    array([[1.   ],
           [0.082]])
    """

    name: ClassVar[str] = "exponential"
    metric: ClassVar[str] = "euclidean"

    gamma: Any = 1.0

    def _on_device(self, X: Any, Y: Any) -> Any:  # on a device
        values = (X * self.gamma).through("distances", Y * self.gamma, 2.0)
        return np.negative(values, out=values)

    def _exponents(self, X: Any, Y: Any) -> Exponents:
        is_sparse = sparse.issparse(X)
        scaled = scaled_features if is_sparse else np.multiply
        X, Y, gamma = within_range(X, Y, self.gamma, scaled, power=1)
        squares = sparse_squares if is_sparse else dense_squares
        squared = squares(X, Y, gamma * gamma, doubtful_roots)

        def exponents(rows: slice, columns: slice) -> Array:
            values = squared(rows, columns)
            np.negative(values, out=values)
            np.sqrt(values, out=values)
            return np.negative(values, out=values)

        return exponents

    def _feature_gradient(self, K: Array, G: Array, X: Array) -> Array:
        """``−γ_f² Σ_ij M_ij (x_if − x_jf)²`` with M = G ∘ K / D, and D = −log K."""
        result: Array = self.gamma**2 * _square_sums(G * _over_log(K), X)
        return result

    def slopes(self, K: Array, X: Array, Z: Array) -> Array:
        """∂k/∂x = −γ k (x − y) / ‖x − y‖."""
        return _slopes_along_differences(self.gamma**2 * _over_log(K), X, Z)


def _over_log(K: Array) -> Array:
    """K / log K, and 0 where K is 0 or 1: samples that are far apart, or equal."""
    logs = np.log(K, out=np.zeros_like(K), where=K > 0)
    return np.divide(K, logs, out=np.zeros_like(K), where=logs < 0)


def _square_sums(M: Array, X: Array) -> Array:
    """Σ_ij M_ij (x_if − x_jf)² = 2 (Σ_i x_if² (M1)_i − x_fᵀ M x_f) for a symmetric M."""
    np.fill_diagonal(M, 0.0)
    X = np.subtract(X, centre_of(X), dtype=float)
    X[~M.any(axis=1)] = 0.0  # no neighbours, no part in the sum: even where x² overflows
    result: Array = 2.0 * (M.sum(axis=1) @ X**2 - np.sum(X * (M @ X), axis=0))
    return result


def _slopes_along_differences(W: Array, X: Array, Z: Array) -> Array:
    """Σ_j W_ij (x_i − x_j) z_j, of shape (n, n_features, t)."""
    np.fill_diagonal(W, 0.0)
    X = np.subtract(X, centre_of(X), dtype=float)
    products = (X[:, :, None] * Z[:, None, :]).reshape(len(X), -1)
    others = (W @ products).reshape(*X.shape, Z.shape[1])
    result: Array = X[:, :, None] * (W @ Z)[:, None, :] - others
    return result
