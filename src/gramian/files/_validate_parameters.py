"""Whether the parameters of a model are of the kinds that its constructor takes."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from gramian.core.text import excerpt
from gramian.core.validation import (
    ModelFileError,
    check_number,
    check_sequence,
    check_text,
    check_whole,
    refuse,
)
from gramian.files._validate_streams import check_stream_parameters
from gramian.tables import TableModel

_PLAIN = (type(None), bool, int, float, str, np.generic)


def check_parameters(model: Any) -> None:
    """Raise `ModelFileError` if a parameter is nothing that the model could have been given."""
    if isinstance(model, TableModel):
        _check_table_parameters(model)
        return
    if not hasattr(model, "_spec"):
        check_stream_parameters(model)
        return
    defaults = inspect.signature(type(model).__init__).parameters
    for name, value in model.get_params(deep=False).items():
        _check_parameter(value, f"the parameter {name}", defaults[name].default)
    try:
        model._spec()  # reads and checks the parameters, as `fit` does
    except ModelFileError:
        raise
    except Exception as error:
        raise ModelFileError(f"holds no valid model: {excerpt(error, 200)}") from error


def _check_parameter(value: Any, where: str, default: Any) -> None:
    """By the kind of the default: a number stays one, a text may be a number or an array."""
    if isinstance(default, bool):
        if not isinstance(value, _PLAIN):
            refuse(where, f"is a {type(value).__name__}")
    elif isinstance(default, int | float):
        if value is not None and not isinstance(value, str):  # "cv" and the like
            check_number(value, where)
    else:
        _check_plain(value, where, depth=2)


def _check_plain(value: Any, where: str, *, depth: int) -> None:
    """A value, an array of numbers, or a list or dict of such; ``depth`` of them in each other.

    Two: a stack has a list of widths, of which each may be a list.
    """
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.ndim <= 1:
        return
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        check_number(value, where)
        return
    if isinstance(value, _PLAIN):
        return
    if not depth or not isinstance(value, list | tuple | dict):
        refuse(where, f"is a {type(value).__name__}")
    for item in value.values() if isinstance(value, dict) else value:
        _check_plain(item, where, depth=depth - 1)


def _check_table_parameters(model: TableModel) -> None:
    for name in ("target", "id_column", "subject_column", "thousands", "encoding"):
        if getattr(model, name) is not None:
            check_text(getattr(model, name), f"the parameter {name}")
    if model.max_levels is not None:
        check_whole(model.max_levels, "the parameter max_levels", 1)
    for name in ("decimal", "dtype"):
        check_text(getattr(model, name), f"the parameter {name}")
    for names in (model.categorical, model.ignore, model.units, model.missing):
        for name in check_sequence(names, "a list of columns"):
            check_text(name, "the name of a column")
    if isinstance(model.estimator, TableModel) or not hasattr(model.estimator, "_get_state"):
        refuse("the parameter estimator", "is no estimator of this package")
