"""Folds: samples that are left out together, so that a choice is judged on what it has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from gramian.core.arrays import Array
from gramian.core.search._order import content_order


def fold_numbers(
    samples: Any,
    labels: Array | None,
    folds: int,
    random_state: Any = None,
    groups: Array | None = None,
) -> Array:
    """The fold of each sample, 0 to ``folds`` − 1, of nearly equal sizes.

    Classes are in proportion. Samples are dealt out in an order drawn by ``random_state``, or by
    a hash of their numbers if it is None, whatever the order in which they came.

    Parameters
    ----------
    samples : array-like of shape (n, d) or GramSamples
    labels : ndarray of shape (n,), optional
        Index of each sample's class.
    folds : int
        At least 2, at most the number of samples, or of groups.
    random_state : int, RandomState or None
    groups : ndarray of shape (n,), optional
        Samples of one group share a fold; the largest groups are dealt out first, each to the
        smallest fold.

    Examples
    --------
    >>> X = np.arange(6.0)[:, None]
    >>> np.bincount(fold_numbers(X, np.array([0, 0, 0, 0, 1, 1]), 2)).tolist()
    [3, 3]
    >>> found = fold_numbers(X, None, 2, groups=np.array([7, 7, 7, 1, 1, 2]))
    >>> len(set(found[:3])), len(set(found[3:5])), np.bincount(found).tolist()
    (1, 1, [3, 3])
    """
    n = samples.shape[0]
    if random_state is None:
        order = content_order(samples)
    else:
        order = check_random_state(random_state).permutation(n)
    kinds = np.zeros(n, dtype=int) if labels is None else labels
    if groups is not None:
        return _dealt_groups(order, kinds, folds, np.unique(groups, return_inverse=True)[1])
    fold = np.empty(n, dtype=int)
    fold[order[np.argsort(kinds[order], kind="stable")]] = np.arange(n) % folds
    return fold


def _dealt_groups(order: Array, kinds: Array, folds: int, group: Array) -> Array:
    """Each group to the fold that it leaves most even, by classes and in all."""
    number = int(group.max()) + 1
    counts = np.zeros((number, int(kinds.max()) + 1))
    np.add.at(counts, (group, kinds), 1.0)
    rank = np.empty(len(order), dtype=int)
    rank[order] = np.arange(len(order))
    first = np.full(number, len(order))
    np.minimum.at(first, group, rank)
    filled, place = np.zeros((folds, counts.shape[1])), np.empty(number, dtype=int)
    shares = 1.0 / np.maximum(counts.sum(axis=0), 1.0)
    for g in np.lexsort([first, -counts.sum(axis=1)]):
        costs = ((filled * shares) @ counts[g], filled.sum(axis=1))
        place[g] = np.lexsort(costs[::-1])[0]
        filled[place[g]] += counts[g]
    return place[group]
