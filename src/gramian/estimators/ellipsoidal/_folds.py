"""Parameters by cross-validation, for machines whose leave-one-out has no closed form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from gramian.arrays import Array

FOLDS = 5

Scores = dict[str, list[tuple[float, float]]]


def choose_in_turn(
    model: Any,
    start: Mapping[str, Any],
    candidates: Mapping[str, Array],
    samples: tuple[Any, Array, Array],
    random_state: Any,
) -> tuple[dict[str, Any], Scores]:
    """Choose parameters one after the other, each for the best accuracy on left-out samples.

    Parameters
    ----------
    model : classifier
        Unfitted, with `partial_fit` that takes ``classes``; it is not changed.
    start : mapping
        The parameters while those before them are chosen; None leaves the model's.
    candidates : mapping
        Values of those to be chosen, in their order. Of equally good ones the first is taken.
    samples : tuple of X, y, weight
        X is a square kernel matrix if the model's tags say pairwise.
    random_state : int, RandomState or None
        Of the folds, which are the same for all candidates.

    Returns
    -------
    chosen : dict
        ``start`` with the best candidates in it.
    scores : dict
        For each parameter chosen, candidates with their accuracies.
    """
    folds = stratified_folds(samples[1], check_random_state(random_state))
    chosen: dict[str, Any] = dict(start)
    scores: Scores = {}
    for name, values in candidates.items():
        given = {key: value for key, value in chosen.items() if value is not None}
        tried = [clone(model).set_params(**{**given, name: float(value)}) for value in values]
        found = [fold_score(candidate, *samples, folds) for candidate in tried]
        scores[name] = list(zip(map(float, values), found, strict=True))
        chosen[name] = float(values[int(np.argmax(found))])
    return chosen, scores


def stratified_folds(y: Array, rng: Any) -> Array:
    """The fold of each sample, 0 to 4: random, and as even as can be within every class."""
    folds = np.empty(len(y), dtype=int)
    for label in np.unique(y):
        mine = rng.permutation(np.flatnonzero(y == label))
        folds[mine] = (rng.randint(FOLDS) + np.arange(len(mine))) % FOLDS
    return folds


def fold_score(model: Any, X: Any, y: Array, weight: Array, folds: Array) -> float:
    """Weighted accuracy on all samples, each predicted by a model of the other folds."""
    right = np.zeros(len(y), dtype=bool)
    for k in np.unique(folds):
        train, test = np.flatnonzero(folds != k), np.flatnonzero(folds == k)
        if len(train):  # otherwise nothing is known, and nothing recognised
            fresh = clone(model).partial_fit(
                _part(model, X, train, train),
                y[train],
                classes=np.unique(y),
                sample_weight=weight[train],
            )
            right[test] = fresh.predict(_part(model, X, test, train)) == y[test]
    return float(np.average(right, weights=weight))


def _part(model: Any, X: Any, rows: Array, train: Array) -> Any:
    pairwise = model.__sklearn_tags__().input_tags.pairwise
    return X[np.ix_(rows, train)] if pairwise else X[rows]
