"""Whether a model of a table holds together: columns, rows and the estimator's features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gramian.core.validation import (
    check_array,
    check_keys,
    check_number,
    check_sequence,
    check_text,
    check_whole,
    refuse,
)
from gramian.tables import (
    NOTATIONS,
    CategoryColumn,
    DateColumn,
    NumberColumn,
    NumberFormat,
    TargetColumn,
    encode,
)

_COLUMNS = ("target_", "columns_", "ignored_", "by_position")
_HELD = ("estimator_", "table_", "next_id")
_KINDS = {"number": "f", "integer": "i", "text": "UO"}


def check_table_parameters(model: Any) -> None:
    """Raise `ModelFileError` unless a model of a table could have been given these parameters."""
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
    if not hasattr(model.estimator, "_spec"):
        refuse("the parameter estimator", "is no estimator of this package")


def check_table(model: Any, state: Any) -> None:
    """Raise `ModelFileError` unless the model of a table can work with this state."""
    check_keys(state, "the state", (*_COLUMNS, *_HELD))
    estimator = state["estimator_"]
    if type(estimator) is not type(model.estimator) or not estimator.__sklearn_is_fitted__():
        refuse("estimator_", "is no fitted estimator of the class that was asked for")
    _check_target(model, state["target_"], estimator)
    columns = _check_columns(state["columns_"])
    check_cells(columns, state["table_"], estimator.X_fit_)
    if not isinstance(state["ignored_"], dict):
        refuse("ignored_", "is no dict")
    for name, reason in state["ignored_"].items():
        check_text(name, "the name of a column that is left out")
        check_text(reason, "the reason to leave a column out")
    check_whole(state["next_id"], "the next id")
    if not isinstance(state["by_position"], bool):
        refuse("by_position", "is neither true nor false")


def check_cells(columns: list[Any], table: Any, X: Any) -> None:
    """Raise `ModelFileError` unless the rows of a table have these features."""
    n, cells = X.shape[0], check_keys(table, "table_", [column.name for column in columns])
    for column in columns:
        if type(column) is NumberColumn:
            values = check_array(cells[column.name], "a column", (n,), "f", finite=False)
            if np.isinf(values).any():
                refuse("a column", "has infinite numbers")
        else:
            for text in check_array(cells[column.name], "a column", (n,), "O").tolist():
                check_text(text, "a cell of a column of texts")
        if type(column) is DateColumn and _misread(column, cells[column.name]):
            refuse("a column of dates", "has texts that are no dates")
    _check_features(encode(columns, cells), X)


def _check_target(model: Any, target: Any, estimator: Any) -> None:
    if type(target) is not TargetColumn or target.name != (model.target or "y"):
        refuse("target_", "is not the column that the model predicts")
    _check_format(target.format)
    if not isinstance(target.kind, str) or target.kind not in _KINDS:
        refuse("target_", "is neither of numbers nor of classes")
    y = estimator.y_fit_
    if y.ndim != 1 or y.dtype.kind not in _KINDS[target.kind]:
        refuse("target_", f"is of kind {target.kind}, and y of type {y.dtype}")


def _check_columns(columns: Any) -> list[Any]:
    names = set()
    for column in check_sequence(columns, "columns_"):
        if type(column) not in (NumberColumn, DateColumn, CategoryColumn):
            refuse("columns_", f"has a {type(column).__name__}")
        names.add(check_text(column.name, "the name of a column"))
        if type(column) is CategoryColumn:
            _check_levels(column.levels)
        else:
            _check_scaled(column)
    if len(names) < len(columns) or not columns:
        refuse("columns_", "has none, or two of the same name")
    return list(columns)


def _check_scaled(column: Any) -> None:
    check_number(column.mean, "the mean of a column")
    check_number(column.deviation, "the deviation of a column", 0.0, above=True)
    marks = [column.marks_missing]
    if type(column) is NumberColumn:
        _check_format(column.format)
    else:
        marks.append(column.has_times)
        if not isinstance(column.format, str) or column.format not in NOTATIONS:
            refuse("a column of dates", "has a notation that this version does not know")
    if not all(isinstance(mark, bool) for mark in marks):
        refuse("a column", "does not say whether cells were missing or had times")


def _check_format(written: Any) -> None:
    """Its own constructor has checked the marks."""
    if type(written) is not NumberFormat:
        refuse("a column", "does not say how its numbers are written")
    check_text(written.unit, "the unit of a column")
    if not isinstance(written.missing, tuple):
        refuse("the texts for missing numbers", f"are a {type(written.missing).__name__}")
    for text in written.missing:
        check_text(text, "a text for a missing number")


def _misread(column: DateColumn, values: Any) -> bool:
    try:
        return bool(column.read(values.tolist()).tolist() != values.tolist())
    except ValueError:
        return True


def _check_levels(levels: Any) -> None:
    if not isinstance(levels, tuple):
        refuse("the levels of a column", f"are a {type(levels).__name__}")
    named = [check_text(level, "a level") for level in levels if level is not None]
    if len(set(named)) < len(named):
        refuse("the levels of a column", "are not all different")


def _check_features(features: Any, X: Any) -> None:
    if not (isinstance(X, np.ndarray) or sparse.issparse(X)) or features.shape != X.shape:
        refuse("table_", "does not have the features that the estimator has")
    if sparse.issparse(X) or sparse.issparse(features):
        off = abs(sparse.csr_array(features) - sparse.csr_array(X)) - 1e-6 * abs(X)
        alike = not off.nnz or off.max() <= 1e-6
    else:
        alike = np.allclose(features, X, rtol=1e-6, atol=1e-6)
    if not alike:
        refuse("table_", "does not have the rows that the estimator learned")
