"""The engine of several machines on the same samples, whose outputs are added with weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.core.arrays import Array, device_like, device_memory, side_by_side
from gramian.core.engines import (
    AddedBlock,
    DensePlan,
    Engine,
    Holdings,
    Predictor,
    Unbuilt,
    record_rebuild,
)
from gramian.core.equations import Added
from gramian.core.gram import NotPositiveDefiniteError, Rebuild, require_memory

MANY = 1000
"""Samples from which on an edit of several parts is worth several threads."""


@dataclass(frozen=True, eq=False)
class StackPlan:
    """The hyper-parameters of a stack, from which engines are built.

    Parameters
    ----------
    parts : tuple of GramPlan
    weights : ndarray of shape (S,)
        Of the outputs of the parts, ≥ 0.
    offset : ndarray of shape (t,) or float
        Added to the weighted sum.
    seen_by : tuple of str
        Names of the hyper-parameters that were chosen on samples.
    ready : list
        Engines of the parts that the choice has built, for the first call of `engine`.
    """

    parts: tuple[DensePlan, ...]
    weights: Array
    offset: Any = 0.0
    chosen_on_data: tuple[str, ...] = ()
    ready: list[Any] = field(default_factory=list)

    def engine(self, holdings: Holdings, history: tuple[Rebuild, ...] = ()) -> StackEngine:
        """Return an engine for these holdings: of the parts that are ready, or from scratch."""
        parts = tuple(self.ready)
        self.ready.clear()  # an engine changes with its samples, so that one model alone has it
        if not parts or any(part.serves is not holdings.version for part in parts):
            require_stack(len(self.parts), holdings)
            parts = tuple(_each(lambda part: part.engine(holdings), self.parts, holdings))
        return StackEngine(self, parts, history)

    def predictor(self, holdings: Holdings, state: Mapping[str, Any]) -> StackPredictor:
        """Return the reader from the `state` of an engine."""
        parts = zip(self.parts, state["parts"], strict=True)
        return self.read(tuple(part.predictor(holdings, kept) for part, kept in parts))

    def read(self, readers: tuple[Predictor, ...]) -> StackPredictor:
        """Return the reader that adds up these; a part of weight 0 is left out."""
        used = np.flatnonzero(self.weights) if self.weights.any() else np.array([0])
        return StackPredictor(tuple(readers[s] for s in used), self.weights[used], self.offset)


@dataclass(frozen=True, eq=False)
class StackPredictor:
    """``f(x) = Σ_s a_s f_s(x) + b``."""

    parts: tuple[Predictor, ...]
    weights: Array
    offset: Any

    def outputs(self, X: Any) -> Array:
        """Decision values or predictions of shape (len(X), t)."""
        return weighted_sum([part.outputs(X) for part in self.parts], self.weights, self.offset)


class StackEngine:
    """Engines over the same holdings, one for each part; every call goes to all of them.

    It serves a version when all parts do. An interrupt between two parts leaves them at different
    versions, so that the stack serves none and the model builds it again from its holdings.
    """

    def __init__(
        self,
        plan: StackPlan,
        parts: tuple[Any, ...],
        history: tuple[Rebuild, ...] = (),
    ) -> None:
        self.plan, self.parts, self.past = plan, parts, history

    @property
    def serves(self) -> object:
        """The version that all parts serve, or None."""
        first, *others = (part.serves for part in self.parts)
        return first if all(other is first for other in others) else None

    @property
    def history(self) -> tuple[Rebuild, ...]:
        return (*self.past, *(record for part in self.parts for record in part.history))

    @property
    def factor(self) -> str:
        """Names of the factors of the parts."""
        return ", ".join(part.factor for part in self.parts)

    # -- edits ----------------------------------------------------------------------------------

    def append(self, before: Holdings, after: Holdings) -> Engine:
        """Add samples to every part. If one refuses them, the others forget them again."""

        def append(part: Any) -> Any:
            try:
                return part.append(before, after)
            except NotPositiveDefiniteError as error:
                return error

        grown = _each(append, self.parts, after)
        refused = [part for part in grown if isinstance(part, NotPositiveDefiniteError)]
        if refused:
            new, both = np.arange(len(before), len(after)), zip(self.parts, grown, strict=True)
            self.parts = tuple(
                part if more in refused else more.remove(after, before, new) for part, more in both
            )
            raise refused[0]
        self.parts = tuple(grown)
        return self

    def remove(self, before: Holdings, after: Holdings, positions: Array) -> Engine:
        """Remove samples from every part."""
        parts = _each(lambda part: part.remove(before, after, positions), self.parts, before)
        self.parts = tuple(parts)
        return self

    def rebuild(self, holdings: Holdings, reason: str) -> Engine:
        """Rebuild one part after the other, so that one more than before is in memory at most."""
        history = self.history
        for s, plan in enumerate(self.plan.parts):
            self.parts = (*self.parts[:s], plan.engine(holdings), *self.parts[s + 1 :])
        self.past = history
        return record_rebuild(self, reason, len(holdings))

    def settle(self) -> None:
        for part in self.parts:
            part.settle()

    # -- reads ----------------------------------------------------------------------------------

    def predictor(self, holdings: Holdings) -> StackPredictor:
        parts = _each(lambda part: part.predictor(holdings), self.parts, holdings)
        return self.plan.read(tuple(parts))

    def loo(self, holdings: Holdings) -> Array:
        """Leave-one-out outputs with the weights held: the same sum, of those of the parts."""
        left_out = _each(lambda part: part.loo(holdings), self.parts, holdings)
        return weighted_sum(left_out, self.plan.weights, self.plan.offset)

    def added(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, AddedBlock]]:
        """Yield blocks of queries with the left-out outputs of all samples if one joined."""
        for blocks in zip(*(part.added(holdings, X) for part in self.parts), strict=True):
            yield blocks[0][0], AddedStack(tuple(block for _, block in blocks), self.plan)

    def without_each(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with their outputs (m, n, t) without each held sample."""
        for blocks in zip(*(part.without_each(holdings, X) for part in self.parts), strict=True):
            outputs = [values for _, values in blocks]
            yield blocks[0][0], weighted_sum(outputs, self.plan.weights, self.plan.offset)

    def drift(self, holdings: Holdings) -> float:
        """The largest drift of a part."""
        return max(part.drift(holdings) for part in self.parts)

    def fresh(self, holdings: Holdings, reason: str | None = None) -> Engine:
        """Return the same stack built from scratch."""
        return record_rebuild(self.plan.engine(holdings, self.history), reason, len(holdings))

    def frozen(self, holdings: Holdings) -> Unbuilt:
        """Return what a pickle stores: coefficients without matrices."""
        return Unbuilt(self.plan, self.state(holdings), self.history)

    def chosen_on_data(self) -> tuple[str, ...]:
        return ()

    def state(self, holdings: Holdings) -> dict[str, Any]:
        return {"parts": [part.state(holdings) for part in self.parts]}


@dataclass(frozen=True, eq=False)
class AddedStack(AddedBlock):
    """Queries that join every part; what they change is added up with the weights held."""

    parts: tuple[Any, ...]
    plan: StackPlan

    @property
    def labels(self) -> Array:
        return self.parts[0].labels

    def decisions(self, label: int) -> Array:
        left_out = [part.decisions(label) for part in self.parts]
        return weighted_sum(left_out, self.plan.weights, self.plan.offset)

    def lines(self) -> Added:
        """Left-out outputs of a regressor, as lines in the query's target."""
        values, slopes = zip(*(part.lines() for part in self.parts), strict=True)
        weights = self.plan.weights
        return Added(
            weighted_sum(values, weights, self.plan.offset), weighted_sum(slopes, weights, 0.0)
        )


def _each(function: Callable[[Any], Any], parts: Sequence[Any], holdings: Holdings) -> list[Any]:
    """``function(part)`` for each part; of many samples side by side, but not on a device."""
    many = len(holdings) >= MANY and device_memory(holdings.rows.samples()) is None
    return side_by_side(function, parts) if many else [function(part) for part in parts]


def weighted_sum(outputs: Sequence[Array], weights: Array, offset: Any) -> Array:
    """Σ_s a_s F_s + b, in the precision of the outputs."""
    total = offset + sum(a * F for a, F in zip(weights.tolist(), outputs, strict=True))
    return np.asarray(total, dtype=outputs[0].dtype)


def require_stack(parts: int, holdings: Holdings) -> None:
    """Raise MemoryError if there is no memory for the Gram matrices of so many parts."""
    size = parts * len(holdings) ** 2 * holdings.rows.dtype.itemsize
    what = f"Holding {parts} Gram matrices of {len(holdings)} samples"
    require_memory(size, what, device_like(holdings.rows.samples()))
