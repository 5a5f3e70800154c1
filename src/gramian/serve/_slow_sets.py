"""Sets of estimators that take a refit or more for a point: a few points at a time."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from gramian.core.arrays import Array

BUDGET = 0.3
"""Seconds of a request; the points that are missing then come with the next ones."""


class SlowSets:
    """P-values on grids, the coarsest first, as far as requests have had the time.

    Parameters
    ----------
    grids : sequence of (shape, points)
    """

    def __init__(self, grids: Sequence[tuple[tuple[int, int], Array]]) -> None:
        self._grids = grids
        self._found: list[list[Array]] = [[] for _ in grids]

    def refine(self, model: Any) -> tuple[dict[str, Any], dict[str, Array]]:
        """Compute for a moment; the finest grid that is complete, and the share of all points."""
        ends = None  # begins with the first point, so that there is at least one
        for (_, points), found in zip(self._grids, self._found, strict=True):
            while len(found) < len(points) and (ends is None or perf_counter() < ends):
                ends = ends or perf_counter() + BUDGET
                found.append(model.p_values(points[len(found) : len(found) + 1])[0])
        done, total = (sum(map(len, part)) for part in (self._found, [p for _, p in self._grids]))
        facts: dict[str, Any] = {"progress": done / total}
        complete = [k for k, (_, p) in enumerate(self._grids) if len(self._found[k]) == len(p)]
        if not complete:
            return facts, {}
        last = complete[-1]
        return {**facts, "rough": self._grids[last][0]}, {"p_values": np.array(self._found[last]).T}
