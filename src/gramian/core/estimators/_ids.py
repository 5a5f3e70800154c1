"""Ids: the integers or strings that identify samples."""

from __future__ import annotations

from contextlib import suppress
from numbers import Integral
from typing import Any

import numpy as np

from gramian.core.arrays import Array

KINDS = {"i": "integers", "U": "strings"}
"""Names of the two kinds of ids and groups, by the kind of their array."""

_WHOLE = {int, np.int64}


def check_ids(ids: Any, n: int) -> Array:
    """Return the caller's ids as a one-dimensional array of unique integers or strings.

    Raises
    ------
    ValueError
        If there are not n of them, if one occurs twice, or if they have another type.
    """
    array = as_names(ids)
    if len(array) != n:
        raise ValueError(f"ids must name each sample: got {len(array)} ids for {n} samples.")
    if n == 1:
        return array
    values, counts = np.unique(array, return_counts=True)
    if np.any(counts > 1):
        raise ValueError(f"ids must be unique, got {values[counts > 1][0]!s} twice.")
    return array


def as_names(names: Any, what: str = "ids") -> Array:
    """One or more ids, or groups, as a one-dimensional array of 64-bit integers or of strings.

    Raises
    ------
    ValueError
        If they have another type. ``what`` they are is part of the message.
    """
    if type(names) is np.ndarray and names.dtype == np.int64 and names.ndim == 1:
        return names
    listed = names if type(names) is list else [names]
    if {*map(type, listed)} <= _WHOLE:
        with suppress(OverflowError):  # what is too large is refused below
            return np.array(listed, dtype=np.int64)
    dtype = None if isinstance(names, np.ndarray) else object  # else NUL at the end would be lost
    array = np.atleast_1d(np.asarray(names, dtype=dtype))
    kinds = {_kind(value) for value in array.flat} if array.dtype == object else {array.dtype.kind}
    if array.ndim != 1 or not (kinds <= {"i", "u"} or kinds == {"U"}):
        seen = f"an array of dtype {np.asarray(names).dtype} and shape {array.shape}"
        raise ValueError(
            f"{what} must be a one-dimensional array of integers or strings, got "
            f"{'a mixture' if kinds == {'i', 'U'} else seen}."
        )
    if kinds == {"U"}:
        if any("\0" in name for name in array.tolist()):
            raise ValueError(f"{what} must not have NUL characters, which no file can hold.")
        return array.astype(str)
    limits = np.iinfo(np.int64)
    if any(not limits.min <= value <= limits.max for value in array.tolist()):
        raise ValueError(
            f"{what} must be at least −2⁶³ and smaller than 2⁶³; give larger ones as strings."
        )
    return array.astype(np.int64)


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "U"
    return "i" if isinstance(value, Integral) and not isinstance(value, bool) else "O"


def next_ids(held: Array, start: int, n: int) -> tuple[Array, int]:
    """Return ids for n samples that came without ids, and the next number to use.

    The numbers continue from ``start`` and exceed every integer id held now, unless one of the
    caller's own is so large that none follow: then they are the next that are not held. They do not
    reveal ids of the caller's own that have been forgotten.

    Raises
    ------
    ValueError
        If the held samples have string ids, or if the integers are used up.
    """
    if held.dtype.kind == "U":
        raise ValueError(
            "the samples of this model have ids of the caller's own, such as "
            f"{held[0]!s}; pass `ids` for the new samples too."
        )
    first, most = max(start, int(held.max(initial=-1)) + 1), int(np.iinfo(np.int64).max)
    if first + n <= most:
        return np.arange(first, first + n), first + n
    if start + len(held) + n > most:
        raise ValueError(
            f"there are no {n} numbers left after id {start - 1}; pass `ids` for the new samples."
        )
    free = np.setdiff1d(np.arange(start, start + len(held) + n), held)[:n]
    return free, int(free[-1]) + 1 if n else start


def check_new(held: Array, new: Array) -> None:
    """Raise ValueError unless ``new`` ids have the type of the held ids and are not among them."""
    if held.dtype.kind != new.dtype.kind:
        raise ValueError(
            f"ids must be {KINDS[held.dtype.kind]} as those the model holds, got "
            f"{KINDS[new.dtype.kind]}."
        )
    if len(new) == 1 and np.count_nonzero(held == new.item()) == 0:
        return
    repeated = new[np.isin(new, held)]
    if len(repeated):
        raise ValueError(
            f"id {repeated[0]!s} is already held by the model. Forget it first, or give the new "
            f"sample another id."
        )


def positions_of(held: Array, ids: Any, caller: str = "forget") -> Array:
    """Return the ascending positions of the given ids among the held ones, O(n) for one id.

    Raises
    ------
    ValueError
        If an id is given twice or is not held.
    """
    if type(ids) is not int and np.size(ids) == 0:
        return np.empty(0, dtype=int)
    asked = as_names(ids)
    alike = asked.dtype.kind == held.dtype.kind
    among = held == asked.item() if alike and len(asked) == 1 else np.isin(held, asked)
    positions: Array = among.nonzero()[0] if alike else np.empty(0, dtype=int)
    if len(positions) == len(asked):
        return positions
    values, counts = np.unique(asked, return_counts=True)
    if np.any(counts > 1):
        raise ValueError(f"{caller} got id {values[counts > 1][0]!s} twice.")
    if not alike:
        one = {"i": "an integer", "U": "a string"}
        raise ValueError(
            f"{caller} got id {values[0]!s}, {one[asked.dtype.kind]}; the ids of this model are "
            f"{KINDS[held.dtype.kind]}, such as {held[0].item()!r}."
        )
    unknown = np.setdiff1d(values, held)
    ids = "id" if len(unknown) == 1 else "ids"
    raise ValueError(
        f"{caller} got {ids} {_listed(unknown.tolist())}, which the model does not hold "
        f"(it holds {len(held)} samples)."
    )


def _listed(ids: list[Any], most: int = 50) -> str:
    more = f" and {len(ids) - most} more" if len(ids) > most else ""
    return ", ".join(map(str, ids[:most])) + more
