"""What a model holds: the truth that an engine serves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from gramian.arrays import Array, without_rows
from gramian.engines._rows import Rows


@dataclass(frozen=True, eq=False)
class Holdings:
    """Samples, targets, weights and ids that a model holds, in order of arrival.

    Never changed: an edit makes another one with a new version, which takes the place of the old
    one by a single assignment.

    Parameters
    ----------
    rows : Rows
        The samples.
    y : ndarray of shape (n,) or (n, t)
        Labels, or numbers.
    weight : ndarray of shape (n,)
        > 0; a weight of k means k copies.
    ids : ndarray of shape (n,)
    next_id : int
        The first number that was not yet given to a sample that came without an id.
    classes : ndarray of shape (c,), optional
        Sorted labels that a classifier tells apart; None for a regressor.
    declared : tuple
        Labels that stay among the classes without samples.
    version : object
        A token that no other holdings have; an engine names the holdings that it serves by it.
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
        """With more samples at the end; the classes stay as they are."""
        return replace(
            self,
            rows=self.rows.appended(X),
            y=np.concatenate([self.y, y.astype(np.result_type(self.y, y), copy=False)]),
            weight=np.concatenate([self.weight, weight]),
            ids=np.concatenate([self.ids, ids]),
            next_id=next_id,
            version=object(),
        )

    def without(self, positions: Array) -> Holdings:
        """Without the samples at these positions; the classes stay as they are."""
        return replace(
            self,
            rows=self.rows.without(positions),
            y=trimmed(without_rows(self.y, positions)),
            weight=without_rows(self.weight, positions),
            ids=trimmed(without_rows(self.ids, positions)),
            version=object(),
        )


def trimmed(array: Array) -> Array:
    """Text in a type as wide as its longest entry, so that no width tells of one that has left."""
    if array.dtype.kind != "U" or len(array) == 0:
        return array
    longest = max(1, int(np.char.str_len(array).max()))
    return array.astype(f"U{longest}") if 4 * longest < array.dtype.itemsize else array
