"""Classifiers on the Gram matrix: classes that come and go, weights, leave-one-out."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.dense._gram import GramEstimator
from gramian.estimators.live._classifier import LiveClassifier
from gramian.machines._left_out import ClassTargets


class GramClassifier(LiveClassifier, GramEstimator):
    """One output per class (one for two classes), all on one shared factor.

    The solver's columns are the class indicators. Targets are linear combinations of those whose
    weights follow the class sizes, so that Fisher targets stay right as classes grow and shrink.
    Leave-one-out keeps class weights that are "balanced" as they are for all samples.
    """

    # -- learning -------------------------------------------------------------------------------

    def _check_parameters(self):
        super()._check_parameters()
        weights = self.class_weight
        if weights is None or (isinstance(weights, str) and weights == "balanced"):
            return
        if not isinstance(weights, dict) or not all(0 < w < np.inf for w in weights.values()):
            raise ValueError(
                f'class_weight must be None, "balanced" or a dict of numbers > 0, got {weights!r}.'
            )

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
        before, self.classes_ = self.classes_, self._classes_without(positions)
        if self._reweighs():
            stay = np.delete(np.arange(len(self._y)), positions)
            self._rebalance(self._samples_at(stay), self._y[stay], self._weight[stay])
            return
        self._solver.remove(positions)
        if len(self.classes_) < len(before):
            self._solver.select_columns(np.flatnonzero(np.isin(before, self.classes_)))

    def _set_state(self, state):
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

    def _fits_biases(self):
        return self._kind == "fisher"

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
