"""The classifier in a model."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier

from gramian.tables import estimator_of


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
