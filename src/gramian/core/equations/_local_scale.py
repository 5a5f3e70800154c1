"""How large errors are around a query: averages of the errors of its neighbours.

Which samples are near says a kernel k: ``S_j = k(x, x_j) − ½ k(x_j, x_j)`` is −½ times the squared
distance in its feature space, but for a number that all samples share. The q nearest samples have
weights that fall to 0 at the next one, those of Epanechnikov::

    s(x) = (1 − η) Σ_j w_j |r_j| / Σ_j w_j + η m,      w_j = weight_j (S_j − S_(q+1))₊

where m is the mean of all |r_j|, and S_(q+1) the (q + 1)-th largest. Where all weights are 0, the
scale is m. The scale without sample i has its own neighbours among the others, and residuals
``r_{j|i}`` of models that have seen neither i nor j. So it knows nothing of sample i.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from scipy.sparse import csr_array

from gramian.core.arrays import Array

# Fixed by a rule, chosen on other data sets than those of `python -m evidence bench widths`.
_NEIGHBOURS, _SHARE = 2.0, 0.1


def neighbours(n: int) -> int:
    """q among n samples: ⌈2 √n⌉, and one sample at least is further away."""
    return max(0, min(ceil(_NEIGHBOURS * sqrt(n)), n - 1))


def local_scales(similarity: Array, sizes: Array, weight: Array) -> Array:
    """Scales (m, t) at m queries.

    Parameters
    ----------
    similarity : ndarray of shape (m, n)
        S; −∞ for a sample that does not count.
    sizes : ndarray of shape (n, t), or (m, n, t) for sizes of each query's own
        |r|.
    weight : ndarray of shape (n,), or (m, n)
        0 for a sample that does not count.
    """
    q = neighbours(int(np.count_nonzero(weight[-1:] if weight.ndim == 2 else weight)))
    W = _beyond(similarity, _largest(similarity, q + 1)[:, -1:]) * weight
    mean = _summed(weight, sizes) / weight.sum(axis=-1)[..., None]
    return _shrunk(_summed(W, sizes), W.sum(axis=1)[:, None], mean)


def scales_without_each(similarity: Array, sizes: Array, weight: Array, at: Array) -> Array:
    """Scales (k, t) at the samples ``at`` themselves, each without itself.

    The same as `local_scales` of each among the others, but it touches no more than the q nearest.

    Parameters
    ----------
    similarity : ndarray of shape (k, n)
        Of the samples at ``at`` to all. It is overwritten.
    sizes : ndarray of shape (k, n, t)
        ``|r_{j|i}|``, 0 for j = i.
    weight : ndarray of shape (n,)
    at : ndarray of shape (k,)
    """
    place, n = np.arange(len(at)), len(weight)
    similarity[place, at] = -np.inf
    q = neighbours(n - 1)
    nearest = np.argpartition(similarity, n - 1 - q, axis=1)[:, n - 1 - q :]
    S = np.take_along_axis(similarity, nearest, axis=1)
    W = _beyond(S[:, 1:], S[:, :1]) * weight[nearest[:, 1:]]
    totals = _summed(W, sizes[place[:, None], nearest[:, 1:]])
    mean = np.moveaxis(sizes, 2, 1) @ weight / (weight.sum() - weight[at])[:, None]
    return _shrunk(totals, W.sum(axis=1)[:, None], mean)


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Queries among n samples, any one of which may be left out.

    Leaving out one of the q + 1 nearest lets the next one in: two sets of weights serve all.

    Parameters
    ----------
    near : csr_array of shape (m, n)
        Weights, if none of the q + 1 nearest is left out.
    reach : ndarray of shape (m,)
        Their sums.
    among : ndarray of int, shape (m, q + 1)
        The q + 1 nearest.
    nearer : ndarray of shape (m, q + 1)
        Their weights, if one of them is left out.
    weight : ndarray of shape (n,)
    """

    near: csr_array
    reach: Array
    among: Array
    nearer: Array
    weight: Array

    @classmethod
    def of(cls, similarity: Array, weight: Array) -> Neighbourhood:
        """Find the neighbours of queries, O(m n)."""
        m, n = similarity.shape
        q = neighbours(n - 1)
        nearest = np.argpartition(similarity, n - q - 2, axis=1)[:, n - q - 2 :]
        S = np.take_along_axis(similarity, nearest, axis=1)
        order = np.argsort(S, axis=1)[:, ::-1]
        S, among = (np.take_along_axis(found, order, axis=1) for found in (S, nearest))
        among = among[:, :-1]
        weights = (_beyond(S[:, :-1], S[:, [k]]) * weight[among] for k in (q, q + 1))
        inside, nearer = weights
        near = csr_array((inside.ravel(), among.ravel(), np.arange(m + 1) * (q + 1)), (m, n))
        return cls(near, inside.sum(axis=1), among, nearer, weight)

    def scales(self, sizes: Array, at: Array) -> Array:
        """Scales (m, k) without each sample at ``at``, from ``|r_{j|i}|`` (k, n), 0 for j = i."""
        totals = self.near @ np.ascontiguousarray(sizes.T)
        weights = np.repeat(self.reach[:, None], len(at), axis=1)
        place = np.full(len(self.weight), -1)
        place[at] = np.arange(len(at))
        query, which = np.nonzero(place[self.among] >= 0)  # where one of the nearest is left out
        out, nearer = place[self.among[query, which]], self.nearer[query]
        totals[query, out] = np.einsum("pj,pj->p", nearer, sizes[out[:, None], self.among[query]])
        weights[query, out] = nearer.sum(axis=1) - self.nearer[query, which]
        mean = sizes @ self.weight / (self.weight.sum() - self.weight[at])
        return _shrunk(totals, weights, mean)


def finite_sizes(residuals: Array) -> Array:
    """|r| of shape (k, n, t); what is not finite counts as the largest that is."""
    sizes = np.abs(residuals)
    with np.errstate(over="ignore"):
        if np.isfinite(sizes.sum()):  # the fastest look at all of them
            return sizes
    known = np.isfinite(sizes)
    largest = np.where(known, sizes, 0.0).max(axis=1, keepdims=True)
    return np.where(known, sizes, largest)


def _summed(W: Array, sizes: Array) -> Array:
    """Σ_j W_j |r_j| for each query; the sizes are shared by all, or each has its own."""
    return W @ sizes if sizes.ndim == 2 else np.einsum("mn,mnt->mt", W, sizes)


def _largest(similarity: Array, k: int) -> Array:
    """The k largest of each row, from the largest on."""
    first = max(similarity.shape[1] - k, 0)
    return np.sort(np.partition(similarity, first, axis=1)[:, first:], axis=1)[:, ::-1]


def _beyond(similarity: Array, least: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.where(similarity > least, similarity - least, 0.0)


def _shrunk(totals: Array, weights: Array, mean: Array) -> Array:
    mean = np.broadcast_to(mean, totals.shape)
    known = weights > 0
    average = np.divide(totals, weights, out=mean.copy(), where=np.broadcast_to(known, mean.shape))
    # Where no error at all has been seen, an error of any size is too large.
    return np.maximum((1.0 - _SHARE) * average + _SHARE * mean, np.finfo(float).tiny)
