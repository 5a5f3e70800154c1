"""The engine of several machines on the same samples, whose outputs are added with weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.core.arrays import Array, home_of
from gramian.core.engines import Engine, GramPlan, Holdings, JoinedBlock, Reader, Unbuilt, noted
from gramian.core.equations import Joined
from gramian.core.gram import NotPositiveDefiniteError, Refactorization, require_memory


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

    parts: tuple[GramPlan, ...]
    weights: Array
    offset: Any = 0.0
    seen_by: tuple[str, ...] = ()
    ready: list[Any] = field(default_factory=list)

    def engine(self, held: Holdings, history: tuple[Refactorization, ...] = ()) -> StackEngine:
        """Return an engine for these holdings: of the parts that are ready, or from scratch."""
        parts = tuple(self.ready)
        self.ready.clear()  # an engine changes with its samples, so that one model alone has it
        if not parts or any(part.serves is not held.version for part in parts):
            require_stack(len(self.parts), held)
            parts = tuple(part.engine(held) for part in self.parts)
        return StackEngine(self, parts, history)

    def reader(self, held: Holdings, state: Mapping[str, Any]) -> StackReader:
        """Return the reader from the `state` of an engine."""
        parts = zip(self.parts, state["parts"], strict=True)
        return self.read(tuple(part.reader(held, kept) for part, kept in parts))

    def read(self, readers: tuple[Reader, ...]) -> StackReader:
        """Return the reader that adds up these; a part of weight 0 is left out."""
        used = np.flatnonzero(self.weights) if self.weights.any() else np.array([0])
        return StackReader(tuple(readers[s] for s in used), self.weights[used], self.offset)


@dataclass(frozen=True, eq=False)
class StackReader:
    """``f(x) = Σ_s a_s f_s(x) + b``."""

    parts: tuple[Reader, ...]
    weights: Array
    offset: Any

    def outputs(self, X: Any) -> Array:
        """Decision values or predictions of shape (len(X), t)."""
        return added([part.outputs(X) for part in self.parts], self.weights, self.offset)


class StackEngine:
    """Engines over the same holdings, one for each part; every call goes to all of them.

    It serves a version when all parts do. An interrupt between two parts leaves them at different
    versions, so that the stack serves none and the model builds it again from its holdings.
    """

    def __init__(
        self,
        plan: StackPlan,
        parts: tuple[Any, ...],
        history: tuple[Refactorization, ...] = (),
    ) -> None:
        self.plan, self.parts, self.past = plan, parts, history

    @property
    def serves(self) -> object:
        """The version that all parts serve, or None."""
        first, *others = (part.serves for part in self.parts)
        return first if all(other is first for other in others) else None

    @property
    def history(self) -> tuple[Refactorization, ...]:
        return (*self.past, *(record for part in self.parts for record in part.history))

    @property
    def factor(self) -> str:
        """Names of the factors of the parts."""
        return ", ".join(part.factor for part in self.parts)

    # -- edits ----------------------------------------------------------------------------------

    def append(self, before: Holdings, after: Holdings) -> Engine:
        """Add samples to every part. If one refuses them, the others forget them again."""
        grown: list[Any] = []
        try:
            for part in self.parts:
                grown.append(part.append(before, after))
        except NotPositiveDefiniteError:
            new = np.arange(len(before), len(after))
            restored = [part.remove(after, before, new) for part in grown]
            self.parts = (*restored, *self.parts[len(grown) :])
            raise
        self.parts = tuple(grown)
        return self

    def remove(self, before: Holdings, after: Holdings, positions: Array) -> Engine:
        """Remove samples from every part."""
        self.parts = tuple(part.remove(before, after, positions) for part in self.parts)
        return self

    def refactor(self, held: Holdings, reason: str) -> Engine:
        """Rebuild one part after the other, so that one more than before is in memory at most."""
        history = self.history
        for s, plan in enumerate(self.plan.parts):
            self.parts = (*self.parts[:s], plan.engine(held), *self.parts[s + 1 :])
        self.past = history
        return noted(self, reason, len(held))

    def settle(self) -> None:
        for part in self.parts:
            part.settle()

    # -- reads ----------------------------------------------------------------------------------

    def reader(self, held: Holdings) -> StackReader:
        return self.plan.read(tuple(part.reader(held) for part in self.parts))

    def loo(self, held: Holdings) -> Array:
        """Leave-one-out outputs with the weights held: the same sum, of those of the parts."""
        left_out = [part.loo(held) for part in self.parts]
        return added(left_out, self.plan.weights, self.plan.offset)

    def joined(self, held: Holdings, X: Any) -> Iterator[tuple[slice, JoinedBlock]]:
        """Yield blocks of queries with the left-out outputs of all samples if one joined."""
        for blocks in zip(*(part.joined(held, X) for part in self.parts), strict=True):
            yield blocks[0][0], JoinedStack(tuple(block for _, block in blocks), self.plan)

    def departed(self, held: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with their outputs (m, n, t) without each held sample."""
        for blocks in zip(*(part.departed(held, X) for part in self.parts), strict=True):
            outputs = [values for _, values in blocks]
            yield blocks[0][0], added(outputs, self.plan.weights, self.plan.offset)

    def drift(self, held: Holdings) -> float:
        """The largest drift of a part."""
        return max(part.drift(held) for part in self.parts)

    def fresh(self, held: Holdings, reason: str | None = None) -> Engine:
        """Return the same stack built from scratch."""
        return noted(self.plan.engine(held, self.history), reason, len(held))

    def frozen(self, held: Holdings) -> Unbuilt:
        """Return what a pickle stores: coefficients without matrices."""
        return Unbuilt(self.plan, self.state(held), self.history)

    def seen_by(self) -> tuple[str, ...]:
        return ()

    def state(self, held: Holdings) -> dict[str, Any]:
        return {"parts": [part.state(held) for part in self.parts]}


@dataclass(frozen=True, eq=False)
class JoinedStack(JoinedBlock):
    """Queries that join every part; what they change is added up with the weights held."""

    parts: tuple[Any, ...]
    plan: StackPlan

    @property
    def labels(self) -> Array:
        return self.parts[0].labels

    def decisions(self, label: int) -> Array:
        left_out = [part.decisions(label) for part in self.parts]
        return added(left_out, self.plan.weights, self.plan.offset)

    def lines(self) -> Joined:
        """Left-out outputs of a regressor, as lines in the query's target."""
        values, slopes = zip(*(part.lines() for part in self.parts), strict=True)
        weights = self.plan.weights
        return Joined(added(values, weights, self.plan.offset), added(slopes, weights, 0.0))


def added(outputs: Sequence[Array], weights: Array, offset: Any) -> Array:
    """Σ_s a_s F_s + b, in the precision of the outputs."""
    total = offset + sum(a * F for a, F in zip(weights.tolist(), outputs, strict=True))
    return np.asarray(total, dtype=outputs[0].dtype)


def require_stack(parts: int, held: Holdings) -> None:
    """Raise MemoryError if there is no memory for the Gram matrices of so many parts."""
    size = parts * len(held) ** 2 * held.rows.dtype.itemsize
    what = f"Holding {parts} Gram matrices of {len(held)} samples"
    require_memory(size, what, home_of(held.rows.samples()))
