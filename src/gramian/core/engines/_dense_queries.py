"""Queries against a Gram matrix: what they change, what each held sample changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines._added import AddedQueries, meet, query_blocks
from gramian.core.equations import (
    Added,
    Equations,
    MomentsOf,
    Pairs,
    Queries,
    Removals,
    Targets,
    all_pairs,
    values_without_each,
)
from gramian.core.equations._groups import SquaresOf
from gramian.core.gram._resolvent import check_schur
from gramian.core.kernels import Kernel


@dataclass(frozen=True, eq=False)
class DenseQueries:
    """One version of an estimator on the Gram matrix, open to queries.

    Parameters
    ----------
    equations : Equations
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
    squares : callable
        Blocks of P or P D P for groups of samples.
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
    squares: SquaresOf

    def loo_groups(self, codes: Array) -> Array:
        """Decision values for the target columns (n, t) without each sample's group."""
        return self.equations.loo_groups(self.Y, codes, self.moments, self.squares, self.ridge)

    def added(self, X: Any) -> Iterator[tuple[slice, AddedQueries]]:
        """Yield blocks of queries with the left-out values of all samples if one were added."""
        for rows in query_blocks(X.shape[0], *self.Y.shape):
            cross, own = meet(self.kernel, X[rows], self.samples)
            solved = self.apply(cross)
            yield rows, AddedQueries(self._adding(cross, own, solved), self.targets, self.factors)

    def without_each(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with their outputs (m, n, t) without each held sample."""
        first = self.moments(1)
        b, Z = self.equations.coefficients(first.R, first.s, 1.0 / self.weight, self.ridge)
        combine = self.targets.combine_left_out  # linear, so what is small comes first
        codes = self.targets.groups
        if codes is not None:
            leaving = self.equations.left_groups(codes, self.moments, self.squares, self.ridge)
        else:
            leaving = self.equations.removals(self.Y, self.moments, self.ridge)
        leaving = Removals(*map(combine, leaving))
        for rows in query_blocks(X.shape[0], *self.Y.shape):
            k = np.asarray(self.kernel(X[rows], self.samples))
            values = combine((k @ Z + b)[:, None, :])
            moved = values_without_each(leaving, values, self.apply(k), k @ first.s, codes)
            yield rows, moved

    def pairs(self, rows_of: Callable[[Array], Array]) -> Iterator[tuple[Array, Pairs]]:
        """Yield positions (k,) with the residuals of all samples without two, for the columns.

        ``rows_of`` returns rows (k, n) of P, which are overwritten.
        """
        first = self.moments(1)
        border = self.equations.pair_border(first)
        _, alpha = self.equations.coefficients(first.R, first.s, 1.0 / self.weight, self.ridge)

        def bordered(at: Array) -> Array:
            rows = rows_of(at)
            rows -= (border * first.s[at, None]) * first.s
            return rows

        def squares(members: Array) -> Array:
            s = first.s[members]
            found: Array = self.squares(members, 1) - border * s[:, :, None] * s[:, None, :]
            return found

        m = first.p - border * first.s**2
        return all_pairs(bordered, m, squares, alpha, self.targets.groups)

    def smoother(self, X: Any) -> Array:
        """``∂f(x)/∂y_i`` at queries, (m, n, 1): ``u + ρ s (1 − kᵀs)`` with u = P k."""
        first = self.moments(1)
        border, out = self.equations.pair_border(first), np.empty((X.shape[0], len(self.Y), 1))
        for rows in query_blocks(X.shape[0], *self.Y.shape):
            k = np.asarray(self.kernel(X[rows], self.samples))
            own = border * (1.0 - k @ first.s)[:, None] * first.s
            out[rows, :, 0] = self.apply(k) + own
        return out

    def variances(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with the variances of f(x), see `Equations.variances`."""
        first = self.moments(1)
        for rows in query_blocks(X.shape[0], *self.Y.shape):
            cross, own = meet(self.kernel, X[rows], self.samples)
            found = self.equations.variances(own, cross, self.apply(cross), first.s, self.ridge)
            yield rows, np.asarray(found)

    def _adding(self, cross: Array, own: Array, solved: Array) -> Callable[[float], Added]:
        """Return the function of their weight that gives what queries change."""
        schur = own - np.asarray(np.einsum("ij,ij->i", cross, solved))

        @cache
        def added(weight: float) -> Added:
            weights = np.append(self.weight, self.weight.dtype.type(weight))
            shift = self.equations.shift(self.ridge, weights[-1:])
            check_schur(schur + shift, own + shift, np.arange(len(own)), len(self.weight), new=True)
            queries = Queries(cross, solved, schur + shift, 1.0 / weights, self.apply)
            return self.equations.added(self.Y, self.moments, queries, self.ridge)

        return added
