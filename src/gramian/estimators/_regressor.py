"""Methods of all regressors: predictions in the shape of the targets, and leave-one-out."""

from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_array

from gramian.engines import Holdings
from gramian.estimators._live import Fitted, LiveEstimator, edits


class LiveRegressor(RegressorMixin, LiveEstimator):
    """Regressor whose predictions have the shape of y: (n,) or (n, t)."""

    @edits
    def partial_fit(self, X, y, ids=None, sample_weight=None):
        """Learn more samples; the result equals one fit to all samples.

        The first call chooses the hyper-parameters; `reselect` chooses them again.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            With ``kernel="precomputed"``, kernel values of shape (n_new, n_held + n_new).
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        ids : array-like of shape (n_samples,), optional
            Unique integers or strings; the next free numbers by default.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._learn(X, y, sample_weight, ids)
        return self

    def predict(self, X):
        """Predicted targets, of shape (n_samples,) or (n_samples, n_targets)."""
        now, outputs = self._outputs(X)
        return _shown(now, outputs)

    def loo_predict(self):
        """Exact leave-one-out predictions of the held samples, in the order of `ids_`."""
        with self._lock:
            return _shown(self._fitted(), self._loo_outputs())

    def loo_decision_function(self):
        """The same as `loo_predict`."""
        return self.loo_predict()

    def loo_score(self):
        """R² of `loo_predict`, weighted by the sample weights and averaged over the targets."""
        with self._lock:
            held = self._fitted().held
            return float(r2_score(held.y, self.loo_predict(), sample_weight=held.weight))

    # -- inside ---------------------------------------------------------------------------------

    def _check_targets(self, y, held: Holdings | None):
        if type(y) is not np.ndarray or y.dtype != np.float64 or not np.isfinite(y.sum()):
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        if held is not None and y.shape[1:] != held.y.shape[1:]:
            raise ValueError(
                f"y must have {_described(held.y)}, as the targets of the samples that the model "
                f"holds; got {_described(y)}."
            )
        return y

    def _joined(self, before: Holdings | None, after: Holdings, classes: tuple) -> Holdings:
        return after

    def _left(self, before: Holdings, after: Holdings) -> Holdings:
        if len(after) == 0:
            raise ValueError(
                f"forget would leave none of {len(before)} samples; a regressor needs one. Fit "
                f"it anew on other samples instead."
            )
        return after

    def _loo_outputs(self):
        if len(self._fitted().held) == 1:
            raise ValueError("leave-one-out needs at least two samples, the model holds one.")
        return super()._loo_outputs()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _shown(now: Fitted, outputs):
    flat = outputs[:, 0] if now.held.y.ndim == 1 else outputs
    return flat.astype(now.held.rows.dtype)


def _described(y):
    return "one dimension" if y.ndim == 1 else f"{y.shape[1]} columns"
