"""How a model takes rows: an estimator as an array, a model of a table as columns.

What works on both asks here, and nowhere else, which of the two a model is.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gramian.core.arrays import Array
from gramian.core.estimators._ids import next_ids
from gramian.tables._cells import column_names, read_cells
from gramian.tables._columns import Column
from gramian.tables._table_model import TableModel


class NewRows(NamedTuple):
    """Rows as the model's ``partial_fit`` takes them."""

    X: Any
    y: Any
    ids: Any
    groups: Any


class ModelRows:
    """The rows of a model, held and new; here those of an estimator, which takes arrays.

    Attributes
    ----------
    target, id_column, subject_column : str or None
        Columns of a table that have another part.
    decimal : str
    encoding : str or None
        How the tables that the model reads from files are written.
    """

    target: str | None = None
    id_column: str | None = None
    subject_column: str | None = None
    decimal: str = "."
    encoding: str | None = None

    def __init__(self, model: Any) -> None:
        self._model = model

    @property
    def estimator(self) -> Any:
        """The model itself, or the estimator in a model of a table."""
        return self._model

    @property
    def columns(self) -> list[Column] | None:
        """What a model of a table makes features of; None of another model."""
        return None

    def names(self) -> dict[str, None] | None:
        """Names of columns that new rows may have, in order; None if the model knows none."""
        found = getattr(self._model, "feature_names_in_", None)
        return None if found is None else dict.fromkeys(found.tolist())

    def held(self) -> dict[str, Array]:
        """The values of held rows by column."""
        X = self._model.X_fit_
        X = X if isinstance(X, np.ndarray) else X.toarray()
        names = self.names() or [f"x{i}" for i in range(X.shape[1])]
        return {str(name): column for name, column in zip(names, X.T, strict=True)}

    def features(self, X: Any) -> Any:
        """Rows as the estimator takes them."""
        return X

    def targets(self, X: Any, y: Any) -> Any:
        """The targets given, or those in a table."""
        if y is None:
            raise ValueError("y must be given, unless X is a table that has the targets.")
        return y

    def from_cells(self, cells: dict[str, list[Any]]) -> Any:
        """Rows as the model takes them, from cells by column; ValueError if they do not fit."""
        names = self.names()
        if names is None:
            raise ValueError(
                "this model knows no names of columns; send one tensor of all features."
            )
        if cells.keys() != names.keys():
            raise ValueError(f"the columns of this model are {', '.join(names)}.")
        try:
            return np.column_stack([np.array(cells[name], dtype=np.float64) for name in names])
        except (TypeError, ValueError) as error:
            raise ValueError("a cell is not a number.") from error

    def numbers(self, ids: Any) -> bool:
        """Whether the model gives numbers to new rows that come with these ids."""
        return ids is None

    def new(self, X: Any, y: Any, ids: Any, groups: Any, next_id: int | None = None) -> NewRows:
        """Rows to learn; ValueError if the model does not take such.

        In a table, targets, ids and groups become columns. Numbers of an array start from
        ``next_id``: who follows the edits of others knows of numbers that the model does not.
        """
        if y is None:
            raise ValueError("learn needs the targets `y` of the rows.")
        if ids is None and next_id is not None:
            ids, _ = next_ids(self._model.ids_, next_id, len(np.atleast_1d(np.asarray(y))))
        return NewRows(X, y, ids, groups)


class TableRows(ModelRows):
    """Rows of a model of a table."""

    _model: TableModel

    def __init__(self, model: TableModel) -> None:
        super().__init__(model)
        self.target, self.id_column = model.target, model.id_column
        self.subject_column = model.subject_column
        self.decimal, self.encoding = model.decimal, model.encoding

    @property
    def estimator(self) -> Any:
        return self._model.estimator_

    @cached_property
    def columns(self) -> list[Column]:
        return self._model.columns_

    def names(self) -> dict[str, None]:
        used = [column.name for column in self.columns]
        more = (*self._model.ignored_, self.target, self.id_column, self.subject_column)
        return dict.fromkeys([*used, *(name for name in more if name is not None)])

    def held(self) -> dict[str, Array]:
        return self._model.table_

    def features(self, X: Any) -> Any:
        return self._model.transform(X)

    def targets(self, X: Any, y: Any) -> Any:
        return self._model.read_targets(X) if y is None else y

    def from_cells(self, cells: dict[str, list[Any]]) -> Any:
        return cells

    def numbers(self, ids: Any) -> bool:
        return self.id_column is None

    def new(self, X: Any, y: Any, ids: Any, groups: Any, next_id: int | None = None) -> NewRows:
        if ids is not None and self.id_column is None:
            raise ValueError("this model of a table numbers its rows by itself; give no ids.")
        table = {name: read_cells(X, name) for name in column_names(X)}
        named = ((self.target, y), (self.id_column, ids), (self.subject_column, groups))
        for name, values in named:
            if name is not None and values is not None:
                table[name] = values if isinstance(values, list) else np.asarray(values).tolist()
        return NewRows(table, None, None, groups if self.subject_column is None else None)


def model_rows(model: Any) -> ModelRows:
    """How this model takes rows."""
    return TableRows(model) if isinstance(model, TableModel) else ModelRows(model)


def estimator_of(model: Any) -> Any:
    """The estimator in a model of a table; any other model is its own."""
    return model_rows(model).estimator
