"""The function that a search minimises: a leave-one-out criterion with a prior on the width."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from gramian.core.arrays import Array, side_by_side
from gramian.core.equations import Criterion, differentiate
from gramian.core.gram import Spectrum
from gramian.core.search._problem import SQUARES, Problem
from gramian.core.search._result import Trace, Trial

Item = TypeVar("Item")
Result = TypeVar("Result")

_PER_DECADE = 3
_ZOOM = 8
_EQUAL = 1e-12  # relative difference of two criteria that rounding alone can make


@dataclass(frozen=True)
class WidthPrior:
    """A normal prior on log gamma: on its mean over features, and on the features around it.

    ::

        penalty = ½ ((m − log center) / deviation)² + ½ Σ_f ((log gamma_f − m) / spread)²

    with m the mean of log gamma_f. One common width has the first term alone. Logarithms are
    natural.
    """

    center: float
    deviation: float
    spread: float

    def penalty(self, gamma: Any) -> float:
        """Minus log density, up to a constant, in nats."""
        mean, around = self._parts(gamma)
        return 0.5 * (mean**2 + float(np.sum(around**2)))

    def gradient(self, gamma: Any) -> Array:
        """Of `penalty`, with respect to log gamma."""
        mean, around = self._parts(gamma)
        return mean / (self.deviation * len(around)) + around / self.spread

    def _parts(self, gamma: Any) -> tuple[float, Array]:
        """Mean and deviations from it, each in units of its standard deviation."""
        logs = np.log(np.atleast_1d(gamma) / self.center)
        mean = float(logs.mean())
        return mean / self.deviation, (logs - mean) / self.spread


@dataclass(frozen=True)
class Objective:
    """A criterion of one problem, as a function of width and ridge.

    Parameters
    ----------
    prior : WidthPrior or None
    ridge : float or None
        None: the best of a path.
    stage : str
    trace : Trace
    """

    problem: Problem
    criterion: Criterion
    prior: WidthPrior | None
    ridge: float | None
    stage: str
    trace: Trace

    def path(self, gamma: Any) -> Trial:
        """The best ridge for this width: one spectrum, O(n³), then O(n²) per ridge.

        First a grid from the largest eigenvalue down, then a finer one between the neighbours of
        its best point. Of ridges with equal criteria the largest wins.
        """
        spectrum = self.problem.spectrum(gamma)
        if self.ridge is not None:
            ridges = np.array([self.ridge])
            return self._best(gamma, ridges, self._values(spectrum, ridges))
        coarse = ridge_grid(*self.ridge_range(spectrum))
        values = self._values(spectrum, coarse)
        fine = _between_neighbours(coarse, _lowest(coarse, values))
        return self._best(
            gamma,
            np.concatenate([coarse, fine]),
            np.concatenate([values, self._values(spectrum, fine)]),
        )

    def nats_on_path(self, gamma: float, spectrum: Spectrum, ridges: Array) -> Array:
        """The objective in nats for one width and each ridge, O(n²) per ridge."""
        values = self._values(spectrum, ridges)
        self._best(gamma, ridges, values)
        n, penalty = self.problem.n, 0.0 if self.prior is None else self.prior.penalty(gamma)
        return np.array([self.criterion.nats(float(value), n) for value in values]) + penalty

    def nats_and_slopes(self, x: Array) -> tuple[Trial, float, Array]:
        """One setting in logarithms, the objective there in nats, and its derivatives by x."""
        gamma, ridge = np.exp(x[0]), np.exp(x[1]) if self.ridge is None else self.ridge
        trial, by_width, by_ridge = self.derivatives(float(gamma), float(ridge))
        n = self.problem.n
        slope = self.criterion.nats_slope(trial.objective, n)
        slopes = slope * np.append(by_width, by_ridge)[: len(x)]
        return trial, self.criterion.nats(trial.objective, n), slopes

    def least_ridge(self) -> float:
        """A ridge that suffices for every width: the largest eigenvalue is at most the trace."""
        problem = self.problem
        own = problem.kernel.diagonal(problem.samples)
        weight = 1.0 if problem.targets.weight is None else problem.targets.weight
        return problem.equations.least_ridge(float(np.sum(own * weight)), _eps(own))

    def ridge_range(self, spectrum: Spectrum) -> tuple[float, float]:
        """The largest and the least ridge that a path tries, at least one decade apart.

        From the largest eigenvalue down to 1e-9 of the mean one; not so far where rounding would
        decide, or where a negative eigenvalue asks for more.
        """
        equations, size = self.problem.equations, float(np.abs(spectrum.values).max()) or 1.0
        values = equations.spectrum(spectrum).values
        rounding = equations.least_ridge(size, _eps(values))
        floor = max(1e-9 * float(values.mean()), rounding, -2.0 * float(values.min()))
        return max(float(np.abs(values).max()), 10.0 * floor), floor

    def point(self, gamma: Any, ridge: float) -> Trial:
        """The criterion for one width and one ridge."""
        ridges = np.array([ridge])
        return self._best(gamma, ridges, self._values(self.problem.spectrum(gamma), ridges))

    def derivatives(self, gamma: Any, ridge: float) -> tuple[Trial, Array, float]:
        """One setting, with the derivatives of the objective by log gamma and log ridge, O(n³)."""
        problem = self.problem
        problem.require_squares(SQUARES, float)
        K = problem.gram(gamma).astype(float, copy=False)
        found = differentiate(problem.equations, self.criterion, K, problem.targets, ridge)
        kernel = problem.kernel.with_gamma(gamma)
        by_width = kernel.gamma_gradient(K, found.gram, problem.samples)
        assert self.prior is not None
        penalty = self.prior.penalty(gamma)
        slope, penalty_slope = self.criterion.penalized_slopes(found.value, penalty, problem.n)
        by_width = slope * by_width + penalty_slope * self.prior.gradient(gamma)
        trial = self._best(gamma, np.array([ridge]), np.array([found.value]))
        return trial, by_width, slope * ridge * found.ridge

    def _values(self, spectrum: Any, ridges: Array) -> Array:
        F = self.problem.loo_path(spectrum, ridges)
        return self.criterion.value(F, self.problem.targets)

    def _best(self, gamma: Any, ridges: Array, values: Array) -> Trial:
        best = _lowest(ridges, values)
        value = float(values[best])
        penalty = 0.0 if self.prior is None else self.prior.penalty(gamma)
        trial = Trial(
            self.stage,
            self.problem.n,
            gamma,
            float(ridges[best]),
            value,
            self.criterion.penalized(value, penalty, self.problem.n),
        )
        return self.trace.add(trial, ridges, values)


def each_setting(
    objective: Objective,
    function: Callable[[Objective, Item], Result],
    items: Iterable[Item],
) -> list[Result]:
    """``function(objective, item)`` for each item, side by side; trials are recorded in order.

    On a device one after the other, since its memory is for one.
    """
    if objective.problem.like is not None:  # on a device
        return [function(objective, item) for item in items]
    pairs = [(replace(objective, trace=Trace()), item) for item in items]
    results = side_by_side(lambda pair: function(*pair), pairs, objective.problem.n)
    for one, _ in pairs:
        for path in one.trace.paths:
            objective.trace.add(*path)
    return results


def ridge_grid(top: float, floor: float) -> Array:
    """Falling ridges, three to a decade."""
    return np.geomspace(top, floor, int(np.ceil(_PER_DECADE * np.log10(top / floor))) + 1)


def _eps(values: Array) -> float:
    return float(np.finfo(values.dtype).eps)


def _lowest(ridges: Array, values: Array) -> int:
    """Where the criterion is least; of equal ones, where the ridge is largest."""
    equal = np.flatnonzero(values <= (1.0 + _EQUAL) * values.min())
    return int(equal[np.argmax(ridges[equal])])


def _between_neighbours(grid: Array, best: int) -> Array:
    above, below = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    return np.geomspace(above, below, _ZOOM + 2)[1:-1]
