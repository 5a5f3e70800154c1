"""In place of an engine that is built when it is needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gramian.core.arrays import Array
from gramian.core.engines._added import AddedBlock
from gramian.core.engines._engine import Engine, Predictor
from gramian.core.engines._holdings import Holdings
from gramian.core.engines._spec import Spec
from gramian.core.engines._state import State
from gramian.core.gram import Rebuild


@dataclass(frozen=True, eq=False)
class DeferredEngine(Engine):
    """The engine of a model from a file or a pickle, or one that could not be built yet.

    Predictions come from the stored state, if there is one. Everything else first builds the
    engine from the samples that the model holds.

    Parameters
    ----------
    spec : Spec
    past : tuple of Rebuild
    kept : State, optional
        What predictions need.
    reason : str, optional
        Why the engine has to be built; recorded when it is.
    """

    spec: Spec[Any]
    past: tuple[Rebuild, ...] = ()
    kept: State | None = None
    reason: str | None = None
    serves: None = None
    factor: str = "none"

    def fresh(self, holdings: Holdings, reason: str | None = None) -> Engine:
        """Build the engine."""
        return self.spec.build(holdings, self.past).recorded(self.reason, len(holdings))

    def append(self, before: Holdings, after: Holdings) -> Engine:
        return self.fresh(after)

    def remove(self, before: Holdings, after: Holdings, positions: Array) -> Engine:
        return self.fresh(after)

    def predictor(self, holdings: Holdings) -> Predictor:
        if self.kept is None:
            return self.fresh(holdings).predictor(holdings)
        return self.spec.predictor(holdings, self.kept)

    def loo(self, holdings: Holdings) -> Array:
        return self.fresh(holdings).loo(holdings)

    def added(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, AddedBlock]]:
        return self.fresh(holdings).added(holdings, X)

    def without_each(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        return self.fresh(holdings).without_each(holdings, X)

    def without_pairs(self, holdings: Holdings) -> Iterator[tuple[Array, Array]]:
        return self.fresh(holdings).without_pairs(holdings)

    def pair_effects(self, holdings: Holdings, X: Any) -> Array:
        return self.fresh(holdings).pair_effects(holdings, X)

    def drift(self, holdings: Holdings) -> float:
        return self.fresh(holdings).drift(holdings)

    def state(self, holdings: Holdings) -> State:
        return self.fresh(holdings).state(holdings) if self.kept is None else self.kept
