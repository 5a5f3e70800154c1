"""Queries against fixed bases: what they change, what each held sample changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.core.arrays import Array, to_host
from gramian.core.engines import AddedBlock, Holdings, query_blocks
from gramian.core.engines._row_queries import RowQueries
from gramian.core.equations import Added
from gramian.orthogonal._fixed_basis import FixedBasis
from gramian.orthogonal._normal_equations import basis_features

_KEPT_BYTES = 2**28  # features of samples that are kept while queries are answered


@dataclass(frozen=True, eq=False)
class BasisQueries:
    """One version of all bases, open to queries; centres and λ stay.

    Samples that were learned but are not held have no left-out values. They act as given.
    """

    bases: list[tuple[FixedBasis, RowQueries]]
    order: Array  # public columns among those of all bases
    holdings: Holdings

    @classmethod
    def of(
        cls, pairs: list[tuple[FixedBasis, Array]], holdings: Holdings, order: Array
    ) -> BasisQueries:
        """Open bases to queries, given the targets of the held samples for each."""
        opened = [(basis, _opened(basis, holdings, targets)) for basis, targets in pairs]
        return cls(opened, order, holdings)

    def added(self, X: Any) -> Iterator[tuple[slice, AddedBases]]:
        """Yield blocks of queries with the left-out values of all samples if one were added."""
        outputs = np.concatenate([basis.outputs for basis, _ in self.bases])
        for rows in self._blocks(X):
            parts = [queries.added(_features(basis, X[rows]))(1.0) for basis, queries in self.bases]
            yield rows, AddedBases(parts, outputs, self.order, self.holdings)

    def left_groups(self, codes: Array) -> Array:
        """Outputs (n, t) of the held samples without their groups."""
        parts = [queries.Y - queries.left_groups(codes) for _, queries in self.bases]
        return np.concatenate(parts, axis=1)[:, self.order]

    def without_each(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with their outputs (m, n, t) without each held sample."""
        for rows in self._blocks(X):
            codes = self.holdings.codes
            parts = [q.without_each(_features(b, X[rows]), codes) for b, q in self.bases]
            yield rows, np.concatenate(parts, axis=2)[..., self.order]

    def without_pairs(self) -> Iterator[tuple[Array, Array]]:
        """Yield positions (k,) with the outputs (k, n, t) at all held samples without two."""
        codes = self.holdings.codes
        for blocks in zip(*(queries.pairs(codes) for _, queries in self.bases), strict=True):
            pairs = zip(self.bases, blocks, strict=True)
            parts = [queries.Y - found.residuals for (_, queries), (_, found) in pairs]
            yield blocks[0][0], np.concatenate(parts, axis=2)[..., self.order]

    def smoother(self, X: Any) -> Array:
        """``∂f(x)/∂y_i`` at queries, (m, n, t): each output has the weights of its basis."""
        parts = [
            np.repeat(queries.smoother(_features(basis, X))[..., None], queries.Y.shape[1], axis=2)
            for basis, queries in self.bases
        ]
        return np.concatenate(parts, axis=2)[..., self.order]

    def variances(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with the variances of their outputs, the largest of all bases."""
        for rows in self._blocks(X):
            each = [q.variances(_features(b, X[rows])) * b.live.ridge for b, q in self.bases]
            yield rows, np.max(each, axis=0)

    def _blocks(self, X: Any) -> Iterator[slice]:
        shapes = [queries.Y.shape for _, queries in self.bases]
        return query_blocks(X.shape[0], shapes[0][0], sum(t for _, t in shapes))


@dataclass(frozen=True, eq=False)
class AddedBases(AddedBlock):
    """A block of queries against all bases; see `AddedBlock`."""

    parts: list[Added]
    outputs: Array
    order: Array
    holdings: Holdings

    @property
    def labels(self) -> Array:
        return self.holdings.labels

    def decisions(self, label: int) -> Array:
        y = np.where(self.outputs == self.holdings.classes[label], 1.0, -1.0)
        every = self._all()
        result: Array = (every.values + every.slope * y)[..., self.order]
        return result

    def lines(self) -> Added:
        """Left-out outputs of a regressor, as lines in the query's target."""
        return self.parts[0]  # the targets of a regression share one basis

    def _all(self) -> Added:
        slopes = [np.broadcast_to(part.slope, part.values.shape) for part in self.parts]
        values = [part.values for part in self.parts]
        return Added(np.concatenate(values, axis=2), np.concatenate(slopes, axis=2))


def _features(basis: FixedBasis, X: Any) -> Array:
    result: Array = to_host(basis_features(basis.live.U, basis.centres.rows(X)))
    return result


def _opened(basis: FixedBasis, holdings: Holdings, targets: Array) -> RowQueries:
    live, centres, samples = basis.live, basis.centres, holdings.rows.samples()

    def computed() -> Iterator[tuple[slice, Array]]:
        for rows, values in centres.blocks(samples, np.arange(len(holdings))):
            yield rows, to_host(basis_features(live.U, values))

    # Every block of queries passes over the features of all samples: they are kept where they fit,
    # which saves the O(m²) for each of them.
    fits = len(holdings) * len(live.U) * 8 <= _KEPT_BYTES
    kept = list(computed()) if fits else None

    def blocks() -> Iterator[tuple[slice, Array]]:
        return computed() if kept is None else iter(kept)

    found = live.normal.present_inverse(), live.orthogonal_weights
    return RowQueries.of(blocks, *found, targets, holdings.weight)
