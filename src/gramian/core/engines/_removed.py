"""Outputs at queries without each held sample, where no closed form gives them all at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines._added import query_blocks
from gramian.core.engines._holdings import Holdings
from gramian.core.kernels import GramSamples


def without_each_by_removal(
    engine: Any, holdings: Holdings, X: Any
) -> Iterator[tuple[slice, Array]]:
    """Yield blocks of queries with their outputs (m, n, t) without each held sample, by n removals.

    ``engine`` must return a new engine from `remove` and stay as it is. All classes stay.
    """
    samples, n = holdings.rows.samples(), len(holdings)
    precomputed = isinstance(samples, GramSamples)
    readers = []
    for i in range(n):
        after = holdings.without(np.array([i]))
        readers.append(engine.remove(holdings, after, np.array([i])).predictor(after))
    t = 1 if holdings.classes is None else len(holdings.classes)
    for rows in query_blocks(X.shape[0], n, t):
        some = [np.delete(X[rows], i, axis=1) if precomputed else X[rows] for i in range(n)]
        F = [predictor.outputs(queries) for predictor, queries in zip(readers, some, strict=True)]
        yield rows, np.stack(F, axis=1)
