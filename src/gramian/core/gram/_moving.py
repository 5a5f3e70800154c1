"""A system through which samples move: one comes, the oldest leaves, in one short step.

A window of a stream makes the same edit over and over. By slot, and with ``S = P B`` beside P, the
whole step is::

    u = P k,  c = k(x,x) + λ − kᵀu,  w = (u, −1 in the free slot j) / √c       P ← P + w wᵀ
    p = P e_i,  v = p / √p_i  for the slot i of the oldest                     P ← P − v vᵀ
    S ← S + w C − v E,    C = (kᵀS − b) / √c,    E = (S_i + w_i C) / √p_i

One product with P, two rank-one updates (deferred as `LiveInverse` does, if P is large), and O(n)
besides. C is ``wᵀB`` written by S, so that A's new row holds for S to the last bit: what P has lost
does not enter. Some samples are looked at once more as they leave: with the row a of the true A,
``aᵀS`` must be the row of B, and ``aᵀp`` 1. Where rounding does not explain the difference, and
every `CHECKED` steps, `LiveSystem` checks all rows as it does after other edits, and rebuilds P if
need be. It has the last word: what is not plain is refused here.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from scipy.linalg.blas import dger, dsymv, dsyr, dsyrk

from gramian.core.arrays import Array
from gramian.core.gram._inverse import SMALL, LiveInverse
from gramian.core.gram._system import LiveSystem

CHECKED = 512
"""Steps after which the system checks its solution, unless a sample that leaves calls for it."""
LOOKED = 8
"""Steps of which one looks at the row of A that leaves."""
DEFERRED = 8
"""Steps whose updates a large P collects."""
PLAIN = 1e5
"""Condition number up to which steps need no look at A in between; see `LiveSystem`."""


class MovingSystem:
    """The arrays of a `LiveSystem` by slot, while one sample comes and the oldest leaves.

    A ring of slots, one of them free, says which samples are held: those of the `n` slots from
    `start` on. ``start += 1`` is all that a step changes of it. Until `settle`, the system must not
    be used. `whole` is False while a step changes P; one that was interrupted leaves it so.

    Parameters
    ----------
    system : LiveSystem
        One that `moves`.
    """

    def __init__(self, system: LiveSystem) -> None:
        self.system = system
        self.whole, self.start, self._since, self._suspect = True, 0, 0, False
        system.solution()
        inverse = self._inverse()
        inverse.make_free()
        matrix = inverse.matrix
        self.n, self.own = matrix.n, float(matrix.diagonal[matrix.slots[0]])
        self.ring = [*matrix.slots.tolist(), int(matrix.used.argmin())]
        self._least, self._row = self.own / PLAIN, np.empty(matrix.capacity)
        self._deferred = DEFERRED if matrix.capacity > SMALL else 0
        self._W = np.zeros((matrix.capacity, 2 * self._deferred), order="F")
        self._signs, self._pending = np.repeat([1.0, -1.0], self._deferred), 0
        self._take()

    @staticmethod
    def moves(system: LiveSystem) -> bool:
        """Whether a system has a well-conditioned P in host memory, and k(x, x) are all equal."""
        inverse = system.factor
        if type(inverse) is not LiveInverse or not isinstance(inverse.matrix.buffer, np.ndarray):
            return False
        plain = inverse.dtype == np.float64 and inverse.n > 1 and system.condition <= PLAIN
        return plain and bool(np.ptp(inverse.matrix_diagonal()) == 0.0)

    @property
    def slots(self) -> Array:
        """Slots of the held samples, in order of arrival."""
        places = (self.start + np.arange(self.n)) % len(self.ring)
        return np.array(self.ring)[places]

    def places(self) -> tuple[int, int]:
        """The slot of the oldest sample, and the free slot, which the next one takes."""
        ring, start = self.ring, self.start % (self.n + 1)
        return ring[start], ring[start - 1]

    def step(self, k: Array, kS: Array, b: Any) -> bool:
        """Let a sample into the free slot and the oldest out, or refuse; `start` is the caller's.

        ``k`` are the kernel values by slot, 0 in free ones, ``kS = kᵀS``, and ``b`` the row of B.
        A refusal, where a Schur complement is small, has changed nothing.
        """
        (i, j), W = self.places(), self._W
        w = dsymv(1.0, self.P, k)
        if self._pending:
            w += W @ (self._signs * (k @ W))
        c = self.own - float(k.dot(w))
        if not c > self._least:
            return False
        root = sqrt(c)
        w *= 1.0 / root
        w[j] = -1.0 / root
        v, met = self._column(i), w.item(i)
        v += met * w
        own = v.item(i)
        if not own > 0.0:
            return False
        if self.start % LOOKED == 0:
            self._look(i, j, k, v)
        v *= 1.0 / sqrt(own)
        C, S = (kS - b) / root, self.S
        E = (S[i] + met * C) / sqrt(own)
        self.whole = False
        self._add(w, v)
        dger(1.0, w, C, a=S, overwrite_a=1)
        dger(-1.0, v, E, a=S, overwrite_a=1)
        self._write(i, j, k, b)
        self._since += 1
        return True

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
        self._inverse().take_back(slots, self.own)
        self.system.moved(self.B[slots], self.S[slots], 2 * self._since)
        self._since, self._suspect = 0, False

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
        self.P = inverse.lend()

    def _look(self, i: int, j: int, k: Array, p: Array) -> None:
        """Look at S, and at the column p of P, with the row of A that leaves; j has come."""
        row, P = self._row, self.P
        row[:i], row[i:], row[i] = P[i, :i], P[i:, i], self.own
        residual = self.B[i] - row @ self.S
        row[j] = k[i]
        off = float(row.dot(p)) - 1.0
        if not self.system.looks_good(off, residual):
            self._suspect = True

    def _column(self, i: int) -> Array:
        """Column i of P."""
        column: Array
        if self._pending:
            column = self._W @ (self._signs * self._W[i])
            column[:i] += self.P[:i, i]
            column[i:] += self.P[i, i:]
            return column
        column = self.P[i].copy()
        column[:i] = self.P[:i, i]
        return column

    def _add(self, w: Array, v: Array) -> None:
        """``P += w wᵀ − v vᵀ``, later if P is large."""
        if self._deferred == 0:
            dsyr(1.0, w, a=self.P, overwrite_a=1)
            dsyr(-1.0, v, a=self.P, overwrite_a=1)
            return
        if self._pending == self._deferred:
            self._fold()
        self._W[:, self._pending] = w
        self._W[:, self._deferred + self._pending] = v
        self._pending += 1

    def _fold(self) -> None:
        """Add the deferred updates to P."""
        if self._pending:
            dsyrk(1.0, self._W[:, : self._deferred], beta=1.0, c=self.P, overwrite_c=1)
            dsyrk(-1.0, self._W[:, self._deferred :], beta=1.0, c=self.P, overwrite_c=1)
            self._W[:] = 0.0
            self._pending = 0

    def _write(self, i: int, j: int, k: Array, b: Any) -> None:
        """Write the row of A and of B for slot j, and wipe all that slot i has."""
        P = self.P
        P[j, :j] = k[:j]
        P[j + 1 :, j] = k[j + 1 :]
        P[i] = 0.0
        P[:, i] = 0.0
        self.B[j] = b
        self._both[i] = 0.0
        if self._pending:
            self._W[i] = 0.0
