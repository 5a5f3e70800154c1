"""The function that a search minimises: a leave-one-out criterion with a prior on the width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian._arrays import Array
from gramian.machines._criteria import Criterion
from gramian.machines._gradients import (
    differentiate,
    feature_width_derivatives,
    width_derivative,
)
from gramian.selection._problem import Problem
from gramian.selection._result import Trace, Trial

_PER_DECADE = 3
_ZOOM = 8


@dataclass(frozen=True)
class WidthPrior:
    """Log gamma is normal around ``log center``, independently for each width there is.

    The deviation is in natural logarithms; an infinite one is no prior.
    """

    center: float
    deviation: float

    def penalty(self, gamma: Any) -> float:
        """Minus log density, up to a constant, in nats."""
        if np.isinf(self.deviation):  # also where there is no width
            return 0.0
        return float(0.5 * np.sum(self._standardized(gamma) ** 2))

    def gradient(self, gamma: Any) -> Array:
        """Of `penalty`, with respect to log gamma."""
        return self._standardized(gamma) / self.deviation

    def _standardized(self, gamma: Any) -> Array:
        return np.atleast_1d(np.log(np.divide(gamma, self.center))) / self.deviation


NO_PRIOR = WidthPrior(1.0, np.inf)


@dataclass(frozen=True)
class Objective:
    """A criterion of one problem, as a function of width and ridge.

    Parameters
    ----------
    stage : str
    ridge : float or None
        None: the best of a path.
    """

    problem: Problem
    criterion: Criterion
    prior: WidthPrior
    ridge: float | None
    stage: str
    trace: Trace

    def path(self, gamma: Any) -> Trial:
        """The best ridge for this width: one spectrum, O(n³), then O(n²) per ridge.

        First a grid from the largest eigenvalue down, then a finer one between the neighbours of
        its best point. Of equal ridges the largest wins.
        """
        spectrum = self.problem.spectrum(gamma)
        if self.ridge is not None:
            ridges = np.array([self.ridge])
            return self._best(gamma, ridges, self._values(spectrum, ridges))
        coarse = ridge_grid(self.problem.machine.spectrum(spectrum).values)
        values = self._values(spectrum, coarse)
        fine = _between_neighbours(coarse, int(np.argmin(values)))
        return self._best(
            gamma,
            np.concatenate([coarse, fine]),
            np.concatenate([values, self._values(spectrum, fine)]),
        )

    def point(self, gamma: Any, ridge: float) -> Trial:
        """The criterion for one width and one ridge."""
        ridges = np.array([ridge])
        return self._best(gamma, ridges, self._values(self.problem.spectrum(gamma), ridges))

    def derivatives(self, gamma: Any, ridge: float) -> tuple[Trial, Array, float]:
        """One setting, with the derivatives of the objective by log gamma and log ridge, O(n³)."""
        problem = self.problem
        K = problem.gram(gamma).astype(float)
        found = differentiate(problem.machine, self.criterion, K, problem.targets, ridge)
        if np.ndim(gamma) == 0:
            by_width = np.array([width_derivative(K, found.gram)])
        else:
            by_width = feature_width_derivatives(K, found.gram, problem.samples, gamma)
        penalty = self.prior.penalty(gamma)
        slope, penalty_slope = self.criterion.penalized_slopes(found.value, penalty, problem.n)
        by_width = slope * by_width + penalty_slope * self.prior.gradient(gamma)
        trial = self._best(gamma, np.array([ridge]), np.array([found.value]))
        return trial, by_width, slope * ridge * found.ridge

    def _values(self, spectrum: Any, ridges: Array) -> Array:
        F = self.problem.loo_path(spectrum, ridges)
        return self.criterion.value(F, self.problem.targets)

    def _best(self, gamma: Any, ridges: Array, values: Array) -> Trial:
        best = int(np.argmin(values))
        value = float(values[best])
        trial = Trial(
            self.stage,
            self.problem.n,
            gamma,
            float(ridges[best]),
            value,
            self.criterion.penalized(value, self.prior.penalty(gamma), self.problem.n),
        )
        return self.trace.add(trial, ridges, values)


def ridge_grid(values: Array) -> Array:
    """Ridges from the largest eigenvalue down, three to a decade.

    The last one is 1e-9 of the mean eigenvalue, or more where rounding would drown it or a
    negative eigenvalue asks for it.
    """
    top = float(values.max())
    if not top > 0:
        return np.geomspace(1.0, 1e-9, 9 * _PER_DECADE + 1)
    rounding = 10.0 * np.finfo(values.dtype).eps * top
    floor = max(1e-9 * float(values.mean()), rounding, -2.0 * float(values.min()))
    floor = min(floor, 0.5 * top)
    return np.geomspace(top, floor, int(np.ceil(_PER_DECADE * np.log10(top / floor))) + 1)


def _between_neighbours(grid: Array, best: int) -> Array:
    above, below = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    return np.geomspace(above, below, _ZOOM + 2)[1:-1]
