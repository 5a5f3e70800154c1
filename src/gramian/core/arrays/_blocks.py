"""Row blocks of bounded size for large matrices, and arrays without some of their rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

BLOCK_BYTES = 32 * 2**20


def row_blocks(
    n_rows: int,
    n_cols: int,
    itemsize: int = 8,
    budget: int | None = None,
    *,
    square: bool = False,
    like: Any = None,
) -> Iterator[slice]:
    """Yield slices that cut ``n_rows`` rows into blocks of at most ``budget`` bytes each.

    A block has at least one row, even if a single row exceeds the budget.

    Parameters
    ----------
    n_rows, n_cols, itemsize : int
    budget : int, optional
        32 MiB in host memory, 1 GiB on a device.
    square : bool
        Limit blocks to a sixteenth of the matrix, for work on a matrix that is already in memory.
    like : array, optional
        An array on the device of the matrix; in host memory by default.

    Examples
    --------
    >>> list(row_blocks(5, 100, itemsize=8, budget=1600))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    if budget is None:
        budget = BLOCK_BYTES * (32 if hasattr(like, "tensor") else 1)
    if square:
        budget = min(budget, max(2**20, n_rows * n_cols * itemsize // 16))
    step = max(1, budget // max(1, n_cols * itemsize))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def without_rows(array: Any, positions: Any) -> Any:
    """Return a copy of an array without the rows at some positions; fast for a single one."""
    if len(positions) == 1:
        i = int(positions[0])
        return array[1:].copy() if i == 0 else np.concatenate([array[:i], array[i + 1 :]])
    return np.delete(array, positions, axis=0)
