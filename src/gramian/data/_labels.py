"""Labels to doubt: what the model without a sample says about its label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from gramian.core.arrays import Array
from gramian.data._models import classifier_of
from gramian.tables import estimator_of


@dataclass(frozen=True, eq=False)
class LabelIssues:
    """Samples whose labels may be wrong, the most doubtful first.

    `find_label_issues(issues.labels, issues.pred_probs)` of cleanlab takes the last two as they
    are.

    Attributes
    ----------
    ids : ndarray of shape (k,)
    given : ndarray of shape (k,)
        The labels that the samples have.
    suggested : ndarray of shape (k,)
        The most probable label according to the model without the sample.
    probability : ndarray of shape (k,)
        Probability that the given label is wrong, according to the model without the sample.
    labels : ndarray of shape (n,)
        Indices of the labels of all held samples in ``classes_``, in the order of ``ids_``.
    pred_probs : ndarray of shape (n, c)
        Probabilities of all held samples by models without them; see `label_issues`.
    """

    ids: Array
    given: Array
    suggested: Array
    probability: Array
    labels: Array
    pred_probs: Array

    def __len__(self) -> int:
        return len(self.ids)

    def to_dict(self) -> dict[str, list[Any]]:
        """A table: one list for each column, which pandas, polars and `TableModel` take."""
        names = ("ids", "given", "suggested", "probability")
        columns = ("id", "given", "suggested", "probability")
        return {c: getattr(self, n).tolist() for c, n in zip(columns, names, strict=True)}


def label_issues(model: Any, *, top: int | None = None) -> LabelIssues:
    """Rank the held samples by the probability that their labels are wrong.

    The probability is one minus that of the given label by a model without the sample, so that a
    sample does not speak for itself: by the one that was tuned and trained without its fold, where
    that is known (of a stack, or after ``nested_score()``), else by ``loo_predict_proba()``, whose
    hyper-parameters have seen all samples. The scale of the calibration has seen them, too.

    Parameters
    ----------
    model : classifier or TableModel
    top : int, optional
        Number of samples to return, the most doubtful ones. By default, those whose given label is
        not the most probable one.

    Returns
    -------
    LabelIssues

    Examples
    --------
    >>> from gramian import LeastSquaresSVC
    >>> from gramian.data import label_issues
    >>> from gramian.datasets import make_banana
    >>> X, y = make_banana(200, random_state=0)
    >>> y[[3, 14, 15]] *= -1
    >>> model = LeastSquaresSVC(gamma=1.0, C=1.0).fit(X, y)
    >>> issues = label_issues(model, top=3)
    >>> sorted(issues.ids.tolist())
    [3, 14, 15]
    >>> model = model.relabel(issues.ids, issues.suggested)
    """
    estimator = classifier_of(
        model, "label_issues", "Rank the samples by |y_fit_ − loo_predict()| instead."
    )
    if top is not None and top < 0:
        raise ValueError(f"top must be ≥ 0, got {top}.")
    with estimator._lock:
        ids, y, classes = estimator.ids_, estimator.y_fit_, estimator.classes_
        P = estimator._judged_proba()
    labels = np.searchsorted(classes, y)
    own = P[np.arange(len(y)), labels]
    wrong, best = 1.0 - own, np.argmax(P, axis=1)
    order = np.argsort(-wrong, kind="stable")
    likelier = P.max(axis=1) > own  # where all are alike, nothing speaks against a label
    ranked = order[likelier[order]] if top is None else order[:top]
    return LabelIssues(ids[ranked], y[ranked], classes[best[ranked]], wrong[ranked], labels, P)


@dataclass(frozen=True, eq=False)
class DoubtfulSamples:
    """Held samples that fit worst to the models without them, the worst first.

    Attributes
    ----------
    ids : ndarray of shape (k,)
    given : ndarray of shape (k,) or (k, n_targets)
        The labels or targets that the samples have.
    suggested : ndarray of the same shape
        What the model without the sample predicts.
    probability : ndarray of shape (k,) or None
        Of a classifier: the probability that the given label is wrong.
    error : ndarray of shape (k,) or None
        Of a regressor: the error of that prediction, the root mean square over several targets.
    """

    ids: Array
    given: Array
    suggested: Array
    probability: Array | None
    error: Array | None

    def __len__(self) -> int:
        return len(self.ids)

    def to_dict(self) -> dict[str, list[Any]]:
        """A table: one list for each column, which pandas, polars and `TableModel` take."""
        columns = {
            "id": self.ids,
            "given": self.given,
            "suggested": self.suggested,
            "probability": self.probability,
            "error": self.error,
        }
        return {name: values.tolist() for name, values in columns.items() if values is not None}

    def rows(self) -> list[dict[str, Any]]:
        """The same, one dict for each sample."""
        columns = self.to_dict()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def doubtful(model: Any, top: int) -> DoubtfulSamples:
    """The held samples that fit worst to the model without them, likely errors first.

    Parameters
    ----------
    model : estimator or TableModel
    top : int
        Number of samples.

    Returns
    -------
    DoubtfulSamples

    Examples
    --------
    >>> from gramian import LeastSquaresSVR
    >>> from gramian.data import doubtful
    >>> X = np.linspace(0.0, 1.0, 20)[:, None]
    >>> model = LeastSquaresSVR(gamma=1.0, C=100.0).fit(X, [*X[:19, 0], 9.0])
    >>> doubtful(model, 1).ids
    array([19])
    """
    estimator = estimator_of(model)
    with estimator._lock:
        ids, y, predicted = estimator.ids_, estimator.y_fit_, estimator.loo_predict()
        P = estimator.loo_predict_proba() if is_classifier(estimator) else None
    if P is not None:
        doubt = 1.0 - P[np.arange(len(y)), np.searchsorted(estimator.classes_, y)]
    else:
        doubt = np.sqrt(((y - predicted) ** 2).reshape(len(y), -1).mean(axis=1))
    worst = np.argsort(-doubt, kind="stable")[:top]
    by_label = (doubt[worst], None) if P is not None else (None, doubt[worst])
    return DoubtfulSamples(ids[worst], y[worst], predicted[worst], *by_label)
