"""The live inverse: P = A⁻¹ explicitly, with deferred rank-one updates.

Appends and removals are symmetric low-rank updates of the whole buffer that move no data::

    append into slot j   u = P k,  c = k(x,x) + λ − kᵀu,  u_j = −1,  P ← P + u uᵀ / c
    remove slot i        p = P e_i,                                   P ← P − p pᵀ / p_i

For k samples at once, vectors become n×k blocks and c becomes the k×k Schur complement with its
Cholesky factor. Updates are deferred: ``P = P₀ + W S Wᵀ`` with signs S. When enough are pending,
one symmetric rank-k product adds them to P₀. A removal thus reads one column and makes no pass
over the matrix; an append makes one.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar

import numpy as np

from gramian.core.arrays import (
    Array,
    add_outer,
    invert_cholesky,
    row_blocks,
    scale_by_cholesky,
    small_cholesky,
    symmetric_product,
    triangle_rows,
)
from gramian.core.gram._errors import NotPositiveDefiniteError
from gramian.core.gram._factor import SlotFactor, check_positions
from gramian.core.gram._slots import SlotMatrix, spare_capacity

PENDING, DEVICE_PENDING = 32, 128


def schur_threshold(diagonal: Array, n: int) -> float:
    """Schur complements below this are rounding error: ``4 √n eps`` of the largest diagonal."""
    largest = float(np.abs(diagonal).max(initial=0.0))
    return float(4.0 * max(n, 1) ** 0.5 * float(np.finfo(diagonal.dtype).eps) * largest)


def schur_cholesky(S: Array, corner: Array, n: int) -> Array:
    """Lower Cholesky factor of the Schur complement ``S = corner − crossᵀ P cross`` with n held.

    Raises
    ------
    NotPositiveDefiniteError
        Names the first new sample whose pivot is not above `schur_threshold`.
    """
    L, info = small_cholesky(S)
    pivots = np.diagonal(L)[: info - 1 if info else None] ** 2
    threshold = schur_threshold(np.diagonal(corner), n)
    above = pivots > threshold  # a NaN counts as low
    if not above.all():
        low = np.flatnonzero(~above)
        raise NotPositiveDefiniteError(int(low[0]), float(pivots[low[0]]), threshold, new=True)
    if info:
        # LAPACK leaves the offending pivot in place of its square root.
        raise NotPositiveDefiniteError(info - 1, float(L[info - 1, info - 1]), threshold, new=True)
    return L


class LiveInverse(SlotFactor):
    """P in the upper triangle of a `SlotMatrix`; a free slot is a zero row and column.

    The diagonal of P is stored separately and that of the buffer is zero, so products with A, below
    it, need not subtract numbers as large as 1/λ. Reading changes nothing.

    Memory: (17/16 n)² numbers, and ``PENDING`` vectors. Peak while growing: 2.2 n².
    """

    name: ClassVar[str] = "inverse"
    _pending: Any
    _signs: Any

    def __init__(self, matrix: SlotMatrix, *, cholesky_done: bool = False) -> None:
        self._take(matrix)
        self._invert(cholesky_done)

    # -- edits ----------------------------------------------------------------------------------

    def append(self, cross: Array, corner: Array) -> Array:
        """Add k samples: one pass over P for k = 1, level-3 products for more; see `Factor`."""
        slots = self._reserve(cross.shape[1])
        by_slot = self._matrix.scatter(cross)
        U = self._product(by_slot)
        S = corner - by_slot.T @ U
        level = 10.0 * np.sqrt(np.finfo(S.dtype).eps) * np.abs(np.diagonal(corner)).max(initial=0.0)
        if (np.abs(np.diagonal(S)) < level).any():  # so small that the drift of P could explain it
            U = self._matrix.scatter(self.solve(cross)[0])
            S = corner - by_slot.T @ U
        L = self._schur_root(S, corner)
        U[slots] = -np.eye(len(slots))
        W = scale_by_cholesky(U, L)
        self._matrix.write(slots, cross, corner)
        self._defer(W, 1.0)
        return W[self._matrix.index]

    def remove(self, positions: Array) -> Array | None:
        """Remove k samples, O(n (pending + k)) without a pass over P; see `Factor`.

        If more than half of the samples are removed, the rest is factored again, which is cheaper.
        """
        n = len(self._matrix.slots)
        check_positions(positions, n)
        if len(positions) > n // 2:
            self._keep_without(positions)
            return None
        slots: Any = self._matrix.slots[positions]
        columns = self._slot_columns(slots)
        if len(slots) == 1:  # a slice, which no device has to be told of
            slots = slice(slots[0], slots[0] + 1)
        W = scale_by_cholesky(columns, self._leaving_root(columns[slots], positions))
        by_arrival = W[self._matrix.index]
        self._defer(W, -1.0)
        self._pending[slots] = 0.0
        self._diagonal[slots] = 0.0
        self._matrix.wipe(positions)
        if len(self._diagonal) > 2 * (n - len(positions)):
            self._shrink()
        return by_arrival

    def rebuild(self) -> None:
        self._invert()

    def fold(self) -> None:
        """Add all pending updates to P₀ in one pass by symmetric rank-k products."""
        W, signs = self._pending[:, : len(self._signs)], self._signs.real
        for sign in (1.0, -1.0):
            self._add(W[:, signs == sign], sign)
        W[:] = 0.0
        self._signs = self._signs[:0]

    # -- the inverse ----------------------------------------------------------------------------

    def apply_inverse(self, B: Array) -> Array:
        return self._product(self._matrix.scatter(B))[self._matrix.index]

    def columns(self, positions: Array) -> Array:
        return self._slot_columns(self._matrix.slots[positions])[self._matrix.index]

    def diagonal(self) -> Array:
        W, signs = self._pending[:, : len(self._signs)], self._signs
        result: Array = (self._diagonal + np.square(W) @ signs)[self._matrix.index]
        return result

    def square_diagonal(self, weights: Array) -> Array:
        out = np.empty(self.n, dtype=self.dtype, like=self._diagonal)
        for block in row_blocks(self.n, self._matrix.capacity, self.dtype.itemsize):
            columns = self._slot_columns(self._matrix.slots[block])[self._matrix.index]
            out[block] = np.einsum("ij,ij,i->j", columns, columns, weights)
        return out

    # -- inside ---------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, object]:
        """Fold first, so that the saved state contains no trace of a removed sample."""
        self.fold()
        return self.__dict__.copy()

    def _keep_without(self, positions: Array) -> None:
        """Factor the remaining samples in a new buffer, and use it once that has succeeded."""
        whole = self._matrix
        self._take(whole.without(positions))
        try:
            self.rebuild()
        except NotPositiveDefiniteError:
            self._take(whole)
            raise

    def _schur_root(self, S: Array, corner: Array) -> Array:
        """Lower L such that ``L Lᵀ`` is the Schur complement S of new samples."""
        return schur_cholesky(S, corner, len(self._matrix.slots))

    def _leaving_root(self, block: Array, positions: Array) -> Array:
        """Lower L such that ``L Lᵀ`` is the block of P for the removed samples."""
        L, info = small_cholesky(block)
        if info:
            raise NotPositiveDefiniteError(
                int(positions[info - 1]), float(L[info - 1, info - 1]), 0.0
            )
        return L

    def _invert_upper(self, cholesky_done: bool) -> None:
        """Write P into the upper triangle, which may already hold the Cholesky factor."""
        if not cholesky_done:
            self._cholesky()
        invert_cholesky(self._matrix.active)

    def _invert(self, cholesky_done: bool = False) -> None:
        matrix = self._matrix
        self._invert_upper(cholesky_done)
        self._diagonal = np.where(matrix.occupied(), matrix.buffer.diagonal(), 0.0)
        np.fill_diagonal(matrix.buffer, 0.0)
        dtype = matrix.buffer.dtype
        self._most = DEVICE_PENDING if hasattr(matrix.buffer, "tensor") else PENDING
        shape = (len(matrix.diagonal), self._most)
        self._pending = np.zeros(shape, dtype=dtype, order="F", like=matrix.buffer)
        self._signs = np.empty(0, dtype=dtype)

    def _reserve(self, k: int) -> Array:
        """Return k free slots; grow the buffer if it has fewer."""
        wanted = len(self._matrix.slots) + k
        if wanted > len(self._diagonal):
            self._resize(spare_capacity(wanted))
        return np.flatnonzero(~self._matrix.occupied())[:k]

    def _shrink(self) -> None:
        """Move to a buffer of half the size or less; keep the old one if both do not fit."""
        capacity = spare_capacity(len(self._matrix.slots))
        if len(self._diagonal) > 2 * capacity:
            with suppress(MemoryError):
                self._resize(capacity)

    def _resize(self, capacity: int) -> None:
        self.fold()
        diagonal = self._diagonal[self._matrix.index]
        self._matrix.resize(capacity)
        self._diagonal = self._matrix.scatter(diagonal[:, None])[:, 0]
        shape, like = (capacity, self._most), self._diagonal
        self._pending = np.zeros(shape, dtype=self._matrix.buffer.dtype, order="F", like=like)

    def _defer(self, W: Array, sign: float) -> None:
        """Add a pending update; fold if there is no room, and apply a wide W directly."""
        k = W.shape[1]
        if len(self._signs) + k > self._most:
            self.fold()
        if k > self._most:
            self._add(W, sign)
        else:
            holdings = len(self._signs)
            self._pending[:, holdings : holdings + k] = W
            self._signs = np.concatenate([self._signs, np.full(k, sign, self._signs.dtype)])

    def _add(self, W: Array, sign: float) -> None:
        """``P₀ += sign · W Wᵀ``, with the diagonal stored separately."""
        buffer = self._matrix.buffer
        add_outer(buffer, W, sign)
        self._diagonal += buffer.diagonal()
        np.fill_diagonal(buffer, 0.0)

    def _product(self, X: Array) -> Array:
        """``P @ X`` by slot."""
        W, signs = self._pending[:, : len(self._signs)], self._signs
        product = symmetric_product(self._matrix.buffer, X)
        product += self._diagonal[:, None] * X
        product += W @ (signs[:, None] * (W.T @ X))
        return product

    def _slot_columns(self, slots: Array) -> Array:
        """Columns of P by slot, read from the upper triangle and the pending updates."""
        W, signs = self._pending[:, : len(self._signs)], self._signs
        if not isinstance(W, np.ndarray):  # on a device
            buffer: Any = self._matrix.buffer
            columns: Array = buffer.through(
                "factor_columns", self._diagonal, W, signs, slots.tolist()
            )
            return columns
        out: Array = W @ (signs[:, None] * W[slots].T)
        out += triangle_rows(self._matrix.buffer, slots).T
        out[slots, np.arange(len(slots))] += self._diagonal[slots]
        return out
