"""−gamma ‖x − y‖² for dense samples: by a product of matrices, and directly where that cancels.

With samples moved by a common centre c,

    ‖x − y‖² = ‖x − c‖² + ‖y − c‖² − 2 (x − c)·(y − c)

turns all distances into one fast product. Its error is about eps times the first two terms, which
is too much for two samples that are close to each other and far from c. Such pairs are *doubtful*
and computed again from their differences. So each value is as good as if its two samples were
alone, and an outlier among the others does no harm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from gramian.core.arrays import Array, row_blocks
from gramian.core.kernels._blocks import Exponents

DOUBT = 8.0
"""A pair is doubtful where gamma (‖x − c‖² + ‖y − c‖²) is this many times 1 + gamma ‖x − y‖².

With 8, the error of an exponent was at most 32 eps (1 + gamma ‖x − y‖²) for up to 256 features.
"""
_MANY = 1 / 16  # of a block doubtful: compute all of it directly
FEW_PAIRS, FEW_SAMPLES = 2**14, 8  # up to here the direct way is the faster one
_PAIR_BYTES = 2**20
_CENTRE_ROWS = 64
Doubtful = Callable[[Array, Array, Array], tuple[Array, Array]]
"""Takes exponents, x2 and y2, and returns the rows and columns of those that may be inexact."""
_NO_PAIRS = (np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))


def doubtful_pairs(values: Array, x2: Array, y2: Array) -> tuple[Array, Array]:
    """Rows and columns of the exponents that may have lost digits.

    ``x2`` and ``y2`` are gamma ‖x − c‖² and gamma ‖y − c‖². The comparisons are written so that
    infinity and NaN count as doubtful.
    """
    furthest = y2.max()
    if x2.max() + furthest < DOUBT:  # no distance between them is large enough to matter
        return _NO_PAIRS
    rows = np.flatnonzero(~(x2 + furthest < DOUBT * (1.0 - values.max(axis=1))))
    if not rows.size:
        return _NO_PAIRS
    bound = values[rows]
    bound *= -DOUBT
    bound += DOUBT - x2[rows, None]
    first, second = np.nonzero(~(y2 < bound))
    return rows[first], second


def doubtful_roots(values: Array, x2: Array, y2: Array) -> tuple[Array, Array]:
    """As `doubtful_pairs`, where the square root of each exponent is needed, and its digits.

    An error δ of an exponent e is δ / 2√e of its root, so that a pair is doubtful where
    gamma (‖x − c‖² + ‖y − c‖²) is 8 times √e + e.
    """
    bound = np.sqrt(-values)
    bound -= values
    bound *= DOUBT
    bound -= x2[:, None]
    first, second = np.nonzero(~(y2 < bound))
    return first, second


def dense_squares(X: Array, Y: Array, gamma: Any, doubtful: Doubtful = doubtful_pairs) -> Exponents:
    """The function that gives −gamma ‖x − y‖² for some rows of X and of Y.

    ``doubtful`` finds the pairs that are computed again from their differences.
    """
    X, Y, gamma = within_range(X, Y, gamma)
    if X.shape[0] * Y.shape[0] <= FEW_PAIRS or min(X.shape[0], Y.shape[0]) < FEW_SAMPLES:
        return lambda rows, columns: _direct(X[rows], Y[columns], gamma)
    centre = centre_of(Y)
    B = np.subtract(Y, centre, dtype=float)
    columns_squared = _squared_lengths(B, gamma)
    B *= 2.0 * gamma

    def exponents(rows: slice, columns: slice) -> Array:
        A = np.subtract(X[rows], centre, dtype=float)
        x2, y2 = _squared_lengths(A, gamma), columns_squared[columns]
        values = A @ B[columns].T
        values -= x2[:, None]
        values -= y2
        if X is Y:
            np.fill_diagonal(values[:, rows], -np.inf)  # not doubtful: known to be 0
        pairs = doubtful(values, x2, y2)
        if len(pairs[0]) > _MANY * values.size:
            return _direct(X[rows], Y[columns], gamma)
        values[pairs] = _pair_squares(X[rows], Y[columns], *pairs, gamma)
        result: Array = np.minimum(values, 0.0, out=values)
        return result

    return exponents


def within_range(
    X: Any, Y: Any, gamma: Any, scaled: Callable[..., Any] = np.multiply, power: int = 2
) -> tuple[Any, Any, Any]:
    """Samples and gamma such that squares neither overflow nor vanish where gamma is extreme.

    ``scaled(X, scale)`` multiplies each feature by a power of two, which is exact; gamma is divided
    by the given power of it.
    """
    if np.min(gamma) > 1e-100 and np.max(gamma) < 1e100:
        return X, Y, gamma
    scale = np.exp2(np.rint(np.log2(gamma) / power))
    moved = scaled(X.astype(float), scale)
    for _ in range(power):
        gamma = gamma / scale
    return moved, moved if X is Y else scaled(Y.astype(float), scale), gamma


def centre_of(X: Array) -> Array:
    """The median of each feature over up to 64 rows, so that a few outliers do not move it."""
    some = X[:: -(-X.shape[0] // _CENTRE_ROWS)]
    result: Array = np.sort(some, axis=0)[len(some) // 2].astype(float)
    return result


def _squared_lengths(A: Array, gamma: Any) -> Array:
    """Σ_f gamma_f a_f² for each row."""
    squares: Array
    if np.ndim(gamma):
        squares = np.einsum("ij,ij,j->i", A, A, gamma)
    else:
        squares = np.einsum("ij,ij->i", A, A) * gamma
    return squares


def _direct(X: Array, Y: Array, gamma: Any) -> Array:
    """−gamma ‖x − y‖² for all pairs, from their differences."""
    if X.shape[0] > Y.shape[0]:  # cdist is faster with its longer loop inside
        return _direct(Y, X, gamma).T
    values: Array
    if np.ndim(gamma):
        values = cdist(X, Y, "sqeuclidean", w=gamma)
        values *= -1.0
    else:
        values = cdist(X, Y, "sqeuclidean")
        values *= -gamma
    return values


def _pair_squares(X: Array, Y: Array, first: Array, second: Array, gamma: Any) -> Array:
    """−gamma ‖x − y‖² for the pairs of X[first] and Y[second]."""
    values = np.empty(len(first))
    for some in row_blocks(len(first), X.shape[1], budget=_PAIR_BYTES):
        differences = np.subtract(X[first[some]], Y[second[some]], dtype=float)
        values[some] = -_squared_lengths(differences, gamma)
    return values
