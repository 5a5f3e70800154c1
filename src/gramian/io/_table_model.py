"""A model of a table: what its columns mean, and an estimator, in one."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.utils.validation import check_is_fitted

from gramian.arrays import Array
from gramian.io._cells import (
    TableError,
    are_numbers,
    column_names,
    fault,
    numbers,
    read_cells,
    texts,
)
from gramian.io._columns import CategoryColumn, Column, NumberColumn, TargetColumn

_STATE = ("estimator_", "target_", "columns_", "ignored_", "table_")
_INTEGER = re.compile(r"-?\d{1,18}")


class TableModel(BaseEstimator):
    """An estimator on the columns of a table; it needs nothing else to predict, learn and forget.

    Numbers are scaled and texts become one feature per level (see `gramian.io`). A table is a dict
    of columns, a data frame of pandas or polars, or a table of pyarrow; the columns that are used
    are held as they came, besides their features, so that `reselect` can start from them.

    Parameters
    ----------
    estimator : estimator of this package
        Cloned, never fitted itself.
    target : str
        Name of the column to predict.
    id_column : str, optional
        Column of unique names for the rows; without it they are 1, 2, 3, … in order of arrival.
    categorical : sequence of str
        Columns to take as text even if they look like numbers.
    ignore : sequence of str
        Columns to leave out. A column that is constant, and one of texts that are all different,
        are left out anyway.

    Attributes
    ----------
    estimator_ : estimator
        Fitted to the features.
    columns_ : list of NumberColumn and CategoryColumn
    target_ : TargetColumn
    ignored_ : dict
        Why a column is left out, by name.
    table_ : dict of ndarray
        The used columns of the rows that are held, in the order of `ids_`.

    Examples
    --------
    >>> from gramian import KernelDiscriminant, TableModel
    >>> table = {
    ...     "weight": [3.9, 4.2, 30.0, 28.5, 4.0, 31.0],
    ...     "sound": ["meow", "meow", "woof", "woof", "", "woof"],
    ...     "animal": ["cat", "cat", "dog", "dog", "cat", "dog"],
    ... }
    >>> model = TableModel(KernelDiscriminant(gamma=0.5, ridge=0.1), target="animal").fit(table)
    >>> model.predict({"weight": [5.0, None], "sound": ["", "woof"]}).tolist()
    ['cat', 'dog']
    >>> model.forget(3).ids_.tolist()
    [1, 2, 4, 5, 6]
    """

    estimator_: Any
    target_: TargetColumn
    columns_: list[Column]
    ignored_: dict[str, str]
    table_: dict[str, Array]

    def __init__(self, estimator, *, target, id_column=None, categorical=(), ignore=()):
        self.estimator = estimator
        self.target = target
        self.id_column = id_column
        self.categorical = categorical
        self.ignore = ignore

    # -- the contract ---------------------------------------------------------------------------

    def fit(self, table):
        """Learn what the columns mean and how they tell the target. Returns self."""
        for name in (*self.categorical, *self.ignore):
            read_cells(table, name)  # a name that is not there is a mistake
        ids = self._read_ids(table)
        if ids is None:
            ids = np.arange(1, len(read_cells(table, self.target)) + 1)
        self._learn(table, ids)
        return self

    def partial_fit(self, table):
        """Learn more rows; scales and levels stay as they were fitted. Returns self."""
        check_is_fitted(self)
        y = self.target_.read(read_cells(table, self.target))
        ids, new = self._read_ids(table, like=self.ids_), self._read(table)
        self.estimator_.partial_fit(_encode(self.columns_, new), y, ids=ids)
        self.table_ = {name: np.concatenate([old, new[name]]) for name, old in self.table_.items()}
        return self

    def forget(self, ids):
        """Forget rows: the estimator exactly, and the names of levels that no other row has.

        Means and deviations of columns have seen them, and stay until `reselect`. Returns self.
        """
        check_is_fitted(self)
        gone = np.isin(self.ids_, ids)
        self.estimator_.forget(ids)
        self.table_ = {name: values[~gone] for name, values in self.table_.items()}
        self.columns_ = [column.forget(self.table_[column.name]) for column in self.columns_]
        return self

    def reselect(self):
        """Learn everything anew from the rows that are held: scales, levels, hyper-parameters.

        After this, nothing in the model has seen a row that was forgotten. Returns self.
        """
        check_is_fitted(self)
        after, ignored = self.estimator_._next_id, self.ignored_
        self._learn({**self.table_, self.target: self.estimator_.y_fit_}, self.ids_)
        self.estimator_._next_id = after  # a number is never given twice
        self.ignored_ = {**ignored, **self.ignored_}
        return self

    def predict(self, table):
        """The class or the number of each row."""
        return self.estimator_.predict(self.transform(table))

    def predict_proba(self, table):
        """Class probabilities of each row, calibrated on exact leave-one-out values."""
        return self.estimator_.predict_proba(self.transform(table))

    def transform(self, table):
        """The features of each row, as the estimator takes them."""
        check_is_fitted(self)
        return _encode(self.columns_, self._read(table))

    @property
    def ids_(self):
        """Ids of the rows that the model holds, in order of arrival."""
        check_is_fitted(self)
        return self.estimator_.ids_

    def drift(self):
        """Measured relative residual of the present solution in the true system."""
        check_is_fitted(self)
        return self.estimator_.drift()

    def __sklearn_is_fitted__(self):
        return hasattr(self, "estimator_")

    # -- state ----------------------------------------------------------------------------------

    def _get_state(self):
        return {name: getattr(self, name) for name in _STATE}

    def _set_state(self, state):
        for name in _STATE:
            setattr(self, name, state[name])
        self.table_ = {column.name: self.table_[column.name] for column in self.columns_}

    # -- inside ---------------------------------------------------------------------------------

    def _learn(self, table, ids):
        cells = read_cells(table, self.target)
        if not cells:
            raise TableError("the table has no rows.")
        target = TargetColumn.fit(self.target, cells, classes=not is_regressor(self.estimator))
        y = target.read(cells)
        columns, held, ignored = self._fit_columns(table)
        estimator = clone(self.estimator).fit(_encode(columns, held), y, ids=ids)
        self.estimator_, self.target_ = estimator, target
        self.columns_, self.ignored_, self.table_ = columns, ignored, held

    def _fit_columns(self, table):
        """Columns, their values and the reasons to leave others out."""
        columns, held, ignored = [], {}, dict.fromkeys(self.ignore, "asked for")
        known = {self.target, self.id_column, *self.ignore}
        for name in column_names(table):
            if name in known:
                continue
            cells = read_cells(table, name)
            as_text = name in self.categorical or not are_numbers(cells)
            values = texts(cells) if as_text else numbers(cells, name)
            reason = _useless(values)
            if reason:
                ignored[name] = reason
                continue
            columns.append((CategoryColumn if as_text else NumberColumn).fit(name, values))
            held[name] = values
        if not columns:
            raise TableError(f"no column is left to predict {self.target!r} from ({ignored}).")
        return columns, held, ignored

    def _read(self, table):
        return {c.name: c.read(read_cells(table, c.name)) for c in self.columns_}

    def _read_ids(self, table, like=None):
        """Integers where all are and where the held ones are, else text; None without a column."""
        if self.id_column is None:
            return None
        ids = texts(read_cells(table, self.id_column))
        held = set() if like is None else set(like.astype(str).tolist())
        first: dict[str, int] = {}
        for row, name in enumerate(ids.tolist()):
            if not name:
                raise fault(self.id_column, row, "the id is missing.")
            if name in held:
                raise fault(self.id_column, row, f"the model holds id {name} already.")
            if first.setdefault(name, row) != row:
                raise fault(self.id_column, row, f"row {first[name] + 1} has the same id, {name}.")
        whole = all(_INTEGER.fullmatch(name) for name in ids.tolist())
        wanted = like is None or like.dtype.kind == "i"
        return ids.astype(np.int64) if whole and wanted else ids.astype(str)


def _encode(columns: list[Column], values: dict[str, Array]) -> Array:
    return np.hstack([column.encode(values[column.name]) for column in columns])


def _useless(values: Array) -> str | None:
    """Why a column says nothing, if it does not."""
    distinct = len(set(values.tolist())) if values.dtype == object else len(np.unique(values))
    if distinct == 1:
        return "constant"
    if values.dtype == object and distinct == len(values):
        return "every text is different"
    return None
