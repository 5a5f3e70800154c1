"""Queries against a machine on the Gram matrix: what they change, what each held sample changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines._added import AddedQueries, meet, query_blocks
from gramian.core.equations import (
    Added,
    Equations,
    MomentsOf,
    Queries,
    Removals,
    Targets,
    values_without_each,
)
from gramian.core.gram import check_schur
from gramian.core.kernels import Kernel


@dataclass(frozen=True, eq=False)
class DenseQueries:
    """One version of a machine on the Gram matrix, open to queries.

    Parameters
    ----------
    machine : Machine
    kernel : Kernel
    ridge : float
    samples, targets : the n held samples and their targets
    weight : ndarray of shape (n,)
        Weights of the samples, class weights included.
    factors : ndarray of shape (n_classes,), optional
        Class weights.
    Y : ndarray of shape (n, t)
        The target columns.
    moments : callable
        Moments of P, each computed once.
    apply : callable
        Computes ``P b`` for each row b.
    """

    equations: Equations
    kernel: Kernel
    ridge: float
    samples: Any
    targets: Targets
    weight: Array
    factors: Array | None
    Y: Array
    moments: MomentsOf
    apply: Callable[[Array], Array]

    def added(self, X: Any) -> Iterator[tuple[slice, AddedQueries]]:
        """Yield blocks of queries with the left-out values of all samples if one of them joined."""
        for rows in query_blocks(X.shape[0], *self.Y.shape):
            cross, own = meet(self.kernel, X[rows], self.samples)
            solved = self.apply(cross)
            yield rows, AddedQueries(self._adding(cross, own, solved), self.targets, self.factors)

    def without_each(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with their outputs (m, n, t) without each held sample."""
        first = self.moments(1)
        b, Z = self.equations.coefficients(first.R, first.s, 1.0 / self.weight, self.ridge)
        combine = self.targets.combine_left_out  # linear, so what is small comes first
        leaving = self.equations.removals(self.Y, self.moments, self.ridge)
        leaving = Removals(*map(combine, leaving))
        for rows in query_blocks(X.shape[0], *self.Y.shape):
            k = np.asarray(self.kernel(X[rows], self.samples))
            values = combine((k @ Z + b)[:, None, :])
            yield rows, values_without_each(leaving, values, self.apply(k), k @ first.s)

    def variances(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with the variances of f(x), see `Machine.variances`."""
        first = self.moments(1)
        for rows in query_blocks(X.shape[0], *self.Y.shape):
            cross, own = meet(self.kernel, X[rows], self.samples)
            found = self.equations.variances(own, cross, self.apply(cross), first.s, self.ridge)
            yield rows, found

    def _adding(self, cross: Array, own: Array, solved: Array) -> Callable[[float], Added]:
        """Return the function of their weight that gives what queries change."""
        schur = own - np.einsum("ij,ij->i", cross, solved)

        def added(weight: float) -> Added:
            weights = np.append(self.weight, self.weight.dtype.type(weight))
            shift = self.equations.shift(self.ridge, weights[-1:])
            check_schur(schur + shift, own + shift, np.arange(len(own)), len(self.weight), new=True)
            queries = Queries(cross, solved, schur + shift, 1.0 / weights, self.apply)
            return self.equations.added(self.Y, self.moments, queries, self.ridge)

        return added
