"""Whether a model is one that could have been fitted: asked when it is saved and when it is loaded.

A file that loads can be used: whoever wrote it, the model in it has arrays that fit one another, of
the types and in the ranges that its class works with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from gramian.files._registry import RIVER
from gramian.files._validate_estimator import check_estimator, check_estimator_parameters
from gramian.files._validate_streams import check_river, check_stream_parameters, check_window
from gramian.files._validate_tables import check_table, check_table_parameters
from gramian.stream import SlidingWindow
from gramian.tables import TableModel


class Checks(NamedTuple):
    """Those of one kind of models."""

    parameters: Callable[[Any], None]
    state: Callable[[Any, Any], None]


def check_parameters(model: Any) -> None:
    """Raise `ModelFileError` if a parameter is nothing that the model could have been given."""
    _checks(model).parameters(model)


def check_state(model: Any, state: Any) -> None:
    """Raise `ModelFileError` if the model could not work with this state."""
    _checks(model).state(model, state)


def _checks(model: Any) -> Checks:
    if isinstance(model, TableModel):
        return Checks(check_table_parameters, check_table)
    if isinstance(model, SlidingWindow):
        return Checks(check_stream_parameters, check_window)
    if type(model).__name__ in RIVER:
        return Checks(check_stream_parameters, check_river)
    return Checks(check_estimator_parameters, check_estimator)
