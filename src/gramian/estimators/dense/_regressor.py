"""Regressors on the Gram matrix: one or several targets on one shared factor."""

from __future__ import annotations

from gramian.estimators.dense._gram import GramEstimator
from gramian.estimators.live._regressor import LiveRegressor
from gramian.machines._left_out import Responses


class GramRegressor(LiveRegressor, GramEstimator):
    """The solver's columns are the targets themselves, of shape (n, t)."""

    # -- learning -------------------------------------------------------------------------------

    def _build(self, X, y, weight):
        self._choose_hyperparameters(X, y, weight)
        self._solver = self._solve_from_scratch(X, y, weight)

    def _enter(self, X, y, weight):
        self._check_alike(y)
        self._append_to_solver(X, self._columns(y), weight)

    def _leave(self, positions):
        self._check_some_stay(len(positions), len(self._y))
        self._solver.remove(positions)

    # -- inside ---------------------------------------------------------------------------------

    def _columns(self, y):
        return y.reshape(len(y), -1)

    def _selection_targets(self, y, weight):
        return Responses(self._columns(y), weight)

    def _loo_outputs(self):
        if len(self._y) < 2:
            raise ValueError("leave-one-out needs at least two samples, the model holds one.")
        return self._derive("loo", self._solver.loo)

    def _shaped(self, values):
        return values[..., 0] if self._y.ndim == 1 else values
