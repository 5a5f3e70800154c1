"""The classes that a model file may name: these, and no others."""

from __future__ import annotations

from typing import Any

from gramian import estimators
from gramian.selection import Selection
from gramian.tables import CategoryColumn, NumberColumn, TableModel, TargetColumn

_ESTIMATORS = [getattr(estimators, name) for name in estimators.__all__]

MODELS: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in [*_ESTIMATORS, TableModel]
    if isinstance(cls, type) and hasattr(cls, "_get_state")
}
"""What can be saved: classes with `get_params`, `_get_state` and `_set_state`."""

RECORDS: dict[str, type[Any]] = {
    cls.__name__: cls for cls in (CategoryColumn, NumberColumn, Selection, TargetColumn)
}
"""Dataclasses within a state."""
