"""The Lagrangian support vector machine by principal pivoting."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.arrays import Array
from gramian.estimators.dense._linear_solver import FACTOR
from gramian.estimators.lagrangian._spaces import GramSpace
from gramian.estimators.lagrangian._support import SupportSolver
from gramian.gram import Refactorization
from gramian.machines._lagrangian import Solved, principal_pivot


class PivotSolver(SupportSolver):
    """Principal pivoting, each output with a live solution on its support."""

    def __init__(self, space: Any, targets: Array, ridge: float) -> None:
        super().__init__(space, targets, ridge)
        self._live = [self._new_support() for _ in targets.T]
        if isinstance(space, GramSpace):
            self.settle()

    @property
    def factor_name(self) -> str:
        if self.in_sums:
            return FACTOR
        self.settle()
        j = self._outputs()[0]
        self._live[j].exchange(self._inside[:, j], self._signs(j))
        return self._live[j].factor_name

    def append(self, cross: Array, corner: Array, targets: Array, weight: Array) -> None:
        """Enter samples and settle: a kernel that is not positive definite shows itself now."""
        before, n = self.__dict__.copy(), len(self.targets)
        super().append(cross, corner, targets, weight)
        try:
            self.settle()
        except BaseException:
            self._space.remove(np.arange(n, n + len(targets)))
            self.__dict__.update(before)
            self._live = [self._new_support() for _ in self.targets.T]
            raise

    def remove(self, positions: Array) -> None:
        stay = self._inside.copy()
        stay[positions] = False
        for j in self._outputs():
            self._live[j].exchange(stay[:, j], self._signs(j))
        super().remove(positions)
        for j in self._outputs():
            self._live[j].renumber(positions)

    def select_columns(self, columns: Array) -> None:
        super().select_columns(columns)
        self._live = [self._live[j] for j in columns]
        if len(columns) == 2:
            self._live[0] = self._new_support()

    def weights(self) -> tuple[Array, Array]:
        """O(d² c) once the supports are found."""
        self.settle()
        B = np.column_stack([self._live[j].weights() for j in self._outputs()])
        B = B.astype(self._space.sample_dtype)
        B = np.column_stack([-B, B]) if B.shape[1] == 1 else B
        return B[-1], B[:-1]

    def refactor(self, reason: str) -> None:
        for j in self._outputs():
            self._live[j].refactor(self._signs(j))
        event = Refactorization(reason, len(self.targets), 0, self.factor_name)
        self.refactorizations.append(event)
        self._stale = np.ones_like(self._stale)

    def _new_support(self) -> Any:
        return self._space.support()

    def _extend(self, targets: Array, missing: Array) -> None:
        super()._extend(targets, missing)
        extra = targets.shape[1] - len(self._live)
        self._live = [*self._live, *(self._new_support() for _ in range(extra))]

    def _solve(self, outputs: Array) -> None:
        self.n_iter = 0
        Z, inside = self._Z.copy(), self._inside.copy()
        for j in outputs:
            inside[:, j], Z[:, j] = self._pivoted(self._live[j], inside[:, j], self._signs(j))
        self._Z, self._inside = Z, inside

    def _pivoted(self, live: Any, support: Array, y: Array) -> tuple[Array, Array]:
        """The support and z of one output."""

        def solve(support: Array) -> Solved:
            self.n_iter += 1
            return live.solve(support, y)

        return principal_pivot(solve, support, y, self._space.ridges)
