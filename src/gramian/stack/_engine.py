"""The engine of several estimators on the same samples, whose outputs are added with weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from gramian.core.arrays import Array, device_like
from gramian.core.engines import (
    AddedBlock,
    DeferredEngine,
    DenseState,
    Engine,
    Holdings,
    State,
    Stored,
    map_side_by_side,
)
from gramian.core.equations import Added
from gramian.core.gram import NotPositiveDefiniteError, Rebuild
from gramian.core.gram._memory import require_memory
from gramian.core.kernels._expansion import KernelExpansion, SumOfExpansions
from gramian.core.validation import check_keys, check_sequence

if TYPE_CHECKING:
    from gramian.stack._spec import StackSpec

Item = TypeVar("Item")
Result = TypeVar("Result")

MANY = 1000
"""Samples from which on an edit of several parts is worth several threads."""


@dataclass(frozen=True, eq=False)
class StackState(State):
    """The states of the parts."""

    follows_from_rows: ClassVar[bool] = True

    parts: tuple[DenseState, ...]

    @classmethod
    def validate(cls, values: Mapping[str, Any], stored: Stored) -> None:
        for part in check_sequence(values["parts"], "the parts"):
            DenseState.validate(check_keys(part, "a part", ("coefficients",)), stored)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        return cls(tuple(DenseState.from_values(part) for part in values["parts"]))

    def values(self) -> dict[str, Any]:
        return {"parts": [{"coefficients": part.coefficients} for part in self.parts]}


@dataclass(frozen=True, eq=False)
class StackPredictor:
    """``f(x) = Σ_s a_s f_s(x) + b``."""

    parts: tuple[SumOfExpansions, ...]
    weights: Array
    offset: Any

    def outputs(self, X: Any) -> Array:
        """Decision values or predictions of shape (len(X), t)."""
        return weighted_sum([part.outputs(X) for part in self.parts], self.weights, self.offset)

    def terms(self) -> tuple[KernelExpansion, ...]:
        """Those of the parts, with their weights."""
        weighted = zip(self.weights, self.parts, strict=True)
        first, *rest = (
            replace(term, coefficients=a * term.coefficients, intercept=a * term.intercept)
            for a, part in weighted
            for term in part.terms()
        )
        return (replace(first, intercept=first.intercept + self.offset), *rest)


class StackEngine(Engine):
    """Engines over the same holdings, one for each part; every call goes to all of them.

    It serves a version when all parts do. An interrupt between two parts leaves them at different
    versions, so that the stack serves none and the model builds it again from its holdings.
    """

    def __init__(
        self,
        spec: StackSpec,
        parts: tuple[Engine, ...],
        history: tuple[Rebuild, ...] = (),
    ) -> None:
        self.spec, self.parts, self.past = spec, parts, history

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

        def append(part: Engine) -> Engine | NotPositiveDefiniteError:
            try:
                return part.append(before, after)
            except NotPositiveDefiniteError as error:
                return error

        grown = _each(append, self.parts, after)
        refused = [error for error in grown if isinstance(error, NotPositiveDefiniteError)]
        parts = [part for part in grown if isinstance(part, Engine)]
        if refused:
            new, left = np.arange(len(before), len(after)), iter(parts)
            self.parts = tuple(
                next(left).remove(after, before, new) if isinstance(found, Engine) else part
                for part, found in zip(self.parts, grown, strict=True)
            )
            raise refused[0]
        self.parts = tuple(parts)
        return self

    def remove(self, before: Holdings, after: Holdings, positions: Array) -> Engine:
        """Remove samples from every part."""
        parts = _each(lambda part: part.remove(before, after, positions), self.parts, before)
        self.parts = tuple(parts)
        return self

    def rebuild(self, holdings: Holdings, reason: str) -> Engine:
        """Rebuild one part after the other, so that one more than before is in memory at most."""
        history = self.history
        for s, spec in enumerate(self.spec.parts):
            self.parts = (*self.parts[:s], spec.build(holdings), *self.parts[s + 1 :])
        self.past = history
        return self.recorded(reason, len(holdings))

    def settle(self) -> None:
        for part in self.parts:
            part.settle()

    # -- reads ----------------------------------------------------------------------------------

    def predictor(self, holdings: Holdings) -> StackPredictor:
        predictors = _each(lambda part: part.predictor(holdings), self.parts, holdings)
        return self.spec.combined(tuple(predictors))

    def loo(self, holdings: Holdings) -> Array:
        """Leave-one-out outputs with the weights held: the same sum, of those of the parts."""
        left_out = _each(lambda part: part.loo(holdings), self.parts, holdings)
        return weighted_sum(left_out, self.spec.shares, self.spec.offset)

    def added(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, AddedBlock]]:
        """Yield blocks of queries with the left-out outputs of all samples if one joined."""
        for blocks in _in_step([part.added(holdings, X) for part in self.parts], holdings):
            yield blocks[0][0], AddedStack(tuple(block for _, block in blocks), self.spec)

    def without_each(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with their outputs (m, n, t) without each held sample."""
        for blocks in _in_step([part.without_each(holdings, X) for part in self.parts], holdings):
            outputs = [values for _, values in blocks]
            yield blocks[0][0], weighted_sum(outputs, self.spec.shares, self.spec.offset)

    def without_pairs(self, holdings: Holdings) -> Iterator[tuple[Array, Array]]:
        """Yield samples i with outputs (k, n, t) at all samples j without both: sums over parts."""
        for blocks in _in_step([part.without_pairs(holdings) for part in self.parts], holdings):
            outputs = [values for _, values in blocks]
            yield blocks[0][0], weighted_sum(outputs, self.spec.shares, self.spec.offset)

    def pair_effects(self, holdings: Holdings, X: Any) -> Array:
        """What outputs at queries lose without two samples: sums over parts."""
        effects = [part.pair_effects(holdings, X) for part in self.parts]
        return weighted_sum(effects, self.spec.shares, 0.0)

    def drift(self, holdings: Holdings) -> float:
        """The largest drift of a part."""
        return max(part.drift(holdings) for part in self.parts)

    def fresh(self, holdings: Holdings, reason: str | None = None) -> Engine:
        """Return the same stack built from scratch."""
        return self.spec.build(holdings, self.history).recorded(reason, len(holdings))

    def deferred(self, holdings: Holdings) -> Engine:
        """Return what a pickle stores: coefficients without matrices."""
        return DeferredEngine(self.spec, self.history, self.state(holdings))

    def state(self, holdings: Holdings) -> StackState:
        return StackState(tuple(_dense_state(part, holdings) for part in self.parts))


@dataclass(frozen=True, eq=False)
class AddedStack(AddedBlock):
    """Queries that join every part; what they change is added up with the weights held."""

    parts: tuple[Any, ...]
    spec: StackSpec

    @property
    def labels(self) -> Array:
        result: Array = self.parts[0].labels
        return result

    def decisions(self, label: int) -> Array:
        left_out = [part.decisions(label) for part in self.parts]
        return weighted_sum(left_out, self.spec.shares, self.spec.offset)

    def lines(self) -> Added:
        """Left-out outputs of a regressor, as lines in the query's target."""
        values, slopes, spreads = zip(*(part.lines() for part in self.parts), strict=True)
        weights = self.spec.shares
        return Added(
            weighted_sum(values, weights, self.spec.offset),
            weighted_sum(slopes, weights, 0.0),
            weighted_sum(spreads, weights if weights.any() else weights + 1.0, 0.0),
        )


def _each(
    function: Callable[[Item], Result], parts: Sequence[Item], holdings: Holdings
) -> list[Result]:
    """``function(part)`` for each part; side by side where samples are many."""
    if len(holdings) < MANY:
        return [function(part) for part in parts]
    return map_side_by_side(function, parts, holdings)


def _in_step(parts: list[Iterator[Item]], holdings: Holdings) -> Iterator[list[Item]]:
    """Yield the next block of every part, all of the same queries or samples, until the last."""
    while True:
        blocks = _each(lambda part: next(part, None), parts, holdings)
        found = [block for block in blocks if block is not None]
        if not found:
            return
        yield found


def weighted_sum(outputs: Sequence[Array], weights: Array, offset: Any) -> Array:
    """Σ_s a_s F_s + b, in the precision of the outputs."""
    terms = [a * F for a, F in zip(weights.tolist(), outputs, strict=True)]
    total = reduce(add, terms)
    return np.asarray(offset + total if np.any(offset) else total, dtype=outputs[0].dtype)


def _dense_state(part: Engine, holdings: Holdings) -> DenseState:
    state = part.state(holdings)
    assert isinstance(state, DenseState)
    return state


def require_stack(parts: int, holdings: Holdings) -> None:
    """Raise MemoryError if there is no memory for the Gram matrices of so many parts."""
    size = parts * len(holdings) ** 2 * holdings.rows.dtype.itemsize
    what = f"Holding {parts} Gram matrices of {len(holdings)} samples"
    require_memory(size, what, device_like(holdings.rows.samples()))
