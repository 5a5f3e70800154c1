"""A system through which samples move: one comes and, if the window is full, the oldest leaves.

A window of a stream makes the same edit over and over. By slot, and with ``S = P B`` kept as P is,
the whole step is::

    u = P k,  c = k(x,x) + λ − kᵀu,  u_j = −1 in the free slot j      P ← P + u uᵀ / c
    S ← S + u (kᵀS − b) / c
    p = P e_i  for the slot i of the oldest                           P ← P − p pᵀ / p_i
    S ← S − p S_i / p_i

One product with P, two rank-one updates (deferred as `LiveInverse` does, if P is large), and O(n)
besides. ``b − kᵀS`` is ``−uᵀB`` written by S, so that A's new row holds for S to the last bit: what
P has lost does not enter. Some samples are looked at once more as they leave: with the row a of the
true A, ``aᵀS`` must be the row of B, and ``aᵀp`` 1. Where rounding does not explain the difference,
and every `CHECKED` steps, `LiveSystem` checks all rows as it does after other edits, and rebuilds P
if need be. A step with a small Schur complement is refused, and left to an edit of `LiveSystem`.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.linalg.blas import daxpy, dger, dsymv, dsyr, dsyrk

from gramian.core.arrays import Array
from gramian.core.gram._inverse import COMPACT, SMALL, LiveInverse
from gramian.core.gram._slots import spare_capacity
from gramian.core.gram._system import LiveSystem

CHECKED = 512
"""Steps after which the system checks its solution, unless a sample that leaves calls for it."""
LOOKED = 8
"""Steps of which one looks at the row of A that leaves."""
DEFERRED = 8
"""Steps whose updates a large P collects."""
PLAIN = 1e5
"""Condition number up to which steps need no look at A in between; see `LiveSystem`."""
EVEN = 1e3
"""Ratio of the largest A_ii to the smallest up to which no sample dominates the others."""


class MovingSystem:
    """The arrays of a `LiveSystem` by slot, while samples come and the oldest leave, one by one.

    The slots are a ring. `span` says which of them hold a sample: so many have left and so many
    have come, those of the start included, each in the slot that is next. One assignment to it is
    all that a step changes of it. Until `settle`, the system must not be used. `whole` is False
    while a step changes P; one that was interrupted leaves it so.

    Parameters
    ----------
    system : LiveSystem
        One that `moves`.
    most : float
        Samples that it is to hold at most; infinite if none is to leave. Room for a few is made at
        once, for more as an edit does.
    """

    def __init__(self, system: LiveSystem, most: float) -> None:
        self.system = system
        self.whole, self._since, self._suspect = True, 0, False
        system.solution()
        inverse = self._inverse()
        n = inverse.n
        few = max(min(5 * n // 4, COMPACT), SMALL)  # growing costs more than memory does here
        inverse.make_room(int(min(most + 1, max(spare_capacity(n), few))))
        matrix = inverse.matrix
        self.ring = [*matrix.slots.tolist(), *matrix.free_slots(matrix.capacity).tolist()]
        self.span, self._settled = (0, matrix.n), matrix.n
        self._row = np.empty(matrix.capacity)
        self._deferred = DEFERRED if matrix.capacity > SMALL else 0
        self._W = np.zeros((matrix.capacity, 2 * self._deferred), order="F")
        self._signs, self._pending = np.repeat([1.0, -1.0], self._deferred), 0
        self._take()

    @staticmethod
    def moves(system: LiveSystem) -> bool:
        """Whether a system has a well-conditioned P in host memory, and A_ii of like size."""
        inverse = system.factor
        if type(inverse) is not LiveInverse or not isinstance(inverse.matrix.buffer, np.ndarray):
            return False
        plain = inverse.dtype == np.float64 and inverse.n > 1 and system.condition <= PLAIN
        diagonal = inverse.matrix_diagonal()
        return plain and bool(diagonal.max() <= EVEN * diagonal.min())

    @property
    def n(self) -> int:
        """Number of samples held."""
        gone, come = self.span
        return come - gone

    @property
    def slots(self) -> Array:
        """Slots of the held samples, in order of arrival."""
        return np.array(self.ring)[np.arange(*self.span) % len(self.ring)]

    def places(self) -> tuple[int, int]:
        """The slot of the oldest sample and that of the next; they are one if none is free."""
        ring, (gone, come) = self.ring, self.span
        return ring[gone % len(ring)], ring[come % len(ring)]

    def step(self, i: int | None, j: int, k: Array, kS: Array, b: Array, own: float) -> bool:
        """Let a sample into the free slot j and the one of slot i out, if any; or refuse.

        What follows is the caller's: to note it in `span`, and to `wipe` slot i. A refusal, where a
        Schur complement is small, has changed nothing.

        Parameters
        ----------
        k, kS : ndarray
            The kernel values by slot, 0 in free ones, and ``kᵀS``.
        b : ndarray
            The new row of B.
        own : float
            ``k(x, x) + λ``.
        """
        S = self.S
        u = dsymv(1.0, self.P, k)
        if self._pending:
            u += self._W.dot(self._signs * k.dot(self._W))
        c = own - float(k.dot(u))
        if not c > self._least:
            return False
        u[j] = -1.0
        p, left = None, 0.0
        if i is not None:
            p = daxpy(u, self._column(i), a=u.item(i) / c)
            left = p.item(i)
            if not left > 0.0:
                return False
            if self._since % LOOKED == 0:
                self._look(i, j, k, p)
        self.whole = False
        dger(1.0 / c, u, kS - b, a=S, overwrite_a=1)
        self._add(u, c, p, left)
        self._write(j, k, b, own)
        if i is not None:
            dger(-1.0 / left, p, S[i].copy(), a=S, overwrite_a=1)
        self._since += 1
        return True

    def wipe(self, i: int) -> None:
        """Wipe all that slot i has, whose sample has left."""
        self.P[i] = 0.0
        self.P[:, i] = 0.0
        self._diagonal[i] = 0.0
        self._both[i] = 0.0
        if self._pending:
            self._W[i] = 0.0

    @property
    def due(self) -> bool:
        """Whether a `check` is due."""
        return self._suspect or self._since >= CHECKED

    def check(self) -> bool:
        """Let the system check and refine the solution; whether steps may go on."""
        self.settle()
        self.system.solution()
        if not self.moves(self.system):
            return False
        self._take()
        self.whole = True
        return True

    def settle(self) -> None:
        """Give the arrays back to the system, which holds the present samples from here on.

        `whole` is False from here on: what was given back is not to be given again.
        """
        self.whole = False
        self._fold()
        slots = self.slots
        self._inverse().take_back(slots)
        self.system.moved(self.B[slots], self.S[slots], sum(self.span) - self._settled)
        self._settled, self._since, self._suspect = sum(self.span), 0, False

    # -- inside ---------------------------------------------------------------------------------

    def _inverse(self) -> LiveInverse:
        assert isinstance(self.system.factor, LiveInverse)
        return self.system.factor

    def _take(self) -> None:
        """Take over the arrays of the system, whose solution is checked."""
        inverse, t = self._inverse(), self.system.B.shape[1]
        both = np.concatenate([self.system.B, self.system.solution()], axis=1)
        self._both = inverse.matrix.scatter(both)
        self.B, self.S = self._both[:, :t], self._both[:, t:]
        self.held = self.B[:, 0]  # the column of ones: 0 in free slots
        self._least = inverse.largest() / PLAIN
        self.P, self._diagonal = inverse.lend(), inverse.matrix.diagonal

    def _look(self, i: int, j: int, k: Array, p: Array) -> None:
        """Look at S, and at the column p of P, with the row of A that leaves; j has come."""
        row, P = self._row, self.P
        row[:i], row[i:], row[i] = P[i, :i], P[i:, i], self._diagonal[i]
        residual = self.B[i] - row.dot(self.S)
        row[j] = k[i]
        off = float(row.dot(p)) - 1.0
        if not self.system.looks_good(off, residual):
            self._suspect = True

    def _column(self, i: int) -> Array:
        """Column i of P."""
        column: Array
        if self._pending:
            column = self._W.dot(self._signs * self._W[i])
            column[:i] += self.P[:i, i]
            column[i:] += self.P[i, i:]
            return column
        column = self.P[:, i].copy()
        column[i:] = self.P[i, i:]
        return column

    def _add(self, u: Array, c: float, p: Array | None, left: float) -> None:
        """``P += u uᵀ / c − p pᵀ / left``, later if P is large."""
        if self._deferred == 0:
            dsyr(1.0 / c, u, a=self.P, overwrite_a=1)
            if p is not None:
                dsyr(-1.0 / left, p, a=self.P, overwrite_a=1)
            return
        if self._pending == self._deferred:
            self._fold()
        np.multiply(u, 1.0 / sqrt(c), out=self._W[:, self._pending])
        if p is not None:
            np.multiply(p, 1.0 / sqrt(left), out=self._W[:, self._deferred + self._pending])
        self._pending += 1

    def _fold(self) -> None:
        """Add the deferred updates to P."""
        if self._pending:
            dsyrk(1.0, self._W[:, : self._deferred], beta=1.0, c=self.P, overwrite_c=1)
            dsyrk(-1.0, self._W[:, self._deferred :], beta=1.0, c=self.P, overwrite_c=1)
            self._W[:] = 0.0
            self._pending = 0

    def _write(self, j: int, k: Array, b: Array, own: float) -> None:
        """Write the row of A and of B for slot j."""
        P = self.P
        P[j, :j] = k[:j]
        P[j + 1 :, j] = k[j + 1 :]
        self._diagonal[j] = own
        self.B[j] = b
