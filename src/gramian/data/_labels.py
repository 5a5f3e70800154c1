"""Labels to doubt: what the model without a sample says about its label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.arrays import Array
from gramian.data._models import classifier_of


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
        ``loo_predict_proba()`` of all held samples.
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

    The probability is one minus that of the given label in ``loo_predict_proba()``: the decision
    values are those of the exact model without the sample, so that a sample does not speak for
    itself. One number, the scale of the calibration, and the hyper-parameters have seen all
    samples. O(n²) at most after the leave-one-out values, which the model computes once.

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
    machine = classifier_of(
        model, "label_issues", "Rank the samples by |y_fit_ − loo_predict()| instead."
    )
    if top is not None and top < 0:
        raise ValueError(f"top must be ≥ 0, got {top}.")
    with machine._lock:
        ids, y, classes = machine.ids_, machine.y_fit_, machine.classes_
        P = machine.loo_predict_proba()
    labels = np.searchsorted(classes, y)
    wrong = 1.0 - P[np.arange(len(y)), labels]
    order, best = np.argsort(-wrong, kind="stable"), np.argmax(P, axis=1)
    ranked = order[best[order] != labels[order]] if top is None else order[:top]
    return LabelIssues(ids[ranked], y[ranked], classes[best[ranked]], wrong[ranked], labels, P)
