"""A = K + λD as an n×n matrix, and least squares on a part of its samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from gramian.core.arrays import Array
from gramian.core.engines import DenseSpec, Holdings, check_semidefinite
from gramian.core.gram import LiveSystem, NotPositiveDefiniteError, Rebuild
from gramian.core.gram._slots import SlotMatrix, spare_capacity
from gramian.core.kernels import Precomputed
from gramian.svm._lagrangian_equations import Solved, Tableau, slack_tolerance

Inverse = Callable[[Array], Array]


class GramSpace:
    """``A = K + diag(λ_i)`` in one triangle of a `SlotMatrix`: n² numbers, without a factor.

    Parameters
    ----------
    spec : DenseSpec
        Provides the kernel, and the type of factor for the supports.
    holdings : Holdings
    ridges : ndarray of shape (n,)
        λ_i.
    """

    def __init__(self, spec: DenseSpec, holdings: Holdings, ridges: Array) -> None:
        X, self._kernel, self.factor = holdings.rows.samples(), spec.predicts_with, spec.factor
        self.diagonal = self._kernel.diagonal(X)
        self.ridges = ridges.astype(self.dtype)
        self._matrix = SlotMatrix(
            self.diagonal + self.ridges, lambda a, b: self._kernel(X[a], X[b])
        )

    @property
    def dtype(self) -> np.dtype:
        """Data type of the coefficients."""
        return self.diagonal.dtype

    @property
    def largest(self) -> float:
        """The largest k(x, x)."""
        return float(self.diagonal.max())

    def meet(self, after: Holdings, Z: Array, B: Any) -> tuple[Any, Array]:
        """Return ``K[held, new]`` and ``K[new, new]`` for the new samples, and their f = K Z."""
        n, X, kernel = len(self.ridges), after.rows.samples(), self._kernel
        if isinstance(kernel, Precomputed):
            check_semidefinite(kernel(X, X))
        cross = kernel(X[:n], X[n:])
        return (cross, kernel(X[n:], X[n:])), cross.T @ Z

    def append(self, after: Holdings, met: Any, ridges: Array) -> GramSpace:
        """Add the samples of `meet`."""
        matrix, (cross, corner), ridges = self._matrix, met, ridges.astype(self.dtype)
        if matrix.n + len(corner) > matrix.capacity:
            matrix.resize(spare_capacity(matrix.n + len(corner)))
        slots = matrix.free_slots(len(corner))
        matrix.write(slots, matrix.scatter(cross), corner + np.diag(ridges))
        self.diagonal = np.append(self.diagonal, corner.diagonal())
        self.ridges = np.append(self.ridges, ridges)
        return self

    def remove(self, after: Holdings, positions: Array) -> GramSpace:
        """Remove samples."""
        matrix = self._matrix
        matrix.wipe(positions)
        if matrix.capacity > 2 * spare_capacity(matrix.n):
            matrix.resize(spare_capacity(matrix.n))
        self.diagonal = np.delete(self.diagonal, positions)
        self.ridges = np.delete(self.ridges, positions)
        return self

    def multiply(self, Z: Array) -> Array:
        """``A @ Z``."""
        return self._matrix.multiply(Z)

    def block(self, some: Array, others: Array) -> Array:
        """``A[some, others]``."""
        return self._matrix.rows(some)[:, others]

    def tableau(self, support: Array) -> Tableau:
        """Return the `Tableau` of a support, with its own Cholesky factor, O(|S|³)."""
        rows = self._matrix.rows(np.flatnonzero(support))
        factor = cho_factor(rows[:, support])
        return Tableau(
            support,
            gram_columns=lambda J: self._matrix.rows(J).T,
            solve=lambda B: cho_solve(factor, B),
            multiply=lambda B: rows.T @ B,
        )


class GramPart:
    """Least squares on a part of the samples, with its own `LiveSystem`."""

    def __init__(self) -> None:
        self._system: LiveSystem | None = None
        self._members = np.empty(0, dtype=int)  # positions, in the order of the system
        self._past: list[Rebuild] = []

    @property
    def events(self) -> list[Rebuild]:
        """Records of rebuilds that accumulated updates made necessary."""
        return self._past + (self._system.rebuilds if self._system else [])

    def settle(self) -> None:
        """Add pending updates to the inverse."""
        if self._system is not None:
            self._system.factor.fold()

    @property
    def factor(self) -> str:
        """Name of the factor in use."""
        return self._system.factor.name if self._system else ""

    def solve(self, space: GramSpace, part: Array, y: Array) -> Solved:
        """Solve on a part, O(|S|²) per sample that changed sides, and O(n²)."""
        self._exchange(space, part, y)
        z = np.zeros(len(y), dtype=y.dtype)
        if self._system is not None:
            z[self._members] = self._system.solution()[:, 0]
        rho = y - space.multiply(z[:, None])[:, 0]
        xi = y * np.where(part, space.ridges * z, rho)
        return Solved(z, xi, slack_tolerance(z, space.largest))

    def inverses(self, space: GramSpace, y: Array) -> list[tuple[Inverse, float]]:
        """``P @ B`` of all samples, by the factor alone and refined against A; errors of each."""
        self._exchange(space, np.ones(len(y), dtype=bool), y)
        assert self._system is not None  # its order is that of the samples
        trusted = float(np.sqrt(np.finfo(space.dtype).eps))
        return [(self._system.factor.apply_inverse, trusted), (self._system.solve, 0.0)]

    def leave(self, space: GramSpace, positions: Array) -> None:
        """Remove samples from the part, and renumber the remaining members."""
        self._drop(np.flatnonzero(np.isin(self._members, positions)))
        self._members = self._members - np.searchsorted(positions, self._members)

    def _exchange(self, space: GramSpace, part: Array, y: Array) -> None:
        """Add and remove samples of the part, or rebuild the system if that is cheaper."""
        leaving = np.flatnonzero(~part[self._members])
        entering = np.setdiff1d(np.flatnonzero(part), self._members)
        much = 2 * (len(leaving) + len(entering)) > np.count_nonzero(part)
        if len(entering) and (much or not self._append(space, entering, y)):
            members, self._past = np.flatnonzero(part), self.events
            self._system = LiveSystem(
                (space.diagonal + space.ridges)[members],
                lambda a, b: space.block(members[a], members[b]),
                y[members, None],
                space.factor,
            )
            self._members = members
        else:
            self._drop(leaving)

    def _append(self, space: GramSpace, entering: Array, y: Array) -> bool:
        """Add samples; return False if the system must be rebuilt for that."""
        assert self._system is not None  # a part that is new has much to enter
        cross = space.block(entering, self._members).T
        try:
            self._system.append(cross, space.block(entering, entering), y[entering, None])
        except NotPositiveDefiniteError:
            return False
        self._members = np.append(self._members, entering)
        return True

    def _drop(self, leaving: Array) -> None:
        """Remove members by their positions in the system; delete a system without members."""
        if self._system is None or len(leaving) == 0:
            return
        if len(leaving) == len(self._members):
            self._system, self._past = None, self.events
        else:
            self._system.remove(leaving)
        self._members = np.delete(self._members, leaving)
