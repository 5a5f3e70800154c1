"""What edits of a store need: ids as a list, the ids of groups, rows that are learned again."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.core.estimators._group_names import positions_of_groups
from gramian.files.parts import Held, rows_of
from gramian.store._rows import Row, rows_from
from gramian.tables._model_rows import model_rows


def learn_again(model: Any, rows: list[Row], held: Held) -> bool:
    """Learn rows as a store keeps them; whether the model holds them just as they are then."""
    start, taken = len(model.ids_), model_rows(model)
    options = {"sample_weight": held.weight} if (held.weight != 1.0).any() else {}
    if held.table is not None and (options or taken.id_column is None):
        return False
    new = taken.new(held.X if held.table is None else held.table, held.y, held.ids, held.groups)
    model.partial_fit(new.X, new.y, ids=new.ids, groups=new.groups, **options)
    found = list(rows_from(rows_of(model, start), rows[0].arrival if rows else 0))
    alike = [row._replace(arrival=0) == old._replace(arrival=0, due=None)
             for row, old in zip(found, rows, strict=False)]  # fmt: skip
    return len(found) == len(rows) and all(alike)


def ids_of_groups(model: Any, groups: Any) -> list[Any]:
    """Ids of all rows of these groups; ValueError if one has no row."""
    found = positions_of_groups(model.groups_, groups)
    return list(model.ids_[found].tolist())


def as_ids(ids: Any) -> list[Any]:
    """Ids as a list of plain numbers and texts."""
    if isinstance(ids, int | str):
        return [ids]
    found = list(ids) if _plain(ids) else np.asarray(ids).ravel().tolist()
    if not found:
        raise ValueError("no ids were given.")
    return found


def _plain(ids: Any) -> bool:
    return isinstance(ids, list | tuple) and all(type(name) in (int, str) for name in ids)
