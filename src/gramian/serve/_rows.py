"""The inputs and outputs of a model, in terms of the protocol."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from gramian.serve._bodies import PLAIN, ForgetRows, Infer, LearnRows, Rows
from gramian.serve._edits import Forget, Learn, row_count
from gramian.serve._tensors import datatype, read_tensors
from gramian.tables import NumberColumn
from gramian.tables._model_rows import model_rows

FEATURES = "X"
"""The name of the input of a model that knows no columns."""

MOST_TEXT = 2_000
"""Characters of a cell. NumPy makes all texts of an array as long as the longest."""


def metadata(model: Any, name: str, version: int) -> dict[str, Any]:
    """The model, its inputs and outputs, as the protocol describes them."""
    rows = model_rows(model)
    estimator = rows.estimator
    inputs = [{"name": FEATURES, "datatype": "FP64", "shape": [-1, estimator.n_features_in_]}]
    if rows.columns is not None:
        inputs = [
            {
                "name": column.name,
                "datatype": "FP64" if isinstance(column, NumberColumn) else "BYTES",
                "shape": [-1],
            }
            for column in rows.columns
        ]
    return {
        "name": name,
        "versions": [str(version)],
        "platform": "gramian",
        "inputs": inputs,
        "outputs": _described_outputs(model),
        "parameters": {
            "model": type(estimator).__name__,
            "samples": len(model.ids_),
            "target": rows.target,
            "id_column": rows.id_column,
            "subject_column": rows.subject_column,
        },
    }


def _described_outputs(model: Any) -> list[dict[str, Any]]:
    y = model.y_fit_
    shape = [-1, *y.shape[1:]]
    found = [("prediction", datatype(y), shape)]
    if is_classifier(model):
        classes = len(model.classes_)
        found += [
            ("classes", datatype(model.classes_), [classes]),
            ("probabilities", "FP64", [-1, classes]),
            ("decision", "FP64", [-1] if classes == 2 else [-1, classes]),
            ("sets", "BOOL", [-1, classes]),
        ]
    else:
        found += [("lower", "FP64", shape), ("upper", "FP64", shape)]
    return [{"name": name, "datatype": kind, "shape": form} for name, kind, form in found]


def read_rows(model: Any, body: Rows, tail: bytes, most: int) -> Any:
    """The rows of a request: an array, or for a model of a table its columns by name.

    How many rows and which columns there are is checked before any of them is read, so that the
    work is linear in the size of the request.

    Raises
    ------
    ValueError
        If they are not there, are too many, or do not fit together.
    """
    if (body.inputs is None) == (body.records is None):
        raise ValueError("send either inputs or records.")
    taken = model_rows(model)
    known = taken.names()
    if body.records is not None:
        _check_count(len(body.records), most)
        columns: dict[str, Any] = _columns_of(body.records, known)
    else:
        for tensor in body.inputs or []:
            _check_count(tensor.shape[0], most)
        if known is not None and len(body.inputs or []) > 1:
            _check_names((tensor.name for tensor in body.inputs or []), known)
        columns = read_tensors(body.inputs or [], tail)
    if not columns:
        raise ValueError("there are no rows.")
    if taken.columns is not None or body.records is not None or len(columns) > 1:
        sizes = {len(values) for values in columns.values()}
        if len(sizes) > 1:
            raise ValueError("the columns have different numbers of rows.")
        return taken.from_cells({name: _flat(name, values) for name, values in columns.items()})
    X = next(iter(columns.values()))
    if X.ndim != 2 or X.dtype == object:
        raise ValueError(
            f"the rows of this model are one tensor of numbers with the shape "
            f"[rows, {model.n_features_in_}]; got {datatype(X)} of shape {list(X.shape)}."
        )
    return np.ascontiguousarray(X, dtype=np.float64)


def _check_count(count: int, most: int) -> None:
    if count == 0:
        raise ValueError("there are no rows.")
    if count > most:
        raise ValueError(f"{count} rows in one request, but at most {most} are taken; send parts.")


def _check_names(names: Iterable[str], known: dict[str, None]) -> None:
    for name in names:
        if name not in known:
            shown = ", ".join([*known][:20]) + (", …" if len(known) > 20 else "")
            raise ValueError(f"the model has no column {name!r}; its columns are {shown}.")


def _columns_of(
    records: list[dict[str, Any]], known: dict[str, None] | None
) -> dict[str, list[Any]]:
    """Cells by column; a record that lacks a column has a missing cell there."""
    if known is None:
        raise ValueError("this model knows no names of columns; send one tensor of all features.")
    names: dict[str, None] = {}
    for record in records:
        _check_names(record.keys() - names.keys(), known)
        names |= dict.fromkeys(record)
    return {name: [record.get(name) for record in records] for name in names}


def _flat(name: str, values: Any) -> list[Any]:
    if isinstance(values, list):
        cells = values
    elif values.ndim == 2 and values.shape[1] != 1:
        raise ValueError(f"the column {name!r} has the shape {list(values.shape)}, not [rows].")
    else:
        cells = values.ravel().tolist()
    longest = max((len(cell) for cell in cells if isinstance(cell, str)), default=0)
    if longest > MOST_TEXT:
        raise ValueError(
            f"a cell of {name!r} has {longest} characters, but at most {MOST_TEXT} are taken."
        )
    return cells


def wanted_outputs(body: Infer, model: Any) -> list[str]:
    """Names of the outputs that a request asks for, in order.

    Raises
    ------
    ValueError
        If the model does not have one.
    """
    parameters = body.parameters or PLAIN
    names = ["prediction"] if body.outputs is None else [output.name for output in body.outputs]
    flags = {
        "probabilities": parameters.probabilities,
        "decision": parameters.decision,
        "sets": parameters.sets,
        "lower": parameters.intervals,
        "upper": parameters.intervals,
    }
    names += [name for name, on in flags.items() if on]
    if {"probabilities", "sets"} & set(names):
        names.append("classes")
    if parameters.width != "auto" and "lower" not in names and "upper" not in names:
        raise ValueError(
            f'width="{parameters.width}" is for intervals of numbers, which were not asked for; '
            'give "intervals": true, or leave out the width.'
        )
    if (parameters.score != "margin" or parameters.mondrian) and "sets" not in names:
        name = "score" if parameters.score != "margin" else "mondrian"
        raise ValueError(
            f'"{name}" is for sets of classes, which were not asked for; give "sets": true, or '
            f'leave out "{name}".'
        )
    if names == ["prediction"]:
        return names
    there = {output["name"] for output in _described_outputs(model)}
    for name in names:
        if name not in there:
            raise ValueError(f"this model has no output {name!r}; it has {sorted(there)}.")
    return list(dict.fromkeys(names))


def rows_to_learn(model: Any, body: LearnRows, rows: Any, user: str | None = None) -> Learn:
    """Rows with their targets, ids and groups; in a table they are columns.

    Raises
    ------
    ValueError
        If targets are missing or not one for each row.
    """
    taken, count = model_rows(model), row_count(rows)
    given = {"targets": body.targets, "ids": body.ids, "groups": body.groups}
    for name, values in given.items():
        if values is not None and len(values) != count:
            raise ValueError(f"{name} must be one for each of {count} rows, got {len(values)}.")
    if body.targets is None and taken.columns is None:
        raise ValueError(f"targets must be one for each of {count} rows, got none.")
    new = taken.new(rows, body.targets, body.ids, body.groups)
    targets = None if new.y is None else np.asarray(new.y)
    return Learn(new.X, targets, new.ids, new.groups, user=user)


def rows_to_forget(body: ForgetRows, user: str | None = None) -> Forget:
    """Rows by id, or all of some groups; ValueError unless it is one of the two."""
    if (body.ids is None) == (body.groups is None):
        raise ValueError("send ids, or groups: one of the two.")
    return Forget(list(body.ids or ()), body.verify, body.groups, user=user)
