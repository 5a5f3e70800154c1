"""What a report holds a model against: simpler models, and itself without a column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier

from gramian import LeastSquaresSVC, LeastSquaresSVR
from gramian.cli._assess import collected_warnings
from gramian.core.arrays import Array
from gramian.tables import estimator_of
from gramian.tables._model_rows import model_rows

Rows = list[list[Any]]

# Rows held, rows set aside of them, and columns, up to which columns are shuffled; how often each.
_MANY, _ASIDE, _COLUMNS, _SHUFFLES = 3_000, 250, 100, 5


def error_name(estimator: Any) -> str:
    """What `error` measures."""
    return "error (%)" if is_classifier(estimator) else "RMSE"


def error(estimator: Any, y: Array, predicted: Array) -> float:
    """Wrong classes in percent, or root mean squared error."""
    if is_classifier(estimator):
        return 100.0 * float(np.mean(y != predicted))
    return float(np.sqrt(np.mean((y - predicted) ** 2)))


def baselines(model: Any) -> Rows:
    """Name and error on new rows of the simplest model, of a linear one, and of this one.

    Models with choices are judged without the rows that these were made on.
    """
    estimator = estimator_of(model)
    rows = [_simplest(estimator)]
    if estimator.kernel not in ("linear", "precomputed"):
        linear = LeastSquaresSVC if is_classifier(estimator) else LeastSquaresSVR
        twin = linear(kernel="linear")
        with collected_warnings():  # those of the model itself were shown by its fit
            twin.fit(estimator.X_fit_, estimator.y_fit_, groups=estimator.groups_)
            rows.append(["linear model, tuned too", _on_new_rows(twin)])
    with collected_warnings():
        return [*rows, ["this model", _on_new_rows(estimator)]]


def _on_new_rows(estimator: Any) -> float:
    """The error of values that no choice has seen."""
    F = np.asarray(estimator.nested_score("auto", n_jobs=-1).values)
    if is_classifier(estimator):
        best = (F > 0).astype(int) if F.ndim == 1 else F.argmax(axis=1)
        F = estimator.classes_[best]
    return error(estimator, estimator.y_fit_, F)


def _simplest(estimator: Any) -> list[Any]:
    """The most frequent class, or the mean of the other rows."""
    y = estimator.y_fit_
    if is_classifier(estimator):
        labels, counts = np.unique(y, return_counts=True)
        return [f"always {labels[counts.argmax()]}", 100.0 * float(1.0 - counts.max() / len(y))]
    left_out = y - (y - y.mean(axis=0)) * len(y) / (len(y) - 1)
    return ["mean of the other rows", error(estimator, y, left_out)]


def relevance(model: Any) -> Rows:
    """How far the error rises on rows set aside when a column is shuffled among them.

    A copy of the model forgets those rows first, so that it is asked about rows it does not hold.
    Columns in the order of their importance, each with the largest of its widths if each feature
    has its own; no rows if there are too few samples, too many, or no columns to shuffle.
    """
    estimator = estimator_of(model)
    groups = dict(_groups(model, estimator))
    if not _can_shuffle(estimator, groups):
        return []
    aside = _spread(estimator)
    X, y = estimator.X_fit_[aside], estimator.y_fit_[aside]
    twin = estimator.refitted().forget(estimator.ids_[aside])
    usual = error(estimator, y, twin.predict(X))
    rng, widths = np.random.default_rng(0), np.ravel(getattr(estimator, "gamma_", 0.0))
    rows = []
    for name, features in groups.items():
        values = [
            error(estimator, y, twin.predict(_shuffled(X, features, rng))) for _ in range(_SHUFFLES)
        ]
        width = [float(widths[features].max())] if len(widths) > 1 else []
        rows.append([name, float(np.mean(values)) - usual, *width])
    return sorted(rows, key=lambda row: -row[1])


def _groups(model: Any, estimator: Any) -> Iterator[tuple[str, slice]]:
    """Names of columns, and the features that encode each."""
    columns = model_rows(model).columns
    if columns is not None:
        start = 0
        for column in columns:
            stop = start + column.encode(column.read([])).shape[1]
            yield column.name, slice(start, stop)
            start = stop
        return
    names = getattr(estimator, "feature_names_in_", None)
    for j in range(estimator.n_features_in_):
        yield f"feature {j}" if names is None else str(names[j]), slice(j, j + 1)


def _can_shuffle(estimator: Any, groups: dict[str, slice]) -> bool:
    y = estimator.y_fit_
    if estimator.kernel == "precomputed" or issparse(estimator.X_fit_):
        return False
    if is_classifier(estimator) and np.unique(y, return_counts=True)[1].min() < 2:
        return False  # the class could vanish
    return 20 <= len(y) <= _MANY and 1 < len(groups) <= _COLUMNS


def _spread(estimator: Any) -> Array:
    """Positions of a quarter of the rows, at most `_ASIDE`, spread over the targets."""
    order = np.random.default_rng(0).permutation(len(estimator.ids_))
    y = estimator.y_fit_[order]
    order = order[np.argsort(y if y.ndim == 1 else y[:, 0], kind="stable")]
    return order[:: max(4, -(-len(order) // _ASIDE))]


def _shuffled(X: Array, features: slice, rng: np.random.Generator) -> Array:
    X = X.copy()
    X[:, features] = X[rng.permutation(len(X)), features]
    return X
