"""The engine of the fuzzy classifier: the regions of all classes with their slopes, immutable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gramian.core.arrays import Array, row_blocks
from gramian.core.engines import (
    AddedBlock,
    AddedByEdits,
    Engine,
    Holdings,
    State,
    Stored,
    check_semidefinite,
    left_out_by_removal,
    without_each_by_removal,
)
from gramian.core.gram import Rebuild
from gramian.core.kernels._precomputed import GramSamples
from gramian.core.validation import check_array, check_index, check_sequence, refuse
from gramian.ellipsoidal._regions import KernelRegion, Region
from gramian.ellipsoidal._slopes import class_nearest, slopes_scale, slopes_tune


class Tuning(NamedTuple):
    """How to tune slopes: by left-out distances or not, and parameters of `slopes_tune`."""

    left_out: bool
    max_sacrifice: int
    eta: float


@dataclass(frozen=True, eq=False)
class RegionsState(State):
    """What is kept of each class's region, and the slopes in the order of the classes."""

    kept: dict[Any, Any]
    slopes: Array

    @classmethod
    def validate(cls, values: Mapping[str, Any], stored: Stored) -> None:
        if values["kept"] is not None:  # else it is selected anew from the samples
            _validate_kept(values["kept"], stored.y)
        assert stored.classes is not None
        slopes = check_array(values["slopes"], "slopes", (len(stored.classes),), "f")
        if not (slopes > 0).all():
            refuse("slopes", "are not all positive")


def _validate_kept(kept: Any, y: Array) -> None:
    """For each class nothing, or its independent members and the coordinates of all."""
    labels, counts = np.unique(y, return_counts=True)
    members = dict(zip(labels.tolist(), counts.tolist(), strict=True))
    if not isinstance(kept, dict) or set(kept) != set(members):
        refuse("what is kept of the classes", "is not for the classes that the samples have")
    lengths = {len(check_sequence(part, "what is kept of a class")) for part in kept.values()}
    if lengths not in ({0}, {2}):
        refuse("what is kept of the classes", f"has {lengths} entries")
    for label, part in kept.items():
        if not part:
            continue
        basis = check_index(part[0], "a basis of a class", (None,), 0, members[label])
        check_array(part[1], "coordinates of a class", (members[label], len(basis)), "f")
        if (np.diff(basis) <= 0).any():
            refuse("a basis of a class", "is not in ascending order")


@dataclass(frozen=True, eq=False)
class RegionsPredictor:
    """Computes distances from the regions of one version, and decisions from the distances.

    With a precomputed kernel, a query is the row of its kernel values to all held samples.
    """

    regions: tuple[Region | None, ...]  # one for each class; None for a class without samples
    positions: tuple[Array, ...]  # positions of the members of each class among the held samples
    slopes: Array
    precomputed: bool

    def distances(self, X: Any, queries: bool | None = None) -> Array:
        """δ² from each class; ∞ for a class without samples."""
        classes = range(len(self.regions))
        return np.stack([self.class_distances(j, X, queries) for j in classes], axis=1)

    def class_distances(self, j: int, X: Any, queries: bool | None = None) -> Array:
        """δ² from class j, in blocks of bounded memory; ∞ for a class without samples."""
        region, members, out = self.regions[j], self.positions[j], np.full(X.shape[0], np.inf)
        if region is None:
            return out
        for rows in row_blocks(X.shape[0], len(members)):
            part = X[rows][:, members] if self.precomputed else X[rows]
            out[rows] = region.distances(region.adopt(part), queries)
        return out

    def outputs(self, X: Any) -> Array:
        """``−log(δ²/α)``; for two classes the difference, second minus first."""
        return self.decide(self.distances(X))

    def decide(self, distances: Array) -> Array:
        """Outputs for given distances."""
        with np.errstate(over="ignore", invalid="ignore"):
            logs = np.log(np.maximum(distances / self.slopes, np.finfo(float).tiny))
            if logs.shape[1] != 2:
                return -logs
            difference = logs[:, :1] - logs[:, 1:]
        return np.where(np.isnan(difference), 0.0, difference)  # infinitely far from both

    def nearest(self, X: Any) -> Array:
        """Index of the class with the smallest tuned distance."""
        return class_nearest(self.distances(X), self.slopes)


@dataclass(frozen=True, eq=False)
class RegionsEngine(Engine):
    """A region for each class that has samples, and a slope for each class.

    An edit returns a new engine that shares the regions of all classes it does not touch. Slopes
    stay; a new class receives the geometric mean of the others, since only ratios of slopes affect
    the decisions.
    """

    empty: Region  # a region without members, from which all others are built
    regions: Mapping[Any, Any]  # by label
    slopes: Mapping[Any, float]  # by label
    serves: object = None
    tuned: bool = False  # whether the slopes were tuned to samples
    past: tuple[Rebuild, ...] = ()
    edits: int = 0  # samples added or removed since the fit
    factor: ClassVar[str] = "cholesky"

    @classmethod
    def of(
        cls, empty: Region, holdings: Holdings, *, kept: Any = None, slopes: Any = 1.0, **own: Any
    ) -> RegionsEngine:
        """Build an engine for these holdings; ``kept`` of a saved `state` replaces selection.

        Slopes are given in the order of the classes, or as one number for all.
        """
        assert holdings.classes is not None
        regions = {}
        for label in np.unique(holdings.y).tolist():
            members = _members(empty, holdings, label)
            regions[label] = (
                empty.append(*members) if kept is None else empty.restore(*members, kept[label])
            )
        return cls(empty, regions, _by_label(holdings, slopes), holdings.version, **own)

    # -- edits ----------------------------------------------------------------------------------

    def append(self, before: Holdings, after: Holdings) -> RegionsEngine:
        """Add samples, O(n m) each to a class of n samples with m independent vectors."""
        samples = after.rows.samples()
        if isinstance(samples, GramSamples):
            check_semidefinite(samples.K)
        regions = dict(self.regions)
        for label in np.unique(after.y[len(before) :]).tolist():
            region = regions.get(label, self.empty)
            regions[label] = region.append(*_members(region, after, label))
        return self._moved(after, regions, len(after) - len(before))

    def remove(self, before: Holdings, after: Holdings, positions: Array) -> RegionsEngine:
        """Remove samples, O(n m) each, O(n m²) for an independent vector; a class may vanish."""
        regions, leaving = dict(self.regions), before.y[positions]
        for label in np.unique(leaving).tolist():
            members = np.flatnonzero(before.y == label)
            gone = np.searchsorted(members, positions[leaving == label])
            region = regions.pop(label)
            if len(gone) < len(members):
                regions[label] = region.remove(gone, *_members(region, after, label))
        return self._moved(after, regions, len(positions))

    def retuned(self, holdings: Holdings, how: Tuning) -> RegionsEngine:
        """Return an engine with slopes tuned to the held samples (kaieda2004, §7.6)."""
        distances = self.held_distances(holdings, left_out=how.left_out)
        labels, weight, (_, most, eta) = holdings.labels, holdings.weight, how
        found = slopes_tune(distances, labels, weight=weight, max_sacrifice=most, eta=eta)
        slopes = slopes_scale(distances, labels, found.alpha, weight)
        return replace(self, slopes=_by_label(holdings, slopes), tuned=True)

    def with_unlabelled(self, X: Any) -> RegionsEngine:
        """Return an engine with these queries among the unlabelled samples of every region."""
        assert isinstance(self.empty, KernelRegion)
        regions = {label: region.with_unlabelled(X) for label, region in self.regions.items()}
        return replace(self, regions=regions)

    def fresh(self, holdings: Holdings, reason: str | None = None) -> RegionsEngine:
        """Return the regions selected again from the holdings, with the same slopes."""
        regions = RegionsEngine.of(self.empty, holdings).regions
        return self._moved(holdings, regions, 0).recorded(reason, len(holdings))

    # -- reads ----------------------------------------------------------------------------------

    def predictor(self, holdings: Holdings) -> RegionsPredictor:
        assert holdings.classes is not None
        labels = holdings.classes.tolist()
        return RegionsPredictor(
            tuple(self.regions.get(label) for label in labels),
            tuple(np.flatnonzero(holdings.y == label) for label in labels),
            np.array([self.slopes[label] for label in labels]),
            isinstance(self.empty.members, GramSamples),
        )

    def loo(self, holdings: Holdings) -> Array:
        """Outputs from the region without the sample, with the present slopes."""
        if holdings.codes is not None:
            return left_out_by_removal(self, holdings)
        return self.predictor(holdings).decide(self.held_distances(holdings, left_out=True))

    def held_distances(
        self, holdings: Holdings, queries: bool | None = None, *, left_out: bool
    ) -> Array:
        """δ² of the held samples; if left out, from their own class without them."""
        X, predictor = holdings.rows.samples(), self.predictor(holdings)
        X = X.K if isinstance(X, GramSamples) else X
        if not left_out:
            return predictor.distances(X, queries)
        out = np.full((len(holdings), len(predictor.regions)), np.inf)
        for j, (region, own) in enumerate(zip(predictor.regions, predictor.positions, strict=True)):
            if region is not None:
                others = np.delete(np.arange(len(holdings)), own)
                out[others, j] = predictor.class_distances(j, X[others], queries)
                out[own, j] = region.loo_distances(queries)
        return out

    def added(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, AddedBlock]]:
        """Yield blocks of queries, each of which joins the region of its class; slopes stay."""
        return AddedByEdits.blocks(lambda own: replace(self, serves=own.version), holdings, X)

    def drift(self, holdings: Holdings) -> float:
        """The largest drift of a region."""
        return float(max(region.drift() for region in self.regions.values()))

    def without_each(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with their outputs (m, n, t) without each sample; slopes stay."""
        return without_each_by_removal(self, holdings, X)

    @property
    def chosen_on_data(self) -> tuple[str, ...]:
        return ("slopes",) if self.tuned else ()

    def state(self, holdings: Holdings) -> RegionsState:
        kept = {label: region.kept() for label, region in self.regions.items()}
        return RegionsState(kept, self.predictor(holdings).slopes)

    # -- inside ---------------------------------------------------------------------------------

    def _moved(self, after: Holdings, regions: Mapping[Any, Any], edits: int) -> RegionsEngine:
        """Return these regions as an engine for other holdings; known classes keep their slopes."""
        assert after.classes is not None
        mean = float(np.exp(np.mean(np.log(list(self.slopes.values())))))
        slopes = {label: self.slopes.get(label, mean) for label in after.classes.tolist()}
        edits += self.edits
        return replace(self, regions=regions, slopes=slopes, serves=after.version, edits=edits)


def _members(region: Region, holdings: Holdings, label: Any) -> tuple[Any, Array]:
    """Return the samples of a class in the form of its region, and their weights."""
    mine = np.flatnonzero(holdings.y == label)
    return region.adopt(holdings.rows.take(mine)), holdings.weight[mine]


def _by_label(holdings: Holdings, slopes: Any) -> dict[Any, float]:
    assert holdings.classes is not None
    labels = holdings.classes.tolist()
    return dict(zip(labels, np.broadcast_to(slopes, len(labels)).tolist(), strict=True))
