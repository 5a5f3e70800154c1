"""The kernel of the Manhattan distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist, pdist

# The one use of scikit-learn in this package: sums of |x − y| over the entries of CSR rows.
from sklearn.metrics.pairwise import manhattan_distances

from gramian.core.arrays import Array, row_blocks
from gramian.core.kernels._blocks import Exponents
from gramian.core.kernels._distance import DistanceKernel

_DENSE_BYTES = 2**24  # of sparse features that are made dense at once


@dataclass(frozen=True, eq=False)
class Laplacian(DistanceKernel):
    """k(x, y) = exp(−gamma ‖x − y‖₁), or exp(−Σ_f gamma_f abs(x_f − y_f)).

    Parameters
    ----------
    gamma : float or ndarray of shape (n_features,)
        An array gives each feature its own width.

    Examples
    --------
    >>> Laplacian(0.5)(np.array([[0.0], [2.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.368]])
    """

    name: ClassVar[str] = "laplacian"

    gamma: Any = 1.0

    def _direct(self, X: Array, Y: Array) -> Array:
        if np.ndim(self.gamma):
            return -_weighted_manhattan(X, Y, self.gamma)
        result: Array = _manhattan(X, Y) * -self.gamma
        return result

    def _on_device(self, X: Any, Y: Any) -> Any:  # on a device
        values = (X * self.gamma).through("distances", Y * self.gamma, 1.0)
        return np.negative(values, out=values)

    def _exponents(self, X: Any, Y: Any) -> Exponents:
        return lambda rows, columns: self._direct(X[rows], Y[columns])

    def _distances(self, X: Any) -> Array:
        if not sparse.issparse(X):
            result: Array = pdist(X, "cityblock")
            return result
        return _manhattan(X, X)[np.triu_indices(X.shape[0], 1)]

    def _feature_gradient(self, K: Array, G: Array, X: Array) -> Array:
        """``−γ_f Σ_ij M_ij |x_if − x_jf|`` with M = G ∘ K."""
        M = G * K
        linked = M.any(axis=1)
        M, X = M[np.ix_(linked, linked)], X[linked].astype(float)
        result: Array = -self.gamma * np.array([np.sum(M * np.abs(x[:, None] - x)) for x in X.T])
        return result

    def slopes(self, K: Array, X: Array, Z: Array) -> Array:
        """∂k/∂x_f = −γ k sign(x_f − y_f)."""
        found = [(np.sign(x[:, None] - x) * K) @ Z for x in X.T]
        result: Array = -self.gamma * np.stack(found, axis=1)
        return result


def _manhattan(X: Any, Y: Any) -> Array:
    """‖x − y‖₁ for all pairs, summed directly, in double precision."""
    found: Array
    if sparse.issparse(X):
        found = manhattan_distances(_int32_indices(X), _int32_indices(Y))
    elif X.shape[0] > Y.shape[0]:  # cdist is faster with its longer loop inside
        found = cdist(Y, X, "cityblock").T
    else:
        found = cdist(X, Y, "cityblock")
    return found


def _weighted_manhattan(X: Any, Y: Any, gamma: Array) -> Array:
    """Σ_f gamma_f |x_f − y_f| for all pairs; sparse features are made dense, some at a time."""
    if not sparse.issparse(X):
        result: Array = cdist(X, Y, "cityblock", w=gamma)
        return result
    total, X, Y = np.zeros((X.shape[0], Y.shape[0])), X.tocsc(), Y.tocsc()
    for some in row_blocks(len(gamma), X.shape[0] + Y.shape[0], budget=_DENSE_BYTES):
        part = X[:, some].toarray(), Y[:, some].toarray()
        total += cdist(*part, "cityblock", w=gamma[some])
    return total


def _int32_indices(X: Any) -> Any:
    """CSR samples with the only kind of indices that scikit-learn's Manhattan distance takes."""
    if X.indices.dtype == X.indptr.dtype == np.int32:
        return X
    index = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sparse.csr_array((X.data, *index), shape=X.shape)
