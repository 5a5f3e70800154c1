"""What an engine is: the live state of a machine, which follows the holdings of a model."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from typing import Any, Protocol

from gramian.arrays import Array
from gramian.engines._holdings import Holdings
from gramian.gram import Refactorization


class Reader(Protocol):
    """All that predictions of one version need. It never changes, so that threads may share it."""

    def outputs(self, X: Any) -> Array:
        """Decision values or predictions of shape (len(X), t); one column for two classes."""


class Engine(Protocol):
    """The live state of a machine.

    An edit returns the engine that serves the new holdings: itself, changed in place, or another
    one. An engine that changes in place serves no version (`serves` is None) from before the first
    change until after the last, so that an interrupt in between is noticed, and the model builds a
    new engine from its holdings. An edit that is refused leaves the engine as it was.
    """

    serves: object
    """Version of the holdings that this engine is right for; None for none."""

    past: tuple[Refactorization, ...]
    """What was rebuilt before this engine was made."""

    @property
    def history(self) -> tuple[Refactorization, ...]:
        """When and why something was rebuilt."""

    @property
    def factor(self) -> str:
        """Name of what updates change, as records of a rebuild give it."""

    def append(self, before: Holdings, after: Holdings) -> Engine:
        """Let the samples enter that ``after`` has behind those of ``before``."""

    def remove(self, before: Holdings, after: Holdings, positions: Array) -> Engine:
        """Let the samples leave that stood at these ascending positions of ``before``."""

    def reader(self, held: Holdings) -> Reader:
        """What predictions need."""

    def loo(self, held: Holdings) -> Array:
        """Exact leave-one-out outputs of the held samples, of shape (n, t)."""

    def drift(self, held: Holdings) -> float:
        """Measured relative error of the present solution."""

    def refactor(self, held: Holdings, reason: str) -> Engine:
        """Rebuild what updates have changed from the holdings, and record why."""

    def fresh(self, held: Holdings, reason: str | None = None) -> Engine:
        """Another engine with the same choices, built from the holdings alone."""

    def frozen(self, held: Holdings) -> Any:
        """What a pickle holds in place of the engine."""

    def seen_by(self) -> tuple[str, ...]:
        """Names of what the engine itself chose on samples and keeps when they leave."""

    def state(self, held: Holdings) -> dict[str, Any]:
        """What a model file holds besides the holdings, as plain values and arrays."""


def noted(engine: Any, reason: str | None, n: int) -> Any:
    """The engine, just built, with a record of why; without one where there is no reason."""
    if reason is None:
        return engine
    past = (*engine.past, Refactorization(reason, n, getattr(engine, "edits", 0), engine.factor))
    if is_dataclass(engine):
        return replace(engine, past=past)  # type: ignore[type-var]
    engine.past = past
    return engine
