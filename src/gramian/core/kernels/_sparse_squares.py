"""−gamma ‖x − y‖² for CSR samples, as in `_dense_squares` but without a centre, which would fill
the zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gramian.core.arrays import Array, row_blocks
from gramian.core.kernels._blocks import Exponents
from gramian.core.kernels._dense_squares import Doubtful, doubtful_pairs, within_range

_PAIRS = 2**13  # differences held at once


def as_csr(X: Any) -> sparse.csr_array:
    """Samples as a CSR array in double precision, indices sorted and each stored once."""
    csr = sparse.csr_array(X, dtype=float)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


def sparse_squares(
    X: sparse.csr_array, Y: sparse.csr_array, gamma: Any, doubtful: Doubtful = doubtful_pairs
) -> Exponents:
    """The function that gives −gamma ‖x − y‖² for some rows of X and of Y."""
    X, Y, gamma = within_range(X, Y, gamma, scaled_features)
    x_squared = _squared_lengths(X, gamma)
    y_squared = x_squared if X is Y else _squared_lengths(Y, gamma)
    B = scaled_features(Y, 2.0 * gamma)

    def exponents(rows: slice, columns: slice) -> Array:
        A, x2, y2 = X[rows], x_squared[rows], y_squared[columns]
        values = (A @ B[columns].T).toarray()
        values -= x2[:, None]
        values -= y2
        if X is Y:
            np.fill_diagonal(values[:, rows], -np.inf)  # not doubtful: known to be 0
        pairs = doubtful(values, x2, y2)
        values[pairs] = -sparse_pair_squares(A, Y[columns], *pairs, gamma)
        result: Array = np.minimum(values, 0.0, out=values)
        return result

    return exponents


def sparse_pair_squares(
    X: sparse.csr_array, Y: sparse.csr_array, first: Array, second: Array, gamma: Any
) -> Array:
    """gamma ‖x − y‖² for the pairs of X[first] and Y[second], from their differences."""
    values = np.empty(len(first))
    for some in row_blocks(len(first), 1, budget=_PAIRS * 8):
        values[some] = _squared_lengths(X[first[some]] - Y[second[some]], gamma)
    return values


def scaled_features(X: sparse.csr_array, factor: Any) -> sparse.csr_array:
    """The samples times a number, or with each feature times its own."""
    factors = factor[X.indices] if np.ndim(factor) else factor
    return sparse.csr_array((X.data * factors, X.indices, X.indptr), shape=X.shape)


def _squared_lengths(X: sparse.csr_array, gamma: Any) -> Array:
    """Σ_f gamma_f x_f² for each row."""
    squares = sparse.csr_array((np.square(X.data), X.indices, X.indptr), shape=X.shape)
    result: Array = squares @ np.broadcast_to(gamma, X.shape[1])
    return result
