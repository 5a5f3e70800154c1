"""Class targets, and how they change when a sample leaves.

Column j of the targets says "class j or not": ``a_j`` for its own samples, ``−b_j`` for the rest,

======== ============================ ====================================
kind     a_j                          b_j
======== ============================ ====================================
signs    1                            1
fisher   N / N_j                      N / (N − N_j)
======== ============================ ====================================

with N_j the weight (the number, when unweighted) of samples of class j and N their sum. Two classes
have one column, that of the second class. Fisher targets change for *every* sample when one
leaves; but each machine is linear in its targets, so it is enough to know its leave-one-out
values F for the class indicators::

    f₋ᵢⱼ = a₋ᵢⱼ F_ij − b₋ᵢⱼ Σ_{k≠j} F_ik
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gramian.arrays import Array

TARGETS = ("signs", "fisher")


@dataclass(frozen=True)
class Responses:
    """Targets of a regression: nothing changes when a sample leaves."""

    values: Array
    """Of shape (n, t)."""
    weight: Any = None

    @property
    def columns(self) -> Array:
        """What an engine solves for, of shape (n, t)."""
        return self.values

    fitted = own = columns

    def combine(self, V: Array) -> Array:
        """What is linear in the targets, from its values for the `columns`."""
        return V

    combine_left_out = combine

    def decisions(self, F: Array) -> Array:
        """Leave-one-out decision values from those for the `fitted` columns."""
        return F

    def pullback(self, G: Array) -> Array:
        """A gradient with respect to `decisions` as one with respect to their argument."""
        return G

    def take(self, index: Array) -> Responses:
        """The targets of some samples."""
        return Responses(self.values[index], None if self.weight is None else self.weight[index])


@dataclass(frozen=True)
class ClassTargets:
    """Targets of a classification.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Index of each sample's class.
    n_classes : int
        At least two. A class without samples has targets of 0.
    kind : {"signs", "fisher"}
    weight : ndarray of shape (n,), optional
    """

    labels: Array
    n_classes: int
    kind: str = "signs"
    weight: Any = None

    @cached_property
    def columns(self) -> Array:
        """What an engine solves for: the class indicators (n, c), whatever the class sizes."""
        return np.eye(self.n_classes)[self.labels]

    @property
    def fitted(self) -> Array:
        """What a search fits the machine to: the signs themselves, or the class indicators."""
        return self.own if self.kind == "signs" else self.columns

    @cached_property
    def own(self) -> Array:
        """The target of each sample while all samples are there, of shape (n, t)."""
        a, b = self._levels(self._counts)
        return self._columns(np.where(self.columns > 0, a, -b))

    def combine(self, V: Array) -> Array:
        """What is linear in the targets (..., t), from its values for the class indicators."""
        if self.kind == "signs":
            signs = 2.0 * V - V.sum(axis=-1, keepdims=True)
            return signs[..., 1:] if self.n_classes == 2 else signs
        return self._combined(V, *self._levels(self._counts))

    def combine_left_out(self, F: Array) -> Array:
        """Leave-one-out decision values (..., n, t) from those for the class indicators."""
        if self.kind == "signs":
            return self.combine(F)
        return self._combined(F, *self._left_out_levels)

    def decisions(self, F: Array) -> Array:
        """Leave-one-out decision values (..., n, t) from those for the `fitted` columns."""
        return F if self.kind == "signs" else self.combine_left_out(F)

    def pullback(self, G: Array) -> Array:
        """A gradient with respect to `decisions` as one with respect to their argument."""
        if self.kind == "signs":
            return G
        a, b = (self._columns(level) for level in self._left_out_levels)
        pulled = np.zeros_like(self.columns)
        self._columns(pulled)[...] = (a + b) * G
        return pulled - np.sum(b * G, axis=-1, keepdims=True)

    def take(self, index: Array) -> ClassTargets:
        """The targets of some samples, were they all there is."""
        weight = None if self.weight is None else self.weight[index]
        return ClassTargets(self.labels[index], self.n_classes, self.kind, weight)

    @property
    def _counts(self) -> Array:
        return np.bincount(self.labels, self.weight, self.n_classes).astype(float)

    @cached_property
    def _left_out_levels(self) -> tuple[Array, Array]:
        """``a₋ᵢⱼ`` and ``b₋ᵢⱼ``, of shape (n, c) each."""
        weight = 1.0 if self.weight is None else self.weight[:, None]
        left = self._counts - weight * self.columns
        # A class that loses its last sample is empty, whatever rounding leaves of its weight.
        numbers = np.bincount(self.labels, minlength=self.n_classes) - self.columns
        return self._levels(np.where(numbers > 0, left, 0.0))

    def _levels(self, counts: Array) -> tuple[Array, Array]:
        if self.kind == "signs":
            return np.ones_like(counts), np.ones_like(counts)
        total = counts.sum(axis=-1, keepdims=True)
        rest = counts @ (1.0 - np.eye(self.n_classes))  # exactly 0 where all others are
        return _divide(total, counts), _divide(total, rest)

    def _combined(self, V: Array, a: Array, b: Array) -> Array:
        return self._columns((a + b) * V - b * V.sum(axis=-1, keepdims=True))

    def _columns(self, values: Array) -> Array:
        """Two classes have one output, that of the second."""
        return values[..., 1:] if self.n_classes == 2 else values


Targets = Responses | ClassTargets


def _divide(numerator: Array, denominator: Array) -> Array:
    """The ratio; 0 where a class is empty, since no sample reads its target then."""
    return np.divide(numerator, denominator, out=np.zeros_like(denominator), where=denominator > 0)
