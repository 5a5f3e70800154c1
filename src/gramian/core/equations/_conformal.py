"""Conformal prediction from left-out values: p-values of labels, regions of numbers, jackknife+.

With a query added, the left-out values of all n + 1 samples treat them alike. If the samples and
the query are exchangeable, each of the n + 1 ranks of the query's nonconformity is equally likely,
so a label or number with a p-value > 1 − confidence contains the true one with probability ≥
confidence (vovk2005). A sample of weight w counts w times, the query once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.core.arrays import Array

# p-values are compared with 1 − confidence up to rounding: 0.1 does not exceed 1 − 0.9.
_ROUNDING = 1e-9


def nonconformity(F: Array, labels: Array) -> Array:
    """Best other class minus own class of left-out values (..., n, t), or −y f for one output.

    0 if the sample is infinitely far from its own class and from all others.
    """
    if F.shape[-1] == 1:
        return np.where(labels == 1, -F[..., 0], F[..., 0])
    own = F[..., np.arange(len(labels)), labels]
    others = np.where(np.arange(F.shape[-1]) == labels[:, None], -np.inf, F).max(axis=-1)
    both = np.isneginf(own) & np.isneginf(others)
    return np.where(both, 0.0, others) - np.where(both, 0.0, own)


@dataclass(frozen=True, eq=False)
class BestOthers:
    """Nonconformity of n samples and a query, for any label of the query, in O(n) per label.

    For one output per class and targets that differ in the query's own column alone. The label of
    the query raises the values of its class by ``slope``. So each sample's best other class is the
    raised one, or the best of the others, for which the two best without it suffice.
    """

    values: Array  # (m, n + 1, c) for a query of no class
    slope: Array  # (m, n)
    labels: Array  # (n,)
    own: Array  # (m, n)
    best: Array  # (m, n), of the other classes
    which: Array  # (m, n), its class
    second: Array  # (m, n)

    @classmethod
    def of(cls, values: Array, slope: Array, labels: Array) -> BestOthers:
        """Find the two best other classes of each sample, O(n c)."""
        held, n = values[:, :-1], len(labels)
        best = np.full(held.shape[:2], -np.inf, dtype=values.dtype, like=values)
        second, which = best.copy(), np.zeros(best.shape, dtype=np.int32, like=values)
        for j in range(values.shape[2]):
            other = np.where(labels == j, -np.inf, held[..., j])
            above = other > best
            second = np.where(above, best, np.maximum(second, other))
            best, which = np.maximum(best, other), np.where(above, np.int32(j), which)
        own = held[:, np.arange(n), labels]
        return cls(values, slope[:, :-1, 0], labels, own, best, which, second)

    def scores(self, label: int) -> Array:
        """Nonconformity (m, n + 1) if the query had this class."""
        mine, query = self.labels == label, np.asarray(self.values[:, -1])
        raised = self.values[:, :-1, label] + self.slope
        others = np.where(self.which == label, self.second, self.best)
        held = np.where(mine, self.best - raised, np.maximum(others, raised) - self.own)
        last = np.delete(query, label, axis=1).max(axis=1) - query[:, label]
        return np.concatenate([held, last[:, None]], axis=1)


def p_values(scores: Array, weight: Array, ties: Array | None = None) -> Array:
    """Fraction of samples whose nonconformity is at least the query's, of shape (m,).

    Scores closer than √eps, relative to the query's, are ties. They count in full, or, smoothed,
    by a uniform random number of each query.

    Parameters
    ----------
    scores : ndarray of shape (m, n + 1)
        The query's comes last.
    weight : ndarray of shape (n,)
        Counts of the samples; 0 leaves a sample out of the count.
    ties : ndarray of shape (m,), optional
        Uniform random numbers.
    """
    held, own = scores[:, :-1], scores[:, -1:]
    width = np.sqrt(np.finfo(scores.dtype).eps) * (1.0 + np.abs(own))
    width = np.where(np.isfinite(own), width, 0.0)
    total = 1.0 + weight.sum()
    count = 1.0 + (held >= own - width) @ weight
    if ties is not None:
        above = (held > own + width) @ weight
        count = above + ties * (count - above)
    result: Array = count / total
    return result


def accepted(p: Array, confidence_level: float) -> Array:
    """Whether p-values exceed 1 − confidence."""
    return p > (1.0 - confidence_level) * (1.0 + _ROUNDING)


def conformal_regions(
    offset: Array, slope: Array, centre: Array, weight: Array, confidence_level: float
) -> list[Array]:
    """All numbers y with a p-value > 1 − confidence, for each of m queries: intervals (r, 2).

    The left-out residual of sample i is ``a_i − b_i y``, that of the query ``y − f(x)``. Sample i
    counts where the first is at least the second in size::

        ((a_i + f) − (1 + b_i) y) ((a_i − f) + (1 − b_i) y) ≥ 0

    which holds between the two roots if |b_i| ≤ 1, else outside them. One sweep over the roots
    finds where enough samples count, O(n log n). The prediction f(x) is always inside.

    Parameters
    ----------
    offset, slope : ndarray of shape (m, n)
        a and b; a sample whose numbers are not finite counts everywhere.
    centre : ndarray of shape (m,)
        f(x).
    weight : ndarray of shape (n,)
    confidence_level : float
    """
    total = 1.0 + weight.sum()
    share = min((1.0 - confidence_level) * (1.0 + _ROUNDING), 1.0 - _ROUNDING)  # f(x) is inside
    need = share * total - 1.0
    if need < 0:
        return [np.array([[-np.inf, np.inf]])] * len(centre)
    low, high, outside = _roots(offset, slope, centre[:, None])
    return [_sweep(*ends, weight, need) for ends in zip(low, high, outside, strict=True)]


def _roots(a: Array, b: Array, f: Array) -> tuple[Array, Array, Array]:
    """The smaller and the larger root, and whether the samples count outside them."""
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = (a + f) / (1.0 + b), (f - a) / (1.0 - b)
    unknown = np.isnan(first) | np.isnan(second) | ~np.isfinite(a)
    low = np.where(unknown, -np.inf, np.minimum(first, second))
    high = np.where(unknown, np.inf, np.maximum(first, second))
    return low, high, ~unknown & (np.abs(b) > 1.0)


def _sweep(low: Array, high: Array, outside: Array, weight: Array, need: float) -> Array:
    """Where the weight of [low, high], or of the numbers outside it, exceeds ``need``."""
    more = np.full(np.count_nonzero(outside), np.inf)
    starts = np.concatenate([np.where(outside, -np.inf, low), high[outside]])
    ends = np.concatenate([np.where(outside, low, high), more])
    steps = np.append(weight, weight[outside])
    values = np.append(starts, ends)
    order = np.argsort(values, kind="stable")  # where one begins as another ends, both count
    enough = np.cumsum(np.append(steps, -steps)[order]) > need
    turns = np.flatnonzero(np.diff(np.concatenate([[False], enough])))
    return values[order][turns].reshape(-1, 2)


def jackknife_plus(
    values: Array, residuals: Array, weight: Array, confidence_level: float
) -> tuple[Array, Array]:
    """Ends of the jackknife+ interval of each query (barber2021), of shape (m,) each.

    With ``R_i`` the left-out residuals, the ⌊α(n + 1)⌋-th smallest of ``f₋ᵢ(x) − |R_i|`` and the
    ⌊α(n + 1)⌋-th largest of ``f₋ᵢ(x) + |R_i|``, α = 1 − confidence; infinite if there is none. The
    interval contains the true number with probability ≥ 1 − 2α.

    Parameters
    ----------
    values : ndarray of shape (m, n)
        ``f₋ᵢ(x)``.
    residuals, weight : ndarray of shape (n,)
    confidence_level : float
    """
    most = (1.0 - confidence_level) * (1.0 + _ROUNDING) * (1.0 + weight.sum())
    size = np.abs(residuals)
    return _last(values - size, weight, most), -_last(-(values + size), weight, most)


def _last(values: Array, weight: Array, most: float) -> Array:
    """The largest value up to which the weight is at most ``most``, or −∞."""
    values = np.where(np.isnan(values), -np.inf, values)
    order = np.argsort(values, axis=1)
    reached = np.count_nonzero(np.cumsum(weight[order], axis=1) <= most, axis=1)
    ranked = np.take_along_axis(values, order, axis=1)
    ranked = np.pad(ranked, ((0, 0), (1, 0)), constant_values=-np.inf)
    result: Array = ranked[np.arange(len(values)), reached]
    return result
