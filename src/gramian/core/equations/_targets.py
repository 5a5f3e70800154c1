"""Class targets, and how they change when a sample is removed.

Column j of the targets says "class j or not": ``a_j`` for its own samples, ``−b_j`` for the rest,

======== ============================ ====================================
kind     a_j                          b_j
======== ============================ ====================================
signs    1                            1
fisher   N / N_j                      N / (N − N_j)
======== ============================ ====================================

with N_j the weight (the number, if unweighted) of samples of class j and N their sum. Two classes
have one column, that of the second class. Fisher targets of *all* samples change when one is
removed. But each estimator is linear in its targets, so its leave-one-out values F for the class
indicators suffice::

    f₋ᵢⱼ = a₋ᵢⱼ F_ij − b₋ᵢⱼ Σ_{k≠j} F_ik
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gramian.core.arrays import Array

TARGETS = ("signs", "fisher")


@dataclass(frozen=True)
class Responses:
    """Targets of a regression, which do not change when a sample is removed."""

    values: Array
    """Array of shape (n, t)."""
    weight: Any = None
    groups: Array | None = None
    """Number of each sample's group, if groups are left out together."""

    @property
    def columns(self) -> Array:
        """Right-hand sides that an engine solves for, of shape (n, t)."""
        return self.values

    fitted = columns
    own = columns

    def combine(self, V: Array) -> Array:
        """Convert a quantity that is linear in the targets from its values for the `columns`."""
        return V

    combine_left_out = combine

    def decisions(self, F: Array) -> Array:
        """Leave-one-out decision values from those for the `fitted` columns."""
        return F

    def pullback(self, G: Array) -> Array:
        """Convert a gradient with respect to `decisions` to one with respect to their argument."""
        return G

    def take(self, index: Array) -> Responses:
        """The targets of some samples."""
        return Responses(self.values[index], _taken(self.weight, index), _taken(self.groups, index))


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
    groups : ndarray of shape (n,), optional
        Number of each sample's group, if groups are left out together.
    """

    labels: Array
    n_classes: int
    kind: str = "signs"
    weight: Any = None
    groups: Array | None = None

    @cached_property
    def columns(self) -> Array:
        """Right-hand sides that an engine solves for: the class indicators (n, c)."""
        return np.eye(self.n_classes)[self.labels]

    @property
    def fitted(self) -> Array:
        """Targets that a search fits the estimator to: the signs, or the class indicators."""
        return self.own if self.kind == "signs" else self.columns

    @cached_property
    def own(self) -> Array:
        """The target of each sample with all samples present, of shape (n, t)."""
        a, b = self._levels(self._counts)
        return self._columns(np.where(self.columns > 0, a, -b))

    def combine(self, V: Array) -> Array:
        """Convert a quantity linear in the targets (..., t) from its values for the indicators."""
        if self.kind == "signs":
            if self.n_classes == 2:
                return V[..., 1:] - V[..., :1]
            signs: Array = 2.0 * V - V.sum(axis=-1, keepdims=True)
            return signs
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
        """Convert a gradient with respect to `decisions` to one with respect to their argument."""
        if self.kind == "signs":
            return G
        a, b = (self._columns(level) for level in self._left_out_levels)
        pulled = np.zeros_like(self.columns)
        self._columns(pulled)[...] = (a + b) * G
        result: Array = pulled - np.sum(b * G, axis=-1, keepdims=True)
        return result

    def added(self, label: int, weight: float) -> ClassTargets:
        """The targets with one more sample of this class at the end."""
        weights = np.append(
            np.ones(len(self.labels)) if self.weight is None else self.weight, weight
        )
        labels = np.append(self.labels, label)
        groups = None if self.groups is None else np.append(self.groups, self.groups.max() + 1)
        return ClassTargets(labels, self.n_classes, self.kind, weights, groups)

    def take(self, index: Array) -> ClassTargets:
        """The targets of some samples, as if there were no others."""
        taken = (_taken(self.weight, index), _taken(self.groups, index))
        return ClassTargets(self.labels[index], self.n_classes, self.kind, *taken)

    @property
    def _counts(self) -> Array:
        return np.bincount(self.labels, self.weight, self.n_classes).astype(float)

    @cached_property
    def _left_out_levels(self) -> tuple[Array, Array]:
        """``a₋ᵢⱼ`` and ``b₋ᵢⱼ``, of shape (n, c) each."""
        weight = 1.0 if self.weight is None else self.weight[:, None]
        left = self._counts - self._by_group(weight * self.columns)
        # A class that loses its last sample is empty, even if rounding leaves some of its weight.
        numbers = np.bincount(self.labels, minlength=self.n_classes) - self._by_group(self.columns)
        return self._levels(np.where(numbers > 0, left, 0.0))

    def _by_group(self, values: Array) -> Array:
        """Values of each sample (n, c), or those of its group added up."""
        if self.groups is None:
            return values
        sums = np.zeros((int(self.groups.max()) + 1, values.shape[1]))
        np.add.at(sums, self.groups, values)
        return sums[self.groups]

    def _levels(self, counts: Array) -> tuple[Array, Array]:
        if self.kind == "signs":
            return np.ones_like(counts), np.ones_like(counts)
        total = counts.sum(axis=-1, keepdims=True)
        rest = counts @ (1.0 - np.eye(self.n_classes))  # exactly 0 if all other classes are empty
        return _divide(total, counts), _divide(total, rest)

    def _combined(self, V: Array, a: Array, b: Array) -> Array:
        return self._columns((a + b) * V - b * V.sum(axis=-1, keepdims=True))

    def _columns(self, values: Array) -> Array:
        """Keep only the second output if there are two classes."""
        return values[..., 1:] if self.n_classes == 2 else values


def combine_one(values: list[float], counts: list[int], kind: str) -> list[float]:
    """What `ClassTargets.combine` gives for one query and classes of so many samples, none empty.

    Numbers of Python are faster than arrays of as few.
    """
    total, n = sum(values), sum(counts)
    if kind == "signs":
        found = [2.0 * value - total for value in values]
    else:
        found = [
            n / own * value - n / (n - own) * (total - value)
            for value, own in zip(values, counts, strict=True)
        ]
    return found[1:] if len(found) == 2 else found


Targets = Responses | ClassTargets


def _taken(values: Array | None, index: Array) -> Array | None:
    return None if values is None else values[index]


def _divide(numerator: Array, denominator: Array) -> Array:
    """The ratio, or 0 for an empty class, whose target no sample uses."""
    return np.divide(numerator, denominator, out=np.zeros_like(denominator), where=denominator > 0)
