"""Answers for many rows, some at a time, so that it can be shown how far they are.

A call has a share that does not depend on its rows, such as the features of all held rows, and one
that does. So batches only ever grow, and the time that is left is estimated from both shares, once
two batches tell them apart.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log2
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from gramian.cli._work import step
from gramian.core.arrays import Array

FIRST = 32
"""Rows of the first batch."""

_SHORT, _LONG = 3.0, 10.0  # seconds: batches below the one grow fast, those above the other do not
_FAST, _SLOWLY = 8, 2  # times by which they grow
_MOSTLY_ROWS = 1.5  # twice the rows in so many times the seconds: the rows are what takes time


class Batch(NamedTuple):
    """Rows of a batch, and the seconds that it took."""

    rows: int
    seconds: float


def in_batches(what: str, compute: Callable[[Any], Array], X: Any) -> Array:
    """What ``compute`` gives for all rows."""
    parts: list[Array] = []
    n, start, size, last = X.shape[0], 0, FIRST, None
    step(what, detail=f"0 of {n:,} rows")
    while start < n:
        begun, end = perf_counter(), min(n, start + size)
        parts.append(compute(X[start:end]))
        batch = Batch(end - start, perf_counter() - begun)
        size = next_size(last, batch)
        left = seconds_left(last, batch, n - end, size)
        step(what, end / n, f"{end:,} of {n:,} rows", left)
        start, last = end, batch
    return np.concatenate(parts) if parts else compute(X)


def next_size(before: Batch | None, last: Batch) -> int:
    """Rows of the batch after these two."""
    if last.seconds < _SHORT:
        return last.rows * _FAST
    rows_count = before is not None and last.seconds > _MOSTLY_ROWS * before.seconds
    return last.rows if last.seconds > _LONG and rows_count else last.rows * _SLOWLY


def seconds_left(before: Batch | None, last: Batch, rows: int, size: int) -> float | None:
    """Seconds for so many more rows, the next batch of a size; None after a single batch.

    Examples
    --------
    >>> seconds_left(Batch(10, 3.0), Batch(20, 4.0), rows=200, size=100)  # 2 s a call, 0.1 s a row
    24.0
    """
    if before is None:
        return None
    each = last.seconds / last.rows
    if last.rows > before.rows:
        each = min(each, max(0.0, (last.seconds - before.seconds) / (last.rows - before.rows)))
    call = last.seconds - each * last.rows
    return rows * each + ceil(log2(1.0 + rows / size)) * call  # batches go on growing
