"""A model of a table: the encoding of its columns and an estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramian.tables._cells import TableError, read_cells
from gramian.tables._columns import CategoryColumn, NumberColumn, TargetColumn
from gramian.tables._reading import encode, fit_columns, read_columns, read_ids
from gramian.tables._rows import HeldTable

_TRIES = 100


def _classifies(model: TableModel) -> bool:
    """Whether there are classes to speak of; sklearn hides the method where there are none."""
    return is_classifier(model.estimator)


class TableModel(BaseEstimator):
    """An estimator together with the encoding of a table's columns.

    Numeric columns are scaled, and text columns become one feature per level. A table is a dict of
    columns, a data frame of pandas or polars, or a table of pyarrow. The model also holds the
    original cells of the columns that it uses, so that `reselect` can encode them again.

    Parameters
    ----------
    estimator : estimator of this package
        It is cloned; the clone is fitted.
    target : str
        Name of the column to predict.
    id_column : str, optional
        Column with unique ids of the rows; without it they are 1, 2, 3, … in order of arrival.
    categorical : sequence of str
        Columns to treat as text even if they hold numbers.
    ignore : sequence of str
        Columns to leave out. Constant columns, and text columns in which all values differ, are
        always left out.

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

    _held: HeldTable  # all that an edit changes, assigned once at the end of it

    def __init__(self, estimator, *, target, id_column=None, categorical=(), ignore=()):
        self.estimator = estimator
        self.target = target
        self.id_column = id_column
        self.categorical = categorical
        self.ignore = ignore

    # -- edits: each leaves the model as it was or as it should be, wherever it is interrupted ----

    def fit(self, table):
        """Learn the encoding of the columns and fit the estimator. Returns self."""
        for name in (*self.categorical, *self.ignore):
            read_cells(table, name)  # a name that is not there is a mistake
        n = len(read_cells(table, self.target))
        ids = np.arange(1, n + 1) if self.id_column is None else read_ids(table, self.id_column)
        self._held = self._learned(table, ids, dict.fromkeys(self.ignore, "asked for"))
        return self

    def partial_fit(self, table):
        """Learn more rows; scales and levels stay as they were fitted. Returns self."""
        held = self._agreed()
        y = held.target.read(read_cells(table, self.target))
        new = read_columns(table, held.columns)
        if self.id_column is None:
            ids = held.new_ids(len(y))
        else:
            ids = read_ids(table, self.id_column, held.ids)
        X = encode(held.columns, new)
        self._held = held.with_rows(ids, new)
        try:
            held.estimator.partial_fit(X, y, ids=ids)
        except BaseException:
            self._held = self._agreed()  # the rows that were not learned
            raise
        return self

    def forget(self, ids):
        """Forget rows exactly, and the names of levels that no remaining row has. Returns self.

        Means and deviations of columns were computed with them and stay until `reselect`.
        """
        held = self._agreed()
        self._held = replace(held, given=held.next_id)  # a number is never given twice
        try:
            held.estimator.forget(ids)
        finally:
            self._held = self._agreed()
        return self

    def reselect(self, *, fresh=True):
        """Choose scales, levels and hyper-parameters again on the rows held.

        Afterwards nothing in the model depends on a row that was forgotten.

        Parameters
        ----------
        fresh : bool
            False chooses only the hyper-parameters again, starting from the present ones.

        Returns
        -------
        self
        """
        held = self._agreed()
        if fresh:
            table = {**held.table, self.target: held.estimator.y_fit_}
            self._held = self._learned(table, held.ids, held.ignored, held.next_id)
        else:
            held.estimator.reselect()
        return self

    # -- answers --------------------------------------------------------------------------------

    def predict(self, table):
        """Predicted class or number of each row."""
        estimator, X = self._encoded(table)
        return estimator.predict(X)

    @available_if(_classifies)
    def predict_proba(self, table):
        """Class probabilities of each row, calibrated on exact leave-one-out values."""
        estimator, X = self._encoded(table)
        return estimator.predict_proba(X)

    @available_if(_classifies)
    def decision_function(self, table):
        """Decision values of each row."""
        estimator, X = self._encoded(table)
        return estimator.decision_function(X)

    def score(self, table):
        """Accuracy, or R² of numbers, on a table that has the target."""
        y = self.target_.read(read_cells(table, self.target))
        estimator, X = self._encoded(table)
        return estimator.score(X, y)

    def loo_predict(self):
        """Prediction for each held row by the model without it, in the order of `ids_`."""
        return self.estimator_.loo_predict()

    @available_if(_classifies)
    def loo_decision_function(self):
        """Exact leave-one-out decision values of the held rows, in the order of `ids_`."""
        return self.estimator_.loo_decision_function()

    def loo_score(self):
        """Score of `loo_predict`."""
        return self.estimator_.loo_score()

    def transform(self, table):
        """The features of each row, as the estimator takes them."""
        return self._encoded(table)[1]

    def drift(self):
        """Measured relative residual of the present solution in the true system."""
        return self.estimator_.drift()

    def refitted(self):
        """A model with the same columns and choices, its estimator built from scratch."""
        held, twin = self._agreed(), clone(self)
        twin._held = replace(held, estimator=held.estimator.refitted())
        return twin

    def snapshot(self, *, loo=False):
        """A copy that goes on predicting as this model does now, for readers beside edits."""
        held, twin = self._agreed(), clone(self)
        twin._held = replace(held, estimator=held.estimator.snapshot(loo=loo))
        return twin

    # -- what is held ---------------------------------------------------------------------------

    @property
    def estimator_(self):
        """The estimator, fitted to the features."""
        return self._agreed().estimator

    @property
    def ids_(self):
        """Ids of the rows that the model holds, in order of arrival."""
        return self.estimator_.ids_

    @property
    def y_fit_(self):
        """Their targets, in the order of `ids_`."""
        return self.estimator_.y_fit_

    @property
    def classes_(self):
        """The classes; a regression has none."""
        return self.estimator_.classes_

    @property
    def target_(self):
        """Name and kind of the column to predict."""
        return self._agreed().target

    @property
    def columns_(self):
        """The columns that the model uses as features."""
        return list(self._agreed().columns)

    @property
    def ignored_(self):
        """Why a column is left out, by name."""
        return dict(self._agreed().ignored)

    @property
    def table_(self):
        """The used columns of the rows that are held, in the order of `ids_`."""
        return dict(self._agreed().table)

    @property
    def column_choices_(self):
        """Names of what was chosen on the columns of all rows and stays until `reselect`."""
        kinds = {type(column) for column in self.columns_}
        scales = ("means and deviations of columns",) if NumberColumn in kinds else ()
        levels = ("choice of levels of columns",) if CategoryColumn in kinds else ()
        return (*scales, *levels)

    @property
    def seen_by_(self):
        """Names of what was chosen on the rows and stays when they are forgotten."""
        return (*self.estimator_.seen_by_, *self.column_choices_)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_held")

    # -- state ----------------------------------------------------------------------------------

    def _get_state(self):
        held = self._agreed()
        return {
            "estimator_": held.estimator,
            "target_": held.target,
            "columns_": list(held.columns),
            "ignored_": held.ignored,
            "table_": held.table,
            "next_id": held.next_id,
        }

    def _set_state(self, state):
        estimator, columns = state["estimator_"], tuple(state["columns_"])
        given = state.get("next_id")
        if given is None:  # a file of 0.1.0
            given = estimator._get_state()["held"]["_next_id"]
        table = {column.name: state["table_"][column.name] for column in columns}
        ignored = dict(state["ignored_"])
        self._held = HeldTable(
            estimator, state["target_"], columns, ignored, estimator.ids_, table, given
        )

    def __getstate__(self):
        state = super().__getstate__()
        return {**state, "_held": self._agreed()} if "_held" in state else state

    # -- inside ---------------------------------------------------------------------------------

    def _agreed(self) -> HeldTable:
        check_is_fitted(self)
        for _ in range(_TRIES):
            try:
                return self._held.agreed()
            except KeyError:  # another thread is learning: its rows are there a moment later
                continue
        raise RuntimeError("the model is edited by another thread all the time; use a lock.")

    def _encoded(self, table):
        """The estimator, and features of rows that are made for it."""
        held = self._agreed()
        return held.estimator, encode(held.columns, read_columns(table, held.columns))

    def _learned(self, table: Any, ids: Any, ignored: dict[str, str], given: int = 0) -> HeldTable:
        """All of a fit, without touching the model."""
        cells = read_cells(table, self.target)
        if not cells:
            raise TableError("the table has no rows.")
        target = TargetColumn.fit(self.target, cells, classes=not is_regressor(self.estimator))
        y = target.read(cells)
        columns, held, useless = fit_columns(
            table,
            target=self.target,
            others={self.id_column, *self.ignore},
            categorical=self.categorical,
        )
        estimator = clone(self.estimator).fit(encode(columns, held), y, ids=ids)
        return HeldTable(estimator, target, columns, {**ignored, **useless}, ids, held, given)
