"""exp of a block of exponents, a few rows at a time so that the work stays in the cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gramian.core.arrays import Array, each_block, row_blocks

Exponents = Callable[[slice, slice], Array]
"""Takes some rows of X and some rows of Y and returns their exponents as a new float64 array."""

_CACHE_BYTES = 2**18, 2**22  # fewest and most of a block of rows
_FEWEST_ROWS = 64  # fewer make a product of matrices slow


def exp_in_blocks(exponents: Exponents, X: Any, Y: Any, dtype: np.dtype) -> Array:
    """exp of all exponents, as an array of shape (len(X), len(Y)).

    Where X is Y, only one triangle is computed and mirrored, so that the result is exactly
    symmetric, with ones on the diagonal.
    """
    m, n = X.shape[0], Y.shape[0]
    K = np.empty((m, n), dtype=dtype)
    budget = min(max(_CACHE_BYTES[0], m * n), _CACHE_BYTES[1])  # mostly an eighth of the whole

    def fill(rows: slice) -> None:
        columns = slice(0, rows.stop if X is Y else n)
        values = exponents(rows, columns)
        np.exp(values, out=K[rows, columns], dtype=dtype, casting="same_kind")
        if X is Y:
            _mirror(K, rows)

    each_block(fill, row_blocks(m, n, budget=max(budget, _FEWEST_ROWS * n * 8)), m * n)
    return K


def _mirror(K: Array, rows: slice) -> None:
    """Copy these rows, up to the diagonal, into the columns of the same numbers."""
    K[: rows.start, rows] = K[rows, : rows.start].T
    lower = np.tril(K[rows, rows], -1)
    K[rows, rows] = lower + lower.T
    np.fill_diagonal(K[rows, rows], 1.0)
