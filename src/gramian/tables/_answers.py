"""What a model of a table answers: the estimator's methods asked with tables, and what is held."""

from __future__ import annotations

from typing import Any

from sklearn.utils.metaestimators import available_if

from gramian.tables._columns import CategoryColumn, DateColumn, NumberColumn


def _estimator_has(name):
    return lambda model: hasattr(model.estimator, name)


def _asks(name, doc):
    """A method of the estimator inside that takes queries; here they are the rows of a table."""

    def method(self, table, *arguments, **options):
        estimator, X = self._encoded(table)
        return getattr(estimator, name)(X, *arguments, **options)

    method.__name__, method.__doc__ = name, doc
    return available_if(_estimator_has(name))(method)


def _tells(name, doc):
    """A method of the estimator inside about the rows that are held."""

    def method(self, **options):
        return getattr(self.estimator_, name)(**options)

    method.__name__, method.__doc__ = name, doc
    return available_if(_estimator_has(name))(method)


class TableAnswers:
    """Predictions, leave-one-out values and properties of a model of a table."""

    _agreed: Any
    _encoded: Any
    _with_target: Any

    # -- answers --------------------------------------------------------------------------------

    def predict(self, table):
        """Predicted class or number of each row."""
        estimator, X = self._encoded(table)
        return estimator.predict(X)

    predict_proba = _asks("predict_proba", "Class probabilities of each row.")
    decision_function = _asks("decision_function", "Decision values of each row.")
    predict_interval = _asks("predict_interval", "Intervals of numbers, with a guarantee.")
    predict_set = _asks("predict_set", "Sets of labels, with a guarantee.")
    p_values = _asks("p_values", "p-value of each label for each row.")
    novelty = _asks("novelty", "How unlike the held rows each row is.")

    def score(self, table, y=None):
        """Accuracy, or R² of numbers, on a table that has the target, or with ``y``."""
        holdings = self._agreed()
        table, cells = self._with_target(table, y, holdings)
        estimator, X = self._encoded(table)
        return estimator.score(X, holdings.target.read(cells))

    loo_predict = _tells(
        "loo_predict", "Prediction for each held row by the model without it, in order of `ids_`."
    )
    loo_decision_function = _tells(
        "loo_decision_function", "Exact leave-one-out decision values, in the order of `ids_`."
    )
    loo_predict_proba = _tells(
        "loo_predict_proba", "Class probabilities by the model without the row, as `ids_` has them."
    )
    loo_score = _tells("loo_score", "Score of `loo_predict`.")
    drift = _tells("drift", "Measured relative residual of the present solution.")

    def transform(self, table):
        """The features of each row, as the estimator takes them."""
        return self._encoded(table)[1]

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
    def n_features_in_(self):
        """Number of columns of the table that were there to predict from."""
        holdings = self._agreed()
        return len(holdings.columns) + len(holdings.ignored)

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
        scaled = kinds & {NumberColumn, DateColumn}
        scales = ("means and deviations of columns",) if scaled else ()
        levels = ("choice of levels of columns",) if CategoryColumn in kinds else ()
        return (*scales, *levels)

    @property
    def chosen_on_data_(self):
        """Names of what was chosen on the rows and stays when they are forgotten."""
        return (*self.estimator_.chosen_on_data_, *self.column_choices_)
