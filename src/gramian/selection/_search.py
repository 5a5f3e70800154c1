"""Searches for the width and the ridge that minimise a closed-form leave-one-out criterion.

The width is first sought on a subsample, over a grid of four-fold steps around one over the median
distance; then on all samples, where each evaluation costs one kernel matrix and one spectrum,
whatever the number of ridges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from gramian.machines._criteria import CRITERIA, Criterion
from gramian.machines._left_out import ClassTargets
from gramian.selection._objective import Objective, WidthPrior
from gramian.selection._problem import Problem, subsample
from gramian.selection._result import Selection, Trace, Trial

SUBSAMPLE = 400
PRIOR_DEVIATION = 2.0
_GRID = 4.0 ** np.arange(-4, 4)
_STEP = np.log(2.0)
_TOLERANCE = 0.15
_EVALUATIONS = 6


def select(
    problem: Problem,
    *,
    gamma: Any = "loo",
    ridge: float | str = "loo",
    criterion: str | None = None,
    start: tuple[Any, float] | None = None,
    random_state: Any = None,
    callback: Callable[[Trial], None] | None = None,
) -> Selection:
    """Choose width and ridge by exact leave-one-out.

    Parameters
    ----------
    problem : Problem
    gamma : "loo", number, array or None
        ``"loo"`` tunes it; otherwise it is taken as it is.
    ridge : "loo" or number
    criterion : {"log", "squared", "hinge", "error"}, optional
        The log-loss for classes, the squared error for responses.
    start : (gamma, ridge), optional
        Search from here, on all samples from the first.
    random_state : int, RandomState or None
        Draws the subsample.
    callback : callable, optional
        Called with a `Trial` after every evaluation.

    Notes
    -----
    A prior keeps the width from running off where the criterion is flat, or fits its own noise
    (Cawley & Talbot 2010): log gamma is normal around the log of one over the median distance,
    with deviation 2 (a factor of 7). It is worth at most a few nats in n times the criterion.
    """
    _check(problem, gamma, ridge)
    trace = Trace(callback)
    rule = _criterion(criterion, problem)
    fixed = None if isinstance(ridge, str) else float(ridge)
    if not isinstance(gamma, str):
        best = Objective(problem, rule, None, fixed, "all samples", trace).path(gamma)
        return trace.selection(best, rule.name)
    few = subsample(problem, SUBSAMPLE, check_random_state(random_state))
    prior = WidthPrior(few.typical_gamma(), PRIOR_DEVIATION)
    whole = Objective(problem, rule, prior, fixed, "all samples", trace)
    trials = [whole.path(start[0])] if start is not None else _first_trials(few, whole)
    return trace.selection(refine(whole, trials), rule.name)


def _first_trials(few: Problem, whole: Objective) -> list[Trial]:
    """Trials on all samples to refine: a grid, or the best width of a subsample."""
    assert whole.prior is not None
    widths = whole.prior.center * _GRID
    if few is whole.problem:
        return [whole.path(width) for width in widths]
    part = Objective(few, whole.criterion, whole.prior, whole.ridge, "subsample", whole.trace)
    best = refine(part, [part.path(width) for width in widths])
    return [whole.path(best.gamma)]


def refine(objective: Objective, trials: list[Trial]) -> Trial:
    """Bracket the best width by steps of two, then follow parabolas through three points.

    At most six evaluations, in log gamma; fewer when a parabola moves by less than 15 %.
    """
    trials = list(trials)
    for _ in range(_EVALUATIONS):
        x = _next_point(trials)
        if x is None:
            break
        trials.append(objective.path(float(np.exp(x))))
    return min(trials, key=lambda trial: trial.objective)


def _next_point(trials: list[Trial]) -> float | None:
    """Where to look next, as log gamma; None when the minimum is known well enough."""
    trials = sorted(trials, key=lambda trial: trial.gamma)
    x = np.log([trial.gamma for trial in trials])
    f = np.array([trial.objective for trial in trials])
    best = int(np.argmin(f))
    if best == 0:
        return float(x[0] - _STEP)
    if best == len(x) - 1:
        return float(x[-1] + _STEP)
    left, right = x[best - 1] - x[best], x[best + 1] - x[best]
    rise_left, rise_right = f[best - 1] - f[best], f[best + 1] - f[best]
    curvature = rise_right * left - rise_left * right
    if curvature == 0:
        return None
    move = 0.5 * (rise_right * left**2 - rise_left * right**2) / curvature
    return float(x[best] + move) if abs(move) > _TOLERANCE else None


def _criterion(name: str | None, problem: Problem) -> Criterion:
    classes = isinstance(problem.targets, ClassTargets)
    if name is None:
        name = "log" if classes else "squared"
    allowed = tuple(CRITERIA) if classes else ("squared",)
    if name not in allowed:
        raise ValueError(f"criterion must be one of {allowed} here, got {name!r}.")
    return CRITERIA[name]


def _check(problem: Problem, gamma: Any, ridge: Any) -> None:
    if problem.n < 2:
        raise ValueError(
            f"choosing by leave-one-out needs at least 2 samples, got {problem.n}. Give `gamma` "
            f"and the regularisation as numbers."
        )
    if isinstance(gamma, str) and gamma != "loo":
        raise ValueError(f'gamma must be > 0 or "loo", got {gamma!r}.')
    if isinstance(gamma, str) and not problem.has_width:
        raise ValueError(
            f'gamma={gamma!r} needs a kernel with a width, "rbf" or "laplacian". Give a number.'
        )
    if isinstance(ridge, str) and ridge != "loo":
        raise ValueError(f'ridge must be > 0 or "loo", got {ridge!r}.')
