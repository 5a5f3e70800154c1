"""What a model of a table holds: one object, replaced as a whole and never changed.

The estimator in it changes by its own edits, each of which happens or does not. So the rows are
kept by id, and those that count are the ones whose ids the estimator holds: wherever an edit of the
table was interrupted, the rows agree with the estimator.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.tables._columns import Column, TargetColumn


@dataclass(frozen=True, eq=False)
class TableHoldings:
    """An estimator with the rows that it holds, and perhaps rows that it does not hold.

    Parameters
    ----------
    estimator : estimator
    target : TargetColumn
    columns : tuple of NumberColumn and CategoryColumn
    ignored : dict of str to str
        Why a column is left out, by name.
    ids : ndarray of shape (n,)
        Those of the rows below.
    table : dict of str to ndarray of shape (n,)
    given : int
        Numbers below this one are not given as ids again.
    by_position : bool
        Whether the model was fitted on an array, whose columns have positions and no names.
    """

    estimator: Any
    target: TargetColumn
    columns: tuple[Column, ...]
    ignored: dict[str, str]
    ids: Array
    table: dict[str, Array]
    given: int
    by_position: bool = False

    @property
    def next_id(self) -> int:
        """The first number that no row has had as its id."""
        some = self.ids.dtype.kind == "i" and len(self.ids) > 0
        return max(self.given, int(self.ids.max()) + 1) if some else self.given

    def agreed(self) -> TableHoldings:
        """With the rows of the estimator alone, and the levels that they have."""
        holdings = self.estimator.ids_
        if holdings.shape == self.ids.shape and (holdings == self.ids).all():
            return self
        place = {name: row for row, name in enumerate(self.ids.tolist())}
        rows = np.array([place[name] for name in holdings.tolist()], dtype=int)
        table = {name: values[rows] for name, values in self.table.items()}
        columns = tuple(column.forget(table[column.name]) for column in self.columns)
        return replace(self, ids=holdings, table=table, columns=columns)

    def with_rows(self, ids: Array, new: dict[str, Array]) -> TableHoldings:
        """With rows that the estimator is about to learn; it will refuse texts among numbers."""
        if len(self.ids) and (ids.dtype.kind == "U") != (self.ids.dtype.kind == "U"):
            return self
        table = {name: np.concatenate([old, new[name]]) for name, old in self.table.items()}
        return replace(self, ids=np.concatenate([self.ids, ids]), table=table)

    def new_ids(self, count: int) -> Array:
        """Numbers that no row has had."""
        return np.arange(self.next_id, self.next_id + count)
