"""Intervals whose width follows x: jackknife+ and CV+ with a local scale of the errors.

Sample i is judged by a model and a scale that know nothing of it, and the query by the same::

    R_i = |y_i − f₋ᵢ(x_i)| / s₋ᵢ(x_i),      interval from the ends f₋ᵢ(x) ± R_i s₋ᵢ(x)

The pair (f₋ᵢ, s₋ᵢ) is computed from the other samples alone, all treated alike, so that the
guarantee of jackknife+ stays: see docs/maths/leave_two_out.md. By folds, (f_k, s_k) is computed
from the samples outside of fold k, hyper-parameters included: s_k averages the leave-one-out errors
of the model of fold k, with the kernel of that model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from gramian.core.arrays import Array, row_blocks
from gramian.core.engines import Holdings, held_queries
from gramian.core.equations import (
    Neighbourhood,
    finite_sizes,
    local_scales,
    neighbours,
    scales_without_each,
)
from gramian.core.estimators._fitted import Fitted

_KEPT_BYTES = 2**26  # residuals without pairs that are kept from one call to the next


def similarity(spec: Any, X: Any, samples: Any) -> Array:
    """``k(x, x_j) − ½ k(x_j, x_j)`` of queries to samples, (m, n): the larger, the nearer."""
    values = [share * np.asarray(kernel(X, samples), dtype=float) for share, kernel in spec.near()]
    total: Array = reduce(np.add, values)
    total -= sum(
        0.5 * share * np.asarray(kernel.diagonal(samples), dtype=float)
        for share, kernel in spec.near()
    )
    return total


def pair_sizes(now: Any) -> Iterator[tuple[Array, Array]]:
    """Yield positions i (k,) with the sizes ``|r_{j|i}|`` (k, n, t), 0 within the group of i."""
    if "pair sizes" in now.cache:
        yield from now.cache["pair sizes"]
        return
    holdings, kept = now.holdings, []
    Y = holdings.y.reshape(len(holdings), -1)
    keeps = 8 * Y.size * len(Y) <= _KEPT_BYTES
    for at, F in now.engine.without_pairs(holdings):
        sizes = finite_sizes(np.subtract(Y, F, out=F))
        if holdings.codes is None:
            sizes[np.arange(len(at)), at] = 0.0
        else:
            sizes[_own_group(holdings.codes, at)] = 0.0
        if keeps:
            kept.append((at, sizes))
        yield at, sizes
    if keeps:
        now.cache["pair sizes"] = kept


def query_scales(now: Any, X: Any) -> Iterator[tuple[slice, Array, Array]]:
    """Yield blocks of queries with the scales ``s₋ᵢ(x)`` (m, n, t) and ``s₋ᵢ(x_i)`` (n, t).

    The first are those of the queries, the second those of the held samples themselves. One pass
    over all pairs serves a block.
    """
    holdings, samples = now.holdings, now.holdings.rows.samples()
    n, t = len(holdings), holdings.y.reshape(len(holdings), -1).shape[1]
    for rows in row_blocks(X.shape[0], n * (3 + t) + neighbours(n) ** 2, budget=2**27):
        S = similarity(now.spec, X[rows], samples)
        out, held = np.empty((*S.shape, t)), now.cache.get("held scales")
        own = np.empty((n, t)) if held is None else held
        near = Neighbourhood.of(S, holdings.weight) if holdings.codes is None else None
        for at, sizes in pair_sizes(now):
            if held is None:
                own[at] = _held_scales(now, at, sizes)
            if near is None:
                leaving = np.isin(np.arange(n), at)  # a group
                out[:, at] = _scales_without(holdings, leaving, S, sizes[0])[:, None]
                continue
            for j in range(t):
                out[:, at, j] = near.scales(sizes[..., j], at)
        now.cache["held scales"] = own
        yield rows, out, own


def _held_scales(now: Any, at: Array, sizes: Array) -> Array:
    """``s₋ᵢ(x_i)`` of the held samples at ``at``, (k, t)."""
    holdings, samples = now.holdings, now.holdings.rows.samples()
    S = similarity(now.spec, samples[at], samples)
    if holdings.codes is None:
        return scales_without_each(S, sizes, holdings.weight, at)
    return _scales_without(holdings, _own_group(holdings.codes, at), S, sizes)


def _scales_without(holdings: Holdings, leaving: Array, S: Array, sizes: Array) -> Array:
    """Scales (m, t) at queries without the samples that a mask (n,) or (m, n) selects."""
    weight = np.where(leaving, 0.0, holdings.weight)
    return local_scales(np.where(leaving, -np.inf, S), sizes, weight)


@dataclass(frozen=True, eq=False)
class FoldScale:
    """The scale of the model of one fold: a function of the samples outside of it.

    Parameters
    ----------
    spec : Spec
        As chosen without the fold.
    samples : samples
        Those outside of the fold.
    sizes : ndarray of shape (n, t)
        Sizes of their leave-one-out errors in the model of the fold.
    weight : ndarray of shape (n,)
    """

    spec: Any
    samples: Any
    sizes: Array
    weight: Array

    @classmethod
    def of(cls, spec: Any, rest: Holdings) -> FoldScale:
        """Compute the leave-one-out errors of the model of these holdings."""
        F = np.asarray(spec.build(rest).loo(rest))
        sizes = finite_sizes((rest.y.reshape(F.shape) - F)[None])[0]
        return cls(spec, rest.rows.samples(), sizes, rest.weight)

    def at(self, X: Any) -> Array:
        """The scale (m, t) at queries."""
        out = np.empty((X.shape[0], self.sizes.shape[1]))
        for rows in row_blocks(X.shape[0], 3 * len(self.weight)):
            S = similarity(self.spec, X[rows], self.samples)
            out[rows] = local_scales(S, self.sizes, self.weight)
        return out


def fold_scales(now: Fitted) -> list[FoldScale]:
    """The scales of the folds of one version of a model."""
    return [FoldScale.of(spec, rest) for spec, _, rest in now.without_folds()]


def scales_out_of_fold(now: Fitted) -> Array:
    """``s_k(x_i)`` of the held samples, each by the model of its fold k, (n, t)."""
    scales = now.derived("fold scales", fold_scales)
    out = np.empty((len(now.holdings), scales[0].sizes.shape[1]))
    for k, scale in enumerate(scales):
        left = np.flatnonzero(now.holdings.folds == k)
        out[left] = scale.at(held_queries(now.holdings, left))
    return out


def _own_group(codes: Array, at: Array) -> Array:
    """Whether sample j leaves with sample i, of shape (k, n)."""
    return np.asarray(codes[at][:, None] == codes)
