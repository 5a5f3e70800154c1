"""Outputs at queries without each held sample, where no closed form gives them all at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines._added import query_blocks
from gramian.core.engines._holdings import Holdings
from gramian.core.kernels import GramSamples


def departed_by_removal(engine: Any, held: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
    """Yield blocks of queries with their outputs (m, n, t) without each held sample, by n removals.

    ``engine`` must return a new engine from `remove` and stay as it is. All classes stay.
    """
    samples, n = held.rows.samples(), len(held)
    precomputed = isinstance(samples, GramSamples)
    readers = []
    for i in range(n):
        after = held.without(np.array([i]))
        readers.append(engine.remove(held, after, np.array([i])).reader(after))
    t = 1 if held.classes is None else len(held.classes)
    for rows in query_blocks(X.shape[0], n, t):
        some = [np.delete(X[rows], i, axis=1) if precomputed else X[rows] for i in range(n)]
        F = [reader.outputs(queries) for reader, queries in zip(readers, some, strict=True)]
        yield rows, np.stack(F, axis=1)
