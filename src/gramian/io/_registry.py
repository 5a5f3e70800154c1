"""The classes that a model file may name: these, and no others."""

from __future__ import annotations

from typing import Any

from gramian import estimators
from gramian.estimators.live._base import LiveEstimator
from gramian.selection import Selection
from gramian.tables._columns import CategoryColumn, NumberColumn, TargetColumn
from gramian.tables._table_model import TableModel

_ESTIMATORS = [getattr(estimators, name) for name in estimators.__all__]

MODELS: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in [*_ESTIMATORS, TableModel]
    if isinstance(cls, type) and issubclass(cls, LiveEstimator | TableModel)
}
"""What can be saved: classes with `get_params`, `_get_state` and `_set_state`."""

RECORDS: dict[str, type[Any]] = {
    cls.__name__: cls for cls in (CategoryColumn, NumberColumn, Selection, TargetColumn)
}
"""Dataclasses within a state."""
