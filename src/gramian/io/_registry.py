"""The classes that a model file may name: these, and no others."""

from __future__ import annotations

from typing import Any

from gramian.estimators import ESTIMATORS
from gramian.selection import Selection
from gramian.tables import (
    CategoryColumn,
    DateColumn,
    NumberColumn,
    NumberFormat,
    TableModel,
    TargetColumn,
)

MODELS: dict[str, type[Any]] = {**ESTIMATORS, "TableModel": TableModel}
"""What can be saved: classes with `get_params`, `_get_state` and `_set_state`."""

RECORDS: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (CategoryColumn, DateColumn, NumberColumn, NumberFormat, Selection, TargetColumn)
}
"""Dataclasses within a state."""
