"""The engine: the live state of a model, which follows its holdings by exact updates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from typing import Any, Protocol, Self

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines._added import AddedBlock
from gramian.core.engines._holdings import Holdings
from gramian.core.engines._state import State
from gramian.core.equations import PAIRS_REFUSED, pair_effects
from gramian.core.gram import Rebuild


class Predictor(Protocol):
    """Computes the outputs of one version. It never changes, so threads may share it."""

    def outputs(self, X: Any) -> Array:
        """Decision values or predictions of shape (len(X), t); one column for two classes."""


class Engine(ABC):
    """The live state of a model.

    An edit returns the engine for the new holdings: itself, changed in place, or a new one. An
    engine that changes in place sets `serves` to None before its first change and to the new
    version after the last. The model thereby notices an interrupted edit and builds a new engine
    from its holdings. An edit that raises leaves the engine as it was.
    """

    past: tuple[Rebuild, ...] = ()
    """Records of rebuilds before this engine was created."""
    edits: int = 0
    """Samples added or removed since the engine was built."""

    # -- edits ----------------------------------------------------------------------------------

    @abstractmethod
    def append(self, before: Holdings, after: Holdings) -> Engine:
        """Add the samples that ``after`` has in addition to ``before``, at its end."""

    @abstractmethod
    def remove(self, before: Holdings, after: Holdings, positions: Array) -> Engine:
        """Remove the samples at these ascending positions of ``before``."""

    @abstractmethod
    def fresh(self, holdings: Holdings, reason: str | None = None) -> Engine:
        """Return a new engine with the same spec, built from the holdings; record the reason."""

    def rebuild(self, holdings: Holdings, reason: str) -> Engine:
        """Rebuild the updated state from the holdings, and record why."""
        return self.fresh(holdings, reason)

    def settle(self) -> None:  # noqa: B027 - most engines defer nothing
        """Carry out updates that were deferred, so that nothing of a removed sample is left."""

    # -- reads ----------------------------------------------------------------------------------

    @property
    @abstractmethod
    def serves(self) -> object:
        """Version of the holdings that this engine is valid for, or None."""

    @property
    @abstractmethod
    def factor(self) -> str:
        """Name of the updated factor, for records of a rebuild."""

    @abstractmethod
    def predictor(self, holdings: Holdings) -> Predictor:
        """Return an object that computes predictions."""

    @abstractmethod
    def loo(self, holdings: Holdings) -> Array:
        """Exact leave-one-out outputs of the held samples, of shape (n, t)."""

    @abstractmethod
    def added(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, AddedBlock]]:
        """Yield blocks of queries with the left-out values of all samples if one were added."""

    @abstractmethod
    def without_each(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with their outputs (m, n, t) without each held sample."""

    def without_pairs(self, holdings: Holdings) -> Iterator[tuple[Array, Array]]:
        """Yield positions (k,) of held samples i with outputs (k, n, t) at every held sample j.

        Each output is that of the model without i and without j, or, where samples have groups,
        without both groups; where j is i, the leave-one-out output. O(n²) for all pairs.

        Raises
        ------
        ValueError
            If the estimator has no closed form for them.
        """
        raise ValueError(PAIRS_REFUSED)

    def smoother(self, holdings: Holdings, X: Any) -> Array:
        """``∂f(x)/∂y_i`` of each output at queries, (m, n, t) or (m, n, 1) if all have the same.

        Raises
        ------
        ValueError
            If the estimator has no closed form without pairs, for which it is needed.
        """
        raise ValueError(PAIRS_REFUSED)

    def pair_effects(self, holdings: Holdings, X: Any) -> Array:
        """What outputs at queries lose without i and j, (m, n, n, t): ``f(x) − f₋ᵢⱼ(x)``."""
        smoother, targets = self.smoother(holdings, X), holdings.coded_targets()
        residuals = np.empty((len(targets), *targets.shape))
        for at, F in self.without_pairs(holdings):
            residuals[at] = targets - F
        return pair_effects(smoother, residuals, holdings.codes)

    @abstractmethod
    def drift(self, holdings: Holdings) -> float:
        """Measured relative error of the present solution."""

    @abstractmethod
    def state(self, holdings: Holdings) -> State:
        """Return what a file stores of this engine."""

    @property
    def history(self) -> tuple[Rebuild, ...]:
        """Records of when and why something was rebuilt."""
        return self.past

    @property
    def chosen_on_data(self) -> tuple[str, ...]:
        """Names of what the engine itself chose on samples and keeps when they are removed."""
        return ()

    def variances(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with the variances of their outputs."""
        raise ValueError(
            "the variance of outputs is known for least squares with a ridge above 0, not for "
            'this estimator. Take another strategy than "variance".'
        )

    def holds_all(self, holdings: Holdings) -> bool:
        """Whether the model holds every sample that the engine has learned."""
        return True

    def deferred(self, holdings: Holdings) -> Engine:
        """Return what a pickle stores in place of this engine; itself if it never changes."""
        return self

    # -- records --------------------------------------------------------------------------------

    def recorded(self, reason: str | None, n: int) -> Self:
        """Return this engine with a record of why it was built, if there is a reason."""
        if reason is None:
            return self
        twin = copy(self)
        object.__setattr__(twin, "past", (*self.past, Rebuild(reason, n, self.edits, self.factor)))
        return twin
