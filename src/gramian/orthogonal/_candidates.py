"""Choice of the next column in forward selection.

A candidate is a sample with a kernel, that is the column ``k(·, x_i)``. A pool stores candidate
columns made orthogonal to the basis, so two products give the gain of each candidate,

    ‖zᵀY‖² / (λ + zᵀz)    with z the rest of its column,

the decrease of ``‖Y − Q a‖² + λ‖a‖²`` that it would bring. Each new basis column q is projected out
of the pool in O(n pool). Two rules fill the pool:

residual
    The sample with the largest residual (andelic2007), with each kernel; the pool is emptied
    at every step. One column of K per step and kernel.
gain
    A pool of 64 columns persists. Every four steps the better half stays and the rest is drawn
    again, each sample with a probability proportional to its squared residual, so that outliers
    do not fill the pool. Eight columns of K per step. Exact if all candidates fit into the pool.
    With 500 centres it misclassifies 8.1 % of satimage's test samples, the first rule 9.1 %.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gramian.core.arrays import Array, subtract_outer, to_host
from gramian.orthogonal._equations import OrthogonalBasis, OrthogonalRegression

POOL = 64
PICKS = 4

ColumnBlock = Callable[[Array, int], Array]


class Candidate(NamedTuple):
    """A column ready to enter the basis: see `OrthogonalBasis.append`."""

    sample: int
    kernel: int
    z: Array
    coefficients: Array


@dataclass(frozen=True)
class ColumnSource:
    """Columns of K + εI for several kernels, with rows scaled by the roots of the weights.

    Parameters
    ----------
    block : callable
        ``block(samples, kernel)`` returns ``k(x_i, ·)`` with kernel number ``kernel`` for each
        sample, of shape (len(samples), n). The result is copied, not changed.
    n_kernels : int
    epsilon : float
        Added to ``k(x_i, x_i)``. It makes K strictly positive definite (andelic2007).
    roots : ndarray of shape (n,)
        Roots of the weights, on the device of the columns.
    """

    block: ColumnBlock
    n_kernels: int
    epsilon: float
    roots: Array

    def __call__(self, samples: Array, kernel: int) -> Array:
        columns = np.array(self.block(samples, kernel), dtype=self.roots.dtype, like=self.roots)
        if self.epsilon:
            columns[np.arange(len(samples)), samples] += self.epsilon
        columns *= self.roots
        return columns


def row_squares(rows: Array) -> Array:
    """Squared length of each row, in host memory."""
    result: Array = to_host(np.einsum("ij,ij->i", rows, rows))
    return result


def depends(rests: Array, columns: Array, basis: OrthogonalBasis, limit: float) -> Array:
    """Whether the rest of a column is shorter than ``limit`` times the column or the longest q.

    The comparison excludes the bias, the first q, because its length is unrelated to the scale of
    the kernel.

    Parameters
    ----------
    rests, columns : ndarray of shape (p,)
        Squared lengths.
    """
    longest = basis.squares[1:].max(initial=0.0)
    result: Array = rests <= limit**2 * np.maximum(columns, longest)
    return result


class CandidatePool:
    """Candidates and the rests of their columns, kept orthogonal to a growing basis.

    Parameters
    ----------
    like : array of shape (n,)
        Gives the length, type and device of the columns.

    Attributes
    ----------
    samples, kernels : ndarray of shape (p,)
    """

    def __init__(self, like: Array) -> None:
        n, dtype = len(like), like.dtype
        self.samples = np.empty(0, dtype=np.intp)
        self.kernels = np.empty(0, dtype=np.intp)
        self._Z = np.empty((0, n), dtype=dtype, like=like)
        self._coefficients = np.empty((0, 0), dtype=dtype, like=like)
        self._squares = np.empty(0, dtype=dtype)  # squared lengths of the columns
        self._rests = np.empty(0, dtype=dtype)  # squared lengths of their rests

    def __len__(self) -> int:
        return len(self.samples)

    def offer(self, basis: OrthogonalBasis, source: ColumnSource, samples: Array) -> None:
        """Add samples with every kernel, projected once; O(n m) each, in level-3 products."""
        fresh = [source(samples, kernel) for kernel in range(source.n_kernels)]
        squares = [row_squares(Z) for Z in fresh]
        coefficients = [basis.project(Z) for Z in fresh]
        self.samples = np.concatenate([self.samples, *[samples] * source.n_kernels])
        numbers = np.repeat(np.arange(source.n_kernels), len(samples))
        self.kernels = np.concatenate([self.kernels, numbers])
        self._Z = np.concatenate([self._Z, *fresh])
        known = self._coefficients.reshape(-1, basis.size)
        self._coefficients = np.concatenate([known, *coefficients])
        self._squares = np.concatenate([self._squares, *squares])
        self._rests = row_squares(self._Z)

    def drop(self, dropped: Array) -> None:
        """Drop the candidates in the mask: O(n) each, the last candidates fill the gaps."""
        if not dropped.any():
            return
        order = np.arange(len(self))
        for position in np.flatnonzero(dropped)[::-1]:
            order[position] = order[-1]
            order = order[:-1]
        gaps: Any = np.flatnonzero(order != np.arange(len(order)))
        moving: Any = order[gaps]
        if len(gaps) == 1:  # mostly: slices, which need no index array on a device
            gaps, moving = (slice(int(i), int(i) + 1) for i in (gaps[0], moving[0]))
        for name in ("samples", "kernels", "_Z", "_coefficients", "_squares", "_rests"):
            array = getattr(self, name)
            array[gaps] = array[moving]
            setattr(self, name, array[: len(order)])

    def gains(self, regression: OrthogonalRegression) -> Array:
        """Decrease of the regularised error that each candidate would bring, O(n p t)."""
        products = self._Z @ regression.plain.T  # = zᵀY, since z is orthogonal to the basis
        return row_squares(products) / (regression.ridge + self._rests)

    def dependent(self, basis: OrthogonalBasis, limit: float) -> Array:
        """Mask of the candidates for which `depends` is true."""
        return depends(self._rests, self._squares, basis, limit)

    def candidate(self, position: int) -> Candidate:
        """Return a copy of one candidate."""
        return Candidate(
            int(self.samples[position]),
            int(self.kernels[position]),
            self._Z[position].copy(),
            self._coefficients[position].copy(),
        )

    def deflate(self, basis: OrthogonalBasis) -> None:
        """Project the newest column of the basis out of all candidates, O(n p)."""
        coefficients = self._Z @ basis.Q[-1] / basis.squares[-1]
        subtract_outer(self._Z, coefficients, basis.Q[-1])
        self._coefficients = np.column_stack([self._coefficients, coefficients])
        self._rests = row_squares(self._Z)


class Selector(ABC):
    """Returns candidates one by one, each sample at most once.

    Parameters
    ----------
    source : ColumnSource
    limit : float
        Skip candidates whose rest is shorter than this fraction of their column.
    rng : numpy.random.Generator
        For rules that draw at random.
    """

    def __init__(self, source: ColumnSource, limit: float, rng: np.random.Generator) -> None:
        self._source, self._limit, self._rng = source, limit, rng
        self._pool = CandidatePool(source.roots)
        self._closed = np.zeros(len(source.roots), dtype=bool)

    @property
    def exhausted(self) -> bool:
        """Whether every sample has been either chosen or skipped."""
        return bool(self._closed.all())

    def get(self, basis: OrthogonalBasis, sample: int, kernel: int) -> Candidate:
        """Return the requested candidate, whatever its gain.

        Raises
        ------
        numpy.linalg.LinAlgError
            If it depends on the basis.
        """
        Z = self._source(np.array([sample]), kernel)
        squares = row_squares(Z)
        coefficients = basis.project(Z)
        if depends(row_squares(Z), squares, basis, self._limit):
            raise np.linalg.LinAlgError(
                f"Cannot begin with the column of sample {sample} and kernel {kernel}: it depends "
                f"on those before it. Leave it out, or raise `max_condition`."
            )
        self._closed[sample] = True
        return Candidate(sample, kernel, Z[0], coefficients[0])

    def next(self, regression: OrthogonalRegression) -> Candidate | None:
        """Return the pool's candidate with the largest gain; None after 64 dependent ones in a row.

        A dependent sample (for example a copy of a centre) is never offered again, since the basis
        only grows.
        """
        passed = 0
        while passed < POOL:
            self._refill(regression)
            if len(self._pool) == 0:
                return None
            dependent = self._pool.dependent(regression.basis, self._limit)
            self._closed[self._pool.samples[dependent]] = True
            self._pool.drop(dependent)
            passed += int(dependent.sum())
            if len(self._pool):
                return self._pick(regression)
        return None

    def _pick(self, regression: OrthogonalRegression) -> Candidate:
        best = self._pool.candidate(int(np.argmax(self._pool.gains(regression))))
        self._closed[best.sample] = True
        self._pool.drop(self._pool.samples == best.sample)
        return best

    @abstractmethod
    def appended(self, basis: OrthogonalBasis) -> None:
        """Update the pool for the newest column of the basis."""

    @abstractmethod
    def _refill(self, regression: OrthogonalRegression) -> None:
        """Add samples to the pool when the rule requires it."""


class LargestResidual(Selector):
    """The rule ``"residual"``; it compares residuals without weights."""

    def appended(self, basis: OrthogonalBasis) -> None:
        self._pool = CandidatePool(self._source.roots)

    def _refill(self, regression: OrthogonalRegression) -> None:
        free = np.flatnonzero(~self._closed)
        if len(self._pool) or len(free) == 0:
            return
        errors = row_squares((regression.residual / self._source.roots).T)
        self._pool.offer(regression.basis, self._source, free[[np.argmax(errors[free])]])


class LargestGain(Selector):
    """The rule ``"gain"``."""

    _picked = 0

    def appended(self, basis: OrthogonalBasis) -> None:
        self._pool.deflate(basis)
        self._picked += 1

    def _refill(self, regression: OrthogonalRegression) -> None:
        if (len(self._pool) and self._picked < PICKS) or len(self._free()) == 0:
            return
        self._picked = 0
        ranks = np.argsort(np.argsort(-self._pool.gains(regression)))
        self._pool.drop(ranks >= POOL // 2)
        free = self._free()
        room = max(1, (POOL - len(self._pool)) // self._source.n_kernels)
        drawn = self._draw(row_squares(regression.residual.T)[free], min(room, len(free)))
        self._pool.offer(regression.basis, self._source, free[drawn])

    def _free(self) -> Array:
        """Samples that are neither closed nor in the pool."""
        taken = self._closed.copy()
        taken[self._pool.samples] = True
        return np.flatnonzero(~taken)

    def _draw(self, odds: Array, k: int) -> Array:
        """The first k positions, drawn without replacement with probabilities ∝ ``odds``."""
        delays = np.full(len(odds), np.inf)  # the smallest of Exp(1)/odds come first
        np.divide(self._rng.exponential(size=len(odds)), odds, out=delays, where=odds > 0)
        first = np.argpartition(delays, k - 1)[:k]
        return first[np.argsort(delays[first])]


SELECTION: dict[str, type[Selector]] = {"gain": LargestGain, "residual": LargestResidual}
