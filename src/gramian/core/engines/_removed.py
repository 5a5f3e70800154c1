"""Outputs at queries without each held sample, where no closed form gives them all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines._added import query_blocks
from gramian.core.engines._holdings import Holdings
from gramian.core.equations import groups_by_size
from gramian.core.kernels._precomputed import GramSamples


def without_each_by_removal(
    engine: Any, holdings: Holdings, X: Any
) -> Iterator[tuple[slice, Array]]:
    """Yield blocks of queries with their outputs (m, n, t) without each held sample or its group.

    By one removal for each. ``engine`` must return a new engine from `remove` and stay as it is; a
    `DeferredEngine` does so by a fit. All classes stay.
    """
    n, precomputed = len(holdings), isinstance(holdings.rows.samples(), GramSamples)
    parts = list(_predictors(engine, holdings))
    t = 1 if holdings.classes is None else len(holdings.classes)
    for rows in query_blocks(X.shape[0], n, t):
        found = []
        for members, predictor in parts:
            some = np.delete(X[rows], members, axis=1) if precomputed else X[rows]
            found.append((members, np.asarray(predictor.outputs(some))[:, None]))
        yield rows, by_position(found, n, axis=1)


def left_out_by_removal(engine: Any, holdings: Holdings) -> Array:
    """Outputs (n, t) of the held samples without their groups, by one removal for each group.

    ``engine`` must return a new engine from `remove` and stay as it is; a `DeferredEngine` does so
    by a fit. All classes stay.
    """
    found = (
        (members, np.asarray(predictor.outputs(held_queries(holdings, members))))
        for members, predictor in _predictors(engine, holdings)
    )
    return by_position(found, len(holdings))


def _predictors(engine: Any, holdings: Holdings) -> Iterator[tuple[Array, Any]]:
    """Yield the ascending positions of each group, or sample, and what predicts without it."""
    codes = np.arange(len(holdings)) if holdings.codes is None else holdings.codes
    for groups in groups_by_size(codes):
        for members in groups:
            after = holdings.without(members)
            yield members, engine.remove(holdings, after, members).predictor(after)


def by_position(parts: Iterable[tuple[Array, Array]], n: int, axis: int = 0) -> Array:
    """One array with n entries along an axis, of values that come with their positions there."""
    out: Array | None = None
    for positions, values in parts:
        if out is None:
            out = np.empty((*values.shape[:axis], n, *values.shape[axis + 1 :]), values.dtype)
        out[(slice(None),) * axis + (positions,)] = values
    assert out is not None
    return out


def held_queries(holdings: Holdings, positions: Array) -> Any:
    """Held samples as queries to a model of all the others."""
    samples = holdings.rows.samples()
    if isinstance(samples, GramSamples):
        return np.delete(samples.K[samples.index[positions]], positions, axis=1)
    return holdings.rows.take(positions)
