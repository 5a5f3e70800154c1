"""Leave-one-out values that rounding may have spoiled, and real refits in their place.

A closed form divides by what sample i has to itself, ``1 − h_i``. Where that is next to nothing,
what is left of P after its largest part cancels is rounding error: few samples that a linear kernel
fits exactly, at a small ridge. How large the error is shows when the numbers that a closed form
reads are changed by as much as rounding has changed them. What then moves is computed by a fit
without the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines._holdings import Holdings
from gramian.core.gram import Moments
from gramian.core.kernels._precomputed import GramSamples

# Up to so many samples every value is as good as a refit, if that takes a refit for each of them.
FEW = 64
# Of more samples, those are fitted again in which rounding errors grow by this factor.
GROWTH = 1e2
# Relative errors of values without pairs of samples are below this, or they are fitted again.
PAIR_DIGITS = 1e-4


def doubtful(
    loo: Callable[[Callable[[int], Moments]], Array],
    moments: Callable[[int], Moments],
    rounding: float,
    scale: float,
) -> Array:
    """Positions whose left-out values depend on rounding errors; O(n t).

    Parameters
    ----------
    loo : callable
        Leave-one-out values (n, t), given moments.
    moments : callable
        Moments of P, and of P D P.
    rounding : float
        The relative size of rounding errors in ``diag P``.
    scale : float
        The size of targets.
    """
    n, few = len(moments(1).p), len(moments(1).p) <= FEW
    signs = np.where(np.arange(3 * n) * 0.6180339887498949 % 1.0 < 0.5, -rounding, rounding)

    def disturbed(power: int) -> Moments:
        R, s, p = moments(power)
        if not few:  # X is refined, and its errors cancel: only those of diag P are left
            return Moments(R, s, p * (1.0 + signs[:n]))
        return Moments(
            R * (1.0 + signs[n : 2 * n, None]), s * (1.0 + signs[2 * n :]), p * (1.0 + signs[:n])
        )

    with np.errstate(all="ignore"):
        F, other = loo(moments), loo(disturbed)
        moved = np.abs(other - F).max(axis=-1)
        size = np.maximum(np.abs(F).max(axis=-1), scale)
    allowed = float(np.finfo(F.dtype).eps) ** 0.5
    allowed = allowed if few else max(allowed, GROWTH * rounding)
    return np.flatnonzero(~(moved <= allowed * size))  # NaN, too


def outputs_without(spec: Any, holdings: Holdings, i: int, X: Any = None) -> Array:
    """Outputs (m, t) at queries, or at sample i itself, of a model fitted without sample i."""
    after = holdings.without(np.array([i]))
    if X is None:
        X = holdings.rows.samples_copy()[[i]]
    if isinstance(holdings.rows.samples(), GramSamples):
        X = np.delete(X, i, axis=1)
    return np.asarray(spec.build(after).predictor(after).outputs(X))


def fit_again(F: Array, some: Iterable[int], spec: Any, holdings: Holdings) -> Array:
    """Leave-one-out outputs with those of some samples by fits without them, O(n³) each.

    Where a fit without the sample is refused, the closed form is all there is.
    """
    for i in some:
        with suppress(np.linalg.LinAlgError):
            F[i] = outputs_without(spec, holdings, i)[0]
    return F


def fit_each_again(
    blocks: Iterable[tuple[slice, Array]], some: Array, spec: Any, holdings: Holdings, X: Any
) -> Iterator[tuple[slice, Array]]:
    """Yield blocks of outputs (m, n, t) with those without some samples by fits without them."""
    for rows, F in blocks:
        for i in some:
            with suppress(np.linalg.LinAlgError):
                F[:, i] = outputs_without(spec, holdings, i, X[rows])
        yield rows, F


def fit_pairs_again(F: Array, at: Array, again: Array, spec: Any, holdings: Holdings) -> Array:
    """Outputs (k, n, t) without pairs, those of some samples i by leave-one-out of a fit without i.

    Where a fit without the sample is refused, the closed form is all there is.
    """
    for a in np.flatnonzero(again):
        i = int(at[a])
        with suppress(np.linalg.LinAlgError):
            rest = holdings.without(np.array([i]))
            F[a, np.arange(len(holdings)) != i] = spec.build(rest).loo(rest)
            F[a, i] = outputs_without(spec, holdings, i)[0]
    return F
