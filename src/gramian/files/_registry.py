"""The classes that a model file may name: these, and no others."""

from __future__ import annotations

from typing import Any

from gramian import stream
from gramian.core.search import Selection
from gramian.estimators import ESTIMATORS
from gramian.stream import SlidingWindow
from gramian.tables import (
    CategoryColumn,
    DateColumn,
    NumberColumn,
    NumberFormat,
    TableModel,
    TargetColumn,
)

MODELS: dict[str, type[Any]] = {
    **ESTIMATORS,
    "SlidingWindow": SlidingWindow,
    "TableModel": TableModel,
}
"""What can be saved: classes with `get_params`, `_get_state` and `_set_state`."""

RIVER = ("RiverClassifier", "RiverRegressor")
"""Two more, which are there where River is."""


def model_class(name: Any) -> type[Any] | None:
    """The class of this name, if a file may name it; imports River for its models."""
    if name in RIVER:
        result: type[Any] | None = getattr(stream, name)
        return result
    return MODELS.get(name) if isinstance(name, str) else None


def is_saved(cls: type[Any]) -> bool:
    """Whether models of a class can be saved."""
    ours = cls.__module__.startswith("gramian.stream.")
    return MODELS.get(cls.__name__) is cls or (cls.__name__ in RIVER and ours)


RECORDS: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (CategoryColumn, DateColumn, NumberColumn, NumberFormat, Selection, TargetColumn)
}
"""Dataclasses within a state."""


def has_state(model: Any) -> bool:
    """Whether there is something to save: a fitted model, or a window with samples."""
    return model.__sklearn_is_fitted__() or "_state" in vars(model)
