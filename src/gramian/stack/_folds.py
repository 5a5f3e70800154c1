"""Parts of a stack without a fold of the samples: where they are tuned from, what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines import DenseSpec, Engine, Holdings, held_folds, held_queries
from gramian.core.engines._crossfit import FOLDS, some_of

TUNED_ON = 400
"""The most samples on which the parts are tuned without a fold."""
JUDGED = 600
"""Samples up to which the weights without a fold come from parts that never saw it."""


@dataclass(frozen=True, eq=False)
class WithoutFold:
    """Some parts without one fold.

    Parameters
    ----------
    specs : list of DenseSpec
    outputs : ndarray of shape (S, m, t)
        At the samples of the fold.
    without_two : dict
        The same without another fold, too, by the number of that fold; empty with many samples.
    """

    specs: list[DenseSpec]
    outputs: Array
    without_two: dict[int, Array]


Tune = Callable[[Holdings], list[tuple[DenseSpec, Engine]]]


class Folds:
    """Folds of the samples, or of some of them, and parts without each.

    Up to 600 samples, the weights without a fold come from outputs of parts that were trained
    without it, too: a part that has learned fold k is right at fold j where it is right at k
    without j, as the two errors share the products of their targets. With more samples, a few
    weights tell next to nothing of a fold.
    """

    def __init__(self, holdings: Holdings, random_state: Any) -> None:
        self.samples = some_of(holdings)
        self.fold = held_folds(self.samples, FOLDS, random_state)
        self.numbers = range(int(self.fold.max()) + 1)
        self.pairs = len(self.numbers) > 2 and len(self.samples) <= JUDGED

    def without(self, k: int, tune: Tune) -> WithoutFold:
        """Return parts without fold k, which are tuned on 400 samples at most."""
        left = np.flatnonzero(self.fold == k)
        rest, queries = self.samples.without(left), held_queries(self.samples, left)
        few = some_of(rest, TUNED_ON)
        specs, engines = map(list, zip(*tune(few), strict=True))
        if few is not rest:
            build = DenseSpec.build if self.pairs else readable
            engines = [build(part, rest) for part in specs]
        fold = self.fold[self.fold != k]
        twice = outputs_without_folds(engines, rest, fold, queries) if self.pairs else {}
        return WithoutFold(specs, outputs_of(engines, rest, queries), twice)


def fold_start(part: DenseSpec) -> DenseSpec | None:
    """Where a part without a fold is tuned from, given that of all samples.

    Widths of features begin alike, at the width where their search with all samples began, as the
    ones that it found would tell of the fold; where that is not known, they begin afresh.
    """
    if not np.ndim(part.gamma):
        return part
    if part.selection is None or part.selection.common is None:
        return None
    width, ridge = part.selection.common
    return replace(part, kernel=part.kernel.with_gamma(width), ridge=ridge)


def readable(part: DenseSpec, holdings: Holdings) -> Engine:
    """An engine that predicts and is not edited: without an inverse, where it would have one."""
    dense = not part.uses_primal(len(holdings), holdings.rows.width)
    return (replace(part, factor="cholesky") if dense else part).build(holdings)


def outputs_of(engines: Sequence[Engine], holdings: Holdings, queries: Any) -> Array:
    """Outputs (S, m, t) of the parts at queries."""
    return np.stack([np.asarray(one.predictor(holdings).outputs(queries)) for one in engines])


def outputs_without_folds(
    engines: Sequence[Engine], holdings: Holdings, fold: Array, queries: Any
) -> dict[int, Array]:
    """Outputs (S, m, t) of the parts at queries without each fold of the holdings, by its number.

    In closed form, as a fold is a group that leaves.

    Parameters
    ----------
    engines : sequence of Engine
        The parts, for these holdings.
    fold : ndarray of shape (n,)
        Number of each held sample's fold.
    queries : array-like of shape (m, d)
    """
    numbers, first = np.unique(fold, return_index=True)
    apart = replace(holdings, groups=fold)  # of the same version, which the engines serve
    found = []
    for engine in engines:
        blocks = [np.asarray(F[:, first]) for _, F in engine.without_each(apart, queries)]
        found.append(np.concatenate(blocks))
    return {int(k): np.stack([F[:, i] for F in found]) for i, k in enumerate(numbers)}
