"""What regressors share: predictions in the shape of the targets, leave-one-out."""

from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_array, check_is_fitted

from gramian.estimators.live._base import LiveEstimator


class LiveRegressor(RegressorMixin, LiveEstimator):
    """Predictions in the shape of y: (n,) for one-dimensional targets, (n, t) otherwise.

    A machine fills in, besides what `LiveEstimator` asks for, `_outputs` (predictions for queries,
    of shape (n, t)) and `_loo_outputs` (the same for the held samples, each by the model without
    it).
    """

    # -- the contract ---------------------------------------------------------------------------

    def partial_fit(self, X, y, ids=None, sample_weight=None):
        """Learn more samples; the model becomes the one fitted to all of them at once.

        Hyper-parameters are chosen on the first call and stay until they are chosen anew.

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
        return self._shown(self._outputs(X))

    def loo_predict(self):
        """Exact leave-one-out predictions of the held samples, in the order of `ids_`."""
        check_is_fitted(self)
        return self._shown(self._loo_outputs())

    def loo_decision_function(self):
        """The same as `loo_predict`."""
        return self.loo_predict()

    def loo_score(self):
        """R² of `loo_predict`, weighted by the sample weights and averaged over the targets."""
        predicted = self.loo_predict()
        return float(r2_score(self._y, predicted, sample_weight=self._weight))

    # -- for the machines -----------------------------------------------------------------------

    def _check_alike(self, y):
        """Raise ValueError if new targets have not the shape of those held."""
        if y.shape[1:] != self._y.shape[1:]:
            raise ValueError(
                f"y must have {_described(self._y)}, as the targets of the samples that the model "
                f"holds; got {_described(y)}."
            )

    def _check_some_stay(self, gone, n):
        """Raise ValueError if no sample of n would be left."""
        if gone == n:
            raise ValueError(
                f"forget would leave none of {n} samples; a regressor needs one. Fit "
                f"it anew on other samples instead."
            )

    # -- inside ---------------------------------------------------------------------------------

    def _check_targets(self, y):
        return check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")

    def _shown(self, outputs):
        flat = outputs[:, 0] if self._y.ndim == 1 else outputs
        return flat.astype(self._rows.dtype)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _described(y):
    return "one dimension" if y.ndim == 1 else f"{y.shape[1]} columns"
