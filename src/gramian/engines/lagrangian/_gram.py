"""A = K + λD as the n×n matrix, and least squares on a part of its samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from gramian.arrays import Array
from gramian.engines._gram import GramPlan, check_semidefinite
from gramian.engines._holdings import Holdings
from gramian.gram import (
    LiveSystem,
    NotPositiveDefiniteError,
    Refactorization,
    RowBlock,
    SlotMatrix,
    factorize,
    spare_capacity,
)
from gramian.kernels import Precomputed
from gramian.machines import Solved, Tableau, slack_tolerance

Inverse = Callable[[Array], Array]

# Up to so many samples, the search for the support starts from all of them.
_FEW = 400


class GramSpace:
    """``A = K + diag(λ_i)`` in one triangle of a `SlotMatrix`: n² numbers, no factor of the whole.

    Parameters
    ----------
    plan : GramPlan
        Gives the kernel, and the factor that supports are held in.
    held : Holdings
    ridges : ndarray of shape (n,)
        λ_i.

    Attributes
    ----------
    events : list of Refactorization
        What was rebuilt on this space.
    """

    def __init__(self, plan: GramPlan, held: Holdings, ridges: Array) -> None:
        X, self._kernel, self.factor = held.rows.samples(), plan.kernel, plan.factor
        self._diagonal = self._kernel.diagonal(X)
        self.ridges = ridges.astype(self.dtype)
        self.events: list[Refactorization] = []
        self._store(self._diagonal + self.ridges, lambda a, b: self._kernel(X[a], X[b]))

    @property
    def dtype(self) -> np.dtype:
        """Of the coefficients."""
        return self._diagonal.dtype

    @property
    def largest(self) -> float:
        """The largest k(x, x)."""
        return float(self._diagonal.max())

    # -- edits ----------------------------------------------------------------------------------

    def meet(self, after: Holdings) -> tuple[Array, Array]:
        """``K[held, new]`` and ``K[new, new]`` of the samples behind the end of this space."""
        n, X = len(self.ridges), after.rows.samples()
        if isinstance(self._kernel, Precomputed):
            check_semidefinite(self._kernel(X, X))
        return self._kernel(X[:n], X[n:]), self._kernel(X[n:], X[n:])

    def values(self, met: tuple[Array, Array], Z: Array, B: Array | None) -> Array:
        """f of the new samples, from its coefficients Z."""
        return met[0].T @ Z

    def append(self, after: Holdings, met: tuple[Array, Array], ridges: Array) -> GramSpace:
        """Let them enter."""
        (cross, corner), ridges = met, ridges.astype(self.dtype)
        self._write(cross, corner + np.diag(ridges))
        self._diagonal = np.append(self._diagonal, corner.diagonal())
        self.ridges = np.append(self.ridges, ridges)
        return self

    def remove(self, after: Holdings, positions: Array) -> GramSpace:
        """Take samples out."""
        self._wipe(positions)
        self._diagonal = np.delete(self._diagonal, positions)
        self.ridges = np.delete(self.ridges, positions)
        return self

    # -- reads ----------------------------------------------------------------------------------

    def guess(self, Y: Array) -> Array:
        """Coefficients to start from: the least-squares solution on a quarter of the samples.

        Four hundred at least, spread evenly by the golden ratio; O(n³) / 192.
        """
        n = len(Y)
        some = np.arange(n)
        if n > _FEW:
            steps = np.arange(max(_FEW, n // 4))
            some = np.unique((steps * 0.6180339887498949 % 1.0 * n).astype(int))
        A = self.rows(some)[:, some]
        factor, _ = factorize(A.diagonal().copy(), lambda a, b: A[a, b], "cholesky")
        Z = np.zeros_like(Y)
        Z[some] = factor.apply_inverse(Y[some])
        return Z

    def multiply(self, Z: Array) -> Array:
        """``A @ Z``."""
        return self._matrix.multiply(Z)

    def rows(self, positions: Array) -> Array:
        """Rows of A."""
        return self._matrix.rows(positions)

    def support(self) -> GramSupport:
        """A live solution on a support, none yet."""
        return GramSupport()

    def tableau(self, support: Array) -> Tableau:
        """See `Tableau`; by a Cholesky factor of its own, O(|S|³)."""
        rows = self.rows(np.flatnonzero(support))
        factor = cho_factor(rows[:, support])
        return Tableau(
            support,
            gram_columns=lambda J: self.rows(J).T,
            solve=lambda B: cho_solve(factor, B),
            multiply=lambda B: rows.T @ B,
        )

    # -- how A is stored ------------------------------------------------------------------------

    @property
    def _matrix(self) -> Any:
        return self._slots

    def _store(self, diagonal: Array, row_block: RowBlock) -> None:
        self._slots = SlotMatrix(diagonal, row_block)

    def _write(self, cross: Array, corner: Array) -> None:
        matrix, k = self._slots, len(corner)
        if matrix.n + k > matrix.capacity:
            matrix.resize(spare_capacity(matrix.n + k))
        matrix.write(np.flatnonzero(~matrix.occupied())[:k], cross, corner)

    def _wipe(self, positions: Array) -> None:
        matrix = self._slots
        matrix.wipe(positions)
        if matrix.capacity > 2 * spare_capacity(matrix.n):
            matrix.resize(spare_capacity(matrix.n))


class SolvedSpace(GramSpace):
    """A with P = A⁻¹ of all samples, as the paper's iteration needs it."""

    def guess(self, Y: Array) -> Array:
        """The least-squares solution on all samples."""
        return self._system.solve(Y)

    def inverses(self) -> list[tuple[Inverse, float]]:
        """``P @ B`` by the factor alone and held to the true A, and how far to trust each."""
        trusted = float(np.sqrt(np.finfo(self.dtype).eps))
        return [(self._system.factor.apply_inverse, trusted), (self._system.solve, 0.0)]

    @property
    def factor_name(self) -> str:
        """Name of the factor in use."""
        return self._system.factor.name

    @property
    def _matrix(self) -> Any:
        return self._system.factor

    def _store(self, diagonal: Array, row_block: RowBlock) -> None:
        self._system = LiveSystem(diagonal, row_block, np.ones((len(diagonal), 1)), self.factor)
        self.events = self._system.refactorizations

    def _write(self, cross: Array, corner: Array) -> None:
        self._system.append(cross, corner, np.ones((len(corner), 1)))

    def _wipe(self, positions: Array) -> None:
        self._system.remove(positions)


class GramSupport:
    """The least-squares solution on a part of the samples, the support, as a `LiveSystem`."""

    def __init__(self) -> None:
        self._system: LiveSystem | None = None
        self._members = np.empty(0, dtype=int)  # positions, in the order of the system
        self._reported = 0

    @property
    def factor_name(self) -> str:
        """Name of the factor in use."""
        assert self._system is not None
        return self._system.factor.name

    def solve(self, space: GramSpace, support: Array, y: Array) -> Solved:
        """O(|S|²) per sample that has changed sides, and O(n²)."""
        self._exchange(space, support, y)
        z = np.zeros(len(y), dtype=y.dtype)
        if self._system is not None:
            z[self._members] = self._system.solution()[:, 0]
            space.events += self._system.refactorizations[self._reported :]
            self._reported = len(self._system.refactorizations)
        rho = y - space.multiply(z[:, None])[:, 0]
        xi = y * np.where(support, space.ridges * z, rho)
        return Solved(z, xi, slack_tolerance(z, space.largest))

    def leave(self, space: GramSpace, positions: Array, y: Array) -> None:
        """Take out those of the samples that are inside; the others close the gaps."""
        self._drop(np.flatnonzero(np.isin(self._members, positions)))
        self._members = self._members - np.searchsorted(positions, self._members)

    def _exchange(self, space: GramSpace, support: Array, y: Array) -> None:
        """Let samples enter and leave; what is cheaper to build anew is built anew."""
        leaving = np.flatnonzero(~support[self._members])
        entering = np.setdiff1d(np.flatnonzero(support), self._members)
        much = 2 * (len(leaving) + len(entering)) > np.count_nonzero(support)
        if len(entering) and (much or not self._append(space, entering, y)):
            self._build(space, np.flatnonzero(support), y)
        else:
            self._drop(leaving)

    def _append(self, space: GramSpace, entering: Array, y: Array) -> bool:
        """Let samples enter; False where the system has to be built anew for that."""
        if self._system is None:
            return False
        rows = space.rows(entering)
        try:
            cross, corner = rows[:, self._members].T, rows[:, entering]
            self._system.append(cross, corner, y[entering, None])
        except NotPositiveDefiniteError:
            return False
        self._members = np.append(self._members, entering)
        return True

    def _build(self, space: GramSpace, members: Array, y: Array) -> None:
        A = space.rows(members)[:, members]
        diagonal = A.diagonal().copy()
        self._system = LiveSystem(diagonal, lambda a, b: A[a, b], y[members, None], space.factor)
        self._members, self._reported = members, 0

    def _drop(self, leaving: Array) -> None:
        """Take out members by their places in the system; a system of none is given up."""
        if self._system is None or len(leaving) == 0:
            return
        if len(leaving) == len(self._members):
            self._system = None
        else:
            self._system.remove(leaving)
        self._members = np.delete(self._members, leaving)
