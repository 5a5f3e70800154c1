"""A model with one version at a time, and what is read of it.

A fitted estimator has one private attribute besides its parameters, `_now`: a frozen `Fitted` with
spec, holdings and engine. Every edit prepares a new `Fitted` and assigns it in one step, so an
exception or an interrupt leaves the model either before or after the edit. While a window steps on,
a `Moving` stands in its place, and the next one who reads `_now` makes a `Fitted` of it. A lock
serialises edits and reads of the engine; predictions then run without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import RLock
from typing import Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.core.arrays import Array, one_blas_thread, using_jobs
from gramian.core.engines import DeferredEngine, Predictor
from gramian.core.estimators._fitted import Fitted, Value
from gramian.core.estimators._moving import Moving


class Versioned:
    """A model whose present version an edit replaces by one assignment."""

    n_jobs: int | None = None  # a parameter of those that search

    @property
    def _now(self) -> Fitted:
        """The present version; made now, if samples have been moving through the model."""
        now = vars(self).get("_now")
        if isinstance(now, Moving):
            with self._lock, one_blas_thread():
                if vars(self)["_now"] is now:
                    vars(self)["_now"] = now.settled()
                now = vars(self)["_now"]
        if now is None:
            raise AttributeError(f"this {type(self).__name__} is not fitted.")
        return cast("Fitted", now)

    @_now.setter
    def _now(self, now: Fitted) -> None:
        vars(self)["_now"] = now

    def _start_moving(self, most: float) -> Moving | None:
        """Let samples move through the model, if all is plain; None if not. See `Moving`."""
        with self._lock, one_blas_thread():
            now = self._serving()
            if now.fold_specs is not None or not Moving.moves(now):
                return None
            moving = Moving(now, self._lock, most)
            vars(self)["_now"] = moving
        return moving

    @property
    def _lock(self) -> Any:
        """The lock of this model, created on first use."""
        return self.__dict__.setdefault("_mutex", RLock())

    def _fitted(self) -> Fitted:
        if "_now" not in vars(self):
            check_is_fitted(self)
        return self._now

    def _serving(self) -> Fitted:
        """Return the model with an engine for its holdings, building the engine if needed."""
        if "_now" not in vars(self):
            check_is_fitted(self)
        now = self._now
        if now.engine.serves is not now.holdings.version:
            with self._lock, one_blas_thread():
                now = self._now
                if now.stored:  # until the next edit, what predicts and is saved stays as loaded
                    now.cache.setdefault("predictor", now.engine.predictor(now.holdings))
                    now.cache.setdefault("state", now.engine.state(now.holdings))
                engine = now.engine.fresh(now.holdings, "an edit was interrupted")
                self._now = now = replace(now, engine=engine)
                now.holdings.rows.scrub()
        return now

    def _editable(self) -> Fitted:
        """Return the model with an engine for its holdings, or with one that is not built yet."""
        try:
            return self._serving()
        except np.linalg.LinAlgError:
            if not isinstance(self._now.engine, DeferredEngine):
                raise
            return self._now  # with other samples it may be possible to build it

    def _reading(self) -> tuple[Fitted, Predictor]:
        """Return one version of the model and the predictor that computes its predictions."""
        with self._lock:
            now = self._fitted()
            if "predictor" not in now.cache:
                with one_blas_thread():
                    now = now if now.stored else self._serving()
                    now.cache["predictor"] = now.engine.predictor(now.holdings)
            return now, now.cache["predictor"]

    def _derived(self, name: str, compute: Callable[[Fitted], Value]) -> Value:
        """Return a value of the present version, computed on first use."""
        with self._lock:
            now = self._fitted()
            if name not in now.cache:
                with one_blas_thread():
                    now = self._serving()
                    now.cache[name] = compute(now)
            found: Value = now.cache[name]
            return found

    def _outputs(self, X: Any) -> tuple[Fitted, Array]:
        """Return one version of the model and its outputs for queries, of shape (n, t)."""
        now, predictor = self._reading()
        return now, self._answers(now, predictor, X)

    def _answers(self, now: Fitted, predictor: Predictor, X: Any) -> Array:
        """Return the outputs of a predictor for queries, of shape (n, t)."""
        X = now.samples.queries(self, now.holdings, X)
        with one_blas_thread(X.shape[0] * len(now.holdings)), using_jobs(self.n_jobs):
            return np.asarray(predictor.outputs(X))

    def _loo_outputs(self) -> Array:
        """Return exact leave-one-out outputs of the held samples, of shape (n, t)."""
        return self._derived("loo", Fitted.loo)
