"""What a model of a table answers: the estimator's methods asked with tables, and what is held."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gramian.core.arrays import Array, ArrayLike
from gramian.core.estimators._delegation import if_estimator_has
from gramian.tables._columns import CategoryColumn, NumberColumn, TargetColumn
from gramian.tables._dates import DateColumn
from gramian.tables._holdings import TableHoldings


def _query_method(name: str, doc: str) -> Callable[..., Any]:
    """A method of the estimator inside that takes queries; here they are the rows of a table."""

    def method(self: Any, table: Any, *arguments: Any, **options: Any) -> Any:
        estimator, X = self._encoded(table)
        return getattr(estimator, name)(X, *arguments, **options)

    method.__name__, method.__doc__ = name, doc
    return if_estimator_has(name)(method)


def _held_method(name: str, doc: str) -> Callable[..., Any]:
    """A method of the estimator inside about the rows that are held."""

    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        return getattr(self.estimator_, name)(*arguments, **options)

    method.__name__, method.__doc__ = name, doc
    return if_estimator_has(name)(method)


class TableAnswers:
    """Predictions, leave-one-out values and properties of a model of a table."""

    _agreed: Callable[[], TableHoldings]
    _encoded: Callable[[Any], tuple[Any, Array]]
    _with_target: Callable[[Any, Any, TableHoldings], tuple[Any, list[Any]]]

    # -- answers --------------------------------------------------------------------------------

    def predict(self, table: Any) -> Array:
        """Predicted class or number of each row."""
        estimator, X = self._encoded(table)
        found: Array = estimator.predict(X)
        return found

    predict_proba: Callable[..., Any] = _query_method(
        "predict_proba", "Class probabilities of each row."
    )
    decision_function: Callable[..., Any] = _query_method(
        "decision_function", "Decision values of each row."
    )
    predict_interval: Callable[..., Any] = _query_method(
        "predict_interval", "Intervals of numbers, with a guarantee."
    )
    predict_set: Callable[..., Any] = _query_method(
        "predict_set", "Sets of labels, with a guarantee."
    )
    p_values: Callable[..., Any] = _query_method("p_values", "p-value of each label for each row.")
    novelty: Callable[..., Any] = _query_method("novelty", "How unlike the held rows each row is.")

    def score(self, table: Any, y: ArrayLike | None = None) -> float:
        """Accuracy, or R² of numbers, on a table that has the target, or with ``y``."""
        holdings = self._agreed()
        table, cells = self._with_target(table, y, holdings)
        estimator, X = self._encoded(table)
        return float(estimator.score(X, holdings.target.read(cells)))

    loo_predict: Callable[..., Any] = _held_method(
        "loo_predict", "Prediction for each held row by the model without it, in order of `ids_`."
    )
    loo_decision_function: Callable[..., Any] = _held_method(
        "loo_decision_function", "Exact leave-one-out decision values, in the order of `ids_`."
    )
    loo_predict_proba: Callable[..., Any] = _held_method(
        "loo_predict_proba", "Class probabilities by the model without the row, as `ids_` has them."
    )
    loo_score: Callable[..., Any] = _held_method("loo_score", "Score of `loo_predict`.")
    nested_score: Callable[..., Any] = _held_method(
        "nested_score", "Score on rows that were not there, tuning included."
    )
    drift: Callable[..., Any] = _held_method(
        "drift", "Measured relative residual of the present solution."
    )

    def transform(self, table: Any) -> Array:
        """The features of each row, as the estimator takes them."""
        return self._encoded(table)[1]

    # -- what is held ---------------------------------------------------------------------------

    @property
    def estimator_(self) -> Any:
        """The estimator, fitted to the features."""
        return self._agreed().estimator

    @property
    def ids_(self) -> Array:
        """Ids of the rows that the model holds, in order of arrival."""
        found: Array = self.estimator_.ids_
        return found

    @property
    def groups_(self) -> Array | None:
        """To whom they belong, in the order of `ids_`; None if they have no subjects."""
        found: Array | None = self.estimator_.groups_
        return found

    @property
    def y_fit_(self) -> Array:
        """Their targets, in the order of `ids_`."""
        found: Array = self.estimator_.y_fit_
        return found

    @property
    def sample_weight_(self) -> Array:
        """Their weights, in the order of `ids_`."""
        found: Array = self.estimator_.sample_weight_
        return found

    @property
    def rebuilds_(self) -> list[Any]:
        """Records of when and why something was rebuilt since the last fit."""
        return list(self.estimator_.rebuilds_)

    @property
    def classes_(self) -> Array:
        """The classes; a regression has none."""
        found: Array = self.estimator_.classes_
        return found

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the table that were there to predict from."""
        holdings = self._agreed()
        return len(holdings.columns) + len(holdings.ignored)

    @property
    def target_(self) -> TargetColumn:
        """Name and kind of the column to predict."""
        return self._agreed().target

    @property
    def columns_(self) -> list[Any]:
        """The columns that the model uses as features."""
        return list(self._agreed().columns)

    @property
    def ignored_(self) -> dict[str, str]:
        """Why a column is left out, by name."""
        return dict(self._agreed().ignored)

    @property
    def table_(self) -> dict[str, Any]:
        """The used columns of the rows that are held, in the order of `ids_`."""
        return dict(self._agreed().table)

    @property
    def column_choices_(self) -> tuple[str, ...]:
        """Names of what was chosen on the columns of all rows and stays until `reselect`."""
        kinds = {type(column) for column in self.columns_}
        scaled = kinds & {NumberColumn, DateColumn}
        scales = ("means and deviations of columns",) if scaled else ()
        levels = ("choice of levels of columns",) if CategoryColumn in kinds else ()
        return (*scales, *levels)

    @property
    def chosen_on_data_(self) -> tuple[str, ...]:
        """Names of what was chosen on the rows and stays when they are forgotten."""
        return (*self.estimator_.chosen_on_data_, *self.column_choices_)
