"""One version of a fitted model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines import DeferredEngine, Engine, Holdings, Spec
from gramian.core.engines._crossfit import CrossFitted
from gramian.core.estimators._samples import KernelSamples, VectorSamples
from gramian.core.gram import NotPositiveDefiniteError

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Fitted:
    """One version of a fitted model.

    Attributes
    ----------
    spec : Spec
        The parameters as `fit` read them, with what was chosen for them until `reselect`.
    holdings : Holdings
    engine : Engine
    samples : VectorSamples or KernelSamples
        How samples are checked and converted.
    names : ndarray of str, optional
        Feature names.
    fold_specs : tuple of Spec, optional
        Resolved without each fold of the samples, in place of ``spec``; see `nested_score`.
    cache : dict
        Values derived from this version.
    """

    spec: Spec[Any]
    holdings: Holdings
    engine: Engine
    samples: VectorSamples | KernelSamples
    names: Array | None = None
    fold_specs: tuple[Spec[Any], ...] | None = None
    cache: dict[str, Any] = field(default_factory=dict)

    @property
    def stored(self) -> bool:
        """Whether the engine is not built yet, and what predictions need is there."""
        return isinstance(self.engine, DeferredEngine) and self.engine.kept is not None

    def derived(self, name: str, compute: Callable[[Fitted], Value]) -> Value:
        """Return a value of this version, computed on first use."""
        if name not in self.cache:
            self.cache[name] = compute(self)
        found: Value = self.cache[name]
        return found

    def loo(self) -> Array:
        """Return exact leave-one-out outputs (n, t) of the held samples, computed on first use."""
        self.holdings.require_groups()
        return self.derived("loo", lambda now: now.engine.loo(now.holdings))

    def moved(self, holdings: Holdings, engine: Engine) -> Fitted:
        """Return the model with other holdings, and an engine for them."""
        return Fitted(self.spec, holdings, engine, self.samples, self.names, self.fold_specs)

    def knowing_folds(self) -> Fitted:
        """Return the model after a choice, with what was chosen without each fold if known."""
        folds = self.spec.folds if isinstance(self.spec, CrossFitted) else None
        if folds is None or len(folds.fold) != len(self.holdings):
            return replace(self, holdings=replace(self.holdings, folds=None), fold_specs=None)
        holdings = replace(self.holdings, folds=folds.fold)
        known = {} if folds.outputs is None else {"out of fold": folds.outputs}
        return replace(self, holdings=holdings, fold_specs=folds.specs, cache=known)

    def without_folds(self) -> Iterator[tuple[Spec[Any], Array, Holdings]]:
        """Yield the spec of each fold, the positions of its samples, and the other holdings."""
        assert self.fold_specs is not None
        for k, spec in enumerate(self.fold_specs):
            left = np.flatnonzero(self.holdings.folds == k)
            yield spec, left, self.holdings.without(left)

    def appended(self, after: Holdings) -> Fitted:
        """Return the model with the samples that ``after`` has in addition.

        Samples that an update refuses may still be learned from scratch; else its error is raised.
        """
        try:
            engine = self.engine.append(self.holdings, after)
        except NotPositiveDefiniteError as refused:
            try:
                reason = f"learning by an update was refused: {refused}"
                engine = self.engine.fresh(after, reason)
            except np.linalg.LinAlgError:
                raise refused from None
        return self.moved(after, engine)

    def removed(self, after: Holdings, positions: Array) -> Fitted:
        """Return the model without these samples, which leave in any case."""
        try:
            engine = self.engine.remove(self.holdings, after, positions)
        except np.linalg.LinAlgError as error:
            return self.left(after, error)
        return self.moved(after, engine)

    def left(self, after: Holdings, error: Exception) -> Fitted:
        """Return the model of what is left, built from scratch; if that fails, when it is used.

        It fails for good if the engine has learned rows that are not held.
        """
        reason = f"forgetting by an update failed: {error}"
        try:
            engine = self.engine.fresh(after, reason)
        except np.linalg.LinAlgError:
            if not self.engine.holds_all(self.holdings):
                raise
            engine = DeferredEngine(self.spec, self.engine.history, reason=reason)
        return self.moved(after, engine)
