"""What classifiers share: classes that come and go, decisions, probabilities, leave-one-out."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from gramian.estimators.live._base import LiveEstimator
from gramian.machines._calibration import fit_calibration, probabilities


class LiveClassifier(ClassifierMixin, LiveEstimator):
    """Labels, decisions and probabilities from outputs: one per class, or one for two classes.

    A machine fills in, besides what `LiveEstimator` asks for, `_outputs` (decision values of
    queries, of shape (n, 1) for two classes, else (n, c)) and `_loo_outputs` (the same of the held
    samples, each by the model without it).
    """

    # -- the contract ---------------------------------------------------------------------------

    def partial_fit(self, X, y, classes=None, ids=None, sample_weight=None):
        """Learn more samples; the model becomes the one fitted to all of them at once.

        Hyper-parameters are chosen on the first call and stay until they are chosen anew.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            With ``kernel="precomputed"``, kernel values of shape (n_new, n_held + n_new).
        y : array-like of shape (n_samples,)
            May bring new classes.
        classes : array-like, optional
            Classes to be kept in `classes_` even while they have no samples.
        ids : array-like of shape (n_samples,), optional
            Unique integers or strings; the next numbers by default.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        with self._transaction():
            if classes is not None:
                self._declared = np.unique([*self._declared_classes(), *classes])
            return self._partial_fit(X, y, ids, sample_weight)

    def decision_function(self, X):
        """Decision values, shape (n_samples,) for two classes, else (n_samples, n_classes)."""
        return self._shown(self._outputs(X))

    def predict(self, X):
        """The class of each sample."""
        return self._labels(self._outputs(X))

    def predict_proba(self, X):
        """Class probabilities, calibrated on the exact leave-one-out decision values.

        ``softmax(a z + b)`` fitted to the left-out values; shape (n_samples, n_classes). The biases
        b are zero, so that the largest probability is that of the class that `predict` names, but
        for Fisher targets: there zero is the threshold of equally frequent classes, the biases are
        fitted too, and the two may differ.
        """
        return probabilities(self._bounded(self._outputs(X)), self._calibration())

    def loo_decision_function(self):
        """Exact leave-one-out decision values of the held samples, in the order of `ids_`."""
        return self._shown(self._loo_outputs())

    def loo_predict(self):
        """The class of each held sample by the model without it, in the order of `ids_`."""
        return self._labels(self._loo_outputs())

    def loo_score(self):
        """Accuracy of `loo_predict`, weighted by the sample weights."""
        return float(np.average(self.loo_predict() == self._y, weights=self._weight))

    # -- for the machines -----------------------------------------------------------------------

    def _fits_biases(self):
        """Whether probabilities have biases: where zero is not the threshold of equal chances."""
        return False

    def _classes_of(self, y):
        """Sorted classes: those of y and those declared."""
        declared = self._declared_classes()
        classes = np.union1d(declared, y) if len(declared) else np.unique(y)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least two classes, got one class: "
                f"{classes[0]!s}."
            )
        return classes

    def _classes_without(self, positions):
        """Sorted classes when the samples at these positions have left."""
        y = np.delete(self._y, positions)
        present = self.classes_[[bool(np.any(y == label)) for label in self.classes_]]
        if len(present) < 2:
            raise ValueError(
                f"forget would leave {len(y)} samples of fewer than two classes; a classifier "
                f"needs two. Fit it anew on other samples instead."
            )
        return self._classes_of(present)

    # -- inside ---------------------------------------------------------------------------------

    def _reset(self):
        super()._reset()
        self.__dict__.pop("_declared", None)

    def _check_targets(self, y):
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        return y

    def _get_state(self):
        return {**super()._get_state(), "declared": self._declared_classes()}

    def _set_state(self, state):
        if len(state["declared"]):
            self._declared = np.asarray(state["declared"])
        super()._set_state(state)

    def _declared_classes(self):
        return getattr(self, "_declared", ())

    def _shown(self, outputs):
        """A copy in the precision of the samples; one output stands for itself."""
        flat = outputs[:, 0] if outputs.shape[1] == 1 else outputs
        return flat.astype(self._rows.dtype)

    def _labels(self, outputs):
        if outputs.shape[1] == 1:
            return self.classes_[(outputs[:, 0] > 0).astype(int)]
        return self.classes_[np.argmax(outputs, axis=1)]

    def _calibration(self):
        labels = np.searchsorted(self.classes_, self._y)
        return self._derive(
            "calibration",
            lambda: fit_calibration(
                self._bounded(self._loo_outputs()),
                labels,
                len(self.classes_),
                self._weight,
                biases=self._fits_biases(),
            ),
        )

    def _bounded(self, outputs):
        """Outputs with the infinite ones, of classes without samples, as the largest finite."""
        finite = np.isfinite(self._loo_outputs())
        largest = np.abs(self._loo_outputs()[finite]).max(initial=1.0)
        return np.nan_to_num(outputs, posinf=largest, neginf=-largest)
