"""The live inverse: P = A⁻¹ explicitly, with deferred rank-one updates.

Appends and removals are symmetric low-rank updates of the whole buffer that move no data::

    append into slot j   u = P k,  c = k(x,x) + λ − kᵀu,  u_j = −1,  P ← P + u uᵀ / c
    remove slot i        p = P e_i,                                   P ← P − p pᵀ / p_i

For k samples at once, vectors become n×k blocks and c becomes the k×k Schur complement with its
Cholesky factor. Updates are deferred: ``P = P₀ + W S Wᵀ`` with signs S. When enough are pending,
one symmetric rank-k product adds them to P₀. A removal thus reads one column and makes no pass
over the matrix; an append makes one. A small P is updated at once: a pass over it is cheaper.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar

import numpy as np

from gramian.core.arrays import (
    Array,
    add_outer,
    clear_diagonal,
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
SMALL = 192
"""Slots up to which nothing is deferred."""
COMPACT = 1024
"""Slots up to which free ones are worth being cut off from a buffer that a window moves through."""
_EPS = {np.dtype(kind): float(np.finfo(kind).eps) for kind in "fdFD"}


def schur_threshold(diagonal: Any, n: int) -> float:
    """Schur complements below this are rounding error: ``4 √n eps`` of the largest diagonal."""
    largest = float(abs(diagonal) if diagonal.ndim == 0 else np.abs(diagonal).max(initial=0.0))
    return float(4.0 * max(n, 1) ** 0.5 * _EPS[diagonal.dtype] * largest)


def schur_cholesky(S: Array, corner: Array, n: int) -> Array:
    """Lower Cholesky factor of the Schur complement ``S = corner − crossᵀ P cross`` with n held.

    Raises
    ------
    NotPositiveDefiniteError
        Names the first new sample whose pivot is not above `schur_threshold`.
    """
    threshold = schur_threshold(corner.diagonal(), n)
    if S.size == 1 and S[0, 0] > threshold:
        return np.sqrt(S)
    L, info = small_cholesky(S)
    pivots = np.diagonal(L)[: info - 1 if info else None] ** 2
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
    _deferred: int

    def __init__(self, matrix: SlotMatrix, *, cholesky_done: bool = False) -> None:
        self._matrix = matrix
        self._invert(cholesky_done)

    # -- edits ----------------------------------------------------------------------------------

    def append(self, cross: Array, corner: Array) -> Array:
        """Add k samples: one pass over P for k = 1, level-3 products for more; see `Factor`."""
        slots = self._reserve(cross.shape[1])
        by_slot = self._matrix.scatter(cross)
        U, S = self._schur(by_slot, corner)
        L = self._schur_root(S, corner)
        U[slots] = -np.eye(len(slots))
        W = scale_by_cholesky(U, L)
        self._matrix.write(slots, by_slot, corner)
        self._defer(W, 1.0)
        return W[self._matrix.index]

    def append_one(self, cross: Array, own: float) -> Array:
        """Add one sample, given by vectors: `append` without the cost of blocks. Returns w."""
        if self._matrix.n == self._matrix.capacity:
            self._reserve(1)
        slot = int(self._matrix.used.argmin())
        by_slot = self._matrix.scatter(cross)
        u, schur = self._schur(by_slot, own)
        threshold = schur_threshold(own, self._matrix.n)
        if not schur > threshold:
            raise NotPositiveDefiniteError(0, float(schur), threshold, new=True)
        u[slot] = -1.0
        w: Array = u / schur**0.5
        self._matrix.write_one(slot, by_slot, own)
        self._defer(w, 1.0)
        return w[self._matrix.index]

    def remove(self, positions: Array) -> Array | None:
        """Remove k samples, O(n (pending + k)) without a pass over P; see `Factor`.

        If more than half of the samples are removed, the rest is factored again, which is cheaper.
        """
        n = len(self._matrix.slots)
        check_positions(positions, n)
        if len(positions) > n // 2:
            self._keep_without(positions)
            return None
        columns, slots = (
            self._slot_columns(self._matrix.slots[positions]),
            self._matrix.slots_at(positions),
        )
        W = scale_by_cholesky(columns, self._leaving_root(columns[slots], positions))
        return self._take_out(W, slots, positions)

    def remove_one(self, position: int) -> Array:
        """Remove one of several samples, given by vectors: `remove` without the cost of blocks."""
        slot = self._matrix.slots.item(position)
        column = self._slot_column(slot)
        own = column.item(slot)
        if not own > 0.0:
            raise NotPositiveDefiniteError(position, own, 0.0)
        return self._take_out(column / own**0.5, slice(slot, slot + 1), [position])

    def _take_out(self, W: Array, slots: Any, positions: Any) -> Array:
        """Remove the samples of these slots by the update W, and return it in order of arrival."""
        by_arrival = W[self._matrix.index]
        self._defer(W, -1.0)
        self._pending[slots] = 0.0
        self._diagonal[slots] = 0.0
        self._matrix.wipe(positions)
        if len(self._diagonal) > 2 * self._matrix.n:
            self._shrink()
        return by_arrival

    def rebuild(self) -> None:
        self._invert()

    def fold(self) -> None:
        """Add all pending updates to P₀ in one pass by symmetric rank-k products."""
        if self._deferred == 0:
            return
        W, signs = self._updates()
        for sign in (1.0, -1.0):
            self._add(W[:, signs == sign], sign)
        W[:] = 0.0
        self._deferred = 0

    # -- for `MovingSystem` ---------------------------------------------------------------------

    def make_room(self, capacity: int) -> None:
        """Have so many slots; a large buffer may have more."""
        if self._matrix.capacity < capacity or capacity < self._matrix.capacity <= COMPACT:
            self._resize(capacity)

    def lend(self) -> Array:
        """The buffer with P in its upper triangle, diagonal included, until `take_back`."""
        self.fold()
        buffer = self._matrix.buffer
        np.fill_diagonal(buffer, self._diagonal)
        return buffer

    def take_back(self, slots: Array) -> None:
        """Go on with the buffer after edits by the borrower, who left samples in these slots."""
        self._diagonal = self._matrix.buffer.diagonal().copy()
        clear_diagonal(self._matrix.buffer)
        self._matrix.hold(slots)

    # -- the inverse ----------------------------------------------------------------------------

    def apply_inverse(self, B: Array) -> Array:
        return self._product(self._matrix.scatter(B))[self._matrix.index]

    def columns(self, positions: Array) -> Array:
        rows = self._slot_columns(self._matrix.slots[positions]).T  # contiguous, before and after
        if np.array_equal(self._matrix.slots, np.arange(self.n)):  # nothing is out of order
            return rows[:, : self.n].T
        return rows[:, self._matrix.index].T

    def diagonal(self) -> Array:
        W, signs = self._updates()
        result: Array = (self._diagonal + np.square(W) @ signs)[self._matrix.index]
        return result

    def square_diagonal(self, weights: Array) -> Array:
        out = np.empty(self.n, dtype=self.dtype, like=self._diagonal)
        by_slot = self._matrix.scatter(weights)
        for block in row_blocks(self.n, self._matrix.capacity, self.dtype.itemsize):
            rows = self._slot_columns(self._matrix.slots[block]).T
            out[block] = np.square(rows) @ by_slot
        return out

    # -- inside ---------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, object]:
        """Fold first, so that the saved state contains no trace of a removed sample."""
        self.fold()
        return self.__dict__.copy()

    def _keep_without(self, positions: Array) -> None:
        """Factor the remaining samples in a new buffer, and use it once that has succeeded."""
        whole = self._matrix
        self._matrix = whole.without(positions)
        try:
            self.rebuild()
        except NotPositiveDefiniteError:
            self._matrix = whole
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
        self._diagonal = np.where(matrix.used, matrix.buffer.diagonal(), 0.0)
        clear_diagonal(matrix.buffer)
        self._make_room()

    def _reserve(self, k: int) -> Array:
        """Return k free slots; grow the buffer if it has fewer."""
        wanted = len(self._matrix.slots) + k
        if wanted > len(self._diagonal):
            self._resize(spare_capacity(wanted))
        return self._matrix.free_slots(k)

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
        self._make_room()

    def _make_room(self) -> None:
        """Make room for as many deferred updates as a matrix of this size is to have."""
        buffer, n = self._matrix.buffer, self._matrix.capacity
        on_device = not isinstance(buffer, np.ndarray)
        # Deferred updates keep digits that a resolvent of a tiny ridge needs, of any size.
        defers = n > SMALL or buffer.dtype.kind == "c"
        self._most = DEVICE_PENDING if on_device else PENDING if defers else 0
        self._pending = np.zeros((n, self._most), dtype=buffer.dtype, order="F", like=buffer)
        self._signs = np.empty(self._most, dtype=buffer.dtype)
        self._deferred = 0

    def _defer(self, W: Array, sign: float) -> None:
        """Add a pending update; fold if there is no room, and apply a wide W directly."""
        k = 1 if W.ndim == 1 else W.shape[1]
        if self._deferred + k > self._most:
            self.fold()
        if k > self._most:
            self._add(W, sign)
        else:
            new = slice(self._deferred, self._deferred + k)
            self._pending[:, new if W.ndim == 2 else self._deferred] = W
            self._signs[new] = sign
            self._deferred += k

    def _updates(self) -> tuple[Array, Array]:
        """The deferred updates W and their signs."""
        return self._pending[:, : self._deferred], self._signs[: self._deferred]

    def _add(self, W: Array, sign: float) -> None:
        """``P₀ += sign · W Wᵀ``, with the diagonal stored separately."""
        buffer = self._matrix.buffer
        add_outer(buffer, W, sign)
        self._diagonal += buffer.diagonal()
        clear_diagonal(buffer)

    def _schur(self, by_slot: Array, corner: Any) -> tuple[Array, Any]:
        """``U = P K`` and the Schur complement ``corner − KᵀU`` of new samples, by slot.

        P is refined if its drift could explain a complement as small as that.
        """
        U = self._product(by_slot)
        S = corner - by_slot.T @ U
        if _is_low(S, corner):
            cross = by_slot[self._matrix.index]
            refined, _ = self.solve(cross if cross.ndim == 2 else cross[:, None])
            U = self._matrix.scatter(refined.reshape(cross.shape))
            S = corner - by_slot.T @ U
        return U, S

    def _product(self, X: Array) -> Array:
        """``P @ X`` by slot, for columns or one vector."""
        product = symmetric_product(self._matrix.buffer, X)
        product += (X.T * self._diagonal).T
        if self._deferred:
            W, signs = self._updates()
            product += W @ (X.T @ W * signs).T
        return product

    def _slot_columns(self, slots: Array) -> Array:
        """Columns of P by slot, read from the upper triangle and the pending updates."""
        W, signs = self._updates()
        if not isinstance(W, np.ndarray):  # on a device
            buffer: Any = self._matrix.buffer
            return buffer.through("factor_columns", self._diagonal, W, signs, slots.tolist())
        rows = triangle_rows(self._matrix.buffer, slots)
        rows[np.arange(len(slots)), slots] += self._diagonal[slots]
        if self._deferred:
            rows += (W[slots] * signs) @ W.T
        return rows.T

    def _slot_column(self, j: int) -> Array:
        """One column of P by slot, in host memory."""
        buffer = self._matrix.buffer
        column: Array = buffer[:, j].copy()
        column[j:] = buffer[j, j:]
        column[j] = self._diagonal[j]
        if self._deferred:
            W, signs = self._updates()
            column += W.dot(signs * W[j])
        return column


def _is_low(S: Any, corner: Any) -> bool:
    """Whether a Schur complement is so small that the drift of P could explain it."""
    if S.ndim == 0:
        return bool(abs(S) < 10.0 * _EPS[S.dtype] ** 0.5 * abs(corner))
    level = 10.0 * _EPS[S.dtype] ** 0.5 * np.abs(corner.diagonal()).max(initial=0.0)
    return bool((np.abs(S.diagonal()) < level).any())
