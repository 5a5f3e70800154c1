"""The targets of samples by slot, while samples move through a model; see `Moving`."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines._dense_spec import DenseSpec
from gramian.core.engines._holdings import Holdings

_ONE = np.ones(1)


class SlotTargets:
    """Which class the sample of each slot has, and what a sample of each class brings.

    Numbers to predict count as one class, whose samples have rows of B of their own.

    Parameters
    ----------
    spec : DenseSpec
    holdings : Holdings
        Those of the start, in which no class is empty.
    slots : ndarray of shape (n,)
        Where they are.
    capacity : int
        Number of slots.

    Attributes
    ----------
    own : list of float
        ``k(x, x) + λ / weight`` of each class.
    counts : list of int
        Samples of each class.
    D : ndarray of shape (capacity,)
        1 / weight by slot, 0 in free ones.
    """

    def __init__(self, spec: DenseSpec, holdings: Holdings, slots: Array, capacity: int) -> None:
        self.classes, self._dtype = holdings.classes, holdings.y.dtype
        self._shape, self._labels = (1, *holdings.y.shape[1:]), {}
        self._codes, self.D = np.zeros(capacity, dtype=int), np.zeros(capacity)
        self.D[slots] = 1.0 / spec.weights(holdings)
        self.counts, self._rows, weight = [len(holdings)], [_ONE], _ONE
        if self.classes is not None:
            n, factors = len(self.classes), spec.class_factors(holdings)
            self._labels = {label: code for code, label in enumerate(self.classes.tolist())}
            self._codes[slots] = holdings.labels
            self.counts = np.bincount(holdings.labels).tolist()
            self._rows = [*np.column_stack([np.ones(n), np.eye(n)])]
            weight = np.ones(n) if factors is None else factors
        own = spec.predicts_with.diagonal(holdings.rows.take(np.arange(1)))
        self.own = (own + spec.equations.shift(spec.shift, weight)).tolist()
        self._inverse_weight = (1.0 / weight).tolist()

    def read(self, y: Any) -> tuple[int, Array | None]:
        """The class of a new sample and its row of B, None if y is not like the targets held."""
        if type(y) is not np.ndarray or y.shape != self._shape or y.dtype.kind != self._dtype.kind:
            return 0, None
        if self._labels:
            code = self._labels.get(y.item())
            return (0, None) if code is None else (code, self._rows[code])
        b = np.concatenate((_ONE, y.ravel()))
        return 0, b if isfinite(b.dot(b)) else None

    def ends(self, i: int, code: int) -> bool:
        """Whether a class vanishes when slot i becomes free and a sample of this class comes."""
        leaving = self._codes.item(i)
        return bool(leaving != code and self.counts[leaving] == 1)

    def write(self, j: int, code: int) -> None:
        """Note the class of the sample that comes into slot j; it is not counted yet."""
        self._codes[j], self.D[j] = code, self._inverse_weight[code]

    def wipe(self, i: int) -> None:
        """Take the sample out of slot i and out of the count."""
        self.counts[self._codes.item(i)] -= 1
        self._codes[i], self.D[i] = 0, 0.0

    def values(self, slots: Array, B: Array) -> Array:
        """Labels or numbers in these slots, as the holdings have them."""
        if self.classes is None:
            found = B[slots, 1:].reshape(-1, *self._shape[1:])
        else:
            found = self.classes[self._codes[slots]]
        return np.asarray(found, dtype=self._dtype)
