"""Queries that join the held samples, one at a time: what leave-one-out would then be."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gramian.core.arrays import Array, row_blocks, to_host
from gramian.core.engines._holdings import Holdings
from gramian.core.engines._rows import make_rows
from gramian.core.equations import (
    Added,
    BestOthers,
    adaptive_scores,
    finite_outputs,
    margin_slope,
    nonconformity,
)
from gramian.core.gram import NotPositiveDefiniteError
from gramian.core.kernels import Kernel
from gramian.core.kernels._precomputed import GramSamples


class AddedBlock(ABC):
    """A block of queries, each of which is added alone; the last sample is the query."""

    labels: Any
    """Index of each held sample's class, for a classifier."""

    @abstractmethod
    def decisions(self, label: int) -> Array:
        """Left-out outputs (m, n + 1, t) of a classifier if the queries had this class."""

    def scores(self, label: int) -> Array:
        """Nonconformity (m, n + 1) of all samples if the queries had this class."""
        return nonconformity(self.decisions(label), np.append(self.labels, label))

    def adaptive_scores(self, label: int, shares: Array) -> Array:
        """Adaptive scores (m, n + 1) if the queries had this class; see `margin_slope`.

        ``shares`` (m, n + 1) are the random numbers of all samples; the query's come last.
        """
        F, labels = finite_outputs(self.decisions(label)), np.append(self.labels, label)
        return adaptive_scores(F, labels, margin_slope(F, labels)[:, None], shares)


@dataclass(frozen=True, eq=False)
class AddedQueries(AddedBlock):
    """An `AddedBlock` of an estimator that is linear in its target columns.

    Parameters
    ----------
    left_out : callable
        Returns `Added` for the target columns, given the weight of a query; computed once for each.
    targets : Targets
        Those of the held samples.
    weights : ndarray of shape (n_classes,), optional
        Weight of a query of each class; 1 by default.
    """

    left_out: Callable[[float], Added]
    targets: Any
    weights: Array | None = None
    others: dict[float, BestOthers] = field(default_factory=dict)

    @property
    def labels(self) -> Array:
        result: Array = self.targets.labels
        return result

    def lines(self) -> Added:
        """Left-out outputs of a regressor, as lines in the query's target."""
        return Added(*map(to_host, self.left_out(1.0)))

    def decisions(self, label: int) -> Array:
        weight = self._weight(label)
        added = self.left_out(weight)
        F = np.array(added.values)
        F[..., label] += np.asarray(added.slope[..., 0])
        result: Array = self.targets.added(label, weight).combine_left_out(F)
        return result

    def scores(self, label: int) -> Array:
        """Nonconformity, O(n) for each label if the targets are signs."""
        if self.targets.kind != "signs":
            return super().scores(label)
        weight = self._weight(label)
        if weight not in self.others:
            added = self.left_out(weight)
            self.others[weight] = BestOthers.of(added.values, added.slope, self.labels)
        return self.others[weight].scores(label)

    def _weight(self, label: int) -> float:
        return 1.0 if self.weights is None else float(self.weights[label])


@dataclass(eq=False)
class Rehearsal:
    """An engine that learns samples for a moment; it is built again if one left it changed.

    Parameters
    ----------
    build : callable
        Returns an engine for given holdings.
    holdings : Holdings
        The samples without the one that comes, with rows of their own.
    engine : Engine
        Valid for ``holdings``, and changed by this object alone.
    """

    build: Callable[[Holdings], Any]
    holdings: Holdings
    engine: Any

    def loo(self, after: Holdings) -> Array:
        """Leave-one-out outputs (n + 1, t) with the sample that ``after`` has in addition."""
        if self.engine.serves is not self.holdings.version:
            self.engine = self.build(self.holdings)
        try:
            engine = self.engine.append(self.holdings, after)
        except NotPositiveDefiniteError:  # what an update refuses may be learned from scratch
            try:
                return np.asarray(self.engine.fresh(after).loo(after))
            except NotPositiveDefiniteError as error:
                error.asked = "learning a query"
                raise
        found = np.asarray(engine.loo(after))
        with suppress(np.linalg.LinAlgError):  # then the next call builds it
            self.engine = engine.remove(after, self.holdings, np.array([len(self.holdings)]))
        return found


@dataclass(frozen=True, eq=False)
class AddedByEdits(AddedBlock):
    """An `AddedBlock` of any classifier: learns each query, leaves each sample out, forgets it.

    Parameters
    ----------
    rehearsal : Rehearsal
    X : samples
        The queries.
    """

    rehearsal: Rehearsal
    X: Any

    @property
    def labels(self) -> Array:
        return self.rehearsal.holdings.labels

    @classmethod
    def blocks(
        cls, build: Callable[[Holdings], Any], holdings: Holdings, X: Any
    ) -> Iterator[tuple[slice, AddedByEdits]]:
        """Yield queries in blocks; ``build`` returns a copy of the engine for given holdings."""
        samples = holdings.rows.samples()
        rows = make_rows(holdings.rows.samples_copy(), precomputed=isinstance(samples, GramSamples))
        own = replace(holdings, rows=rows, version=object())
        rehearsal = Rehearsal(build, own, build(own))
        for some in query_blocks(X.shape[0], len(holdings), 1 + len(holdings.classes)):
            yield some, cls(rehearsal, X[some])

    def decisions(self, label: int) -> Array:
        holdings, one = self.rehearsal.holdings, np.ones(1)
        assert holdings.classes is not None
        y, ids = holdings.classes[[label]], holdings.ids[:1]
        queries = (self.X[[i]] for i in range(self.X.shape[0]))
        return np.stack([self.rehearsal.loo(holdings.appended(x, y, one, ids, 0)) for x in queries])


def query_blocks(m: int, n: int, t: int) -> Iterator[slice]:
    """Cut m queries into blocks, for numbers of shape (queries, n + 1, t + 1).

    Blocks of 8 MB stay near the processor; those of many samples have 16 queries, which share one
    pass over P, unless these need more than 64 MB.
    """
    row = 8 * (n + 1) * (t + 1)
    return row_blocks(m, row, itemsize=1, budget=min(max(2**23, 16 * row), 2**26))


def meet(kernel: Kernel, X: Any, samples: Any) -> tuple[Array, Array]:
    """Kernel values (m, n) of queries, on the device of the samples, and (m,) of each with itself.

    With a precomputed kernel these are the columns of X, the last for ``k(x, x)``.
    """
    if isinstance(samples, GramSamples):
        return X[:, :-1], X[:, -1]
    return kernel(X, samples), np.asarray(kernel.diagonal(X))
