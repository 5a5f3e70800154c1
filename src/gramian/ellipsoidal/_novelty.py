"""How far a sample lies outside every class, in units of a typical distance of members.

``ν(x) = minᵢ δᵢ²(x) / mᵢ`` with mᵢ the median distance δᵢ² of the members of class i, each left
out. The threshold is a quantile of the novelties of the held samples, each left out: that share
of similar samples lies below it.
"""

from __future__ import annotations

import numpy as np

from gramian.core.arrays import Array


def novelty_units(own: Array, labels: Array, n_classes: int, weight: Array) -> Array:
    """mᵢ for each class, from each sample's left-out distance ``own`` from its class.

    A class without finite distances, which has at most one sample, uses the median of all classes,
    or 1 if there are no finite distances. A median of 0, which copies of a sample cause, is
    replaced by the smallest positive number.
    """
    known = np.isfinite(own)
    usual = weighted_quantile(own[known], weight[known], 0.5) if known.any() else 1.0
    units = np.full(n_classes, usual)
    for i in np.unique(labels[known]):
        mine = known & (labels == i)
        units[i] = weighted_quantile(own[mine], weight[mine], 0.5)
    result: Array = np.maximum(units, np.finfo(float).tiny)
    return result


def novelties(distances: Array, units: Array) -> Array:
    """``minᵢ δᵢ²/mᵢ`` for each row of distances."""
    with np.errstate(over="ignore"):
        result: Array = np.min(distances / units, axis=1)
        return result


def weighted_quantile(values: Array, weight: Array, q: float) -> float:
    """The smallest value with the share q of the weight at or below it; weights are copies."""
    order = np.argsort(values)
    below = np.cumsum(weight[order])
    place = np.searchsorted(below, q * below[-1] * (1.0 - 1e-12))  # allow for rounding
    return float(values[order[place]])
