"""From the cells of a table to ids, columns and features."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from gramian.arrays import Array
from gramian.tables._cells import (
    TableError,
    are_numbers,
    column_names,
    fault,
    numbers,
    read_cells,
    texts,
)
from gramian.tables._columns import CategoryColumn, Column, NumberColumn

_INTEGER = re.compile(r"-?\d{1,18}")


def fit_columns(
    table: Any, *, target: str, others: Collection[str | None], categorical: Collection[str]
) -> tuple[tuple[Column, ...], dict[str, Array], dict[str, str]]:
    """Columns that can tell the target, their values, and why others are left out.

    Raises
    ------
    TableError
        If no column is left.
    """
    columns: list[Column] = []
    held, ignored = {}, {}
    for name in column_names(table):
        if name == target or name in others:
            continue
        values = _values(read_cells(table, name), name, as_text=name in categorical)
        reason = _useless(values)
        if reason:
            ignored[name] = reason
            continue
        kind = CategoryColumn if values.dtype == object else NumberColumn
        columns.append(kind.fit(name, values))
        held[name] = values
    if not columns:
        raise TableError(f"no column is left to predict {target!r} from ({ignored}).")
    return tuple(columns), held, ignored


def read_columns(table: Any, columns: Sequence[Column]) -> dict[str, Array]:
    """The values of these columns, as they are held."""
    return {column.name: column.read(read_cells(table, column.name)) for column in columns}


def read_ids(table: Any, column: str, held: Array | None = None) -> Array:
    """Integers where all are and where the held ones are, else text.

    Raises
    ------
    TableError
        At the first id that is missing, held already, or there twice.
    """
    ids = texts(read_cells(table, column))
    _check_ids(ids.tolist(), column, set() if held is None else set(held.astype(str).tolist()))
    whole = all(_INTEGER.fullmatch(name) for name in ids.tolist())
    wanted = held is None or held.dtype.kind == "i"
    return ids.astype(np.int64) if whole and wanted else ids.astype(str)


def encode(columns: Sequence[Column], values: Mapping[str, Array]) -> Array:
    """The features of rows."""
    return np.hstack([column.encode(values[column.name]) for column in columns])


def _check_ids(ids: list[str], column: str, held: set[str]) -> None:
    first: dict[str, int] = {}
    for row, name in enumerate(ids):
        if not name:
            raise fault(column, row, "the id is missing.")
        if name in held:
            raise fault(column, row, f"the model holds id {name} already.")
        if first.setdefault(name, row) != row:
            raise fault(column, row, f"row {first[name] + 1} has the same id, {name}.")


def _values(cells: list[Any], name: str, *, as_text: bool) -> Array:
    return texts(cells) if as_text or not are_numbers(cells) else numbers(cells, name)


def _useless(values: Array) -> str | None:
    """Why a column says nothing, if it does not."""
    distinct = len(set(values.tolist())) if values.dtype == object else len(np.unique(values))
    if distinct == 1:
        return "constant"
    if values.dtype == object and distinct == len(values):
        return "every text is different"
    return None
