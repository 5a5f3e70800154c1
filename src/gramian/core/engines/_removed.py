"""Outputs at queries without each held sample, where no closed form gives them all at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines._added import query_blocks
from gramian.core.engines._holdings import Holdings
from gramian.core.equations import groups_by_size
from gramian.core.kernels import GramSamples


def departed_by_removal(engine: Any, held: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
    """Yield blocks of queries with their outputs (m, n, t) without each held sample, by n removals.

    ``engine`` must return a new engine from `remove` and stay as it is. All classes stay.
    """
    samples, n = held.rows.samples(), len(held)
    precomputed = isinstance(samples, GramSamples)
    codes = np.arange(n) if held.codes is None else held.codes
    leaving, place = list(groups_of(codes)), np.empty(n, dtype=int)
    readers = []
    for g, members in enumerate(leaving):
        after = held.without(members)
        place[members] = g
        readers.append(engine.remove(held, after, members).reader(after))
    t = 1 if held.classes is None else len(held.classes)
    for rows in query_blocks(X.shape[0], n, t):
        some = [np.delete(X[rows], i, axis=1) if precomputed else X[rows] for i in leaving]
        F = [reader.outputs(queries) for reader, queries in zip(readers, some, strict=True)]
        yield rows, np.stack(F, axis=1)[:, place]


def left_out_by_removal(engine: Any, held: Holdings) -> Array:
    """Outputs (n, t) of the held samples without their groups, by one removal for each group.

    ``engine`` must return a new engine from `remove` and stay as it is. All classes stay.
    """
    assert held.codes is not None
    found = []
    for members in groups_of(held.codes):
        after = held.without(members)
        reader = engine.remove(held, after, members).reader(after)
        found.append((members, reader.outputs(held_queries(held, members))))
    out = np.empty((len(held), found[0][1].shape[1]), dtype=found[0][1].dtype)
    for members, outputs in found:
        out[members] = outputs
    return out


def groups_of(codes: Array) -> Iterator[Array]:
    """Yield the ascending positions of each group."""
    for some in groups_by_size(codes):
        yield from some


def held_queries(held: Holdings, positions: Array) -> Any:
    """Held samples as queries to a model of all the others."""
    samples = held.rows.samples()
    if isinstance(samples, GramSamples):
        return np.delete(samples.K[samples.index[positions]], positions, axis=1)
    return held.rows.take(positions)
