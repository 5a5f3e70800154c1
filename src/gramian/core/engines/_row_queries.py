"""Queries against least squares on fixed features: what they change, what each row changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from gramian.core.arrays import Array
from gramian.core.equations import (
    Added,
    Pairs,
    added_rows,
    all_pairs,
    groups_by_size,
    row_residuals,
    rows_without_each,
)
from gramian.core.equations._influence import by_group


@dataclass(frozen=True, eq=False)
class RowQueries:
    """One version of ``f(x) = ψ(x)ᵀB`` with ``B = N Σ w ψ yᵀ``, open to queries.

    Parameters
    ----------
    blocks : callable
        Yields slices of the n held rows with their features ψ, in bounded memory.
    N : ndarray of shape (d, d)
    B : ndarray of shape (d, t)
    Y : ndarray of shape (n, t)
    weight : ndarray of shape (n,)
    """

    blocks: Callable[[], Iterator[tuple[slice, Array]]]
    N: Array
    B: Array
    Y: Array
    weight: Array
    residuals: Array
    clearance: Array

    @classmethod
    def of(
        cls,
        blocks: Callable[[], Iterator[tuple[slice, Array]]],
        N: Array,
        B: Array,
        Y: Array,
        weight: Array,
    ) -> RowQueries:
        """Compute residuals y − f and clearances 1 − h of the held rows, in one pass."""
        residuals, clearance = Y.astype(float), np.ones(len(Y))
        for rows, features in blocks():
            residuals[rows] -= features @ B
            clearance[rows] -= weight[rows] * np.einsum("ij,ij->i", features @ N, features)
        return cls(blocks, N, B, Y, weight, residuals, clearance)

    def added(self, features: Array) -> Callable[[float], Added]:
        """Return the function of their weight that gives what queries change, O(n d) for each."""
        crossed, reached = self._crossed(features), features @ self.B
        own = self.variances(features)
        held = self.residuals, self.clearance, self.weight
        return cache(lambda weight: added_rows(*held, crossed, own, reached, self.Y, weight))

    def left_groups(self, codes: Array) -> Array:
        """Left-out residuals (n, t) of the held rows without their groups, O(n d²) and Σ k³."""
        return row_residuals(self._features(), self.N, self.residuals, self.weight, codes)

    def group_clearance(self, codes: Array) -> Array:
        """The least eigenvalue of ``I − H`` of each row's group, (n,); 1 − h of a row alone."""
        features = np.sqrt(self.weight)[:, None] * self._features()
        out = np.empty(len(codes))
        for members in groups_by_size(codes):
            rows = features[members]
            H = (rows @ self.N) @ np.swapaxes(rows, -1, -2)
            out[members] = 1.0 - np.linalg.eigvalsh(H)[:, -1:]
        return out

    def without_each(self, features: Array, codes: Array | None = None) -> Array:
        """Outputs (m, n, t) at queries without each held row, or its group."""
        if codes is not None:
            leaving = (self.weight[:, None] * self.left_groups(codes))[None]
            moved = by_group(self._crossed(features)[..., None] * leaving, codes)
            return (features @ self.B)[:, None] - moved
        held = self.residuals, self.clearance, self.weight
        return rows_without_each(*held, self._crossed(features), features @ self.B)

    def pairs(self, codes: Array | None = None) -> Iterator[tuple[Array, Pairs]]:
        """Yield positions (k,) with the residuals of all rows without two, or two groups."""
        features, w = self._features(), self.weight
        solved, alpha = w[:, None] * (features @ self.N), w[:, None] * self.residuals

        def rows_of(at: Array) -> Array:
            M: Array = -(solved[at] @ features.T) * w
            M[np.arange(len(at)), at] += w[at]
            return M

        def squares_of(members: Array) -> Array:
            weighted, place = w[members][..., None] * features[members], np.arange(members.shape[1])
            M: Array = -solved[members] @ np.swapaxes(weighted, 1, 2)
            M[:, place, place] += w[members]
            return M

        return all_pairs(rows_of, w * self.clearance, squares_of, alpha, codes)

    def smoother(self, features: Array) -> Array:
        """``∂f(x)/∂y_i`` at queries, (m, n): ``w_i ψ_iᵀNψ(x)``."""
        return self._crossed(features) * self.weight

    def variances(self, features: Array) -> Array:
        """``ψᵀNψ`` of queries (m,): the variance of f(x) in units of that of the noise."""
        result: Array = np.einsum("ij,ij->i", features @ self.N, features)
        return result

    def _features(self) -> Array:
        """ψ of all held rows, (n, d)."""
        return np.concatenate([held for _, held in self.blocks()])

    def _crossed(self, features: Array) -> Array:
        """``ψ(x)ᵀNψ_i`` of queries and held rows, (m, n)."""
        crossed, solved = np.empty((len(features), len(self.Y))), features @ self.N
        for rows, held in self.blocks():
            crossed[:, rows] = solved @ held.T
        return crossed
