"""Estimators that choose between the n×n Gram matrix and sums over features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from gramian.arrays import Array
from gramian.estimators.dense._gram import GramEstimator
from gramian.estimators.dense._linear_solver import FACTOR, LinearSolver
from gramian.gram import FACTORS, Refactorization
from gramian.gram._thin import thin_spectrum
from gramian.selection import Problem
from gramian.selection._problem import subsample

# Samples on which the ridge is searched; more of them would not change it.
_SEARCHED = 20_000


@dataclass(frozen=True)
class LinearProblem(Problem):
    """A linear kernel to tune the ridge of, by the spectrum of its d features.

    Samples are centred: their shift is taken up by the intercept, which is free.
    """

    def spectrum(self, gamma: Any) -> Any:
        weight = self.targets.weight
        X = self.samples.toarray() if sparse.issparse(self.samples) else self.samples
        X = X - np.average(X, axis=0, weights=weight)
        return thin_spectrum(X.astype(float, copy=False), weight)

    def take(self, index: Array) -> LinearProblem:
        return LinearProblem(self.machine, self.targets.take(index), self.samples[index])


class LinearForm(GramEstimator):
    """For estimators whose linear kernel need not be an n×n matrix.

    ``factor="woodbury"`` asks for the sums; ``"auto"`` takes them for a linear kernel with more
    than 2 (d + 1) samples, also when `partial_fit` brings the model there.
    """

    _factors = (*FACTORS, FACTOR)

    @property
    def coef_(self):
        """Weights of the features, (n_features,) or (n_outputs, n_features); linear kernel only."""
        if self.kernel != "linear":
            raise AttributeError(f"coef_ is there for the linear kernel, not for {self.kernel!r}.")
        return self._shaped(self._weights()[1]).T.copy()

    # -- for the machines -----------------------------------------------------------------------

    def _linear_solver(self, X, columns, weight):
        """A solver that holds sums, for these samples."""
        return LinearSolver(self._machine, X, columns, weight=weight, ridge=self._strength())

    # -- state ----------------------------------------------------------------------------------

    def _get_state(self):
        return {**super()._get_state(), "weights": self._sum_weights()}

    def _set_state(self, state):
        super()._set_state(state)
        self._derived["weights"] = state["weights"]

    # -- learning -------------------------------------------------------------------------------

    def _selection_problem(self, X, y, weight):
        problem = super()._selection_problem(X, y, weight)
        if not self._summable(*X.shape):
            return problem
        problem = LinearProblem(self._machine, problem.targets, X)
        return subsample(problem, _SEARCHED, check_random_state(self.random_state))

    def _solve_from_scratch(self, X, y, weight):
        if not self._summable(*X.shape):
            return super()._solve_from_scratch(X, y, weight)
        return self._attached(self._linear_solver(X, self._columns(y), weight))

    def _append_to_solver(self, X, columns, weight):
        n, d = len(self._ids) + X.shape[0], X.shape[1]
        if self._in_sums:
            self._solver.append_rows(X, columns, weight)
        elif self._summable(n, d):
            self._change_to_sums(X, columns, weight)
        else:
            super()._append_to_solver(X, columns, weight)

    def _change_to_sums(self, X, columns, weight):
        """Let new samples enter, and hold sums from now on."""
        past, held = self._solver.refactorizations, self._solver.targets
        held = np.pad(held, ((0, 0), (0, columns.shape[1] - held.shape[1])))
        columns = np.vstack([held, columns])
        weight = np.append(self._solver_weight(self._y, self._weight), weight)
        self._solver = self._linear_solver(self._samples_with(X), columns, weight)
        event = Refactorization("more than 2 (d + 1) samples", len(weight), 0, FACTOR)
        self._solver.refactorizations.extend([*past, event])

    def _changed(self):
        super()._changed()
        if self._live is not None and self._in_sums:
            self._attached(self._live)

    def _attached(self, solver):
        """The solver, reading the samples that the estimator holds."""
        solver.rows = getattr(self, "_rows", None)
        return solver

    @property
    def _in_sums(self):
        return getattr(self._solver, "in_sums", False)

    def _summable(self, n, d):
        if self.kernel != "linear":
            return False
        return self.factor == FACTOR or (self.factor == "auto" and n > 2 * (d + 1))

    # -- predicting -----------------------------------------------------------------------------

    def _weights(self):
        """Intercepts (t,) and weights of the features (d, t)."""
        check_is_fitted(self)
        weights = self._sum_weights()
        if weights is not None:
            return weights
        intercept, Z = self._coefficients()
        return intercept, safe_sparse_dot(self._rows.rows.T, Z)

    def _sum_weights(self):
        """What `_weights` are by the sums, which predictions use; None for the n×n form."""
        return self._derive("weights", self._compute_sum_weights)

    def _compute_sum_weights(self):
        if not self._in_sums:
            return None
        # Contiguous, as they come from a file: the layout may decide how a product is rounded.
        return tuple(np.ascontiguousarray(self._combine(part)) for part in self._solver.weights())

    def _outputs(self, X):
        check_is_fitted(self)
        weights = self._sum_weights()
        if weights is None:
            return super()._outputs(X)
        return safe_sparse_dot(self._check_queries(X), weights[1]) + weights[0]

    # -- validation -----------------------------------------------------------------------------

    def _check_parameters(self):
        super()._check_parameters()
        if self.factor == FACTOR and self.kernel != "linear":
            raise ValueError(
                f'factor="{FACTOR}" holds sums over the features of a linear kernel, got '
                f"kernel={self.kernel!r}. Leave factor at its default."
            )
