"""Outputs at queries without each held sample, where no closed form gives them all at once."""

from __future__ import annotations

from collections.abc import Iterator
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
    """Yield blocks of queries with their outputs (m, n, t) without each held sample, by n removals.

    ``engine`` must return a new engine from `remove` and stay as it is. All classes stay.
    """
    samples, n = holdings.rows.samples(), len(holdings)
    precomputed = isinstance(samples, GramSamples)
    codes = np.arange(n) if holdings.codes is None else holdings.codes
    leaving, place = list(groups_of(codes)), np.empty(n, dtype=int)
    readers = []
    for g, members in enumerate(leaving):
        after = holdings.without(members)
        place[members] = g
        readers.append(engine.remove(holdings, after, members).predictor(after))
    t = 1 if holdings.classes is None else len(holdings.classes)
    for rows in query_blocks(X.shape[0], n, t):
        some = [np.delete(X[rows], i, axis=1) if precomputed else X[rows] for i in leaving]
        F = [predictor.outputs(queries) for predictor, queries in zip(readers, some, strict=True)]
        yield rows, np.stack(F, axis=1)[:, place]


def left_out_by_removal(engine: Any, holdings: Holdings) -> Array:
    """Outputs (n, t) of the held samples without their groups, by one removal for each group.

    ``engine`` must return a new engine from `remove` and stay as it is. All classes stay.
    """
    assert holdings.codes is not None
    found = []
    for members in groups_of(holdings.codes):
        after = holdings.without(members)
        predictor = engine.remove(holdings, after, members).predictor(after)
        found.append((members, predictor.outputs(held_queries(holdings, members))))
    out = np.empty((len(holdings), found[0][1].shape[1]), dtype=found[0][1].dtype)
    for members, outputs in found:
        out[members] = outputs
    return out


def groups_of(codes: Array) -> Iterator[Array]:
    """Yield the ascending positions of each group."""
    for some in groups_by_size(codes):
        yield from some


def held_queries(holdings: Holdings, positions: Array) -> Any:
    """Held samples as queries to a model of all the others."""
    samples = holdings.rows.samples()
    if isinstance(samples, GramSamples):
        return np.delete(samples.K[samples.index[positions]], positions, axis=1)
    return holdings.rows.take(positions)


def loo_groups_by_refits(spec: Any, holdings: Holdings) -> Array:
    """Outputs (n, t) of the held samples without their groups, by one fit for each group."""
    assert holdings.codes is not None
    out: Any = None
    for members in groups_of(holdings.codes):
        rest = holdings.without(members)
        found = np.asarray(
            spec.build(rest).predictor(rest).outputs(held_queries(holdings, members))
        )
        out = np.empty((len(holdings), found.shape[1]), found.dtype) if out is None else out
        out[members] = found
    return np.asarray(out)


def without_groups_by_refits(
    spec: Any, holdings: Holdings, X: Any
) -> Iterator[tuple[slice, Array]]:
    """Yield blocks of queries with their outputs (m, n, t) without each sample's group."""
    assert holdings.codes is not None
    precomputed = isinstance(holdings.rows.samples(), GramSamples)
    parts = []
    for members in groups_of(holdings.codes):
        rest = holdings.without(members)
        parts.append((members, spec.build(rest).predictor(rest)))
    t = 1 if holdings.classes is None else len(holdings.classes)
    for rows in query_blocks(X.shape[0], len(holdings), t):
        F: Any = None
        for members, predictor in parts:
            some = np.delete(X[rows], members, axis=1) if precomputed else X[rows]
            found = np.asarray(predictor.outputs(some))
            F = np.empty((len(found), len(holdings), found.shape[1])) if F is None else F
            F[:, members] = found[:, None]
        yield rows, np.asarray(F)
