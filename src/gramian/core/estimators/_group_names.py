"""Groups: the integers or strings that say to whom or what samples belong."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.estimators._ids import KINDS, as_names


def check_groups(groups: Any, n: int) -> Array:
    """Return the groups of n samples as an array of integers or strings; else ValueError."""
    array = _as_groups(groups)
    if len(array) != n:
        raise ValueError(f"groups must name one for each sample: got {len(array)} for {n} samples.")
    return array


def more_groups(held: Array | None, groups: Any, n: int) -> Array | None:
    """Return the groups of n samples that join held ones: given if those have groups, else none."""
    if (held is None) != (groups is None):
        raise ValueError(
            "the samples of this model have groups; pass `groups` for the new samples too."
            if groups is None
            else "the samples of this model have no groups, so that new ones cannot have any. "
            "Pass `groups` to fit."
        )
    if held is None:
        return None
    new = check_groups(groups, n)
    if new.dtype.kind != held.dtype.kind:
        raise ValueError(
            f"groups must be {KINDS[held.dtype.kind]} as those the model holds, got "
            f"{KINDS[new.dtype.kind]}."
        )
    return new


def positions_of_groups(held: Array | None, groups: Any) -> Array:
    """Return the ascending positions of all samples of these groups.

    Raises
    ------
    ValueError
        If the samples have no groups, or if a group has no sample.
    """
    if held is None:
        raise ValueError("forget got groups, but the samples of this model have none; give ids.")
    asked = _as_groups(groups)
    alike = asked.dtype.kind == held.dtype.kind
    known = np.isin(asked, held) if alike else np.zeros(len(asked), dtype=bool)
    if not known.all():
        raise ValueError(
            f"forget got group {asked[~known][0]!s}, of which the model holds no sample (it holds "
            f"{len(np.unique(held))} groups)."
        )
    return np.flatnonzero(np.isin(held, asked))


def _as_groups(groups: Any) -> Array:
    if getattr(groups, "dtype", None) == np.dtype(bool):
        groups = np.asarray(groups, dtype=np.int64)
    return as_names(groups, "groups")
