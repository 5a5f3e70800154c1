"""Edits of a model, estimator or model of a table, by the same words."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.core.estimators._group_names import positions_of_groups
from gramian.core.estimators._ids import next_ids
from gramian.files.parts import Held, rows_of
from gramian.store._rows import Row, rows_from
from gramian.tables import TableModel, column_names, estimator_of, read_cells


def learn(model: Any, X: Any, y: Any, ids: Any, next_id: int, groups: Any = None) -> None:
    """Learn rows; of a table, ``y``, ``ids`` and ``groups`` may be among its columns.

    Numbers start from ``next_id``: a model that follows the edits of others does not know which
    numbers they have given to rows that are gone.
    """
    if not isinstance(model, TableModel):
        if y is None:
            raise ValueError("learn needs the targets `y` of the rows.")
        if ids is None:
            ids, _ = next_ids(model.ids_, next_id, len(np.atleast_1d(np.asarray(y))))
        model.partial_fit(X, y, ids=ids, groups=groups)
        return
    table = {name: read_cells(X, name) for name in column_names(X)}
    if y is not None:
        table[str(model.target)] = list(np.asarray(y).tolist())
    if ids is not None:
        if model.id_column is None:
            raise ValueError("this model of a table numbers its rows by itself; give no `ids`.")
        table[model.id_column] = list(np.asarray(ids).tolist())
    if groups is not None and model.subject_column is not None:
        table[model.subject_column] = list(np.asarray(groups).tolist())
        groups = None
    model.partial_fit(table, groups=groups)


def learn_again(model: Any, rows: list[Row], held: Held) -> bool:
    """Learn rows as a store keeps them; whether the model holds them just as they are then."""
    start = len(model.ids_)
    weight = held.weight if (held.weight != 1.0).any() else None
    if held.table is None:
        known = {"sample_weight": weight, "ids": held.ids, "groups": held.groups}
        model.partial_fit(held.X, held.y, **known)
    elif weight is not None or model.id_column is None:
        return False
    else:
        table = {name: values.tolist() for name, values in held.table.items()}
        own = {model.target: held.y.tolist(), model.id_column: held.ids.tolist()}
        groups = held.groups
        if model.subject_column is not None and groups is not None:
            own[model.subject_column], groups = groups.tolist(), None
        model.partial_fit({**table, **own}, groups=groups)
    found = list(rows_from(rows_of(model, start), rows[0].arrival if rows else 0))
    alike = [row._replace(arrival=0) == old._replace(arrival=0, due=None)
             for row, old in zip(found, rows, strict=False)]  # fmt: skip
    return len(found) == len(rows) and all(alike)


def relabel(model: Any, ids: list[Any], y: Any) -> None:
    """Give rows other targets; they are the last ones then."""
    y = np.atleast_1d(np.asarray(y))
    if len(y) != len(ids):
        raise ValueError(f"relabel needs a target for each of {len(ids)} ids, got {len(y)}.")
    model.relabel(ids, y.tolist() if isinstance(model, TableModel) else y)


def numbers(model: Any, ids: Any) -> bool:
    """Whether the model gives numbers to rows that come with these ids."""
    return model.id_column is None if isinstance(model, TableModel) else ids is None


def columns_of(model: Any) -> Any:
    """The part of a table's settings that an edit can change; None of other models."""
    return model.columns_ if isinstance(model, TableModel) else None


def ids_of_groups(model: Any, groups: Any) -> list[Any]:
    """Ids of all rows of these groups; ValueError if one has no row."""
    found = positions_of_groups(estimator_of(model).groups_, groups)
    return list(model.ids_[found].tolist())


def as_ids(ids: Any) -> list[Any]:
    """Ids as a list of plain numbers and texts."""
    found = np.atleast_1d(np.asarray(ids)).ravel().tolist() if not _plain(ids) else list(ids)
    if not found:
        raise ValueError("no ids were given.")
    return found


def _plain(ids: Any) -> bool:
    return isinstance(ids, list | tuple) and all(type(name) in (int, str) for name in ids)
