"""The two ways to the solution: principal pivoting, and the iteration of duan2008.

A solver finds Z and the support of the outputs whose solution an edit has changed, from what they
were. Z is of shape (n, t), as are the signs Y and ``inside``, which says what is in the support.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramian.arrays import Array
from gramian.engines.lagrangian._sums import LinearSpace
from gramian.machines import Solved, lagrangian_iteration, principal_pivot


class PivotSolver:
    """Principal pivoting, each output with a live solution on its support.

    Outputs are known by the label of their class, so that they stay what they are when classes
    come and go.
    """

    def __init__(self) -> None:
        self._live: dict[Any, Any] = {}
        self.factor, self.n_iter = "", 0

    def solve(
        self, space: Any, Y: Array, Z: Array, inside: Array, stale: Array, labels: list
    ) -> tuple[Array, Array]:
        """Z and the supports, those of the outputs ``stale`` found anew."""
        Z, inside, self.n_iter = Z.copy(), inside.copy(), 0
        for j in stale:
            live = self._live.setdefault(labels[j], space.support())
            inside[:, j], Z[:, j] = self._pivoted(space, live, inside[:, j], Y[:, j])
            self.factor = live.factor_name
        return Z, inside

    def weights(self, space: LinearSpace, Z: Array, stale: Array, labels: list) -> Array:
        """Weights of features and bias of the outputs that were just solved, (d + 1, len(stale))."""
        return np.column_stack([self._live[labels[j]].weights for j in stale])

    def leave(self, space: Any, positions: Array, Y: Array, labels: list) -> None:
        """Samples are about to leave the space."""
        for label, live in self._live.items():
            live.leave(space, positions, Y[:, labels.index(label)])

    def keep(self, labels: list) -> None:
        """Give up what is known of other outputs."""
        self._live = {label: live for label, live in self._live.items() if label in labels}

    def _pivoted(self, space: Any, live: Any, support: Array, y: Array) -> tuple[Array, Array]:
        def solve(support: Array) -> Solved:
            self.n_iter += 1
            return live.solve(space, support, y)

        return principal_pivot(solve, support, y, space.ridges)


class IterationSolver:
    """The paper's iteration, all outputs at once on P of all samples.

    Parameters
    ----------
    plan : LagrangianPlan
        Gives ``step``, γ_i in units of λ_i; ``tol``, ε; and ``max_iter``, the number of iterations
        after which a warning says that ε was not reached.
    """

    def __init__(self, plan: Any) -> None:
        self._step, self._tol, self._max_iter = plan.step, plan.tol, plan.max_iter
        self.factor, self.n_iter = "", 0

    def solve(
        self, space: Any, Y: Array, Z: Array, inside: Array, stale: Array, labels: list
    ) -> tuple[Array, Array]:
        """With P as it is; where ε asks for more, then with solutions held to the true A."""
        start, self.n_iter = Z[:, stale], 0
        for inverse, accuracy in space.inverses():
            result = lagrangian_iteration(
                inverse,
                Y[:, stale],
                start,
                space.multiply(start),
                step=self._step * space.ridges[:, None],
                tol=max(self._tol, accuracy),
                max_iter=self._max_iter,
            )
            start = result.Z
            self.n_iter += result.iterations
            if accuracy <= self._tol:
                break
        if result.unfinished:
            warnings.warn(
                f"the iteration did not reach tol={self._tol:g} in max_iter={self._max_iter} "
                f"steps (the last one was {result.unfinished:.1e}). Raise max_iter, or take "
                f'solver="pivot".',
                ConvergenceWarning,
                stacklevel=2,
            )
        Z, inside, self.factor = Z.copy(), inside.copy(), space.factor_name
        Z[:, stale], inside[:, stale] = np.where(result.support, result.Z, 0.0), result.support
        return Z, inside

    def weights(self, space: LinearSpace, Z: Array, stale: Array, labels: list) -> Array:
        """Weights of features and bias of some outputs, (d + 1, len(stale))."""
        return space.project(Z[:, stale])

    def leave(self, space: Any, positions: Array, Y: Array, labels: list) -> None:
        """Nothing to do: nothing is known of the samples."""

    def keep(self, labels: list) -> None:
        """Nothing to do."""
