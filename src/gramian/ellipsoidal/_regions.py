"""The region of one class: its members, and the ellipsoid around them.

Regions are immutable: `append` and `remove` return new ones. All classes start from one region
without members. The ellipsoid is computed when a distance is first requested.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse

from gramian.core.arrays import Array
from gramian.core.equations import Independent, independent_append, independent_remove
from gramian.core.kernels import Kernel
from gramian.core.kernels._precomputed import GramSamples
from gramian.ellipsoidal._ellipsoids import (
    InputEllipsoid,
    KernelEllipsoid,
    SvdEllipsoid,
    input_ellipsoid,
    input_loo_distances,
    kernel_ellipsoid,
    svd_ellipsoid,
    svd_loo_distances,
)
from gramian.ellipsoidal._left_out_members import kernel_loo_distances


@dataclass(frozen=True, eq=False)
class Region(ABC):
    """The members of a class, their weights, and squared distances δ² from their ellipsoid.

    Members are in order of arrival and in the form that `adopt` returns.
    """

    kernel: Kernel
    members: Any
    weight: Array
    _left_out: dict[bool, Array] = field(default_factory=dict, init=False, repr=False)

    def adopt(self, X: Any) -> Any:
        """Convert samples to the form that this region uses."""
        return in_double(X)

    def append(self, members: Any, weight: Array) -> Self:
        """Return the region with more members; pass all members, the new ones last."""
        return replace(self, members=members, weight=weight)

    def remove(self, positions: Array, members: Any, weight: Array) -> Self:
        """Return the region without the members at these positions; pass the remaining members."""
        return replace(self, members=members, weight=weight)

    def restore(self, members: Any, weight: Array, kept: tuple[Array, ...]) -> Self:
        """Return the region with these members and saved `kept`, without a new selection."""
        return replace(self, members=members, weight=weight)

    def kept(self) -> tuple[Array, ...]:
        """The state that edits update, besides the members."""
        return ()

    def drift(self) -> float:
        """Relative error of `kept`."""
        return 0.0

    @abstractmethod
    def distances(self, X: Any, queries: bool | None = None) -> Array:
        """δ² of each sample.

        ``queries`` says whether each sample adds a direction of its own (kaieda2004, §6.3), which
        only a `KernelRegion` supports; None uses the setting of the region.
        """

    def loo_distances(self, queries: bool | None = None) -> Array:
        """δ² of each member from the ellipsoid of the other members, computed once."""
        adds = self._adds(queries)
        if adds not in self._left_out:
            self._left_out[adds] = self._leave_out(adds)
        return self._left_out[adds]

    @abstractmethod
    def _leave_out(self, queries: bool) -> Array:
        """Compute the result of `loo_distances`."""

    def _adds(self, queries: bool | None) -> bool:
        return False


@dataclass(frozen=True, eq=False)
class InputRegion(Region):
    """The ellipsoid in the input space, with the floor ζ."""

    zeta: float

    def adopt(self, X: Any) -> Array:
        result: Array = in_double(X.toarray() if sparse.issparse(X) else X)
        return result

    def distances(self, X: Array, queries: bool | None = None) -> Array:
        return self._ellipsoid.distances(X)

    def _leave_out(self, queries: bool) -> Array:
        return input_loo_distances(self.members, self.zeta, self.weight)

    @cached_property
    def _ellipsoid(self) -> InputEllipsoid:
        return input_ellipsoid(self.members, self.zeta, self.weight)


@dataclass(frozen=True, eq=False)
class SvdRegion(Region):
    """The ellipsoid by the decomposition of all members' Gram matrix, with the floor σ."""

    sigma: float
    inverse_of_small: Literal["zero", "sigma"]

    def distances(self, X: Any, queries: bool | None = None) -> Array:
        return self._ellipsoid.distances(self.kernel(X, self.members))

    def _leave_out(self, queries: bool) -> Array:
        return svd_loo_distances(self._gram(), self.sigma, self.inverse_of_small, self.weight)

    @cached_property
    def _ellipsoid(self) -> SvdEllipsoid:
        return svd_ellipsoid(self._gram(), self.sigma, self.inverse_of_small, self.weight)

    def _gram(self) -> Array:
        return self.kernel(self.members, self.members)


@dataclass(frozen=True, eq=False)
class KernelRegion(Region):
    """The ellipsoid by kernel principal components, with the floor ε.

    Edits update the independent vectors of the members; unlabelled samples are appended to them
    when a distance is requested.
    """

    tau: float
    epsilon: float
    unlabelled: Any = None
    queries: bool = False
    independent: Independent = field(
        default_factory=lambda: Independent(np.empty(0, np.intp), np.empty((0, 0)))
    )

    def append(self, members: Any, weight: Array) -> Self:
        longer = super().append(members, weight)
        return replace(longer, independent=self._select(members))

    def remove(self, positions: Array, members: Any, weight: Array) -> Self:
        column, diagonal = self._column(members), self.kernel.diagonal(members)
        rest = independent_remove(self.independent, positions, column, diagonal, self.tau)
        return replace(self, members=members, weight=weight, independent=rest)

    def restore(self, members: Any, weight: Array, kept: tuple[Array, ...]) -> Self:
        return replace(self, members=members, weight=weight, independent=Independent(*kept))

    def with_unlabelled(self, X: Any) -> Self:
        """Return the region with all queries among its unlabelled samples (§8.1.1)."""
        X = self.adopt(X) if self.unlabelled is None else _stacked(self.unlabelled, self.adopt(X))
        return replace(self, unlabelled=X, queries=False)

    def kept(self) -> tuple[Array, ...]:
        return self.independent.basis, self.independent.coordinates

    def drift(self) -> float:
        """``max |k(x, b) − v(x)·v(b)|`` over members x and independent vectors b, relative."""
        v, basis = self.independent.coordinates, self.independent.basis
        error = self.kernel(self.members, self.members[basis]) - v @ v[basis].T
        largest = max(float(self.kernel.diagonal(self.members).max()), np.finfo(float).tiny)
        return float(np.abs(error).max(initial=0.0)) / largest

    def distances(self, X: Any, queries: bool | None = None) -> Array:
        cross = self.kernel(X, self._everyone[self.sequence.basis])
        if not self._adds(queries):
            return self._ellipsoid.distances(cross)
        mean = np.average(self.kernel(X, self.members), axis=1, weights=self.weight)
        return self._ellipsoid.query_distances(cross, self.kernel.diagonal(X), mean, self.tau)

    @cached_property
    def sequence(self) -> Independent:
        """Independent vectors of the members followed by the unlabelled samples."""
        return self.independent if self.unlabelled is None else self._select(self._everyone)

    def _leave_out(self, queries: bool) -> Array:
        return kernel_loo_distances(
            self.sequence,
            len(self.weight),
            self._column(self._everyone),
            self.kernel.diagonal(self._everyone),
            self.tau,
            self.epsilon,
            weight=self.weight,
            queries=queries,
            ellipsoid=self._ellipsoid,
        )

    def _adds(self, queries: bool | None) -> bool:
        adds = self.queries if queries is None else queries
        return adds and not isinstance(self.members, GramSamples)

    @cached_property
    def _everyone(self) -> Any:
        return self.members if self.unlabelled is None else _stacked(self.members, self.unlabelled)

    @cached_property
    def _ellipsoid(self) -> KernelEllipsoid:
        return kernel_ellipsoid(self.sequence, len(self.weight), self.epsilon, self.weight)

    def _select(self, samples: Any) -> Independent:
        """Select the independent vectors of samples, the first of which are the members."""
        known, n = self.independent, len(self.weight)
        cross = self.kernel(samples[n:], samples[known.basis])
        diagonal = self.kernel.diagonal(samples)
        _check_tau(self.tau, float(diagonal.max()))
        return independent_append(known, cross, self._column(samples), diagonal, self.tau)

    def _column(self, samples: Any) -> Any:
        return lambda j: self.kernel(samples, samples[j : j + 1])[:, 0]


def in_double(X: Any) -> Any:
    """Convert samples to double precision; GramSamples get a matrix of their own."""
    if isinstance(X, GramSamples):
        return GramSamples(X.K[np.ix_(X.index, X.index)].astype(np.float64, copy=False))
    if sparse.issparse(X):
        return X.astype(np.float64, copy=False)
    return np.ascontiguousarray(X, dtype=np.float64)


def _stacked(X: Any, Y: Any) -> Any:
    if sparse.issparse(X):
        return sparse.vstack([X, Y], format="csr")
    return np.vstack([X, Y])


def _check_tau(tau: float, largest: float) -> None:
    """Warn if rounding errors could make any sample an independent vector."""
    if tau < 10 * np.finfo(float).eps * largest:
        warnings.warn(
            f"tau={tau:g} is within the rounding errors of kernel values of {largest:.2g}, so that "
            "independent vectors cannot be told from others. Raise tau, or scale the samples.",
            RuntimeWarning,
            stacklevel=2,
        )
