"""Classifiers on the Gram matrix: classes that come and go, weights, leave-one-out."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from gramian.estimators._gram import GramEstimator, _flat
from gramian.machines._calibration import fit_calibration, probabilities
from gramian.machines._left_out import ClassTargets


class GramClassifier(ClassifierMixin, GramEstimator):
    """One output per class (one for two classes), all on one shared factor.

    The solver's columns are the class indicators. Targets are linear combinations of those whose
    weights follow the class sizes, so that Fisher targets stay right as classes grow and shrink.
    """

    # -- the contract ---------------------------------------------------------------------------

    def partial_fit(self, X, y, classes=None, ids=None, sample_weight=None):
        """Learn more samples; the model becomes the one fitted to all of them at once.

        Hyper-parameters are chosen on the first call and stay until `reselect` or `fit`.

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
        return _flat(self._outputs(X))

    def predict(self, X):
        """The class of each sample."""
        return self._labels(self._outputs(X))

    def predict_proba(self, X):
        """Class probabilities, calibrated on the exact leave-one-out decision values.

        ``softmax(a z + b)`` fitted to the left-out values; shape (n_samples, n_classes). For
        targets ±1 the biases b are zero, so that the largest probability is that of the class
        that `predict` names. Zero is the threshold of equally frequent classes for Fisher targets;
        there the biases are fitted too, and the two may differ.
        """
        return probabilities(self._outputs(X), self._calibration())

    def loo_decision_function(self):
        """Exact leave-one-out decision values of the held samples, in the order of `ids_`.

        Class weights that are "balanced" stay those of all samples.
        """
        return _flat(self._loo_outputs()).copy()

    def loo_predict(self):
        """The class of each held sample by the model without it, in the order of `ids_`."""
        return self._labels(self._loo_outputs())

    def loo_score(self):
        """Accuracy of `loo_predict`, weighted by the sample weights."""
        return float(np.average(self.loo_predict() == self._y, weights=self._weight))

    # -- learning -------------------------------------------------------------------------------

    def _reset(self):
        super()._reset()
        self.__dict__.pop("_declared", None)

    def _check_parameters(self):
        super()._check_parameters()
        weights = self.class_weight
        if weights is None or (isinstance(weights, str) and weights == "balanced"):
            return
        if not isinstance(weights, dict) or not all(0 < w < np.inf for w in weights.values()):
            raise ValueError(
                f'class_weight must be None, "balanced" or a dict of numbers > 0, got {weights!r}.'
            )

    def _check_targets(self, y):
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        return y

    def _build(self, X, y, weight):
        self.classes_ = self._classes_of(y)
        self._freeze()
        self._choose_hyperparameters(X, y, weight)
        self._solver = self._solve_from_scratch(X, y, self._solver_weight(y, weight))

    def _enter(self, X, y, weight):
        before, self.classes_ = self.classes_, self._classes_of(np.append(self.classes_, y))
        if self._reweighs():
            y, weight = np.append(self._y, y), np.append(self._weight, weight)
            self._rebalance(self._samples_with(X), y, weight)
            return
        # The solver's columns: the classes it knows first, then the new ones; then in order.
        new = np.setdiff1d(self.classes_, before)
        order = np.concatenate([before, new])
        columns = (y[:, None] == order).astype(float)
        self._append_to_solver(X, columns, self._solver_weight(y, weight))
        if len(new):
            self._solver.select_columns(np.argsort(order))

    def _leave(self, positions):
        y = np.delete(self._y, positions)
        present = self.classes_[[bool(np.any(y == label)) for label in self.classes_]]
        if len(present) < 2:
            raise ValueError(
                f"forget would leave {len(y)} samples of fewer than two classes; a classifier "
                f"needs two. Fit it anew on other samples instead."
            )
        before, self.classes_ = self.classes_, self._classes_of(present)
        if self._reweighs():
            stay = np.delete(np.arange(len(self._y)), positions)
            self._rebalance(self._samples_at(stay), y, self._weight[stay])
            return
        self._solver.remove(positions)
        if len(self.classes_) < len(before):
            self._solver.select_columns(np.flatnonzero(np.isin(before, self.classes_)))

    def _get_state(self):
        return {**super()._get_state(), "declared": self._declared_classes()}

    def _set_state(self, state):
        if len(state["declared"]):
            self._declared = np.asarray(state["declared"])
        self._freeze()
        super()._set_state(state)

    def _freeze(self):
        """Take over the parameters that later edits depend on."""
        self._kind, self._class_weight = self._target_kind(), self.class_weight

    # -- inside ---------------------------------------------------------------------------------

    def _columns(self, y):
        return (y[:, None] == self.classes_).astype(float)

    def _targets(self):
        """The targets of the held samples."""
        return self._derive("targets", lambda: self._selection_targets(self._y, self._weight))

    def _selection_targets(self, y, weight):
        weight = self._solver_weight(y, weight)
        labels = np.searchsorted(self.classes_, y)
        return ClassTargets(labels, len(self.classes_), self._kind, weight)

    def _target_kind(self):
        return "signs"

    def _combine(self, values):
        return self._targets().combine(values).astype(values.dtype)

    def _loo_outputs(self):
        check_is_fitted(self)
        return self._derive("loo", self._compute_loo)

    def _compute_loo(self):
        values = self._solver.loo()
        return self._targets().combine_left_out(values).astype(values.dtype)

    def _labels(self, outputs):
        if outputs.shape[1] == 1:
            return self.classes_[(outputs[:, 0] > 0).astype(int)]
        return self.classes_[np.argmax(outputs, axis=1)]

    def _declared_classes(self):
        return getattr(self, "_declared", ())

    def _classes_of(self, y):
        """Sorted classes: those with samples and those declared."""
        declared = self._declared_classes()
        classes = np.union1d(declared, y) if len(declared) else np.unique(y)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least two classes, got one class: "
                f"{classes[0]!s}."
            )
        return classes

    def _calibration(self):
        labels = np.searchsorted(self.classes_, self._y)
        return self._derive(
            "calibration",
            lambda: fit_calibration(
                self._loo_outputs(),
                labels,
                len(self.classes_),
                self._weight,
                biases=self._kind == "fisher",
            ),
        )

    # -- class weights --------------------------------------------------------------------------

    def _reweighs(self):
        """Whether every class weight depends on all samples, so that each edit is a rebuild."""
        return isinstance(self._class_weight, str)

    def _rebalance(self, X, y, weight):
        self._rebuild(X, y, self._solver_weight(y, weight), "the class weights changed")

    def _solver_weight(self, y, weight):
        """Sample weights times class weights."""
        if self._class_weight is None:
            return weight
        values, labels = np.unique(y, return_inverse=True)
        if self._reweighs():
            per_class = weight.sum() / (len(values) * np.bincount(labels, weight))
        else:
            per_class = np.array([self._class_weight.get(value, 1.0) for value in values.tolist()])
        return weight * per_class[labels]
