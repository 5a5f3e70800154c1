"""The samples, targets, weights and ids that a model holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gramian.core.arrays import Array, without_rows
from gramian.core.engines._rows import Rows

LARGEST_WEIGHT = 1e30
"""Weights and their inverses are numbers in single precision too."""


def check_weight(weight: Array) -> None:
    """Raise ValueError unless every weight is 0 or within `LARGEST_WEIGHT` and its inverse."""
    beyond = (weight != 0) & ~((weight >= 1.0 / LARGEST_WEIGHT) & (weight <= LARGEST_WEIGHT))
    if beyond.any():
        raise ValueError(
            f"sample_weight must be 0 or between {1.0 / LARGEST_WEIGHT:g} and {LARGEST_WEIGHT:g}, "
            f"got {weight[beyond][0]:g}."
        )


@dataclass(frozen=True, eq=False)
class Holdings:
    """Samples, targets, weights and ids that a model holds, in order of arrival.

    Immutable: an edit creates new holdings with a new version and replaces the old ones in a single
    assignment.

    Parameters
    ----------
    rows : Rows
        The samples.
    y : ndarray of shape (n,) or (n, t)
        Labels or numbers.
    weight : ndarray of shape (n,)
        > 0; a weight of k means k copies.
    ids : ndarray of shape (n,)
    next_id : int
        The next number for a sample without an id.
    classes : ndarray of shape (c,), optional
        Sorted labels that a classifier distinguishes; None for a regressor.
    declared : tuple
        Labels that stay classes even without samples.
    groups : ndarray of shape (n,), optional
        To whom or what each sample belongs: samples of a group are left out together.
    folds : ndarray of shape (n,), optional
        Number of the fold without which the sample is judged, where choices were made by folds.
    version : object
        A unique token, by which an engine records the holdings that it is valid for.
    """

    rows: Rows
    y: Array
    weight: Array
    ids: Array
    next_id: int = 0
    classes: Any = None
    declared: tuple[Any, ...] = ()
    groups: Array | None = None
    folds: Array | None = None
    version: object = field(default_factory=object)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def labels(self) -> Array:
        """Index of each sample's class in `classes`."""
        return np.searchsorted(self.classes, self.y)

    def coded_targets(self) -> Array:
        """Targets as numbers (n, t): 1 for the own class and −1 for others, of two the second."""
        if self.classes is None:
            return np.asarray(self.y, dtype=float).reshape(len(self), -1)
        signs = np.where(self.y[:, None] == self.classes, 1.0, -1.0)
        return signs[:, 1:] if len(self.classes) == 2 else signs

    @cached_property
    def codes(self) -> Array | None:
        """Number of each sample's group, or None where every sample stands for itself."""
        if self.groups is None:
            return None
        return np.unique(self.groups, return_inverse=True)[1]

    def require_groups(self) -> None:
        """Raise ValueError if all samples belong to one group: without it nothing is left."""
        if self.groups is not None and (self.groups == self.groups[0]).all():
            raise ValueError(
                f"leaving out groups needs at least two, and all {len(self)} samples belong to the "
                f"group {self.groups[0]!s}. Learn samples of another group, or fit without groups."
            )

    def appended(
        self, X: Any, y: Array, weight: Array, ids: Array, next_id: int, groups: Array | None = None
    ) -> Holdings:
        """Return holdings with more samples at the end and the same classes.

        Where samples have groups, new ones without have each a group of its own in these holdings.
        """
        folds = self.folds
        if self.groups is not None:
            groups = np.concatenate([self.groups, _own_groups(self.groups, ids, groups)])
        if folds is not None:
            folds = _more_folds(folds, self.groups, groups, len(ids))
        return Holdings(
            self.rows.appended(X),
            np.concatenate([self.y, y]),
            np.concatenate([self.weight, weight]),
            np.concatenate([self.ids, ids]),
            next_id,
            self.classes,
            self.declared,
            groups,
            folds,
        )

    def take(self, positions: Array) -> Holdings:
        """Return holdings of the samples at these positions, in order; these, if it is all."""
        if len(positions) == len(self):
            return self
        return self.without(np.setdiff1d(np.arange(len(self)), positions))

    def without(self, positions: Array) -> Holdings:
        """Return holdings without the samples at these positions and with the same classes."""
        return Holdings(
            self.rows.without(positions),
            _trimmed(without_rows(self.y, positions)),
            without_rows(self.weight, positions),
            _trimmed(without_rows(self.ids, positions)),
            self.next_id,
            self.classes,
            self.declared,
            None if self.groups is None else _trimmed(without_rows(self.groups, positions)),
            None if self.folds is None else without_rows(self.folds, positions),
        )


def _own_groups(held: Array, ids: Array, groups: Array | None) -> Array:
    """The groups as given, or one for each of these samples that no other has."""
    if groups is not None:
        return groups
    if held.dtype.kind == "U":
        return np.array([f"\x1f{i}" for i in range(len(ids))])
    result: Array = np.arange(len(ids)) + held.max(initial=-1) + 1
    return result


def _more_folds(folds: Array, held: Array | None, groups: Array | None, k: int) -> Array:
    """Folds with those of k samples more, dealt out in turn; a known group stays in its fold."""
    new = (len(folds) + np.arange(k)) % (int(folds.max(initial=0)) + 1)
    if held is not None and groups is not None:
        known, first = np.unique(held, return_index=True)
        place = np.minimum(np.searchsorted(known, groups[-k:]), len(known) - 1)
        new = np.where(known[place] == groups[-k:], folds[first[place]], new)
    return np.concatenate([folds, new])


def _trimmed(array: Array) -> Array:
    """Narrow a string dtype to its longest entry, so the width reveals no removed string."""
    if array.dtype.kind != "U" or len(array) == 0:
        return array
    longest = max(1, int(np.char.str_len(array).max()))
    return array.astype(f"U{longest}") if 4 * longest < array.dtype.itemsize else array
