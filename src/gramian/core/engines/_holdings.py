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
    version: object = field(default_factory=object)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def labels(self) -> Array:
        """Index of each sample's class in `classes`."""
        return np.searchsorted(self.classes, self.y)

    def appended(self, X: Any, y: Array, weight: Array, ids: Array, next_id: int) -> Holdings:
        """Return holdings with more samples at the end and the same classes."""
        return Holdings(
            self.rows.appended(X),
            np.concatenate([self.y, y]),
            np.concatenate([self.weight, weight]),
            np.concatenate([self.ids, ids]),
            next_id,
            self.classes,
            self.declared,
        )

    def without(self, positions: Array) -> Holdings:
        """Return holdings without the samples at these positions and with the same classes."""
        y, ids = without_rows(self.y, positions), without_rows(self.ids, positions)
        return Holdings(
            self.rows.without(positions),
            trimmed(y) if y.dtype.kind == "U" else y,
            without_rows(self.weight, positions),
            trimmed(ids) if ids.dtype.kind == "U" else ids,
            self.next_id,
            self.classes,
            self.declared,
        )


def trimmed(array: Array) -> Array:
    """Narrow a string dtype to its longest entry, so the width reveals no removed string."""
    if len(array) == 0:
        return array
    longest = max(1, int(np.char.str_len(array).max()))
    return array.astype(f"U{longest}") if 4 * longest < array.dtype.itemsize else array
