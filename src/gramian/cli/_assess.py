"""What a model says of itself: its choices, its exact leave-one-out error."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import confusion_matrix, roc_auc_score

from gramian import ChoiceWarning
from gramian.cli._sets import class_outputs
from gramian.tables import CategoryColumn, DateColumn, TableWarning
from gramian.tables._columns import Column
from gramian.tables._model_rows import model_rows

Facts = dict[str, Any]


def describe(model: Any) -> Facts:
    """Estimator, size, target, choices and, of a table, columns."""
    rows = model_rows(model)
    estimator = rows.estimator
    facts: Facts = {
        "estimator": type(estimator).__name__,
        "summary": _summary(estimator),
        "rows": len(estimator.ids_),
        "features": int(estimator.n_features_in_),
        "target": {"column": rows.target, "held": _targets(estimator)},
        "chosen": _chosen(estimator),
    }
    if rows.columns is not None:
        facts |= {"columns": list(map(_column, rows.columns)), "ignored": model.ignored_}
    return facts


def _chosen(estimator: Any) -> Facts:
    """Kernel and hyper-parameters in use, and how they were found."""
    if hasattr(estimator, "parts_"):
        return _stacked(estimator)
    chosen = getattr(estimator, "kernel_", None)
    facts: Facts = {"kernel": str(estimator.kernel if chosen is None else chosen.name)}
    for name in ("gamma", "ridge", "C"):
        value = getattr(estimator, f"{name}_", None)
        if value is not None:
            facts[name] = np.asarray(value).tolist()
    selection = getattr(estimator, "selection_", None)
    if selection is not None:
        facts |= {"criterion": selection.criterion, "settings_tried": len(selection.values)}
    return facts


def _stacked(estimator: Any) -> Facts:
    """A list of what each part of a stack has."""
    facts: Facts = {
        name: [np.asarray(part[name]).tolist() for part in estimator.parts_]
        for name in ("kernel", "gamma", "C")
    }
    metrics = ["none" if part["metric"] is None else "diagonal" for part in estimator.parts_]
    return {**facts, "metric": metrics, "weight": estimator.weights_.tolist()}


def _column(column: Column) -> Facts:
    """Name and meaning of a column."""
    if isinstance(column, CategoryColumn):
        levels = [level for level in column.levels if level is not None]
        return {"name": column.name, "kind": "text", "levels": levels}
    more: Facts
    if isinstance(column, DateColumn):
        kind, more = "dates", {"notation": column.format, "parts": list(column.parts)}
    else:
        kind, more = "numbers", {"unit": column.format.unit} if column.format.unit else {}
    scale = {"mean": column.mean, "deviation": column.deviation}
    missing = {"missing_at_fit": column.marks_missing}
    return {"name": column.name, "kind": kind, **scale, **more, **missing}


def _targets(estimator: Any) -> Facts:
    """Number of rows of each class, or the range of the numbers."""
    y = estimator.y_fit_
    if is_classifier(estimator):
        counts = Counter(y.tolist())
        return {str(label): counts[label] for label in estimator.classes_.tolist()}
    return {"lowest": float(y.min()), "mean": float(y.mean()), "highest": float(y.max())}


def _summary(estimator: Any) -> str:
    """The estimator, and the size and kind of what it holds, in one sentence."""
    if is_classifier(estimator):
        kind = f"{len(estimator.classes_)} classes"
    else:
        kind = f"numbers from {estimator.y_fit_.min():.4g} to {estimator.y_fit_.max():.4g}"
    rows, features = len(estimator.ids_), estimator.n_features_in_
    return (
        f"{type(estimator).__name__} on {rows} rows, {features} "
        f"feature{'' if features == 1 else 's'}; the target has {kind}."
    )


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect what the library warns of, each once, to be shown as notes."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        for kind in (TableWarning, ChoiceWarning):
            warnings.simplefilter("always", kind)
        yield notes
    notes += dict.fromkeys(str(warning.message) for warning in caught)


def new_rows(model: Any) -> tuple[Facts, list[str]]:
    """The score that rows can expect which are not there yet, tuning included, and notes on it."""
    with collected_warnings() as notes:
        found = model.nested_score("auto", n_jobs=-1)
    name = "error" if found.classifies else "r2"
    score = 1.0 - found.score if found.classifies else found.score
    margin = {"standard_error": found.standard_error, "folds": found.folds}
    return {name: score, **margin, "words": str(found)}, notes


def leave_one_out(model: Any) -> Facts:
    """The exact leave-one-out error: with a confusion matrix, or in the unit of the target."""
    predicted, y = model.loo_predict(), model.y_fit_
    if not is_classifier(model):
        return errors(y, predicted)
    classes = model.classes_
    confusion = confusion_matrix(y, predicted, labels=classes)
    areas = _areas(model, y)
    facts: Facts = {
        "error": float(np.mean(predicted != y)),
        "log_loss": _log_loss(model),
        "classes": classes.tolist(),
        "confusion": confusion.tolist(),
        "per_class": [
            {
                "class": label,
                "rows": int(row.sum()),
                "recall": _share(row[j], row.sum()),
                "precision": _share(row[j], confusion[:, j].sum()),
                "auc": areas[j],
            }
            for j, (label, row) in enumerate(zip(classes.tolist(), confusion, strict=True))
        ],
    }
    if len(classes) == 2 and areas[1] is not None:
        facts["auc"] = areas[1]
    return facts


def errors(y: Any, predicted: Any) -> Facts:
    """Errors of a regression in the unit of the target, and R², also where some are infinite."""
    off, total = y - predicted, np.sum((y - np.mean(y, axis=0)) ** 2, axis=0)
    r2 = 1.0 - np.sum(off**2, axis=0) / np.where(total > 0, total, np.inf)
    return {
        "rmse": float(np.sqrt(np.mean(off**2))),
        "mean_absolute_error": float(np.mean(np.abs(off))),
        "r2": float(np.mean(r2)),
    }


def _areas(model: Any, y: Any) -> list[float | None]:
    """Area under the ROC curve of each class against the rest, by the left-out decision values."""
    F = class_outputs(model.loo_decision_function())
    own = [y == label for label in model.classes_.tolist()]
    return [
        float(roc_auc_score(mine, np.nan_to_num(F[:, j]))) if 0 < mine.sum() < len(y) else None
        for j, mine in enumerate(own)
    ]


def _share(part: Any, total: Any) -> float | None:
    return float(part / total) if total else None


def _log_loss(model: Any) -> float:
    """Mean of −log of the probability of each sample's own class by the model without it."""
    own = np.searchsorted(model.classes_, model.y_fit_)[:, None]
    return float(-np.log(np.take_along_axis(model.loo_predict_proba(), own, axis=1)).mean())
