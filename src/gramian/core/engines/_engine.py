"""The protocol of engines: the state of a machine that follows the holdings of a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass, replace
from typing import Any, Protocol

from gramian.core.arrays import Array
from gramian.core.engines._added import AddedBlock
from gramian.core.engines._holdings import Holdings
from gramian.core.gram import Rebuild


class Predictor(Protocol):
    """Computes predictions of one version. It never changes, so threads may share it."""

    def outputs(self, X: Any) -> Array:
        """Decision values or predictions of shape (len(X), t); one column for two classes."""


class Engine(Protocol):
    """The updatable state of a machine.

    An edit returns the engine for the new holdings: itself, changed in place, or a new one. An
    engine that changes in place sets `serves` to None before its first change and to the new
    version after the last. The model thereby notices an interrupted edit and builds a new engine
    from its holdings. An edit that raises leaves the engine as it was.
    """

    past: tuple[Rebuild, ...]
    """Records of rebuilds before this engine was created."""

    @property
    def serves(self) -> object:
        """Version of the holdings that this engine is valid for, or None."""

    @property
    def history(self) -> tuple[Rebuild, ...]:
        """Records of when and why something was rebuilt."""

    @property
    def factor(self) -> str:
        """Name of the updated factor, for records of a rebuild."""

    def append(self, before: Holdings, after: Holdings) -> Engine:
        """Add the samples that ``after`` has in addition to ``before``, at its end."""

    def remove(self, before: Holdings, after: Holdings, positions: Array) -> Engine:
        """Remove the samples at these ascending positions of ``before``."""

    def settle(self) -> None:
        """Carry out updates that were deferred, so that nothing of a removed sample is left."""

    def predictor(self, holdings: Holdings) -> Predictor:
        """Return an object that computes predictions."""

    def loo(self, holdings: Holdings) -> Array:
        """Exact leave-one-out outputs of the held samples, of shape (n, t)."""

    def added(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, AddedBlock]]:
        """Yield blocks of queries with the left-out values of all samples if one of them joined."""

    def without_each(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with their outputs (m, n, t) without each held sample."""

    def drift(self, holdings: Holdings) -> float:
        """Measured relative error of the present solution."""

    def rebuild(self, holdings: Holdings, reason: str) -> Engine:
        """Rebuild the updated state from the holdings, and record why."""

    def fresh(self, holdings: Holdings, reason: str | None = None) -> Engine:
        """Return a new engine with the same hyper-parameters, built from the holdings alone."""

    def frozen(self, holdings: Holdings) -> Any:
        """Return the object that a pickle stores in place of the engine."""

    def chosen_on_data(self) -> tuple[str, ...]:
        """Names of what the engine itself chose on samples and keeps when they are removed."""

    def state(self, holdings: Holdings) -> dict[str, Any]:
        """Return what a model file stores besides the holdings, as plain values and arrays."""


def record_rebuild(engine: Any, reason: str | None, n: int) -> Any:
    """Return a newly built engine with a record of the reason, if there is one."""
    if reason is None:
        return engine
    past = (*engine.past, Rebuild(reason, n, getattr(engine, "edits", 0), engine.factor))
    if is_dataclass(engine):
        return replace(engine, past=past)  # type: ignore[type-var]
    engine.past = past
    return engine
