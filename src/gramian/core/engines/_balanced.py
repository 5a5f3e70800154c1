"""Leave-one-out with balanced class weights, which change for all samples when one leaves.

A class weighs ``N / (c N_j)``, N_j the weight of its samples and N that of all. Without sample i of
class j both are less by its own weight, so samples of the same class and weight leave the same
class weights behind. An engine with these weights for all samples then gives the outputs without
each of them in closed form: one engine for each class, if the samples are unweighted. Groups leave
class weights of their own behind, so that each takes a fit without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines._added import query_blocks
from gramian.core.engines._deferred import DeferredEngine
from gramian.core.engines._holdings import Holdings
from gramian.core.engines._removed import by_position, left_out_by_removal, without_each_by_removal


def balanced_factors(labels: Array, weight: Array, n_classes: int) -> Array:
    """Balanced class weights (n_classes,); 1 for a class without samples."""
    there = np.bincount(labels, minlength=n_classes) > 0
    shares = np.count_nonzero(there) * np.bincount(labels, weight, n_classes)
    result: Array = np.divide(weight.sum(), shares, out=np.ones(n_classes), where=there)
    return result


def balanced_loo(spec: Any, holdings: Holdings) -> Array:
    """Exact leave-one-out outputs (n, t) of a spec with balanced class weights."""
    if holdings.codes is not None:
        return left_out_by_removal(DeferredEngine(spec), holdings)
    found = (
        (members, np.asarray(left.build(holdings).loo(holdings))[members])
        for members, left in _specs_without(spec, holdings)
    )
    return by_position(found, len(holdings))


def balanced_without_each(spec: Any, holdings: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
    """Yield blocks of queries with their outputs (m, n, t) without each held sample."""
    if holdings.codes is not None:
        yield from without_each_by_removal(DeferredEngine(spec), holdings, X)
        return
    for rows in query_blocks(X.shape[0], len(holdings), len(holdings.classes)):
        found = []
        for members, left in _specs_without(spec, holdings):
            blocks = left.build(holdings).without_each(holdings, X[rows])
            F = np.concatenate([np.asarray(values) for _, values in blocks])
            found.append((members, F[:, members]))
        yield rows, by_position(found, len(holdings), axis=1)


def _specs_without(spec: Any, holdings: Holdings) -> Iterator[tuple[Array, Any]]:
    """Yield positions, and the spec with the class weights that are left without any of them."""
    labels, weight = holdings.labels, holdings.weight
    groups, group = np.unique(np.column_stack([labels, weight]), axis=0, return_inverse=True)
    for k in range(len(groups)):
        members = np.flatnonzero(group.ravel() == k)
        left = np.delete(labels, members[0]), np.delete(weight, members[0])
        factors = balanced_factors(*left, len(holdings.classes))
        known = dict(zip(holdings.classes.tolist(), factors.tolist(), strict=True))
        yield members, replace(spec, class_weight=known)
