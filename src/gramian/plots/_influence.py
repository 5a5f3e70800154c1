"""How far each sample moves the decision values of all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from gramian.arrays import Array, row_blocks
from gramian.estimators.dense._gram import GramEstimator
from gramian.estimators.dense._linear_solver import LinearSolver
from gramian.estimators.dense._solvers import RidgeSolver
from gramian.machines._influence import (
    Departures,
    decision_changes,
    departures,
    fisher_departures,
)
from gramian.plots._display import BLUE, GREY, RED, Display


class Influence(NamedTuple):
    """What the departure of each held sample does to the decision values of the held samples.

    Distances are Euclidean over the outputs. All of shape (n,), in the order of ``ids_``.
    """

    rms: Array
    """Root mean square over all held samples, the leaving one included."""
    largest: Array
    """The largest over the other samples."""
    own: Array
    """That of the sample itself: from its fitted to its leave-one-out value."""


def sample_influence(model: Any) -> Influence:
    """How far decision values move when one sample leaves, exactly, for every held sample.

    Equal to n refits, from the closed form of `gramian.machines._influence`: O(n² t) for t
    outputs where the model holds an explicit inverse, O(n³) otherwise. Balanced class weights
    stay those of all samples.

    Parameters
    ----------
    model : estimator
        One that solves with all of its samples: KernelDiscriminant with a ridge above 0,
        KernelFisherDiscriminant, LeastSquaresSVC or LeastSquaresSVR.

    Examples
    --------
    >>> from gramian import KernelDiscriminant
    >>> from gramian.datasets import make_banana
    >>> from gramian.plots import sample_influence
    >>> X, y = make_banana(100, random_state=0)
    >>> model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y)
    >>> sample_influence(model).rms.shape
    (100,)
    """
    solver = _ridge_solver(model)
    X, ridge_diagonal = solver.system.solution(), solver.ridge * solver._inverse_weight
    R, s, leaving = X[:, 1:], X[:, 0], _departures(solver)
    Z = R - s[:, None] * solver.coefficients()[0]
    fitted = (solver.targets - ridge_diagonal[:, None] * Z).real
    n, (squares, largest, own) = len(R), np.zeros((3, len(R)))
    for block in row_blocks(n, n * R.shape[1]):
        at = np.arange(n)[block]
        P_rows = solver.system.factor.columns(at).T
        delta = decision_changes(leaving, at, P_rows, s, ridge_diagonal)
        distance = np.linalg.norm(_of_outputs(model, fitted[at], delta), axis=2)
        squares += np.sum(distance**2, axis=0)
        own[at] = distance[np.arange(len(at)), at]
        distance[np.arange(len(at)), at] = 0.0
        largest = np.maximum(largest, distance.max(axis=0))
    return Influence(np.sqrt(squares / n), largest, own)


class InfluenceDisplay(Display):
    """The samples whose departure would move the decision values farthest.

    A bar is the root mean square change of all held samples' decision values when that one sample
    is forgotten, without a refit and equal to one. Samples that the model without them gets wrong
    are marked: influential and wrong is what a label error looks like.

    Parameters
    ----------
    ids : ndarray of shape (n,)
    influence : ndarray of shape (n,)
    wrong : ndarray of shape (n,), optional
        Whether the leave-one-out prediction is wrong.

    Attributes
    ----------
    ax_, figure_
        Where it was last drawn.

    Examples
    --------
    >>> from gramian import KernelDiscriminant
    >>> from gramian.datasets import make_banana
    >>> from gramian.plots import InfluenceDisplay
    >>> X, y = make_banana(100, random_state=0)
    >>> model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y)
    >>> display = InfluenceDisplay.from_estimator(model, n_samples=3)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['61', '50', '78']
    """

    def __init__(self, ids, influence, wrong=None):
        self.ids = ids
        self.influence = influence
        self.wrong = wrong

    @classmethod
    def from_estimator(cls, model, *, n_samples=15, ax=None):
        """Draw the most influential samples of a fitted model.

        Parameters
        ----------
        model : estimator
            One that `sample_influence` takes.
        n_samples : int, default=15
            How many to show.
        ax : matplotlib Axes, optional
        """
        influence = sample_influence(model).rms
        wrong = model.loo_predict() != model.y_fit_ if is_classifier(model) else None
        return cls(model.ids_, influence, wrong).plot(n_samples=n_samples, ax=ax)

    def plot(self, ax=None, *, n_samples=15):
        """Draw it. Returns self."""
        ax = self._begin(ax)
        top = np.argsort(-self.influence, kind="stable")[:n_samples]
        places = np.arange(len(top))
        for mine, color, label in self._groups(top):
            ax.barh(places[mine], self.influence[top[mine]], color=color, label=label, height=0.7)
        median = np.median(self.influence)
        ax.axvline(median, color=GREY, linestyle="--", label="median of all samples")
        ax.set_yticks(places, [str(name) for name in self.ids[top]])
        ax.set_ylim(len(top) - 0.5, -0.5)
        ax.set_xlim(left=0.0)
        ax.set_xlabel("change of the decision values without the sample (RMS)")
        ax.set_ylabel("sample id")
        ax.legend(loc="lower right", framealpha=0.9)
        return self

    def _groups(self, top: Array) -> list[tuple[Array, str, str | None]]:
        """Which bars have which colour and name."""
        if self.wrong is None:
            return [(np.ones(len(top), dtype=bool), BLUE, None)]
        wrong = self.wrong[top]
        return [(~wrong, BLUE, "right when left out"), (wrong, RED, "wrong when left out")]


def _ridge_solver(model: Any) -> RidgeSolver:
    """The solver of the model; one on the n×n matrix where the model holds sums of features."""
    check_is_fitted(model)
    solver = getattr(model, "_solver", None)
    if isinstance(solver, LinearSolver):
        weight = model._solver_weight(model._y, model._weight)
        solver = GramEstimator._solve_from_scratch(model, model.X_fit_, model._y, weight)
    if not isinstance(solver, RidgeSolver):
        raise ValueError(
            f"the influence of samples is known in closed form for models that solve with K + λD, "
            f"λ > 0; this {type(model).__name__} does not."
        )
    return solver


def _departures(solver: RidgeSolver) -> Departures:
    system, penalty = solver.system, solver.machine.intercept_penalty
    first = solver._moments(system.solution(), system.inverse_diagonal())
    if solver.machine.squared:
        assert penalty is not None
        return fisher_departures(*first, sigma=solver.ridge.imag, penalty=penalty)
    if penalty is not None:
        return departures(solver.machine, solver.targets, first)
    D = solver._inverse_weight
    solved = system.solve(D[:, None] * system.solution())
    second = solver._moments(solved, system.inverse_square_diagonal(D))
    return departures(solver.machine, solver.targets, first, second)


def _of_outputs(model: Any, fitted: Array, delta: Array) -> Array:
    """Changes of the model's outputs from those of the solver's columns, (m, n, t).

    The class levels of Fisher's targets change with the sample that leaves, too.
    """
    if not is_classifier(model):
        return delta
    targets = model._targets()
    before = targets.combine(fitted)
    return targets.combine_left_out(fitted[:, None] + delta) - before[:, None]
