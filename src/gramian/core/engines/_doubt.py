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
from gramian.core.engines._removed import held_queries
from gramian.core.equations._groups import SquaresOf
from gramian.core.gram import Moments
from gramian.core.kernels._precomputed import GramSamples

# Up to so many samples every value is as good as a refit, if that takes a refit for each of them.
FEW = 64
# Of more samples, those are fitted again in which rounding errors grow by this factor.
GROWTH = 1e2
# Relative errors of values without pairs of samples are below this, or they are fitted again.
PAIR_DIGITS = 1e-4


def doubtful(
    F: Array,
    loo: Callable[[Callable[[int], Moments]], Array],
    moments: Callable[[int], Moments],
    rounding: float,
    scale: float,
) -> Array:
    """Positions whose left-out values depend on rounding errors; O(n t).

    Parameters
    ----------
    F : ndarray of shape (n, t)
        Leave-one-out values.
    loo : callable
        These values, given moments.
    moments : callable
        Moments of P, and of P D P.
    rounding : float
        The relative size of rounding errors in ``diag P``.
    scale : float
        The size of targets.
    """
    with np.errstate(all="ignore"):
        return _moved(F, loo(_disturbed(moments, rounding, len(F))), rounding, scale)


def doubtful_groups(
    loo: Callable[[Callable[[int], Moments], SquaresOf], Array],
    moments: Callable[[int], Moments],
    squares: SquaresOf,
    rounding: float,
    scale: float,
) -> Array:
    """Positions whose values without their groups depend on rounding errors; as `doubtful`.

    Blocks of P are disturbed, too, by as much as their diagonals allow.
    """

    def rough(members: Array, power: int) -> Array:
        M = squares(members, power)
        size = np.sqrt(np.abs(np.diagonal(M, axis1=-2, axis2=-1)))
        signs = _signs(M.shape[-1] ** 2, rounding).reshape(M.shape[-2:])
        signs = np.triu(signs) + np.triu(signs, 1).T
        return np.asarray(M + signs * size[..., :, None] * size[..., None, :])

    with np.errstate(all="ignore"):
        disturbed = _disturbed(moments, rounding, len(moments(1).p))
        return _moved(loo(moments, squares), loo(disturbed, rough), rounding, scale)


def _signs(n: int, size: float) -> Array:
    """Numbers of this size, half of them negative."""
    return np.where(np.arange(n) * 0.6180339887498949 % 1.0 < 0.5, -size, size)


def _disturbed(
    moments: Callable[[int], Moments], rounding: float, n: int
) -> Callable[[int], Moments]:
    """The moments as other rounding errors would have left them."""
    factors = 1.0 + _signs(n if n > FEW else 3 * n, rounding)

    def disturbed(power: int) -> Moments:
        R, s, p = moments(power)
        if n > FEW:  # X is refined, and its errors cancel: only those of diag P are left
            return Moments(R, s, p * factors)
        return Moments(R * factors[n : 2 * n, None], s * factors[2 * n :], p * factors[:n])

    return disturbed


def _moved(F: Array, other: Array, rounding: float, scale: float) -> Array:
    """Positions where two results (n, t) differ by more than refits would."""
    moved = np.abs(other - F).max(axis=-1)
    size = np.maximum(np.abs(F).max(axis=-1), scale)
    allowed = float(np.finfo(F.dtype).eps) ** 0.5
    allowed = allowed if len(F) <= FEW else max(allowed, GROWTH * rounding)
    return np.flatnonzero(~(moved <= allowed * size))  # NaN, too


def _leaving(some: Iterable[int], holdings: Holdings) -> Iterator[Array]:
    """Yield what leaves for each of these positions: the sample alone, or its group, once."""
    codes = holdings.codes
    if codes is None:
        yield from (np.array([i]) for i in some)
    else:
        yield from (np.flatnonzero(codes == code) for code in np.unique(codes[list(some)]))


def outputs_without(spec: Any, holdings: Holdings, positions: int | Array, X: Any = None) -> Array:
    """Outputs (m, t) at queries, or at the samples themselves, of a model fitted without them."""
    leaving = np.atleast_1d(positions)
    after = holdings.without(leaving)
    if X is None:
        X = held_queries(holdings, leaving)
    elif isinstance(holdings.rows.samples(), GramSamples):
        X = np.delete(X, leaving, axis=1)
    return np.asarray(spec.build(after).predictor(after).outputs(X))


def fit_again(F: Array, some: Iterable[int], spec: Any, holdings: Holdings) -> Array:
    """Left-out outputs with those of some samples by fits without them or their groups, O(n³) each.

    Where a fit without the sample is refused, the closed form is all there is.
    """
    for leaving in _leaving(some, holdings):
        with suppress(np.linalg.LinAlgError):
            F[leaving] = outputs_without(spec, holdings, leaving)
    return F


def fit_each_again(F: Array, some: Array, spec: Any, holdings: Holdings, X: Any) -> Array:
    """Outputs (m, n, t) at queries, those without some samples by fits without them."""
    for leaving in _leaving(some, holdings):
        with suppress(np.linalg.LinAlgError):
            F[:, leaving] = outputs_without(spec, holdings, leaving, X)[:, None]
    return F


def fit_pairs_again(F: Array, at: Array, again: Array, spec: Any, holdings: Holdings) -> Array:
    """Outputs (k, n, t) without pairs, those of some samples i by leave-one-out of a fit without i.

    Where a fit without the sample is refused, the closed form is all there is.
    """
    for a in np.flatnonzero(again):
        (leaving,) = _leaving(at[[a]], holdings)
        with suppress(np.linalg.LinAlgError):
            rest = holdings.without(leaving)
            F[a, np.delete(np.arange(len(holdings)), leaving)] = spec.build(rest).loo(rest)
            F[a, leaving] = outputs_without(spec, holdings, leaving)
    return F
