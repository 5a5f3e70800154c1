"""Sums over one chunk of rows, for tests of what is made of them."""

from __future__ import annotations

from gramian.core.arrays import Array
from gramian.orthogonal._normal_equations import RunningSums, Sums


def chunk_sums(U: Array, rows: Array, targets: Array, weight: Array | None = None) -> Sums:
    """Sums over one chunk of rows, given by their kernel values with the centres; O(r m²)."""
    sums = RunningSums(U, targets.shape[1])
    sums.add(rows, targets, weight)
    return sums.total()
