"""Parts of a stack without a fold of the samples: where they are tuned from, what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines import DenseSpec, Engine, Holdings

TUNED_ON = 400
"""The most samples on which the parts are tuned without a fold."""
JUDGED = 600
"""Samples up to which the weights without a fold come from parts that never saw it."""


def fold_starts(tuned: Mapping[Any, DenseSpec]) -> dict[Any, DenseSpec]:
    """Where the parts without a fold are tuned from, given those of all samples.

    Widths of features begin alike, at the width where their search with all samples began, as the
    ones that it found would tell of the fold; where that is not known, they begin afresh.
    """
    found = {}
    for key, part in tuned.items():
        if not np.ndim(part.gamma):
            found[key] = part
        elif part.selection is not None and part.selection.common is not None:
            width, ridge = part.selection.common
            found[key] = replace(part, kernel=part.kernel.with_gamma(width), ridge=ridge)
    return found


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
