"""Give held samples other targets: forget them and learn them again, as one edit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines import Holdings, make_rows
from gramian.core.estimators._ids import positions_of


def relabelled(model: Any, now: Any, ids: Any, y: Any) -> Any:
    """Return the version of a model in which these samples have the targets ``y``.

    They keep their ids and weights and move to the end of the order of arrival. The holdings of
    ``now`` are not touched: an engine that was changed in place when something fails is built again
    from them on the next call.
    """
    before, precomputed = now.holdings, now.spec.precomputed
    positions = positions_of(before.ids, ids, "relabel")
    y = np.asarray(y)[None] if np.ndim(ids) == 0 else np.asarray(y)
    if len(y) != len(positions):
        raise ValueError(f"relabel got {len(positions)} ids and {len(y)} targets; give one each.")
    if len(positions) == 0:
        return now
    y = model._check_targets(y, before)
    moved = _reordered(before, positions, _aligned(before.ids[positions], ids, y), precomputed)
    try:
        between = model._classes_after_remove(
            before, moved.without(np.arange(len(before))[-len(y) :])
        )
    except ValueError as error:
        raise ValueError(
            f"relabel takes the samples out before it learns them again, and {len(y)} of "
            f"{len(before)} are too many at once: {error} Relabel some of them first."
        ) from error
    after = model._classes_after_append(between, replace(moved, classes=between.classes), ())
    return now.removed(between, positions).appended(after)


def _aligned(held: Array, ids: Any, y: Array) -> Array:
    """The targets in the order of the held ids, given in the order of ``ids``."""
    out = np.empty_like(y)
    out[np.argsort(held)] = y[np.argsort(np.atleast_1d(ids))]
    return out


def _reordered(before: Holdings, positions: Array, y: Array, precomputed: bool) -> Holdings:
    """Copy the holdings with these samples at the end, with other targets."""
    stay = np.delete(np.arange(len(before)), positions)
    order, samples_copy = np.concatenate([stay, positions]), before.rows.samples_copy()
    return replace(
        before,
        rows=make_rows(
            samples_copy[np.ix_(order, order)] if precomputed else samples_copy[order],
            precomputed=precomputed,
        ),
        y=np.concatenate([before.y[stay], y]),
        weight=before.weight[order],
        ids=before.ids[order],
        groups=None if before.groups is None else before.groups[order],
        folds=None if before.folds is None else before.folds[order],
        version=object(),
    )
