"""Which rows of a model a command means: by ids, by a file of ids, by subject, by a condition.

A condition, ``column op value``, is parsed and compared, never evaluated.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from gramian.cli._models import held_texts
from gramian.cli._tables import PARQUET, parse_csv, read_table, read_text, reading_options
from gramian.core.arrays import Array
from gramian.tables import DateColumn, TableModel, number
from gramian.tables._model_rows import model_rows

_OPERATORS: dict[str, Callable[[Any, Any], Array]] = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_QUOTED = r"\"([^\"]*)\"|'([^']*)'"
_COLUMN = rf"(?:{_QUOTED}|([^\s\"'=!<>][^=!<>]*?))"
_VALUE = rf"(?:{_QUOTED}|(|[^\s\"'].*?))"
_CONDITION = re.compile(rf"\s*{_COLUMN}\s*(==|!=|<=|>=|<|>|=(?![=<>!]))\s*{_VALUE}\s*")


class RowSelection(NamedTuple):
    """Rows as the options name them."""

    ids: tuple[str, ...]
    ids_from: str | None
    where: str | None
    missing_ok: bool
    subjects: tuple[str, ...] = ()

    def of(self, model: Any, path: str) -> tuple[list[Any], list[str]]:
        """The ids of the rows, each once, and those named that the model does not hold."""
        named = [*self.ids, *(_read_ids(self.ids_from, model) if self.ids_from else [])]
        chosen, unknown = _held_ids(model, named, self.missing_ok)
        if self.where:
            chosen += _where(model, path, self.where)
        if self.subjects:
            chosen += _of_subjects(model, path, self.subjects)
        return list(dict.fromkeys(chosen)), unknown


def _read_ids(path: str, model: Any) -> list[str]:
    """One id per line; or the column of a table that has the name of the model's ids, or "id"."""
    lines = []
    if path.lower().endswith(PARQUET):
        table = read_table(path, model)
    else:
        text, _ = read_text(path, model)
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if not lines:
            raise ValueError(f"{path} has no ids. Write one in each line.")
        if lines[0] in model.ids_.astype(str):
            return lines
        table = parse_csv(text, reading_options().skip)
    names = [model_rows(model).id_column or "id", "id"]
    found = next((name for name in names if name in table), None)
    if found is not None:
        return held_texts(table[found], model.ids_)
    if lines:
        return lines
    wanted = " or ".join(repr(name) for name in sorted(set(names)))
    raise ValueError(f"{path} has no column {wanted}. It has: {', '.join(table)}.")


def _held_ids(model: Any, named: list[str], missing_ok: bool) -> tuple[list[Any], list[str]]:
    """Ids as the model holds them, and those that it does not hold.

    Raises
    ------
    ValueError
        Naming all that it does not hold, unless that is all right.
    """
    held = {str(name): name for name in model.ids_.tolist()}
    unknown = [name for name in dict.fromkeys(named) if name not in held]
    if unknown and not missing_ok:
        ids = "id" if len(unknown) == 1 else "ids"
        raise ValueError(
            f"forget got {ids} {', '.join(unknown)}, which the model does not hold (its ids are "
            f"such as {next(iter(held))}).{_suggestion(unknown, held)} Nothing was forgotten; "
            f"--missing-ok passes over them."
        )
    if len(unknown) == len(named) and unknown:
        raise ValueError("the model holds none of these ids; nothing to forget.")
    return [held[name] for name in named if name in held], unknown


def _suggestion(unknown: list[str], held: Iterable[str], most: int = 5) -> str:
    """A question after held ids that differ from unknown ones by case, spaces or leading zeros."""
    plain = {_plain(name) for name in unknown}
    alike = [name for name in held if _plain(name) in plain]
    return f" Did you mean {', '.join(alike[:most])}?" if alike else ""


def _plain(name: str) -> str:
    """An id without what people leave out when they type it."""
    return re.sub(r"0*(\d+)", r"\1", "".join(name.split())).casefold()


def _of_subjects(model: Any, path: str, subjects: tuple[str, ...]) -> list[Any]:
    """Ids of all rows of these subjects."""
    groups = model.groups_
    if groups is None:
        raise ValueError(
            f"the rows of {path} have no subjects; `gramian fit --subject COLUMN` gives them some."
        )
    names = groups.astype(str)
    unknown = [name for name in subjects if name not in names]
    if unknown:
        raise ValueError(
            f"forget got subject {', '.join(unknown)}, of which the model holds no row (its "
            f"subjects are such as {names[0]})."
            f"{_suggestion(unknown, dict.fromkeys(names.tolist()))} Nothing was forgotten."
        )
    return list(model.ids_[np.isin(names, subjects)].tolist())


def _where(model: Any, path: str, text: str) -> list[int | str]:
    if model_rows(model).columns is None:
        raise ValueError(f"{path} was saved from Python and has no columns; use --id.")
    ids = ids_where(model, parse_condition(text))
    if not ids:
        raise ValueError(f"no row that the model holds has {text}.")
    return ids


class Condition(NamedTuple):
    """A column compared with a value."""

    column: str
    op: str
    value: str


def parse_condition(text: str) -> Condition:
    """From text such as ``age >= 65``, ``"first name" == Ada`` or ``city == 'Basel <BS>'``."""
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise ValueError(
            f"--where {text!r} is not of the form COLUMN OP VALUE, with = != < <= > >= as OP."
        )
    *column, op = match.groups()[:4]
    return Condition(_first(column), op, _first(match.groups()[4:]))


def ids_where(model: TableModel, condition: Condition) -> list[int | str]:
    """Ids of the held rows that meet it. A missing number or date meets none."""
    values = _column(model, condition.column)
    dates = {column.name: column for column in model.columns_ if isinstance(column, DateColumn)}
    if condition.column in dates:
        (value,) = dates[condition.column].read([condition.value])
        chosen = _OPERATORS[condition.op](values.astype(str), value) & (values != "")
    elif values.dtype.kind in "OU":
        chosen = _compare_texts(values.astype(str), condition)
    else:
        chosen = _compare_numbers(values, condition)
    return list(model.ids_[chosen].tolist())


def _column(model: TableModel, name: str) -> Array:
    known: dict[str, Array] = {
        **model.table_,
        str(model.target): model.y_fit_,
        **({} if model.id_column is None else {model.id_column: model.ids_}),
    }
    if name not in known:
        raise ValueError(f"the model has no column {name!r}. It has: {', '.join(known)}.")
    return known[name]


def _compare_texts(values: Array, condition: Condition) -> Array:
    if condition.op not in ("=", "==", "!="):
        raise ValueError(f"column {condition.column!r} is text: only == and != compare it.")
    return _OPERATORS[condition.op](values, condition.value.strip())


def _compare_numbers(values: Array, condition: Condition) -> Array:
    value = number(condition.value)
    if value is None or np.isnan(value):
        raise ValueError(f"column {condition.column!r} has numbers, {condition.value!r} is none.")
    return _OPERATORS[condition.op](values, value) & ~np.isnan(values)


def _first(groups: Any) -> str:
    """The alternative that matched."""
    return str(next(group for group in groups if group is not None))
