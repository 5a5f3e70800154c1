"""Slopes of the membership functions, tuned to recognise as many training samples as possible.

A sample is assigned to the class with the largest membership ``exp(−δᵢ²/αᵢ)``, that is with the
smallest tuned distance ``hᵢ = δᵢ²/αᵢ``. For one class i, with all other slopes fixed, each sample
has the threshold ``δᵢ² / min_{j≠i} hⱼ``: it is assigned to class i if αᵢ is above. The bounds L, U,
V and K of kaieda2004, §7, are this threshold for samples of its cases 1, 2, 3 and 4. Tuning a slope
therefore walks up or down the sorted thresholds and wins some samples and gives up others.

Bounds are distinct values, eqs. (60) and (62), and passing l − 1 of them costs l − 1 samples in
eqs. (68) and (69). Samples that share a bound are lost together; here each one is counted, so
recognition never falls. Classes are tuned in turn, and the result depends on their order. The paper
has no weights; here a sample of weight w counts as w samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import NamedTuple

import numpy as np

from gramian.core.arrays import Array
from gramian.ellipsoidal._novelty import weighted_quantile


@dataclass(frozen=True)
class Slopes:
    """The tuned slopes and the recognition they achieved.

    Attributes
    ----------
    alpha : ndarray of shape (c,)
    recognised : tuple of float
        Weight of the training samples recognised with all slopes 1, after the margins were
        maximised, and after each sweep. It never falls.
    """

    alpha: Array
    recognised: tuple[float, ...]


def memberships(distances: Array, alpha: Array) -> Array:
    """``mᵢ(x) = exp(−δᵢ²(x)/αᵢ)``, degrees in [0, 1] that need not add up to 1 (eq. 3).

    For samples far from all classes every degree rounds to 0: use `class_nearest` to choose.
    """
    result: Array = np.exp(-distances / alpha)
    return result


def class_nearest(distances: Array, alpha: Array) -> Array:
    """Index of the class with the smallest tuned distance; the first of equal ones."""
    result: Array = np.argmin(_tuned(distances, alpha), axis=1)
    return result


def slopes_tune(
    distances: Array,
    labels: Array,
    *,
    weight: Array | None = None,
    max_sacrifice: int = 10,
    eta: float = 0.1,
) -> Slopes:
    """Tune all slopes, starting from 1 (kaieda2004, §7.6).

    Parameters
    ----------
    distances : ndarray of shape (n, c)
        Squared distances δ² of the training samples from each class; 0 and infinity may occur.
    labels : ndarray of shape (n,)
        Index of each sample's class.
    weight : ndarray of shape (n,), optional
        1 each by default.
    max_sacrifice : int
        l_M: a change of one slope passes at most ``l_M − 1`` distinct bounds and gives up the
        recognised samples at these bounds.
    eta : float
        Position of a slope between the last sample won and the first one that would be lost,
        eqs. (70) and (71); in (0, 1).

    Notes
    -----
    O(n c + n log n) per class and sweep. Step 2 moves a slope to the middle of ``[L(1), U(1)]``,
    which always contains the present slope, since both bounds come from recognised samples; if one
    is missing (no such sample, or no finite threshold) the slope stays. Step 3 moves a slope only
    for a net gain. A change is dropped if a recount finds fewer recognised samples, which only
    rounding could cause.
    """
    _check(distances, labels, max_sacrifice, eta)
    samples = _Samples(distances, labels, np.ones(len(labels)) if weight is None else weight)
    alpha = np.ones(distances.shape[1])
    recognised = [samples.recognised(alpha)]
    alpha = _sweep(samples, alpha, _centre)
    recognised.append(samples.recognised(alpha))
    resolve = partial(_resolve, max_sacrifice=max_sacrifice, eta=eta)
    while len(recognised) == 2 or recognised[-1] > recognised[-2]:
        alpha = _sweep(samples, alpha, resolve)
        recognised.append(samples.recognised(alpha))
    return Slopes(alpha, tuple(recognised))


def slopes_scale(distances: Array, labels: Array, alpha: Array, weight: Array) -> Array:
    """Scale the slopes by a common factor so that half of the samples have a degree of ½ or more.

    A common factor does not affect which class is nearest, so tuning leaves it undetermined.
    Unscaled, degrees in many dimensions round to 0. The degree of each sample in its own class
    counts. If the median distance is 0 or infinite, the slopes stay.
    """
    own = _tuned(distances, alpha)[np.arange(len(labels)), labels]
    factor = weighted_quantile(own, weight, 0.5) / np.log(2.0)
    return alpha * factor if 0.0 < factor < np.inf else alpha


class _Samples(NamedTuple):
    """The training samples: distances, labels and weights."""

    distances: Array
    labels: Array
    weight: Array

    def recognised(self, alpha: Array) -> float:
        """Weight of the samples that are assigned to their own class."""
        return float(self.weight @ (class_nearest(self.distances, alpha) == self.labels))


class _Bounds(NamedTuple):
    """Values of a slope at which samples are won or lost, and the weights of the samples."""

    values: Array
    weight: Array

    def mirrored(self) -> _Bounds:
        return _Bounds(-self.values, self.weight)


class _Thresholds(NamedTuple):
    """Thresholds of the slope of class i, for the samples of each case (kaieda2004, §7.1)."""

    lower: _Bounds  # case 1, eq. (58): lost when the slope falls to this value
    upper: _Bounds  # case 2, eq. (61): lost when it rises to this value
    above: _Bounds  # case 3, eq. (64): won when it rises past this value
    below: _Bounds  # case 4, eq. (66): won when it falls past this value


def _thresholds(samples: _Samples, alpha: Array, i: int) -> _Thresholds:
    """Sort the samples that the slope of class i can win or lose into their cases; O(n c)."""
    distances, labels, weight = samples
    tuned = _tuned(distances, alpha)
    nearest = np.argmin(tuned, axis=1)
    tuned[:, i] = np.inf
    rival = np.argmin(tuned, axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        threshold = distances[:, i] / tuned.min(axis=1)
    # 0/0 and ∞/∞: this sample does not depend on the slope
    swayed = ~np.isnan(threshold)
    right, own = swayed & (nearest == labels), labels == i
    wrong = swayed & (nearest != labels)
    cases = (right & own, right & ~own, wrong & own, wrong & (nearest == i) & (rival == labels))
    return _Thresholds(*(_Bounds(threshold[case], weight[case]) for case in cases))


Move = Callable[[_Thresholds, float], float]


def _sweep(samples: _Samples, alpha: Array, move: Move) -> Array:
    """Move the slope of each class in turn; keep moves that do not lower the count."""
    count = samples.recognised(alpha)
    for i in range(len(alpha)):
        moved = alpha.copy()
        moved[i] = move(_thresholds(samples, alpha, i), alpha[i])
        in_range = 0.0 < moved[i] < np.inf  # fails when a quotient of distances over- or underflows
        if in_range and (now := samples.recognised(moved)) >= count:
            alpha, count = moved, now
    return alpha


def _centre(thresholds: _Thresholds, alpha: float) -> float:
    """The middle of the interval in which no sample is lost (kaieda2004, §7.3)."""
    lower, upper = thresholds.lower.values, thresholds.upper.values
    if not lower.size or not np.isfinite(upper).any():
        return alpha
    return float(0.5 * lower.max() + 0.5 * upper.min())


def _resolve(thresholds: _Thresholds, alpha: float, max_sacrifice: int, eta: float) -> float:
    """Raise or lower the slope for the largest net gain, if there is one (eqs. 68-71)."""
    gain_up, beta, upper = _best_stop(thresholds.upper, thresholds.above, np.inf, max_sacrifice)
    # Downwards is upwards on the mirrored axis, which ends at 0.
    gain_down, gamma, lower = _best_stop(
        thresholds.lower.mirrored(), thresholds.below.mirrored(), 0.0, max_sacrifice
    )
    if max(gain_up, gain_down) <= 0:
        return alpha
    if gain_up < gain_down:
        return -(gamma + eta * (lower - gamma))  # eq. (71)
    if np.isinf(upper):
        return beta / (1.0 - eta)  # eq. (71) with L = 0, for 1/α
    return beta + eta * (upper - beta)  # eq. (70)


def _best_stop(
    costs: _Bounds, gains: _Bounds, end: float, max_sacrifice: int
) -> tuple[float, float, float]:
    """Best stop on the way up: net gain, last threshold won, first threshold not reached.

    The l-th stop is before the l-th distinct cost, or before the end of the axis after all costs
    (kaieda2004, eqs. 60 and 62). It wins Inc(l), the gains below it, and loses all costs below it.
    Of stops with equal net gain the first is returned.
    """
    bounds, place = np.unique(costs.values, return_inverse=True)
    stops = np.append(bounds, end)[:max_sacrifice]
    lost = np.append(0.0, np.cumsum(np.bincount(place, costs.weight)))[: len(stops)]
    order = np.argsort(gains.values)
    values, won = gains.values[order], np.append(0.0, np.cumsum(gains.weight[order]))
    passed = np.searchsorted(values, stops)
    net = won[passed] - lost
    best = int(np.argmax(net))
    last = values[passed[best] - 1] if passed[best] else -np.inf
    return float(net[best]), float(last), float(stops[best])


def _tuned(distances: Array, alpha: Array) -> Array:
    """``h = δ²/α``; infinite on overflow, so that the class is never chosen."""
    with np.errstate(over="ignore"):
        result: Array = distances / alpha
        return result


def _check(distances: Array, labels: Array, max_sacrifice: int, eta: float) -> None:
    if not (distances >= 0).all():
        raise ValueError("squared distances must be >= 0, got a negative one or NaN.")
    if labels.size and not 0 <= labels.min() <= labels.max() < distances.shape[1]:
        raise ValueError(
            f"labels must index the {distances.shape[1]} columns of the distances, got "
            f"{labels.min()} to {labels.max()}."
        )
    if not (isinstance(max_sacrifice, Integral) and max_sacrifice >= 1 and 0 < eta < 1):
        raise ValueError(
            "max_sacrifice must be >= 1, a whole number, and eta in (0, 1), got "
            f"{max_sacrifice!r} and {eta!r}."
        )
