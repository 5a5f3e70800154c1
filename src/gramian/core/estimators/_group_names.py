"""Groups: the integers or strings that say to whom or what samples belong."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from gramian.core.arrays import Array

_KINDS = {"i": "integers", "U": "strings"}


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
            f"groups must be {_KINDS[held.dtype.kind]} as those the model holds, got "
            f"{_KINDS[new.dtype.kind]}."
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
    texts = isinstance(groups, str | list | tuple)  # arrays of strings drop NUL at the end
    array = np.atleast_1d(np.asarray(groups, dtype=object if texts else None))
    if array.dtype.kind == "u" or (
        array.dtype.kind == "O" and all(_is_whole(value) for value in array.flat)
    ):
        limits = np.iinfo(np.int64)
        if any(not limits.min <= value <= limits.max for value in array.flat):
            raise ValueError(
                "groups must be at least −2⁶³ and smaller than 2⁶³; give larger ones as strings."
            )
        array = array.astype(np.int64)
    if array.dtype.kind == "O" and all(isinstance(value, str) for value in array.tolist()):
        if any("\0" in name for name in array.tolist()):
            raise ValueError("groups must not have NUL characters, which no file can hold.")
        array = array.astype(str)
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iU":
        raise ValueError(
            f"groups must be a one-dimensional array of integers or strings, got an array of dtype "
            f"{array.dtype} and shape {array.shape}."
        )
    return array if array.dtype.kind == "U" else array.astype(np.int64)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
