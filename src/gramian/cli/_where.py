"""Conditions on rows, ``column op value``: parsed and compared, never evaluated."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gramian.core.arrays import Array
from gramian.tables import DateColumn, TableModel, number

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
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
    result: list[int | str] = model.ids_[chosen].tolist()
    return result


def _column(model: TableModel, name: str) -> Array:
    known = {
        **model.table_,
        str(model.target): model.estimator_.y_fit_,
        **({} if model.id_column is None else {model.id_column: model.ids_}),
    }
    if name not in known:
        raise ValueError(f"the model has no column {name!r}. It has: {', '.join(known)}.")
    result: Array = known[name]
    return result


def _compare_texts(values: Array, condition: Condition) -> Array:
    if condition.op not in ("=", "==", "!="):
        raise ValueError(f"column {condition.column!r} is text: only == and != compare it.")
    result: Array = _OPERATORS[condition.op](values, condition.value.strip())
    return result


def _compare_numbers(values: Array, condition: Condition) -> Array:
    value = number(condition.value)
    if value is None or np.isnan(value):
        raise ValueError(f"column {condition.column!r} has numbers, {condition.value!r} is none.")
    result: Array = _OPERATORS[condition.op](values, value) & ~np.isnan(values)
    return result


def _first(groups: Any) -> str:
    """The alternative that matched."""
    return str(next(group for group in groups if group is not None))
