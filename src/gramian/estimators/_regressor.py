"""Regressors on the Gram matrix: one or several targets on one shared factor."""

from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_array, check_is_fitted

from gramian.estimators._gram import GramEstimator
from gramian.machines._left_out import Responses


class GramRegressor(RegressorMixin, GramEstimator):
    """The solver's columns are the targets themselves, of shape (n, t).

    Outputs have the shape of y: (n,) for one-dimensional targets, (n, t) otherwise.
    """

    # -- the contract ---------------------------------------------------------------------------

    def partial_fit(self, X, y, ids=None, sample_weight=None):
        """Learn more samples; the model becomes the one fitted to all of them at once.

        Hyper-parameters are chosen on the first call and stay until `reselect` or `fit`.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            With ``kernel="precomputed"``, kernel values of shape (n_new, n_held + n_new).
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        ids : array-like of shape (n_samples,), optional
            Unique integers or strings; the next numbers by default.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, ids, sample_weight)

    def predict(self, X):
        """Predicted targets, of shape (n_samples,) or (n_samples, n_targets)."""
        return self._shaped(self._outputs(X))

    def loo_predict(self):
        """Exact leave-one-out predictions of the held samples, in the order of `ids_`."""
        check_is_fitted(self)
        return self._shaped(self._derive("loo", self._loo_outputs)).copy()

    def loo_decision_function(self):
        """The same as `loo_predict`."""
        return self.loo_predict()

    def loo_score(self):
        """R² of `loo_predict`, weighted by the sample weights and averaged over the targets."""
        predicted = self.loo_predict()
        return float(r2_score(self._y, predicted, sample_weight=self._weight))

    # -- learning -------------------------------------------------------------------------------

    def _check_targets(self, y):
        return check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")

    def _build(self, X, y, weight):
        self._choose_hyperparameters(X, y, weight)
        self._solver = self._solve_from_scratch(X, y, weight)

    def _enter(self, X, y, weight):
        if y.shape[1:] != self._y.shape[1:]:
            raise ValueError(
                f"y must have {_described(self._y)}, as the targets of the samples that the model "
                f"holds; got {_described(y)}."
            )
        self._append_to_solver(X, self._columns(y), weight)

    def _leave(self, positions):
        if len(positions) == len(self._y):
            raise ValueError(
                f"forget would leave none of {len(self._y)} samples; a regressor needs one. Fit "
                f"it anew on other samples instead."
            )
        self._solver.remove(positions)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    # -- inside ---------------------------------------------------------------------------------

    def _columns(self, y):
        return y.reshape(len(y), -1)

    def _selection_targets(self, y, weight):
        return Responses(self._columns(y), weight)

    def _loo_outputs(self):
        if len(self._y) < 2:
            raise ValueError("leave-one-out needs at least two samples, the model holds one.")
        return self._solver.loo()

    def _shaped(self, values):
        return values[..., 0] if self._y.ndim == 1 else values


def _described(y):
    return "one dimension" if y.ndim == 1 else f"{y.shape[1]} columns"
