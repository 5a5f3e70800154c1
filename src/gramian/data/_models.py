"""The estimator in a model, and samples in the form that it takes."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier

from gramian.tables import TableModel, estimator_of


def features_of(model: Any, X: Any) -> Any:
    """Samples, or the rows of a table, as the estimator takes them."""
    return model.transform(X) if isinstance(model, TableModel) else X


def targets_of(model: Any, X: Any, y: Any) -> Any:
    """The targets given, or those in the table."""
    if y is None and not isinstance(model, TableModel):
        raise ValueError("y must be given, unless X is a table that has the targets.")
    return model.read_targets(X) if y is None else y


def classifier_of(model: Any, caller: str, instead: str) -> Any:
    """The classifier in a model.

    Raises
    ------
    ValueError
        If the model predicts numbers.
    """
    estimator = estimator_of(model)
    if not is_classifier(estimator):
        raise ValueError(
            f"{caller} needs a classifier, got {type(estimator).__name__}, which predicts numbers. "
            f"{instead}"
        )
    return estimator
