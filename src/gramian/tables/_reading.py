"""From the cells of a table to ids, columns and features."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gramian.core.arrays import Array
from gramian.tables._cells import (
    TableError,
    are_numbers,
    column_names,
    fault,
    numbers,
    read_cells,
    text,
    texts,
)
from gramian.tables._columns import CategoryColumn, Column, NumberColumn, TargetColumn
from gramian.tables._dates import DateColumn, iso_date, notations_of
from gramian.tables._formats import PLAIN, NumberFormat, suspicion, unit_of

_DENSE_BYTES = 2**26  # features up to this size are an array
_WIDEST = 8  # features of a date with a time and a mark, at most
_INTEGER = re.compile(r"0|-?[1-9]\d{0,17}")  # 007 is a name


@dataclass(frozen=True)
class Reading:
    """How a table is to be read, as the caller asked for it."""

    target: str
    others: Collection[str | None] = ()
    categorical: Collection[str] = ()
    units: Collection[str] = ()
    format: NumberFormat = PLAIN
    max_levels: int | None = None

    def written(self, name: str, cells: Sequence[Any]) -> NumberFormat:
        """How the numbers of a column are written."""
        if name not in self.units:
            return self.format
        return replace(self.format, unit=unit_of(cells, name))


class Columns(NamedTuple):
    """What `fit_columns` found."""

    columns: tuple[Column, ...]
    values: dict[str, Array]
    ignored: dict[str, str]
    remarks: list[str]
    """On cells that are probably not what they were taken for."""


def fit_columns(table: Any, reading: Reading, past: Sequence[Column] = ()) -> Columns:
    """Columns that can predict the target, their values, and why others are left out.

    ``past`` has the columns of a table whose values were read before: their notations stay.

    Raises
    ------
    TableError
        If no column is left.
    """
    before = {column.name: column for column in past}
    found = Columns((), {}, {}, [])
    columns: list[Column] = []
    for name in column_names(table):
        if name == reading.target or name in reading.others:
            continue
        cells = read_cells(table, name)
        column, values, remark = _fit_column(name, cells, reading, before.get(name))
        found.remarks.extend([remark] if remark else [])
        reason = _useless(column, values)
        if reason:
            found.ignored[name] = reason
            continue
        columns.append(column)
        found.values[name] = values
    if not columns:
        rows = len(read_cells(table, column_names(table)[0])) if column_names(table) else 0
        raise TableError(
            f"no column is left to predict {reading.target!r} from: 0 feature(s), while a minimum "
            f"of 1 is required (n_samples={rows}; left out: {found.ignored}). "
            f"{' '.join(found.remarks)}".rstrip()
        )
    return found._replace(columns=tuple(columns))


def _fit_column(
    name: str, cells: list[Any], reading: Reading, past: Column | None
) -> tuple[Column, Array, str | None]:
    """A column by what its cells are, its values, and a remark if they look like something else."""
    remark = None
    if name not in reading.categorical:
        written = reading.written(name, cells)
        if isinstance(past, NumberColumn):
            written = past.format
        if are_numbers(cells, written.number):
            values = numbers(cells, name, written.number)
            return NumberColumn.fit(name, values, written), values, None
        notations = notations_of(cells)
        if notations:
            return _fit_dates(name, cells, notations, past)
        remark = suspicion(cells, name, written)
    values = texts(cells)
    return CategoryColumn.fit(name, values, reading.max_levels), values, remark


def _fit_dates(
    name: str, cells: list[Any], notations: list[str], past: Column | None
) -> tuple[Column, Array, str | None]:
    notation = past.format if isinstance(past, DateColumn) else notations[0]
    values = DateColumn(name, 0.0, 1.0, False, False, notation).read(cells)
    column = DateColumn.fit(name, values, notation)
    if len(notations) == 1:
        return column, values, None
    other = {iso_date(cell, notations[1]) for cell in cells}
    remark = (
        f"the dates of {name!r} are taken as {notation}; they could be {notations[1]}. Write "
        f"them as year-month-day to be sure."
    )
    return column, values, remark if set(values.tolist()) != other else None


def check_texts(target: TargetColumn, cells: list[Any], many: int = 20) -> None:
    """Raise `TableError` if the texts of a target cannot be meant as classes."""
    doubt = suspicion(cells, target.name, target.format)
    different = len({text(cell) for cell in cells})
    if doubt is None and different > max(many, len(cells) // 2):
        doubt = f"the {len(cells)} cells of {target.name!r} are {different} different texts."
    if doubt is not None:
        raise TableError(
            f"the target is no column of classes: {doubt} If they are classes all the same: "
            f"categorical=[{target.name!r}] (--category)."
        )


def read_columns(table: Any, columns: Sequence[Column]) -> dict[str, Array]:
    """The values of these columns, as they are held."""
    return {column.name: column.read(read_cells(table, column.name)) for column in columns}


def read_ids(table: Any, column: str, holdings: Array | None = None) -> Array:
    """Integers where all are and where the held ones are, else text.

    Raises
    ------
    TableError
        At the first id that is missing, held already, or there twice.
    """
    ids = texts(read_cells(table, column))
    known = set() if holdings is None else set(holdings.astype(str).tolist())
    _check_ids(ids.tolist(), column, known)
    return _integers_or_texts(ids, holdings)


def read_subjects(table: Any, column: str, holdings: Array | None = None) -> Array:
    """To whom each row belongs: integers where all are and where the held ones are, else text.

    Raises
    ------
    TableError
        At the first subject that is missing.
    """
    names = texts(read_cells(table, column))
    for row, name in enumerate(names.tolist()):
        if not name:
            raise fault(column, row, "the subject is missing.")
    return _integers_or_texts(names, holdings)


def _integers_or_texts(names: Array, holdings: Array | None) -> Array:
    whole = all(_INTEGER.fullmatch(name) for name in names.tolist())
    wanted = holdings is None or holdings.dtype.kind == "i"
    return names.astype(np.int64 if whole and wanted else str)


def encode(columns: Sequence[Column], values: Mapping[str, Array]) -> Any:
    """The features of rows: an array, or a CSR array where many levels make that far smaller."""
    rows = len(values[columns[0].name])
    levels = [len(c.levels) if isinstance(c, CategoryColumn) else 0 for c in columns]
    others = sum(isinstance(c, CategoryColumn) or _WIDEST for c in columns)
    dense = rows * (sum(levels) + others) * 8
    if dense <= _DENSE_BYTES or dense < 4 * rows * others * 12:
        return np.hstack([column.encode(values[column.name]) for column in columns])
    return sparse.hstack([_sparse(c, values[c.name]) for c in columns], format="csr")


def _sparse(column: Column, values: Array) -> Any:
    if isinstance(column, CategoryColumn):
        return column.encode_sparse(values)
    return sparse.csr_array(column.encode(values))


def _check_ids(ids: list[str], column: str, holdings: set[str]) -> None:
    first: dict[str, int] = {}
    for row, name in enumerate(ids):
        if not name:
            raise fault(column, row, "the id is missing.")
        if name in holdings:
            raise fault(column, row, f"the model holds id {name} already.")
        if first.setdefault(name, row) != row:
            raise fault(column, row, f"row {first[name] + 1} has the same id, {name}.")


def _useless(column: Column, values: Array) -> str | None:
    """Why a column says nothing, if it does not."""
    distinct = len(set(values.tolist())) if values.dtype == object else len(np.unique(values))
    if distinct == 1:
        return "constant"
    if isinstance(column, CategoryColumn) and distinct == len(values):
        return "every text is different"
    return None
