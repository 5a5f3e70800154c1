"""The regions of the fuzzy classifier: for each class its members and the ellipsoid around them.

Regions are never changed: `append` and `remove` return new ones, so that a call that fails leaves
the old. An ellipsoid is computed when a distance from it is first asked for.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse

from gramian.arrays import Array, row_blocks
from gramian.estimators.ellipsoidal._members import GramMembers, Members
from gramian.machines._ellipsoids import (
    InputEllipsoid,
    KernelEllipsoid,
    SvdEllipsoid,
    input_ellipsoid,
    input_loo_distances,
    kernel_ellipsoid,
    svd_ellipsoid,
    svd_loo_distances,
)
from gramian.machines._independent import Independent, independent_append, independent_remove
from gramian.machines._left_out_members import kernel_loo_distances

# --- one class ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Region(ABC):
    """The members of a class, their weights, and squared distances from their ellipsoid."""

    members: Members
    weight: Array

    def append(self, X: Any, weight: Array) -> Self:
        """The region with more members."""
        return replace(self, members=self.members.append(X), weight=np.append(self.weight, weight))

    def remove(self, positions: Array) -> Self:
        """The region without the members at these positions."""
        members = self.members.remove(positions)
        return replace(self, members=members, weight=np.delete(self.weight, positions))

    @abstractmethod
    def distances(self, X: Any, queries: bool | None = None) -> Array:
        """``δ²`` of each sample.

        ``queries`` says whether a sample adds a direction of its own (kaieda2004, §6.3), which
        only a `KernelRegion` lets it do; None is as the region is set.
        """

    @abstractmethod
    def loo_distances(self, queries: bool | None = None) -> Array:
        """``δ²`` of each member from the ellipsoid of the others."""

    def drift(self) -> float:
        """Relative error of what is kept from edit to edit: nothing is, here."""
        return 0.0

    def kept(self) -> tuple[Array, ...]:
        """What is kept from edit to edit besides the members."""
        return ()

    def restore(self, X: Any, weight: Array, kept: tuple[Array, ...]) -> Self:
        """The empty region with members, and what was kept of them."""
        return self.append(X, weight)


@dataclass(frozen=True, eq=False)
class InputRegion(Region):
    """The ellipsoid in the input space, with the floor ζ."""

    zeta: float

    @cached_property
    def _ellipsoid(self) -> InputEllipsoid:
        return input_ellipsoid(self.members.X, self.zeta, self.weight)

    def distances(self, X: Array, queries: bool | None = None) -> Array:
        return self._ellipsoid.distances(X)

    def loo_distances(self, queries: bool | None = None) -> Array:
        return input_loo_distances(self.members.X, self.zeta, self.weight)


@dataclass(frozen=True, eq=False)
class SvdRegion(Region):
    """The ellipsoid by the decomposition of all members' Gram matrix, with the floor σ."""

    sigma: float
    inverse_of_small: Literal["zero", "sigma"]

    @cached_property
    def _ellipsoid(self) -> SvdEllipsoid:
        return svd_ellipsoid(self._gram(), self.sigma, self.inverse_of_small, self.weight)

    def distances(self, X: Any, queries: bool | None = None) -> Array:
        return self._ellipsoid.distances(self.members.cross(X))

    def loo_distances(self, queries: bool | None = None) -> Array:
        return svd_loo_distances(self._gram(), self.sigma, self.inverse_of_small, self.weight)

    def _gram(self) -> Array:
        return self.members.cross(self.members.X)


@dataclass(frozen=True, eq=False)
class KernelRegion(Region):
    """The ellipsoid by kernel principal components, with the floor ε.

    The members' independent vectors are kept from edit to edit; unlabelled samples are put after
    them when a distance is asked for.
    """

    tau: float
    epsilon: float
    unlabelled: Any = None
    queries: bool = False
    independent: Independent = field(
        default_factory=lambda: Independent(np.empty(0, np.intp), np.empty((0, 0)))
    )

    def append(self, X: Any, weight: Array) -> Self:
        longer = super().append(X, weight)
        return replace(longer, independent=self._select(X, longer.members))

    def remove(self, positions: Array) -> Self:
        rest = super().remove(positions)
        column, diagonal = rest.members.column, rest.members.diagonal()
        state = independent_remove(self.independent, positions, column, diagonal, self.tau)
        return replace(rest, independent=state)

    def with_unlabelled(self, X: Any) -> Self:
        """The region with queries among its unlabelled samples, all at once (§8.1.1)."""
        if self.unlabelled is not None:
            X = replace(self.members, X=self.unlabelled).append(X).X
        return replace(self, unlabelled=X, queries=False)

    def distances(self, X: Any, queries: bool | None = None) -> Array:
        cross = self._everyone.cross(X, self._sequence.basis)
        if not self._adds(queries):
            return self._ellipsoid.distances(cross)
        mean = np.average(self.members.cross(X), axis=1, weights=self.weight)
        return self._ellipsoid.query_distances(cross, self.members.diagonal(X), mean, self.tau)

    def loo_distances(self, queries: bool | None = None) -> Array:
        return kernel_loo_distances(
            self._sequence,
            len(self.members),
            self._everyone.column,
            self._everyone.diagonal(),
            self.tau,
            self.epsilon,
            weight=self.weight,
            queries=self._adds(queries),
        )

    def drift(self) -> float:
        """``max |k(x, b) − v(x)·v(b)|`` over members x and independent vectors b, relative."""
        v, basis = self.independent.coordinates, self.independent.basis
        error = self.members.cross(self.members.X, basis) - v @ v[basis].T
        largest = max(float(self.members.diagonal().max()), np.finfo(float).tiny)
        return float(np.abs(error).max(initial=0.0)) / largest

    def kept(self) -> tuple[Array, ...]:
        return self.independent.basis, self.independent.coordinates

    def restore(self, X: Any, weight: Array, kept: tuple[Array, ...]) -> Self:
        return replace(super().append(X, weight), independent=Independent(*kept))

    def _adds(self, queries: bool | None) -> bool:
        asked = self.queries if queries is None else queries
        return asked and not isinstance(self.members, GramMembers)

    @cached_property
    def _everyone(self) -> Members:
        return self.members if self.unlabelled is None else self.members.append(self.unlabelled)

    @cached_property
    def _sequence(self) -> Independent:
        if self.unlabelled is None:
            return self.independent
        return self._select(self.unlabelled, self._everyone)

    @cached_property
    def _ellipsoid(self) -> KernelEllipsoid:
        return kernel_ellipsoid(self._sequence, len(self.members), self.epsilon, self.weight)

    def _select(self, X: Any, longer: Members) -> Independent:
        """The independent vectors of ``longer``, which is the members and then X."""
        cross, diagonal = self.members.cross(X, self.independent.basis), longer.diagonal()
        _check_tau(self.tau, float(diagonal.max()))
        return independent_append(self.independent, cross, longer.column, diagonal, self.tau)


def _check_tau(tau: float, largest: float) -> None:
    """Warn where rounding could make any sample an independent vector."""
    if tau < 10 * np.finfo(float).eps * largest:
        warnings.warn(
            f"tau={tau:g} is within the rounding errors of kernel values of {largest:.2g}, so that "
            "independent vectors cannot be told from others. Raise tau, or scale the samples.",
            RuntimeWarning,
            stacklevel=2,
        )


# --- all classes --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Regions:
    """The regions of all classes, which grow from one empty region.

    Attributes
    ----------
    empty : Region
        Without members.
    labels : ndarray of shape (n,)
        The class of each sample, in order of arrival.
    by_label : mapping
        The region of each class that has samples.
    """

    empty: Region
    labels: Array
    by_label: Mapping[Any, Any] = field(default_factory=dict)

    @property
    def precomputed(self) -> bool:
        return isinstance(self.empty.members, GramMembers)

    def append(self, X: Any, labels: Array, weight: Array) -> Self:
        """Let samples enter, each its class."""
        longer, regions = np.concatenate([self.labels, labels]), dict(self.by_label)
        for label, new, part in self._parts(X, labels, longer):
            regions[label] = regions.get(label, self.empty).append(part, weight[new])
        return replace(self, labels=longer, by_label=regions)

    def kept(self) -> dict[Any, tuple[Array, ...]]:
        """What the regions keep from edit to edit besides the samples."""
        return {label: region.kept() for label, region in self.by_label.items()}

    def restore(self, X: Any, labels: Array, weight: Array, kept: Mapping[Any, Any]) -> Self:
        """The same regions from no samples, by what was `kept`: nothing is selected anew."""
        regions = {
            label: self.empty.restore(part, weight[new], kept[label])
            for label, new, part in self._parts(X, labels, labels)
        }
        return replace(self, labels=labels.copy(), by_label=regions)

    def remove(self, positions: Array) -> Self:
        """Take the samples at these positions out, ascending ones; a class may vanish."""
        leaving, regions = self.labels[positions], dict(self.by_label)
        for label in np.unique(leaving).tolist():
            members = self._members(label)
            gone = np.searchsorted(members, positions[leaving == label])
            region = regions.pop(label)
            if len(gone) < len(members):
                regions[label] = region.remove(gone)
        return replace(self, labels=np.delete(self.labels, positions), by_label=regions)

    def with_unlabelled(self, X: Any) -> Self:
        """Every region with these queries among its unlabelled samples."""
        X = self._samples(X)
        regions = {label: region.with_unlabelled(X) for label, region in self.by_label.items()}
        return replace(self, by_label=regions)

    def distances(self, X: Any, classes: Array, queries: bool | None = None) -> Array:
        """``δ²`` from each class, in blocks of bounded memory; ∞ from one without samples."""
        X = self._samples(X)
        out = np.full((X.shape[0], len(classes)), np.inf)
        for j, label in enumerate(classes.tolist()):
            members = self._members(label)
            for rows in row_blocks(X.shape[0] if len(members) else 0, len(members)):
                part = self._seen(X[rows], members)
                out[rows, j] = self.by_label[label].distances(part, queries)
        return out

    def loo_distances(self, X: Any, classes: Array, queries: bool | None = None) -> Array:
        """``δ²`` of the held samples X, from their own class as it is without them."""
        out = self.distances(X, classes, queries)
        for j, label in enumerate(classes.tolist()):
            if label in self.by_label:
                out[self._members(label), j] = self.by_label[label].loo_distances(queries)
        return out

    def drift(self) -> float:
        """The largest of the regions'."""
        return max(region.drift() for region in self.by_label.values())

    def _parts(self, X: Any, labels: Array, longer: Array) -> Iterator[tuple[Any, Array, Any]]:
        """For each class of the last samples in ``longer``: label, positions, and those samples."""
        X = self._samples(X)
        for label in np.unique(labels).tolist():
            new = np.flatnonzero(labels == label)
            yield label, new, self._seen(X[new], np.flatnonzero(longer == label))

    def _members(self, label: Any) -> Array:
        """Positions of the samples of one class."""
        return np.flatnonzero(self.labels == label)

    def _samples(self, X: Any) -> Any:
        """Samples as the regions hold them: in double precision, and dense unless they are CSR."""
        if sparse.issparse(self.empty.members.X):
            return X.astype(np.float64, copy=False)
        return np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)

    def _seen(self, X: Any, members: Array) -> Any:
        """Samples as a class sees them: of precomputed values, those to its members."""
        return X[:, members] if self.precomputed else X
