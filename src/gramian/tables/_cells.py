"""The cells of a table: missing, a number, a date, or text.

A table is anything with columns by name: a dict of lists or arrays, a data frame of pandas or
polars, a table of pyarrow. The columns of an array of two dimensions are called x0, x1, and so on.
Rows count from 1 in messages.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from gramian.core.arrays import Array

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})
"""What stands for a missing number, in any case. Missing text is an empty cell only."""

Reads = Callable[[Any], float | None]
"""A function such as `number`."""

_TO_LIST = ("to_pylist", "tolist", "to_list")
_MISSING_TYPES = ("NAType", "NaTType")
_CODE = re.compile(r"0\d+")


class TableError(ValueError):
    """A table that cannot be used, with the place of the fault."""


class TableWarning(UserWarning):
    """Cells that are probably not what they were taken for."""


def fault(column: str, row: int, what: str) -> TableError:
    """An error at a cell; ``row`` counts from 0 here and from 1 in the message."""
    return TableError(f"row {row + 1}, column {column!r}: {what}")


def as_table(X: Any) -> Any:
    """A table as it is; arrays and lists of rows as a dict of columns."""
    if is_named(X):
        return X
    array = X
    if not isinstance(X, np.ndarray) or X.dtype != object:
        array = check_array(X, dtype=None, ensure_all_finite="allow-nan", ensure_min_samples=0)
    if array.ndim != 2:
        raise TableError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data, or give a "
            f"table."
        )
    if np.iscomplexobj(array):
        raise TableError("Complex data not supported: cells are numbers, dates or text.")
    return {f"x{j}": array[:, j] for j in range(array.shape[1])}


def is_named(X: Any) -> bool:
    """Whether a table has columns by name; those of an array have positions."""
    named = isinstance(X, Mapping) or hasattr(X, "columns") or hasattr(X, "column_names")
    return named and not sparse.issparse(X)  # a sparse matrix may be a dict


def column_names(table: Any) -> list[str]:
    """Names of the columns, in order."""
    for attribute in ("column_names", "columns"):
        if hasattr(table, attribute):
            return list(getattr(table, attribute))
    return list(table)


def read_cells(table: Any, name: str) -> list[Any]:
    """The cells of a column as Python values, None where missing."""
    names = column_names(table)
    if name not in names:
        alike = [other for other in names if str(other).casefold() == str(name).casefold()]
        meant = f" Did you mean {alike[0]!r}?" if alike else ""
        raise TableError(f"no column {name!r}.{meant} The columns are: {_some(names)}.")
    column = table[name]
    if isinstance(column, np.ndarray) and column.dtype.kind == "M":
        column = column.astype("datetime64[us]")  # nanoseconds would become integers
    method = next((m for m in _TO_LIST if hasattr(column, m)), None)
    values = list(column) if method is None else getattr(column, method)()
    return [None if _is_missing(value) else value for value in values]


def number(cell: Any) -> float | None:
    """The cell as a number, NaN where missing; None if it is something else."""
    if cell is None:
        return math.nan
    if isinstance(cell, str) and cell.strip().casefold() in MISSING:
        return math.nan
    if isinstance(cell, str) and "_" in cell:  # Python reads 1_000, tables do not mean it
        return None
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None


def text(cell: Any) -> str:
    """The cell as text without spaces around it, empty where missing; 3.0 is "3"."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell).strip()


def numbers(cells: Sequence[Any], column: str, read: Reads = number) -> Array:
    """All cells as numbers, NaN where missing.

    Raises
    ------
    TableError
        At the first cell that is neither missing nor a finite number.
    """
    out = np.empty(len(cells))
    for row, cell in enumerate(cells):
        value = read(cell)
        if value is None or math.isinf(value):
            raise fault(column, row, f"{cell!r} is not a {'finite ' if value else ''}number.")
        out[row] = value
    return out


def texts(cells: Sequence[Any]) -> Array:
    """All cells as text."""
    return np.array([text(cell) for cell in cells], dtype=object)


def are_numbers(cells: Sequence[Any], read: Reads = number) -> bool:
    """Whether every cell is a number or missing, and one is a number; codes like 007 are none."""
    values = [read(cell) for cell in cells]
    if None in values or all(map(math.isnan, values)):  # type: ignore[arg-type]
        return False
    return not any(map(is_code, cells))


def is_code(cell: Any) -> bool:
    """Whether a cell is a text of digits that would not be the same as a number."""
    return isinstance(cell, str) and _CODE.fullmatch(cell.strip()) is not None


def are_classes(cells: Sequence[Any], read: Reads = number, many: int = 20) -> bool:
    """Whether a target looks like classes: text, or few numbers, all of them whole."""
    if not are_numbers(cells, read):
        return True
    values = {value for value in map(read, cells) if value is not None}
    return len(values) <= many and all(math.isnan(v) or v.is_integer() for v in values)


def _some(names: Sequence[str], most: int = 30) -> str:
    """Names for a message."""
    shown = ", ".join(map(str, names[:most]))
    return shown if len(names) <= most else f"{shown}, … ({len(names):,} in all)"


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or type(value).__name__ in _MISSING_TYPES
    )
