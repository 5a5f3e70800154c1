"""Searches for the width and the ridge that minimise a closed-form leave-one-out criterion.

With few samples, a grid of widths in four-fold steps around one over the median distance and then
parabolas, each width with its whole path of ridges; with more, the ladder of `_ladder`. No more
than `Problem.largest` samples are decomposed; on a device slopes are followed on more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gramian.core.equations import CRITERIA, ClassTargets, Criterion, Equations
from gramian.core.kernels import KERNELS
from gramian.core.search._ladder import FIRST, WIDTHS, Rungs, climb
from gramian.core.search._objective import Objective, WidthPrior, each_setting
from gramian.core.search._polish import descend, simplex
from gramian.core.search._problem import Problem, nested
from gramian.core.search._result import Selection, Trace, Trial, one_width

SUBSAMPLE = 400
DEVIATION = 2.0
SPREAD = 0.5
_STEP = np.log(2.0)
_TOLERANCE = 0.15
_EVALUATIONS = 6
_FEW_STEPS = 15
_MANY_STEPS = 60


def select(
    problem: Problem,
    *,
    gamma: Any = "loo",
    ridge: float | str = "loo",
    criterion: str | None = None,
    search: str = "ladder",
    by_feature: bool = False,
    start: tuple[Any, float] | None = None,
    random_state: Any = None,
    callback: Callable[[Trial], object] | None = None,
) -> Selection:
    """Choose width and ridge by exact leave-one-out.

    Parameters
    ----------
    problem : Problem
    gamma : "loo", number, array or None
        ``"loo"`` chooses one width, or one for each feature. Other values are used as given.
    ridge : "loo" or number
    criterion : {"log", "squared", "hinge", "error"}, optional
        By default the log-loss for classes and the squared error for responses.
    search : {"ladder", "path", "nelder-mead", "gradient"}
        How the search continues from the widths found on a subsample. ``"ladder"`` follows slopes
        on larger and larger parts, for smooth criteria and more than 256 samples; otherwise, and
        for the kernel Fisher discriminant, it is ``"path"``, which tries widths on all samples,
        each with its best ridge.
        ``"nelder-mead"`` (the simplex of saadi2004) and ``"gradient"`` (L-BFGS) search for both
        together on all samples. ``by_feature`` always uses ``"gradient"``.
    by_feature : bool
        Whether to choose a width for each feature.
    start : (gamma, ridge), optional
        Where to start the search; it then uses all samples from the beginning. By feature,
        one width stands for the search for the best common one, and the others begin there.
    random_state : int, RandomState or None
        Seed of the subsamples. None draws them by a hash of each sample, so that a search is
        repeatable and does not depend on the order of the samples.
    callback : callable, optional
        Called with a `Trial` after every evaluation.

    Notes
    -----
    A prior keeps widths bounded if the criterion is flat, and reduces over-fitting of the criterion
    (Cawley & Talbot 2010). Log gamma, or its mean over features, is normal around the log of one
    over the median distance with standard deviation 2. The log gamma of each feature is normal
    around that mean with standard deviation ½. Minus the log density is added to n times the
    criterion.
    """
    _check(problem, gamma, ridge, search)
    search = "features" if by_feature and isinstance(gamma, str) else search
    trace, rule = Trace(callback), _criterion(criterion, problem, search)
    fixed = None if isinstance(ridge, str) else float(ridge)
    part = nested(problem, random_state)
    prior = None
    if isinstance(gamma, str):
        few = part(SUBSAMPLE)
        prior = WidthPrior(few.kernel.typical_gamma(few.samples), DEVIATION, SPREAD)

    def rung(size: int) -> Objective:
        some = part(size)
        stage = "all samples" if some is problem else "subsample"
        return Objective(some, rule, prior, fixed, stage, trace)

    n, most = (min(problem.n, size) for size in (problem.largest, problem.most))
    best = _search(rung, n, most, gamma, search, start)
    return trace.selection(best, rule.name)


def _search(
    rung: Rungs, n: int, most: int, gamma: Any, search: str, start: tuple[Any, float] | None
) -> Trial:
    whole = rung(n)
    if not isinstance(gamma, str):
        return whole.path(gamma)
    guide, groups = whole.problem.equations.guide, whole.problem.targets.groups
    slopes = search in ("features", "gradient")
    if guide is not None and groups is not None and slopes:
        # Only the guide has slopes with groups left out: its widths, and the best ridge for them.
        return whole.path(_search(_guided(rung, guide), n, most, gamma, search, start).gamma)
    if search == "features":
        return _search_features(whole, rung(SUBSAMPLE), start)
    smooth = whole.criterion.gradient is not None and whole.problem.equations.climbs
    if search == "ladder" and smooth and whole.problem.n > FIRST:
        return _climb(rung, n, most, start)
    return _POLISH[search](whole, _first_trials(whole, rung(SUBSAMPLE), start))


def _climb(rung: Rungs, n: int, most: int, start: tuple[Any, float] | None) -> Trial:
    """The ladder; where another estimator guides, its width and the best ridge of a path for it."""
    whole = rung(n)
    guide = whole.problem.equations.guide
    if guide is None:
        return climb(rung, most, start)
    return whole.path(climb(_guided(rung, guide), n, start).gamma)


def _guided(rung: Rungs, guide: Equations) -> Rungs:
    """The same objectives with the equations of the guide."""

    def guided(size: int) -> Objective:
        objective = rung(size)
        return replace(objective, problem=replace(objective.problem, equations=guide))

    return guided


def _first_trials(
    whole: Objective, part: Objective, start: tuple[Any, float] | None
) -> list[Trial]:
    """Trials on all samples to go on from: a grid, or the best width of a subsample."""
    if start is not None:
        return [whole.path(one_width(start[0]))]
    assert part.prior is not None
    grid = each_setting(part, Objective.path, (part.prior.center * WIDTHS).tolist())
    return grid if part.problem is whole.problem else [whole.path(refine(part, grid).gamma)]


def _search_features(whole: Objective, part: Objective, start: tuple[Any, float] | None) -> Trial:
    """One width per feature: from a common one on a subsample and then on all, or from ``start``.

    A start with one width stands for the search for the best common one.
    """
    each = np.ones(whole.problem.samples.shape[1])
    if start is not None and np.ndim(start[0]):
        return descend(whole, start[0], start[1], steps=_MANY_STEPS)
    if start is None:
        common = refine(part, _first_trials(part, part, None))
        start = common.gamma, common.ridge
    whole.trace.common = float(start[0]), float(start[1])
    best = descend(part, start[0] * each, start[1], steps=_MANY_STEPS)
    return (
        best
        if part.problem.n == whole.problem.n
        else descend(whole, best.gamma, best.ridge, steps=_FEW_STEPS)
    )


def _by_simplex(objective: Objective, trials: list[Trial]) -> Trial:
    best = min(trials, key=_objective_of)
    return simplex(objective, best.gamma, best.ridge)


def _by_gradient(objective: Objective, trials: list[Trial]) -> Trial:
    best = min(trials, key=_objective_of)
    return descend(objective, best.gamma, best.ridge, steps=_FEW_STEPS)


def _objective_of(trial: Trial) -> float:
    return trial.objective


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
    return min(trials, key=_objective_of)


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
    curvature = rise_right * left - rise_left * right  # < 0: the first minimum rises to its left
    move = 0.5 * (rise_right * left**2 - rise_left * right**2) / curvature
    return float(x[best] + move) if abs(move) > _TOLERANCE else None


_POLISH = {"ladder": refine, "path": refine, "nelder-mead": _by_simplex, "gradient": _by_gradient}


def _criterion(name: str | None, problem: Problem, search: str) -> Criterion:
    classes = isinstance(problem.targets, ClassTargets)
    if name is None:
        name = "log" if classes else "squared"
    allowed = tuple(CRITERIA) if classes else ("squared",)
    if name not in allowed:
        raise ValueError(f"criterion must be one of {allowed} here, got {name!r}.")
    if search in ("features", "gradient") and CRITERIA[name].gradient is None:
        raise ValueError(f"a search by gradient needs a smooth criterion, got {name!r}.")
    return CRITERIA[name]


def _check(problem: Problem, gamma: Any, ridge: Any, search: str) -> None:
    if problem.n < 2:
        raise ValueError(
            f"choosing by leave-one-out needs at least 2 samples, got {problem.n} sample. Give "
            f"`gamma` and the regularisation as numbers."
        )
    if search not in _POLISH:
        raise ValueError(f"search must be one of {tuple(_POLISH)}, got {search!r}.")
    if isinstance(ridge, str) and ridge != "loo":
        raise ValueError(f'ridge must be > 0 or "loo", got {ridge!r}.')
    if isinstance(gamma, str):
        _check_width(problem, gamma, ridge)


def _check_width(problem: Problem, gamma: str, ridge: Any) -> None:
    if gamma != "loo":
        raise ValueError(f'gamma must be > 0 or "loo", got {gamma!r}.')
    if not problem.kernel.has_width:
        names = ", ".join(f'"{name}"' for name, kernel in KERNELS.items() if kernel.has_width)
        raise ValueError(f"gamma={gamma!r} needs a kernel with a width: {names}. Give a number.")
    if not isinstance(ridge, str) and not ridge > 0:
        raise ValueError(f'gamma={gamma!r} needs a ridge > 0 or "loo", got {ridge!r}.')
