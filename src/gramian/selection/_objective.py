"""The function that a search minimises: a leave-one-out criterion with a prior on the width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.arrays import Array
from gramian.machines import Criterion, differentiate
from gramian.selection._problem import Problem
from gramian.selection._result import Trace, Trial

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
        coarse = ridge_grid(self.problem.machine.spectrum(spectrum).values)
        values = self._values(spectrum, coarse)
        fine = _between_neighbours(coarse, _lowest(coarse, values))
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
        problem.require_squares(8, float)  # six at the peak of `differentiate`, and K twice
        K = problem.gram(gamma).astype(float)
        found = differentiate(problem.machine, self.criterion, K, problem.targets, ridge)
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


def ridge_grid(values: Array) -> Array:
    """Ridges from the largest eigenvalue down, three to a decade.

    The last one is 1e-9 of the mean eigenvalue, or more: where rounding would drown it, or where
    a negative eigenvalue asks for it.
    """
    size = float(np.abs(values).max()) or 1.0
    rounding = 10.0 * float(np.finfo(values.dtype).eps) * size
    floor = max(1e-9 * float(values.mean()), rounding, -2.0 * float(values.min()))
    top = max(size, 10.0 * floor)
    return np.geomspace(top, floor, int(np.ceil(_PER_DECADE * np.log10(top / floor))) + 1)


def _lowest(ridges: Array, values: Array) -> int:
    """Where the criterion is least; of equal ones, where the ridge is largest."""
    equal = np.flatnonzero(values <= (1.0 + _EQUAL) * values.min())
    return int(equal[np.argmax(ridges[equal])])


def _between_neighbours(grid: Array, best: int) -> Array:
    above, below = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    return np.geomspace(above, below, _ZOOM + 2)[1:-1]
