"""A model as plain values, for files and pickles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, replace
from typing import Any

import numpy as np

from gramian.core.engines import DeferredEngine, Engine, Holdings, Spec, make_rows
from gramian.core.estimators._fitted import Fitted
from gramian.core.estimators._nested import fold_choices
from gramian.core.estimators._samples import placed, sample_kind
from gramian.core.estimators._scikit_learn import BaseEstimator
from gramian.core.estimators._versioned import Versioned


class StoredModel(Versioned, BaseEstimator, ABC):
    """What a model file or a pickle has of a model, and the way back."""

    @abstractmethod
    def _spec(self) -> Spec[Any]:
        """Return the parameters as one frozen object; raise ValueError if one is invalid."""

    def _get_state(self) -> dict[str, Any]:
        """Return the fitted model as plain values and arrays, for model files."""
        with self._lock:
            now = self._fitted()
            held = now.holdings
            state = now.cache.get("state")
            if state is None:
                state = (now if now.stored else self._serving()).engine.state(held)
        public: dict[str, Any] = {"n_features_in_": held.rows.width}
        public |= {f"{name}_": value for name, value in now.spec.chosen().items()}
        if held.classes is not None:
            public["classes_"] = held.classes
        if now.names is not None:
            public["feature_names_in_"] = now.names
        kept = {"_ids": held.ids, "_y": held.y, "_weight": held.weight, "_next_id": held.next_id}
        if held.groups is not None:
            kept["_groups"] = held.groups
        fold_specs = {} if now.fold_specs is None else {"without folds": fold_choices(now)}
        return {
            "held": kept,
            "X": held.rows.samples_copy(),
            "public": public,
            **state.values(),
            **fold_specs,
        }

    def _set_state(self, state: dict[str, Any]) -> None:
        """Restore what `_get_state` returned, on an estimator with the same parameters."""
        spec, kept, public = self._spec(), state["held"], state["public"]
        kind, X = sample_kind(spec), state["X"]
        X = X if kind.device is None else placed(X, kind.device)
        rows = make_rows(X, precomputed=spec.precomputed)
        held = Holdings(rows, kept["_y"], kept["_weight"], kept["_ids"], kept["_next_id"])
        held = replace(held, groups=kept.get("_groups"))
        if "classes_" in public:
            declared = tuple(np.asarray(state.get("declared", ())).tolist())
            held = replace(held, classes=public["classes_"], declared=declared)
        spec = spec.with_chosen({name.removesuffix("_"): value for name, value in public.items()})
        engine: Engine = DeferredEngine(spec)
        if any(own.name in state for own in fields(spec.state_type)):
            engine = spec.load(held, spec.state_type.from_values(state))
        fold_specs = None
        if "without folds" in state:
            unresolved = self._spec()
            fold_specs = tuple(
                unresolved.with_chosen(values) for values in state["without folds"]["chosen"]
            )
            held = replace(held, folds=state["without folds"]["folds"])
        names = public.get("feature_names_in_")
        self._now = Fitted(spec, held, engine, kind, names, fold_specs)

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            state = dict(super().__getstate__())  # which may be our own `__dict__`
            state.pop("_mutex", None)
            if "_now" in state:
                now = self._now
                now = now if now.stored else self._serving()
                now.holdings.rows.samples(lend=True)  # a copy in this process reads the same buffer
                state["_now"] = now.moved(now.holdings, now.engine.deferred(now.holdings))
        return state
