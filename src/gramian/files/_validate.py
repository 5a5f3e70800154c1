"""Whether a model is one that could have been fitted: asked when it is saved and when it is loaded.

A file that loads can be used: whoever wrote it, the model in it has arrays that fit one another, of
the types and in the ranges that its class works with.
"""

from __future__ import annotations

from typing import Any

from gramian.files._registry import RIVER
from gramian.files._validate_estimator import check_estimator
from gramian.files._validate_parameters import check_parameters
from gramian.files._validate_streams import check_river, check_window
from gramian.files._validate_tables import check_table
from gramian.stream import SlidingWindow
from gramian.tables import TableModel

__all__ = ["check_parameters", "check_state"]


def check_state(model: Any, state: Any) -> None:
    """Raise `ModelFileError` if the model could not work with this state."""
    if isinstance(model, TableModel):
        check_table(model, state)
    elif isinstance(model, SlidingWindow):
        check_window(model, state)
    elif type(model).__name__ in RIVER:
        check_river(model, state)
    else:
        check_estimator(model, state)
