"""A symmetric matrix to which samples are added and removed without moving any data.

One square buffer holds two symmetric matrices of the same samples::

    upper triangle           a factor of A: its inverse P, or R with A = RᵀR
    strict lower triangle    A itself, as the kernel returned it; its diagonal is separate

Hence a residual against the *true* system costs half a memory pass, a factor can be rebuilt
without evaluating the kernel, and both matrices together take n² numbers.

A sample occupies a **slot**, a row and column of the buffer. Only this layer uses slots:
``slots[i]`` is the slot of the i-th sample in order of arrival, which is the order that all other
layers see. In a free slot A has a zero row and column.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from gramian.core.arrays import (
    Array,
    clear_slot,
    row_blocks,
    symmetric_product,
    triangle_rows,
    without_rows,
)
from gramian.core.gram._memory import require_memory

RowBlock = Callable[[slice, slice], Array]


SMALL = 256
"""Up to this many samples, the free memory is not checked."""


def spare_capacity(n: int) -> int:
    """Number of slots for n samples: n and a sixteenth more, at most 2,048.

    Growing copies n² numbers every so many appends: 16 n per append, or n² / 2,048, little against
    the n² / 2 of an append. Old and new buffer together stay below 2.2 n², where doubling would
    take 5 n².
    """
    return n + max(8, min(n // 16, 2048))


class SlotMatrix:
    """The buffer, the diagonal of A, and the slots of the samples in order of arrival.

    `slots` is in host memory, and `index` is the same where the buffer is. `used` says which slots
    hold a sample.

    Parameters
    ----------
    diagonal : ndarray of shape (n,)
        Diagonal of A, including the ridge.
    row_block : callable
        ``row_block(rows, columns)`` returns that block of A; its diagonal entries are ignored.
        Only blocks on the diagonal and to the right of it are requested.
    single : bool
        Whether the buffer is in single precision; otherwise it is as precise as the diagonal.
    """

    buffer: Array
    diagonal: Array
    slots: Array
    index: Array
    active: Array

    def __init__(self, diagonal: Array, row_block: RowBlock, single: bool = False) -> None:
        n, dtype = len(diagonal), np.dtype(np.float32) if single else diagonal.dtype
        capacity = spare_capacity(n)
        if n > SMALL:
            size = capacity**2 * dtype.itemsize
            require_memory(size, f"Holding the Gram matrix of {n} samples", diagonal)
        self.buffer = np.zeros((capacity, capacity), dtype=dtype, order="F", like=diagonal)
        self.diagonal = np.zeros(capacity, dtype=diagonal.dtype, like=diagonal)
        self.diagonal[:n] = diagonal
        self.slots = np.arange(n)
        self.used = np.arange(capacity) < n
        self.index = self.slots if isinstance(self.buffer, np.ndarray) else self._on_device()
        for rows in row_blocks(n, n, dtype.itemsize, square=True, like=diagonal):
            below = slice(rows.start, n)
            self.buffer[below, rows] = row_block(rows, below).T

    @property
    def n(self) -> int:
        return len(self.slots)

    @property
    def capacity(self) -> int:
        return len(self.diagonal)

    def free_slots(self, k: int) -> Array:
        """The first k free slots."""
        return np.flatnonzero(~self.used)[:k]

    def scatter(self, X: Array) -> Array:
        """Reorder rows, or numbers, from order of arrival to slots, with zeros in free slots."""
        if len(X) != len(self.slots):
            raise ValueError(
                f"the block must have {len(self.slots)} rows, one per sample, got {len(X)}."
            )
        shape = (len(self.diagonal), *X.shape[1:])
        out = np.zeros(shape, dtype=self.buffer.dtype, order="F", like=self.buffer)
        out[self.index] = X
        return out

    # -- the true matrix ------------------------------------------------------------------------

    def multiply(self, X: Array) -> Array:
        """``A @ X`` in order of arrival: half a memory pass."""
        Z = self.scatter(X)
        product = symmetric_product(self.buffer, Z, lower=True)
        # The diagonal of the buffer belongs to the factor: subtract it and add that of A.
        product += (self.diagonal - self.buffer.diagonal())[:, None] * Z
        return product[self.index]

    def rows(self, positions: Array) -> Array:
        """Rows of A in order of arrival, O(n) each."""
        slots = self.slots[positions]
        found = triangle_rows(self.buffer, slots, lower=True)
        found[np.arange(len(slots)), slots] = self.diagonal[slots]
        return found[:, self.index]

    def row(self, position: int) -> Array:
        """One row of A in order of arrival, in host memory."""
        j, found = self.slots[position], np.empty(len(self.diagonal), dtype=self.buffer.dtype)
        found[:j], found[j:], found[j] = self.buffer[j, :j], self.buffer[j:, j], self.diagonal[j]
        return found[self.index]

    def norm(self) -> float:
        """``‖A‖₁``, the largest absolute row sum: one pass."""
        sums, n = np.abs(self.diagonal), len(self.diagonal)
        for block in row_blocks(n, n, self.buffer.itemsize, square=True, like=self.buffer):
            lower = np.abs(self.buffer[block.start :, block])
            square = lower[: block.stop - block.start]
            square[:] = np.tril(square, -1)
            sums[block.start :] += lower.sum(axis=1)
            sums[block] += lower.sum(axis=0)
        return float(sums.max(initial=0.0))

    # -- edits of the true matrix ---------------------------------------------------------------

    def write(self, slots: Array, columns: Array, corner: Array) -> None:
        """Write samples into free slots.

        ``columns`` are those of A by slot, as `scatter` returns them; overwritten. ``corner`` is
        A[new, new].
        """
        columns[slots] = corner
        for j, column, own in zip(slots.tolist(), columns.T, corner.diagonal(), strict=True):
            self._write_column(j, column, own)
        self._take(slots)

    def write_one(self, slot: int, column: Array, own: float) -> None:
        """Write one sample into a free slot, as `write` does."""
        self._write_column(slot, column, own)
        self._take([slot])

    def _write_column(self, j: int, column: Array, own: Any) -> None:
        self.buffer[j, :j] = column[:j]
        self.buffer[j + 1 :, j] = column[j + 1 :]
        self.diagonal[j] = own
        self.used[j] = True

    def _take(self, slots: Any) -> None:
        """Give the slots to new samples."""
        self.slots = np.concatenate([self.slots, slots])
        on_host = isinstance(self.buffer, np.ndarray)
        self.index = self.slots if on_host else np.concatenate([self.index, slots])

    def hold(self, slots: Array) -> None:
        """Hold the samples that were written into these slots, in host memory."""
        self.slots = self.index = slots
        self.used = np.zeros(len(self.diagonal), dtype=bool)
        self.used[slots] = True

    def wipe(self, positions: Array) -> None:
        """Set all numbers of these samples to zero in both triangles and free their slots."""
        slots = self.slots_at(positions)
        for slot in self.slots[positions].tolist():
            clear_slot(self.buffer, slot)
        self.diagonal[slots] = 0.0
        self.used[slots] = False
        self.slots = without_rows(self.slots, positions)
        on_host = isinstance(self.buffer, np.ndarray)
        self.index = self.slots if on_host else without_rows(self.index, positions)

    def slots_at(self, positions: Array) -> Any:
        """The slots at these positions; a slice for one, so that nothing goes to a device."""
        slots = self.slots[positions]
        return slice(slots[0], slots[0] + 1) if len(slots) == 1 else slots

    def without(self, positions: Array) -> SlotMatrix:
        """Return the matrix without these samples, in its own buffer."""
        rest = copy(self)
        rest.slots = np.delete(self.slots, positions)
        rest.resize(spare_capacity(rest.n))
        return rest

    def copy_to_upper(self) -> None:
        """Overwrite the upper triangle with A, with 1 on the diagonal of free slots.

        `active` is then what must be factored: the buffer, or on a device, where a view can be
        changed in place, the part of it up to the last slot.
        """
        n = len(self.diagonal)
        for block in row_blocks(n, n, self.buffer.itemsize, square=True, like=self.buffer):
            start, stop = block.start, block.stop
            self.buffer[start:stop, stop:] = self.buffer[stop:, start:stop].T
            square = np.tril(self.buffer[block, block], -1)
            self.buffer[block, block] = square + square.T
        np.fill_diagonal(self.buffer, np.where(self.used, self.diagonal, 1.0))
        used = int(self.slots.max(initial=-1)) + 1
        on_host = isinstance(self.buffer, np.ndarray)
        self.active = self.buffer if on_host else self.buffer[:used, :used]

    def resize(self, capacity: int) -> None:
        """Move to a buffer of another size and compact the slots in their present order.

        Keeping the order of the slots keeps each triangle a triangle. Old and new buffer exist at
        the same time; nothing has changed if the allocation fails.
        """
        if capacity > len(self.diagonal):  # a removal shrinks, and must not fail half-way
            size = capacity**2 * self.buffer.itemsize
            require_memory(size, f"Growing the Gram matrix to {capacity} slots", self.buffer)
        used, n = np.sort(self.slots), len(self.slots)
        dtype, like = self.buffer.dtype, self.buffer
        buffer = np.zeros((capacity, capacity), dtype=dtype, order="F", like=like)
        diagonal = np.zeros(capacity, dtype=self.diagonal.dtype, like=like)
        if n and used[-1] == n - 1:
            buffer[:n, :n] = self.buffer[:n, :n]
        else:
            for new, old in enumerate(used):
                buffer[:n, new] = self.buffer[used, old]
        diagonal[:n] = self.diagonal[used]
        self.slots, self.used = np.searchsorted(used, self.slots), np.arange(capacity) < n
        self.buffer, self.diagonal = buffer, diagonal
        self.index = self.slots if isinstance(buffer, np.ndarray) else self._on_device()

    def _on_device(self) -> Array:  # on a device
        """The slots on the device of the buffer."""
        return np.asarray(self.slots, dtype=int, like=self.buffer)
