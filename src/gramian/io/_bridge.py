"""Stand-ins until every estimator has these itself: TO BE DELETED when the estimators are merged.

Each function becomes the expression in its first line.
"""

from __future__ import annotations

from typing import Any

from sklearn.base import clone, is_classifier

from gramian.tables import TableModel


def seen_by(model: Any) -> tuple[str, ...]:
    """``model.seen_by_``."""
    if isinstance(model, TableModel):
        return (*seen_by(model.estimator_), *model.column_choices_)
    return model.seen_by_ if hasattr(model, "seen_by_") else tuple(_chosen(model))


def refitted(model: Any) -> Any:
    """``model.refitted()``."""
    if hasattr(model, "refitted"):
        return model.refitted()
    X, y, weight = model.X_fit_, model.y_fit_, model._get_state()["held"]["_weight"]
    fresh = clone(model).set_params(**_chosen(model))
    if is_classifier(model):
        return fresh.partial_fit(X, y, classes=model.classes_, sample_weight=weight)
    return fresh.fit(X, y, sample_weight=weight)


def reselect(model: Any) -> None:
    """``model.reselect(fresh=True)``."""
    try:
        model.reselect(fresh=True)
    except TypeError:  # others choose from nothing as they are
        model.reselect()


def check_parameters(model: Any) -> None:
    """Whatever `fit` of the model asks of its parameters before it looks at samples."""
    if hasattr(model, "_check_parameters"):
        model._check_parameters()


def _chosen(model: Any) -> dict[str, Any]:
    """Hyper-parameters that were chosen from the samples, and their values."""
    named = {k: v for k, v in model.get_params(deep=False).items() if isinstance(v, str)}
    values = {name: getattr(model, f"{name}_", None) for name in named}
    return {k: v for k, v in values.items() if v is not None and not isinstance(v, str)}
