"""Methods of all regressors: predictions in the shape of the targets, and leave-one-out."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils import Tags
from sklearn.utils.validation import check_array

from gramian.core.arrays import Array, ArrayLike, MatrixLike, from_tensor
from gramian.core.engines import Holdings
from gramian.core.estimators._conformal import intervals, regions
from gramian.core.estimators._estimator import LiveEstimator, edits
from gramian.core.estimators._fitted import Fitted
from gramian.core.estimators._held_samples import answered
from gramian.core.estimators._scikit_learn import RegressorMixin


class LiveRegressor(RegressorMixin, LiveEstimator):
    """Regressor whose predictions have the shape of y: (n,) or (n, t)."""

    @edits
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        ids: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn more samples; the result equals one fit to all samples.

        The first call chooses the hyper-parameters; `reselect` chooses them again.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            With ``kernel="precomputed"``, kernel values of shape (n_new, n_held + n_new).
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional
        ids : array-like of shape (n_samples,), optional
            Unique integers or strings; the next free numbers by default.
        groups : array-like of shape (n_samples,), optional
            To whom or what each sample belongs, if the model's samples have groups; see `fit`.

        Returns
        -------
        self
        """
        self._learn(X, y, sample_weight, ids, groups=groups)
        return self

    def predict(self, X: MatrixLike) -> Array:
        """Predicted targets, of shape (n_samples,) or (n_samples, n_targets)."""
        now, outputs = self._outputs(X)
        return answered(now, _returned(now, outputs))

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """R² of `predict`."""
        found = from_tensor(self.predict(X))
        return float(r2_score(from_tensor(y), found, sample_weight=sample_weight))

    def predict_interval(
        self,
        X: MatrixLike,
        confidence_level: float = 0.9,
        method: str = "auto",
        width: str = "auto",
    ) -> Array:
        """Intervals that contain the true target with probability ≥ ``confidence_level``.

        The guarantee holds whatever the distribution, if held samples and query are exchangeable;
        that of "full" and "jackknife+" if no hyper-parameter was chosen on the samples, either
        (`chosen_on_data_` is empty). Each of several targets has a guarantee of its own.

        ============ =================================== ====================================
        method       guarantee                           widths
        ============ =================================== ====================================
        "full"       confidence                          "constant", "density"
        "jackknife+" 2 · confidence − 1, mostly about    "local", "constant"
                     confidence
        "cv+"        2 · confidence − 1 (up to √(2/n)),  "local", "constant"
                     whatever was chosen; mostly about
                     confidence
        ============ =================================== ====================================

        Guarantees are on average over queries; a width that follows x brings the coverage at easy
        and at hard queries near to that average. docs/maths/leave_two_out.md has the proof for
        "local".

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            With ``kernel="precomputed"``, kernel values to the held samples; "full" and "cv+" need
            k(x, x) in a last column.
        confidence_level : float
            Between 0 and 1.
        method : {"auto", "full", "jackknife+", "cv+"}
            "auto" is "cv+" for 20 to 2,048 samples if something was chosen on them, or if they have
            groups; else "full", or "jackknife+" if the width is "local". "full" is the smallest
            interval around `predict_region`. "jackknife+" takes the predictions without each held
            sample. "cv+" takes those of models that were tuned and trained without each fold; the
            first call tunes without each of 10 folds, unless `nested_score` has; stacks know that
            from their fit.
        width : {"auto", "local", "constant", "density"}
            "local" follows the noise: as wide as the errors of the query's 2 √n nearest samples are
            large, each made by a model without that sample and without the one that is judged.
            "constant" is nearly as wide everywhere. "density" follows the samples: wider where they
            are few, as a Gaussian process has it. "auto" is "local" where the method has it.

        Returns
        -------
        ndarray of shape (n_samples, 2) or, for targets in columns, (n_samples, n_targets, 2)
            Low and high ends, infinite if too few samples are held for this confidence.
        """
        found = intervals(self, X, confidence_level, method, width)
        return found[:, 0] if self._fitted().holdings.y.ndim == 1 else found

    def predict_region(
        self, X: MatrixLike, confidence_level: float = 0.9, width: str = "constant"
    ) -> list[Any]:
        """Regions that contain the true target with probability ≥ ``confidence_level``.

        All numbers y that have a p-value above 1 − confidence when the query is added with target
        y and every sample is left out once. The conditions are those of `predict_interval`.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        confidence_level : float
            Between 0 and 1.
        width : {"constant", "density"}
            Scores are left-out residuals, or these over the deviations that a Gaussian process
            gives left-out targets; see `predict_interval`.

        Returns
        -------
        list of ndarray of shape (n_intervals, 2)
            One for each sample; for targets in columns, a list for each sample with one array for
            each target. Nearly always a single interval.
        """
        found = regions(self, X, confidence_level, width)
        return [parts[0] for parts in found] if self._fitted().holdings.y.ndim == 1 else found

    def loo_predict(self) -> Array:
        """Exact leave-one-out predictions of the held samples, in the order of `ids_`."""
        with self._lock:
            now = self._fitted()
            return answered(now, _returned(now, self._loo_outputs()))

    def loo_decision_function(self) -> Array:
        """The same as `loo_predict`."""
        return self.loo_predict()

    def loo_score(self) -> float:
        """R² of `loo_predict`, weighted by the sample weights and averaged over the targets."""
        with self._lock:
            now = self._fitted()
            left_out = _returned(now, self._loo_outputs())
            return float(r2_score(now.holdings.y, left_out, sample_weight=now.holdings.weight))

    # -- inside ---------------------------------------------------------------------------------

    def _check_targets(self, y: Any, holdings: Holdings | None) -> Array:
        if type(y) is not np.ndarray or y.dtype != np.float64 or not np.isfinite(y.sum()):
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        if holdings is not None and y.shape[1:] != holdings.y.shape[1:]:
            raise ValueError(
                f"y must have {_described(holdings.y)}, as the targets of the samples that the "
                f"model holds; got {_described(y)}."
            )
        return np.asarray(y)

    def _classes_after_append(
        self, before: Holdings | None, after: Holdings, classes: tuple[Any, ...]
    ) -> Holdings:
        return after

    def _classes_after_remove(self, before: Holdings, after: Holdings) -> Holdings:
        if len(after) == 0:
            raise ValueError(
                f"forget would leave none of {len(before)} samples; a regressor needs one. Fit "
                f"it anew on other samples instead."
            )
        return after

    def _loo_outputs(self) -> Array:
        if len(self._fitted().holdings) == 1:
            raise ValueError("leave-one-out needs at least two samples, the model holds one.")
        return super()._loo_outputs()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _returned(now: Fitted, outputs: Array) -> Array:
    flat = outputs[:, 0] if now.holdings.y.ndim == 1 else outputs
    return flat.astype(now.holdings.rows.dtype)


def _described(y: Any) -> str:
    return "one dimension" if y.ndim == 1 else f"{y.shape[1]} columns"
