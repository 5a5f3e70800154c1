"""A model of a table: the encoding of its columns and an estimator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, Self, cast

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils import Tags, TransformerTags, assert_all_finite, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from gramian.core.arrays import Array, ArrayLike
from gramian.core.estimators._scikit_learn import BaseEstimator, MetaEstimatorMixin
from gramian.tables._answers import TableAnswers
from gramian.tables._cells import (
    TableError,
    TableWarning,
    as_table,
    column_names,
    is_named,
    read_cells,
)
from gramian.tables._columns import TargetColumn
from gramian.tables._formats import NumberFormat
from gramian.tables._holdings import TableHoldings
from gramian.tables._reading import (
    Reading,
    check_texts,
    encode,
    fit_columns,
    read_columns,
    read_ids,
    read_subjects,
)

_TRIES = 100
_TARGET = "y"  # the name of a target that is not a column of the table


class TableModel(TableAnswers, MetaEstimatorMixin, BaseEstimator):
    """An estimator together with the encoding of a table's columns.

    Numbers are scaled, a date becomes its year, season, weekday and time of day, and a text column
    one feature per level. A table is a dict of columns, a data frame of pandas or polars, a table
    of pyarrow, or an array. The model also holds the original cells of the columns that it uses,
    so that `reselect` can encode them again.

    Parameters
    ----------
    estimator : estimator of this package
        It is cloned; the clone is fitted.
    target : str, optional
        Name of the column to predict. Without it, `fit` takes the target as its second argument.
    id_column : str, optional
        Column with unique ids of the rows; without it they are 0, 1, 2, … in order of arrival.
    subject_column : str, optional
        Column that says to whom each row belongs, such as a patient with several rows. Rows of one
        subject are left out together, by the search and by every ``loo_`` method, and
        ``forget(groups=…)`` forgets them together. It is no feature.
    categorical : sequence of str
        Columns to treat as text even if they hold numbers or dates; the target may be among them.
        Numbers with leading zeros, such as 007, are text anyway.
    ignore : sequence of str
        Columns to leave out. Constant columns, and text columns in which all values differ, are
        always left out.
    decimal : {".", ","}
        Decimal mark of numbers that are given as text.
    thousands : {",", ".", " ", "'"}, optional
        Mark between their groups of three digits.
    units : sequence of str
        Columns of numbers with a unit, such as "57.9 kg", "12 %" or "€ 9.50", the same in all of
        the column. The numbers are taken as they are: "12 %" is 12.
    missing : sequence of str
        Further texts that stand for a missing number, besides an empty cell, NA and the like.
    max_levels : int, optional
        How many texts of a column get a feature of their own, the most frequent first; all others
        share one. By default all of them up to 50, and beyond that all that occur at least twice.
    dtype : {"float64", "float32"}
        Of the features; float32 needs half the memory.
    encoding : str, optional
        Of the text files that commands read for this model, such as ``"cp1252"``; UTF-8 by default.
        Tables in Python need none.

    Attributes
    ----------
    estimator_ : estimator
        Fitted to the features.
    columns_ : list of NumberColumn, DateColumn and CategoryColumn
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
    [0, 1, 2, 4, 5]
    """

    _holdings: TableHoldings  # all that an edit changes, assigned once at the end of it

    def __init__(
        self,
        estimator: Any,
        *,
        target: str | None = None,
        id_column: str | None = None,
        subject_column: str | None = None,
        categorical: Sequence[str] = (),
        ignore: Sequence[str] = (),
        decimal: str = ".",
        thousands: str | None = None,
        units: Sequence[str] = (),
        missing: Sequence[str] = (),
        max_levels: int | None = None,
        dtype: str = "float64",
        encoding: str | None = None,
    ) -> None:
        self.estimator = estimator
        self.target = target
        self.id_column = id_column
        self.subject_column = subject_column
        self.categorical = categorical
        self.ignore = ignore
        self.decimal = decimal
        self.thousands = thousands
        self.units = units
        self.missing = missing
        self.max_levels = max_levels
        self.dtype = dtype
        self.encoding = encoding

    # -- edits: each leaves the model as it was or as it should be, wherever it is interrupted ----

    def fit(
        self,
        table: Any,
        y: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn the encoding of the columns and fit the estimator.

        Parameters
        ----------
        table : table of n rows
        y : array-like of shape (n,), optional
            The target, if it is not the column `target` of the table.
        ids : array-like of shape (n,), optional
            Unique integers or strings, if there is no `id_column`.
        groups : array-like of shape (n,), optional
            To whom each row belongs, if there is no `subject_column`.

        Returns
        -------
        self

        Warns
        -----
        TableWarning
            If the cells of a text column look like numbers in another notation.
        """
        by_position = not is_named(table)
        table, cells = self._with_target(table, y)
        for name in (*self.categorical, *self.ignore, *self.units):
            read_cells(table, name)  # a name that is not there is a mistake
        if self.id_column is not None:
            ids = read_ids(table, self.id_column)
        ids = np.arange(len(cells)) if ids is None else np.asarray(ids)
        if self.subject_column is not None:
            groups = read_subjects(table, self.subject_column)
        holdings, remarks = self._learned(
            table, cells, ids, dict.fromkeys(self.ignore, "asked for"), groups=groups
        )
        for remark in remarks:
            warnings.warn(remark, TableWarning, stacklevel=2)
        self._holdings = replace(holdings, by_position=by_position)
        return self

    def partial_fit(
        self,
        table: Any,
        y: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn more rows; scales and levels stay as they were fitted. Returns self.

        ``classes`` names labels that stay classes even without rows. A model that is not fitted
        learns the rows as `fit` does.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(table, y, ids, groups=groups)
        holdings = self._agreed()
        table, cells = self._with_target(table, y, holdings)
        y, new = holdings.target.read(cells), read_columns(table, holdings.columns)
        if self.id_column is not None:
            ids = read_ids(table, self.id_column, holdings.ids)
        ids = holdings.new_ids(len(y)) if ids is None else np.asarray(ids)
        X = self._features(holdings.columns, new)
        if self.subject_column is not None:
            groups = read_subjects(table, self.subject_column, holdings.estimator.groups_)
        options: dict[str, Any] = {} if classes is None else {"classes": classes}
        options |= {} if groups is None else {"groups": groups}
        self._holdings = holdings.with_rows(ids, new)
        try:
            holdings.estimator.partial_fit(X, y, ids=ids, **options)
        except BaseException:
            self._holdings = self._agreed()  # the rows that were not learned
            raise
        return self

    def forget(self, ids: ArrayLike | None = None, *, groups: ArrayLike | None = None) -> Self:
        """Forget rows exactly, and the names of levels that no remaining row has. Returns self.

        Rows are named by ``ids``, or all rows of subjects by ``groups``. Means and deviations of
        columns were computed with them and stay until `reselect`.
        """
        holdings = self._agreed()
        self._holdings = replace(holdings, given=holdings.next_id)  # a number is never given twice
        try:
            holdings.estimator.forget(ids, groups=groups)
        finally:
            self._holdings = self._agreed()
        return self

    def settle(self) -> Self:
        """Carry out updates that edits have deferred; see the estimator's ``settle``."""
        self._agreed().estimator.settle()
        return self

    def relabel(self, ids: ArrayLike, y: ArrayLike) -> Self:
        """Give held rows other targets, as one edit; they become the last in `ids_`. Returns self.

        Parameters
        ----------
        ids : id or array-like of ids
        y : cell of the target column, or sequence of them
        """
        holdings = self._agreed()
        y = y.tolist() if isinstance(y, np.ndarray) else y
        cells = [y] if np.ndim(ids) == 0 else list(cast("Sequence[Any]", y))
        targets = holdings.target.read(cells)
        try:
            holdings.estimator.relabel(np.atleast_1d(ids), targets)
        finally:
            self._holdings = self._agreed()
        return self

    def reselect(self, *, fresh: bool = True) -> Self:
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
        holdings = self._agreed()
        if fresh:
            y, groups = holdings.estimator.y_fit_.tolist(), holdings.estimator.groups_
            found, _ = self._learned(
                holdings.table, y, holdings.ids, holdings.ignored, holdings, groups
            )
            self._holdings = replace(found, by_position=holdings.by_position)
        else:
            holdings.estimator.reselect()
        return self

    def read_targets(self, table: Any) -> Array:
        """The targets of a table that has them, as the estimator takes them."""
        if self.target is None:
            raise ValueError("the model has no target column: give the targets as y.")
        return self.target_.read(read_cells(table, self.target))

    def refitted(self) -> Self:
        """A model with the same columns and choices, its estimator built from scratch."""
        holdings, twin = self._agreed(), cast("Self", clone(self))
        twin._holdings = replace(holdings, estimator=holdings.estimator.refitted())
        return twin

    def snapshot(self, *, loo: bool = False) -> Self:
        """A copy that goes on predicting as this model does now, for readers while others edit."""
        holdings, twin = self._agreed(), cast("Self", clone(self))
        twin._holdings = replace(holdings, estimator=holdings.estimator.snapshot(loo=loo))
        return twin

    def __sklearn_is_fitted__(self) -> bool:
        return "_holdings" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        tags = get_tags(self.estimator)
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = tags.input_tags.string = True
        tags.target_tags.multi_output = False
        tags.transformer_tags = TransformerTags(preserves_dtype=[])
        return tags

    # -- state ----------------------------------------------------------------------------------

    def _get_state(self) -> dict[str, Any]:
        holdings = self._agreed()
        return {
            "estimator_": holdings.estimator,
            "target_": holdings.target,
            "columns_": list(holdings.columns),
            "ignored_": holdings.ignored,
            "table_": holdings.table,
            "next_id": holdings.next_id,
            "by_position": holdings.by_position,
        }

    def _set_state(self, state: dict[str, Any]) -> None:
        estimator, columns = state["estimator_"], tuple(state["columns_"])
        table = {column.name: state["table_"][column.name] for column in columns}
        self._holdings = TableHoldings(
            estimator,
            state["target_"],
            columns,
            dict(state["ignored_"]),
            estimator.ids_,
            table,
            state["next_id"],
            state["by_position"],
        )

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {**state, "_holdings": self._agreed()} if "_holdings" in state else state

    # -- inside ---------------------------------------------------------------------------------

    def _agreed(self) -> TableHoldings:
        check_is_fitted(self)
        for _ in range(_TRIES):
            try:
                return self._holdings.agreed()
            except KeyError:  # another thread is learning: its rows are there a moment later
                continue
        raise RuntimeError("the model is edited by another thread all the time; use a lock.")

    def _encoded(self, table: Any) -> tuple[Any, Array]:
        """The estimator, and features of rows that are made for it."""
        holdings = self._agreed()
        _check_width(table, holdings)
        values = read_columns(as_table(table), holdings.columns)
        return holdings.estimator, self._features(holdings.columns, values)

    def _features(self, columns: Sequence[Any], values: Any) -> Array:
        features: Array = encode(columns, values).astype(self.dtype, copy=False)
        return features

    def _with_target(
        self, table: Any, y: Any, holdings: TableHoldings | None = None
    ) -> tuple[Any, list[Any]]:
        """The table, and the cells of the target, from the table or from y."""
        if holdings is not None:
            _check_width(table, holdings)
        table = as_table(table)
        if y is not None:
            y = column_or_1d(y, warn=True)
            assert_all_finite(y, input_name="y")
            if not is_regressor(self.estimator):
                check_classification_targets(y)
            check_consistent_length(y, *(table[name] for name in column_names(table)[:1]))
            return table, y.tolist()
        if self.target is None:
            raise ValueError(
                "requires y to be passed, but the target y is None: give it to fit, or name its "
                "column by `target`."
            )
        return table, read_cells(table, self.target)

    def _reading(self) -> Reading:
        """How the parameters say that a table is to be read."""
        return Reading(
            self.target or _TARGET,
            {self.id_column, self.subject_column, *self.ignore},
            tuple(self.categorical),
            tuple(self.units),
            NumberFormat(self.decimal, self.thousands or "", missing=tuple(self.missing)),
            _check_levels(self.max_levels),
        )

    def _learned(
        self,
        table: Any,
        cells: list[Any],
        ids: Array,
        ignored: dict[str, str],
        past: TableHoldings | None = None,
        groups: ArrayLike | None = None,
    ) -> tuple[TableHoldings, list[str]]:
        """All of a fit, without touching the model: what is held, and remarks on the cells."""
        if not cells:
            raise TableError("the table has no rows (0 sample(s), a minimum of 1 is required).")
        if getattr(self.estimator, "kernel", None) == "precomputed":
            raise TableError(
                'a table has columns, and kernel="precomputed" takes a kernel matrix. Fit the '
                "estimator itself to the matrix, or give the kernel as a function."
            )
        reading = self._reading()
        classes, name = not is_regressor(self.estimator), reading.target
        written = reading.written(name, cells) if past is None else past.target.format
        target = TargetColumn.fit(name, cells, classes=classes, written=written)
        found = fit_columns(table, reading, () if past is None else past.columns)
        if past is None and target.kind == "text" and name not in reading.categorical:
            check_texts(target, cells)
        X, y = self._features(found.columns, found.values), target.read(cells)
        holdings = TableHoldings(
            clone(self.estimator).fit(X, y, ids=ids, groups=groups),
            target,
            found.columns,
            {**ignored, **found.ignored},
            ids,
            found.values,
            0 if past is None else past.next_id,
        )
        return holdings, found.remarks


def _check_levels(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, Integral) and int(value) >= 1:
        return int(value)
    raise ValueError(f"max_levels must be None or a whole number >= 1, got {value!r}.")


def _check_width(table: Any, holdings: TableHoldings) -> None:
    """An array is taken by position if the model was fitted on one, of as many columns."""
    if not holdings.by_position or is_named(table):
        return
    width, known = len(column_names(as_table(table))), len(holdings.columns) + len(holdings.ignored)
    if width != known:
        raise TableError(
            f"X has {width} features, but TableModel is expecting {known} features as input."
        )
