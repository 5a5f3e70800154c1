"""Checks of values from a file, made before anything is built from them.

Each function raises `ModelFileError` with ``where`` and what was seen. The states of all families
are checked by these; whoever reads the file puts its name before the message.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from gramian.core.arrays import Array
from gramian.core.text import excerpt

LABELS = "biufUO"
LARGEST = 2**63 - 1


class ModelFileError(ValueError):
    """A file that this version cannot read as a model, or a model that cannot be saved."""


def refuse(where: str, what: str) -> NoReturn:
    """Say what is wrong."""
    raise ModelFileError(f"holds no valid model: {where} {what}.")


def check_keys(
    value: Any, where: str, required: Collection[str], optional: Collection[str] = ()
) -> Mapping[str, Any]:
    """A dict with these keys and no others."""
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        refuse(where, "is no dict of names")
    missing = sorted(set(required) - set(value))
    unknown = sorted(set(value) - set(required) - set(optional))
    if missing:
        refuse(where, f"lacks {excerpt(', '.join(missing))}")
    if unknown:
        refuse(where, f"has {excerpt(', '.join(unknown))}, which this version does not know")
    return value


def check_array(
    value: Any,
    where: str,
    shape: Sequence[int | None],
    kinds: str = "f",
    *,
    finite: bool = True,
) -> Array:
    """An array of this shape, None for any length, and one of these kinds of types."""
    if type(value) is not np.ndarray:
        refuse(where, f"is a {type(value).__name__}, not an array")
    fits = len(value.shape) == len(shape) and all(
        asked is None or seen == asked for seen, asked in zip(value.shape, shape, strict=True)
    )
    if not fits:
        wanted = tuple("any" if size is None else size for size in shape)
        refuse(where, f"has shape {value.shape}, not {excerpt(wanted)}")
    if value.dtype.kind not in kinds:
        refuse(where, f"has type {value.dtype}")
    if finite and value.dtype.kind == "f" and not np.isfinite(value).all():
        refuse(where, "has values that are not finite")
    return value


def check_samples(value: Any, where: str, shape: Sequence[int | None]) -> Any:
    """Samples: a dense array or a CSR matrix of finite floats."""
    if not sparse.issparse(value):
        check_floats(check_array(value, where, shape), where)
        return value
    if any(asked not in (None, seen) for asked, seen in zip(shape, value.shape, strict=True)):
        refuse(where, f"has shape {value.shape}, not {tuple(shape)}")
    check_floats(check_array(value.data, f"{where}, sparse,", (None,)), where)
    return value


def check_floats(array: Array, where: str) -> None:
    """Floats of 32 or 64 bits."""
    if array.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        refuse(where, f"has type {array.dtype}")


def check_index(value: Any, where: str, shape: Sequence[int | None], low: int, high: int) -> Array:
    """Whole numbers in ``[low, high)``."""
    check_array(value, where, shape, "i")
    if value.size and not (low <= value.min() and value.max() < high):
        refuse(where, f"has numbers outside of {low} to {high - 1}")
    result: Array = value
    return result


def check_labels(value: Any, where: str, shape: Sequence[int | None]) -> Array:
    """Numbers, or texts; objects are texts or numbers, each of them."""
    check_array(value, where, shape, LABELS)
    if value.dtype.kind == "O":
        plain = (str, bool, int, float)
        if not all(isinstance(item, plain) and item == item for item in value.ravel().tolist()):
            refuse(where, "has objects that are neither text nor numbers")
    result: Array = value
    return result


def check_number(
    value: Any, where: str, low: float = -math.inf, *, finite: bool = True, above: bool = False
) -> None:
    """A real number, not below ``low``; with ``above``, above it."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        refuse(where, f"is a {type(value).__name__}, not a number")
    if isinstance(value, Integral) and abs(int(value)) > LARGEST:
        refuse(where, "is too large")
    number = float(value)
    if finite and not math.isfinite(number):
        refuse(where, f"is {number}, not finite")
    if number < low or (above and number == low):
        refuse(where, f"is {number:g}, which is too small")


def check_whole(value: Any, where: str, low: int = 0, high: int = LARGEST) -> int:
    """A whole number in ``[low, high]``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        refuse(where, f"is a {type(value).__name__}, not a whole number")
    if not low <= int(value) <= high:
        refuse(where, "is out of range")
    return int(value)


def check_text(value: Any, where: str) -> str:
    """Text."""
    if not isinstance(value, str):
        refuse(where, f"is a {type(value).__name__}, not text")
    return value


def check_sequence(value: Any, where: str, length: int | None = None) -> Sequence[Any]:
    """A list or a tuple."""
    if not isinstance(value, list | tuple):
        refuse(where, f"is a {type(value).__name__}, not a list")
    if length is not None and len(value) != length:
        refuse(where, f"has {len(value)} entries, not {length}")
    return value
