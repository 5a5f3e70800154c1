"""The Cholesky factor, whose updates are backward stable in both directions: for a small ridge.

``A = RᵀR`` with R upper triangular in order of arrival. An append borders R::

    R' = [ R  R⁻ᵀ a ]      ρ² = α − ‖R⁻ᵀ a‖², the Schur complement
         [ 0    ρ   ]

The removal of row i is a rank-one *positive* update of the trailing block: with ``r = R[i, i+1:]``,
``R₃'ᵀ R₃' = R₃ᵀ R₃ + r rᵀ``. A removal never subtracts, so it loses no digits.
"""

from __future__ import annotations

from contextlib import suppress
from typing import ClassVar

import numpy as np

from gramian.core.arrays import (
    Array,
    add_rows_to_cholesky,
    invert_upper,
    reciprocal_condition,
    solve_upper,
)
from gramian.core.gram._factor import SlotFactor, check_positions
from gramian.core.gram._inverse import schur_cholesky
from gramian.core.gram._slots import SlotMatrix, spare_capacity


class CholeskyFactor(SlotFactor):
    """R in the upper triangle of a `SlotMatrix`; a free slot is a unit row and column.

    R is triangular in the order of its slots. Slots are therefore used in order, and freed slots
    are reused only after the buffer is compacted. Memory as for the live inverse.
    """

    name: ClassVar[str] = "cholesky"

    def __init__(self, matrix: SlotMatrix) -> None:
        self._matrix = matrix
        self._cholesky()

    def condition(self) -> float:
        """Estimate of the condition number of A in the 1-norm, O(n²)."""
        return 1.0 / max(reciprocal_condition(self._matrix.buffer, self.norm()), 1e-300)

    # -- edits ----------------------------------------------------------------------------------

    def append(self, cross: Array, corner: Array) -> None:
        """Append by bordering R: one triangular solve, O(n² k); see `Factor`."""
        if not cross.shape[1]:
            return
        slots = self._reserve(cross.shape[1])
        by_slot = self._matrix.scatter(cross)
        half = solve_upper(self._matrix.buffer, by_slot, transposed=True)
        L = schur_cholesky(corner - half.T @ half, corner, len(half))
        self._matrix.write(slots, by_slot, corner)
        first, last = slots[0], slots[-1] + 1
        self._matrix.buffer[:first, first:last] = half[:first]
        square = self._matrix.buffer[first:last, first:last]
        square[:] = np.tril(square, -1) + L.T

    def remove(self, positions: Array) -> None:
        """Remove by rotating the removed rows of R into those below, O(n² k); see `Factor`."""
        check_positions(positions, self.n)
        matrix, slots = self._matrix, self._matrix.slots[positions]
        shape = (len(slots), matrix.capacity)
        rows = np.zeros(shape, dtype=self.dtype, like=matrix.buffer)
        for row, j in zip(rows, slots, strict=True):
            row[j + 1 :] = matrix.buffer[j, j + 1 :]
        rows[:, slots] = 0.0
        matrix.wipe(positions)
        matrix.buffer[slots, slots] = 1.0
        add_rows_to_cholesky(matrix.buffer, rows)
        if matrix.capacity > 2 * spare_capacity(self.n):
            with suppress(MemoryError):  # without memory for a smaller buffer, keep the old one
                self._resize(spare_capacity(self.n))

    def rebuild(self) -> None:
        self._cholesky()

    # -- the inverse ----------------------------------------------------------------------------

    def apply_inverse(self, B: Array) -> Array:
        half = solve_upper(self._matrix.buffer, self._matrix.scatter(B), transposed=True)
        return solve_upper(self._matrix.buffer, half)[self._matrix.index]

    def diagonal(self) -> Array:
        """``diag(P)``, the squared row norms of R⁻¹: O(n³) and n² of memory."""
        root = self._inverse_root()
        result: Array = np.einsum("ij,ij->i", root, root)[self._matrix.index]
        return result

    def square_diagonal(self, weights: Array) -> Array:
        """``diag(P diag(weights) P)`` from P, O(n³) and 2 n² of memory."""
        root = self._inverse_root()[self._matrix.index]
        P = root @ root.T
        result: Array = np.einsum("ij,ij,i->j", P, P, weights)
        return result

    # -- inside ---------------------------------------------------------------------------------

    def _inverse_root(self) -> Array:
        return invert_upper(np.triu(self._matrix.buffer))

    def _reserve(self, k: int) -> Array:
        """Return the k slots after the last occupied one."""
        start = int(self._matrix.slots.max(initial=-1)) + 1
        if start + k > self._matrix.capacity:
            self._resize(spare_capacity(self.n + k))
            start = self.n
        return np.arange(start, start + k)

    def _resize(self, capacity: int) -> None:
        self._matrix.resize(capacity)
        free = np.arange(self.n, capacity)
        self._matrix.buffer[free, free] = 1.0
