"""A search that climbs: widths and ridges on few samples, then slopes on more and more of them.

1. On 256 samples, eight widths and up to twenty ridges, one spectrum for each width. A width starts
   from its *largest* ridge within one nat of its best, since the criterion is often flat below.
2. The two best widths go on. A quadratic through the neighbouring grid values is the first guess
   of the curvature.
3. On nested subsamples of … n/4, n/2 and n samples, quasi-Newton steps in log gamma and log ridge.
   The curvature is carried upward in proportion to n. The worse start ends after its first rung.

The unit is the nat: n times a log-loss, or n/2 times the log of a mean square.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear

from gramian.core.arrays import Array, side_by_side
from gramian.core.gram import Spectrum
from gramian.core.search._objective import Objective, each_setting
from gramian.core.search._result import Trial, one_width

FIRST = 256
WIDTHS = 4.0 ** np.arange(-4, 4)
_RIDGES, _FEW_RIDGES, _MANY_CLASSES = 20, 12, 8
_NAT = 1.0
_STARTS = 2
_HOPEFUL = 4.0  # nats; a width that is worse than the best by more is no second start
_REACH = np.log(4.0)
_BELOW, _AT_LAST = (0.5, 6), (0.15, 8)  # nats that the next step must promise, and steps at most
_LEAST_CURVATURE = 0.25  # nats; that of the prior on log gamma

Rungs = Callable[[int], Objective]
"""The objective on so many samples."""


@dataclass(frozen=True)
class Place:
    """A setting with what is known around it, in nats and natural logarithms."""

    x: Array
    """Log gamma, and log ridge unless the ridge is given."""
    curvature: Array
    """Second derivatives, a guess."""
    n: int
    """The number of samples that the curvature is for."""
    trial: Trial | None = None
    nats: float = np.inf


def climb(rung: Rungs, n: int, start: tuple[Any, float] | None = None) -> Trial:
    """The best setting found for n samples, from a grid on few of them or from ``start``."""
    places = _starts(rung(FIRST), start)
    for size in rung_sizes(n) if start is None else [n]:
        effort = _BELOW if size < n else _AT_LAST

        def descend(objective: Objective, place: Place, effort: tuple[Any, ...] = effort) -> Place:
            return _descend(objective, place, *effort)

        found = each_setting(rung(size), descend, places)
        places = [min(found, key=lambda place: place.nats)]
    trial = places[0].trial
    assert trial is not None
    return trial


def rung_sizes(n: int) -> list[int]:
    """Halves of n that are clearly more than the samples of the grid, and n itself."""
    sizes = [n]
    while sizes[0] // 2 > 1.1 * FIRST:
        sizes.insert(0, sizes[0] // 2)
    return sizes


# -- the grid -----------------------------------------------------------------------------------


def _starts(part: Objective, start: tuple[Any, float] | None) -> list[Place]:
    """The two best widths of a grid, or the start with the curvature of a grid around it."""
    assert part.prior is not None
    center = part.prior.center * WIDTHS if start is None else one_width(start[0]) * WIDTHS[3:6]
    widths = [float(width) for width in center]
    ridges, nats = _grid(part, widths)
    if start is not None:
        near = int(np.argmin(np.abs(np.log(ridges / start[1]))))
        x = np.log([one_width(start[0]), start[1]])[: 2 if part.ridge is None else 1]
        return [Place(x, _curvature(widths, ridges, nats, 1, near), part.problem.n)]
    places, best = [], nats.min(axis=1)
    for i in np.argsort(best, kind="stable")[:_STARTS]:
        if best[i] > best.min() + _HOPEFUL:
            break
        j = int(np.flatnonzero(nats[i] <= nats[i].min() + _NAT)[0])
        x = np.log([widths[i], ridges[j]])[: 2 if part.ridge is None else 1]
        places.append(Place(x, _curvature(widths, ridges, nats, int(i), j), part.problem.n))
    return places


def _grid(part: Objective, widths: list[float]) -> tuple[Array, Array]:
    """Falling ridges, the same for every width, and the objective in nats for all pairs."""
    spectra = side_by_side(part.problem.spectrum, widths, part.problem.n)
    if part.ridge is not None:
        ridges = np.array([part.ridge])
    else:
        many = part.problem.targets.own.shape[1] > _MANY_CLASSES
        tops, floors = zip(*map(part.ridge_range, spectra), strict=True)
        ridges = np.geomspace(max(tops), max(floors), _FEW_RIDGES if many else _RIDGES)

    def nats(part: Objective, pair: tuple[float, Spectrum]) -> Array:
        return part.nats_on_path(*pair, ridges)

    return ridges, np.array(each_setting(part, nats, zip(widths, spectra, strict=True)))


def _curvature(widths: list[float], ridges: Array, nats: Array, i: int, j: int) -> Array:
    """Second derivatives of a quadratic through the grid values around one of them."""
    i = min(max(i, 1), len(widths) - 2)
    step = np.log(widths[i + 1] / widths[i])
    if len(ridges) == 1:
        H = np.diff(nats[i - 1 : i + 2, 0], 2)[None] / step**2
        return _definite(H)
    j = min(max(j, 1), len(ridges) - 2)
    fall = np.log(ridges[j + 1] / ridges[j])
    block = nats[i - 1 : i + 2, j - 1 : j + 2]
    cross = (block[2, 2] - block[2, 0] - block[0, 2] + block[0, 0]) / (4.0 * step * fall)
    H = np.array(
        [
            [np.diff(block[:, 1], 2)[0] / step**2, cross],
            [cross, np.diff(block[1], 2)[0] / fall**2],
        ]
    )
    return _definite(H)


def _definite(H: Array) -> Array:
    """H with the sizes of its eigenvalues in their place, and none below that of the prior."""
    values, vectors = np.linalg.eigh(H)
    result: Array = (vectors * np.maximum(np.abs(values), _LEAST_CURVATURE)) @ vectors.T
    return result


# -- a rung -------------------------------------------------------------------------------------


def _descend(objective: Objective, start: Place, enough: float, steps: int) -> Place:
    """Damped BFGS steps until the next one promises less than ``enough`` nats.

    A step changes no logarithm by more than log 4. One that fails halves that reach, and its slopes
    still mend the curvature.
    """
    n = objective.problem.n
    H, x, reach = _definite(start.curvature * n / start.n), start.x, _REACH
    least = np.log([1e-300, objective.least_ridge()])[: len(x)]
    x = np.maximum(x, least)
    trial, nats, slopes = objective.nats_and_slopes(x)
    for _ in range(steps):
        step = _bounded_step(H, slopes, np.maximum(-reach, least - x), reach)
        if -(slopes @ step + 0.5 * step @ H @ step) < enough:
            break
        tried = objective.nats_and_slopes(x + step)
        H = _updated(H, step, tried[2] - slopes)
        if tried[1] < nats:
            x, (trial, nats, slopes) = x + step, tried
        else:
            reach = 0.5 * float(np.abs(step).max())
    return Place(x, H, n, trial, nats)


def _bounded_step(H: Array, slopes: Array, least: Array, most: float) -> Array:
    """The minimum of the quadratic ``slopesᵀp + ½ pᵀHp`` in a box around 0."""
    root = np.linalg.cholesky(H)
    bounds = (np.minimum(least, -1e-12), most)
    result: Array = lsq_linear(root.T, -np.linalg.solve(root, slopes), bounds, method="bvls").x
    return result


def _updated(H: Array, step: Array, change: Array) -> Array:
    """BFGS, damped as Powell proposes, so that H stays positive definite."""
    Hs = H @ step
    bend, expected = float(step @ change), float(step @ Hs)
    if bend < 0.2 * expected:
        share = 0.8 * expected / (expected - bend)
        change = share * change + (1.0 - share) * Hs
    result: Array = H - np.outer(Hs, Hs) / expected + np.outer(change, change) / (step @ change)
    return result
