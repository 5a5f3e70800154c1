"""The Lagrangian support vector machine by the iteration of duan2008."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramian.arrays import Array
from gramian.estimators.lagrangian._linear_space import LinearSpace
from gramian.estimators.lagrangian._spaces import SolvedGramSpace
from gramian.estimators.lagrangian._support import SupportSolver
from gramian.machines._lagrangian import lagrangian_iteration


class IterationSolver(SupportSolver):
    """The paper's iteration, all outputs at once on P of all samples.

    Parameters
    ----------
    step : float
        γ_i in units of λ_i, between 0 and 2.
    tol, max_iter : float, int
        ε, and the number of iterations after which a warning says that it was not reached.
    """

    def __init__(
        self,
        space: SolvedGramSpace | LinearSpace,
        targets: Array,
        ridge: float,
        *,
        step: float,
        tol: float,
        max_iter: int,
    ) -> None:
        super().__init__(space, targets, ridge)
        self._step, self._tol, self._max_iter = step, tol, max_iter

    @property
    def factor_name(self) -> str:
        return self._space.factor_name

    def refactor(self, reason: str) -> None:
        self._space.refactor(reason)
        self._stale = np.ones_like(self._stale)

    def _solve(self, outputs: Array) -> None:
        """With P as it is; where ε asks for more, then with solutions held to the true A."""
        self.n_iter = 0
        result = None
        Y, Z = self._signs(outputs), self._Z[:, outputs]
        for inverse, accuracy in self._space.inverses():
            result = lagrangian_iteration(
                inverse,
                Y,
                Z,
                self._space.multiply(Z),
                step=self._step * self._space.ridges[:, None],
                tol=max(self._tol, accuracy),
                max_iter=self._max_iter,
            )
            Z = result.Z
            self.n_iter += result.iterations
            if accuracy <= self._tol:
                break
        self._take(outputs, result)

    def _take(self, outputs: Array, result: Any) -> None:
        Z, inside = self._Z.copy(), self._inside.copy()
        Z[:, outputs], inside[:, outputs] = np.where(result.support, result.Z, 0.0), result.support
        self._Z, self._inside = Z, inside
        if result.unfinished:
            warnings.warn(
                f"the iteration did not reach tol={self._tol:g} in max_iter={self._max_iter} "
                f"steps (the last one was {result.unfinished:.1e}). Raise max_iter, or take "
                f'solver="pivot".',
                ConvergenceWarning,
                stacklevel=2,
            )
