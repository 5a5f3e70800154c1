"""Sets and intervals that take no longer than predictions: the jackknife.

Full conformal prediction adds the query to the rows and leaves every row out once more, O(n) for
each query after one product with P. Here the leave-one-out scores of the held rows are computed
once, and a query's score is that of the model as it is. Both are scores of rows that the model did
not learn, of models of n − 1 and of n rows; so the sets differ little from full ones where no
single row matters much. There is no guarantee.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gramian.core.arrays import Array, from_tensor


def fast_sets(estimator: Any, level: float) -> Callable[[Any], Array]:
    """A function of samples that gives sets of classes, of shape (m, n_classes)."""
    y, weight, classes = estimator.y_fit_, estimator.sample_weight_, estimator.classes_
    own = np.searchsorted(classes, y)
    scores = _nonconformity(class_outputs(estimator.loo_decision_function()))
    held = scores[np.arange(len(y)), own]
    order = np.argsort(held)
    held, above = held[order], np.append(np.cumsum(weight[order][::-1])[::-1], 0.0)

    def sets(X: Any) -> Array:
        values = _nonconformity(class_outputs(estimator.decision_function(X)))
        reached = above[np.searchsorted(held, values, side="left")]
        result: Array = (1.0 + reached) / (1.0 + weight.sum()) > 1.0 - level
        return result

    return sets


def fast_intervals(estimator: Any, level: float) -> Callable[[Any], Array]:
    """A function of samples that gives intervals of numbers, of shape (m, 2)."""
    sizes = np.abs(estimator.y_fit_ - from_tensor(estimator.loo_predict()))
    weight = estimator.sample_weight_
    order = np.argsort(sizes)
    passed = np.cumsum(weight[order]) / (1.0 + weight.sum())
    place = int(np.searchsorted(passed, level))
    reach = float(sizes[order][place]) if place < len(sizes) else np.inf

    def intervals(X: Any) -> Array:
        centre = np.asarray(from_tensor(estimator.predict(X)))
        return np.stack([centre - reach, centre + reach], axis=1)

    return intervals


def class_outputs(values: Any) -> Array:
    """Decision values with one column per class."""
    F = np.asarray(from_tensor(values))
    return np.stack([-F, F], axis=1) if F.ndim == 1 else F


def _nonconformity(F: Array) -> Array:
    """For each class, the best other output minus its own."""
    two = np.sort(F, axis=1)[:, -2:]
    best = np.where(two[:, -1:] == F, two[:, :1], two[:, -1:])
    return np.asarray(best - F)
