"""How far a long computation is, as a step that people see: of queries, and of what is logged.

Queries are answered some at a time. A call has a share that does not depend on its rows, such as
the features of all held rows, and one that does. So batches only ever grow, and the time that is
left is estimated from both shares, once two batches tell them apart.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil, log2
from time import monotonic, perf_counter
from typing import Any, NamedTuple, cast

import numpy as np

from gramian.cli._running import step
from gramian.core.arrays import Array
from gramian.core.progress import PROGRESS

FIRST = 32
"""Rows of the first batch."""

_SHORT, _LONG = 3.0, 10.0  # seconds: batches below the one grow fast, those above the other do not
_FAST, _SLOWLY = 8, 2  # times by which they grow
_MOSTLY_ROWS = 1.5  # twice the rows in so many times the seconds: the rows are what takes time
_ENOUGH = 2  # so many must be done before the time of the rest can be estimated


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


class Follower(logging.Handler):
    """Shows the last record of each kind, such as the folds that are done.

    Parameters
    ----------
    what : str
        The step.
    only : str
        The kind to show, whose end is that of the step, so that the time which is left follows
        from it; all kinds if it is empty.
    """

    def __init__(self, what: str, only: str = "") -> None:
        super().__init__()
        self._what, self._only, self._start = what, only, monotonic()
        self._details: dict[str, str] = {}
        self._trials = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Show what a computation has logged."""
        done, total, kind = cast(tuple[int, int, str], record.args)
        if not self._only:
            self._show(kind.split()[0], record.getMessage())
        elif kind == self._only:
            passed, share = monotonic() - self._start, done / total
            left = passed * (1.0 / share - 1.0) if done >= _ENOUGH else None
            step(self._what, share, record.getMessage(), left)

    def trial(self, trial: Any) -> None:
        """Show that a search has tried another setting."""
        self._trials += 1
        self._show("settings", f"{self._trials} settings tried, the last on {trial.n:,} rows")

    def _show(self, kind: str, detail: str) -> None:
        self._details[kind] = detail
        step(self._what, detail=", ".join(self._details.values()))


@contextmanager
def progress_of(what: str, only: str = "") -> Iterator[Follower]:
    """A step, during which all that is logged of the progress is shown."""
    step(what)
    follower, level = Follower(what, only), PROGRESS.level
    PROGRESS.addHandler(follower)
    PROGRESS.setLevel(logging.INFO)
    try:
        yield follower
    finally:
        PROGRESS.removeHandler(follower)
        PROGRESS.setLevel(level)
