"""What every estimator shares: learning, forgetting and reading, each as one version of the model.

A fitted estimator has one private attribute besides its parameters, `_now`: a frozen `Fitted` with
settings, choices, holdings and engine. Every edit prepares another one and puts it in place by a
single assignment, so that an exception or an interrupt leaves the model before the edit or after
it. Edits and reads of the engine take turns by a lock; predictions then run on their own.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import wraps
from threading import RLock
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from gramian.engines import Engine, Holdings, Unbuilt, make_rows, noted
from gramian.estimators._ids import check_ids, check_new, next_ids, positions_of
from gramian.estimators._samples import with_weight
from gramian.gram import NotPositiveDefiniteError


@dataclass(frozen=True, eq=False)
class Fitted:
    """One version of a fitted model.

    Attributes
    ----------
    settings : object
        The parameters as `fit` read them, frozen. ``choose`` picks hyper-parameters for given
        holdings, ``restore`` takes them and an engine from a model file.
    choice : object
        What was chosen and stays until `reselect`. ``engine`` builds an engine with it,
        ``seen_by`` names what of it was chosen on samples.
    held : Holdings
    engine : Engine
    names : ndarray of str, optional
        Of the features.
    cache : dict
        What was derived from this version.
    """

    settings: Any
    choice: Any
    held: Holdings
    engine: Any
    names: Any = None
    cache: dict[str, Any] = field(default_factory=dict)

    def moved(self, held: Holdings, engine: Engine) -> Fitted:
        """The model after an edit."""
        return replace(self, held=held, engine=engine, cache={})


def edits(method: Callable) -> Callable:
    """A method that changes the model: one at a time, and a refused sample says in which call."""

    @wraps(method)
    def locked(self, *args, **kwargs):
        with vars(self).setdefault("_mutex", RLock()):
            try:
                return method(self, *args, **kwargs)
            except NotPositiveDefiniteError as error:
                error.asked = error.asked or method.__name__
                raise

    return locked


def learned(name: str, doc: str) -> property:
    """A property that shows what was chosen."""

    def read(self):
        return getattr(self._fitted().choice, name)

    return property(read, doc=doc)


class LiveEstimator(BaseEstimator, metaclass=ABCMeta):
    """An estimator that learns one more sample and forgets one, by id.

    A machine fills in `_settings`, which reads and checks the parameters.
    """

    cli_name: ClassVar[str]
    """Name on the command line."""

    _now: Fitted
    _state_names: tuple[str, ...] = ()  # learned attributes that a model file holds
    _state_keys: tuple[str, ...] = ("coefficients",)  # what its engine adds to them

    @abstractmethod
    def _settings(self) -> Any:
        """The parameters as one frozen object; ValueError if one cannot be used."""

    # -- learning and forgetting ----------------------------------------------------------------

    @edits
    def fit(self, X, y, sample_weight=None, ids=None):
        """Learn from scratch.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            With ``kernel="precomputed"``, the square kernel matrix of the samples.
        y : array-like of shape (n_samples,) or, for regressors, (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional
            A weight of k means the same as k copies of the sample. Samples of weight 0 are not
            held.
        ids : array-like of shape (n_samples,), optional
            Unique integers or strings to forget samples by; 0, 1, 2, … by default.

        Returns
        -------
        self
        """
        self._begin(X, y, sample_weight, ids, ())
        return self

    @edits
    def forget(self, ids):
        """Forget samples exactly: the model becomes the one that never saw them.

        What was chosen on samples has seen them and stays until `reselect` or `fit`: `seen_by_`
        names it.

        Parameters
        ----------
        ids : id or array-like of ids

        Returns
        -------
        self
        """
        now = self._serving()
        positions = positions_of(now.held.ids, ids)
        if len(positions) == 0:
            return self
        after = self._left(now.held, now.held.without(positions))
        try:
            engine = now.engine.remove(now.held, after, positions)
        except np.linalg.LinAlgError as error:  # what stays can always be built from scratch
            engine = now.engine.fresh(after, f"forgetting by an update failed: {error}")
        self._now = now.moved(after, engine)
        after.rows.scrub()
        return self

    @edits
    def refactor(self):
        """Rebuild from the samples what updates have changed; the cost of a fit. Returns self."""
        now = self._serving()
        self._now = now.moved(now.held, now.engine.refactor(now.held, "asked for"))
        return self

    @edits
    def reselect(self, *, fresh=False):
        """Choose the hyper-parameters anew on what the model holds.

        Parameters
        ----------
        fresh : bool
            False may search from where they are, which takes fewer evaluations; samples forgotten
            since then had a say in where that is. True searches as `fit` does: after this,
            nothing in the model has seen a sample that was forgotten.

        Returns
        -------
        self
        """
        now, settings = self._fitted(), self._settings()
        if settings.samples.precomputed != now.settings.samples.precomputed:
            raise ValueError(
                "the model holds samples for another kind of kernel: a precomputed kernel cannot "
                "be exchanged for one of samples. Call fit."
            )
        choice = settings.choose(now.held, None if fresh else now.choice)
        reason = "the hyper-parameters were chosen anew"
        engine = noted(choice.engine(now.held, now.engine.history), reason, len(now.held))
        self._now = Fitted(settings, choice, now.held, engine, now.names)
        return self

    # -- what the model holds -------------------------------------------------------------------

    @property
    def ids_(self):
        """Ids of the samples that the model holds, in order of arrival."""
        return self._fitted().held.ids.copy()

    @property
    def X_fit_(self):
        """The samples that the model holds, in the order of `ids_`.

        With ``kernel="precomputed"``, their kernel matrix.
        """
        with self._lock:
            return self._fitted().held.rows.shown()

    @property
    def y_fit_(self):
        """Their labels or targets, in the order of `ids_`."""
        return self._fitted().held.y.copy()

    @property
    def sample_weight_(self):
        """Their weights, in the order of `ids_`."""
        return self._fitted().held.weight.copy()

    @property
    def n_features_in_(self):
        """Number of features; of a precomputed kernel, of samples."""
        return self._fitted().held.rows.width

    @property
    def feature_names_in_(self):
        """Names of the features, if they were all strings."""
        names = self._fitted().names
        if names is None:
            raise AttributeError("the samples came without names of features.")
        return names

    @property
    def refactorizations_(self):
        """Records of when and why something was rebuilt since the last fit."""
        return list(self._fitted().engine.history)

    @property
    def seen_by_(self):
        """Names of what was chosen on samples and stays as it is when they are forgotten.

        After `forget`, these have seen the forgotten samples, until ``reselect(fresh=True)``.
        """
        now = self._fitted()
        return (*now.choice.seen_by, *self._serving().engine.seen_by())

    def drift(self):
        """Measured relative error of the present solution in the true system."""
        with self._lock:
            now = self._serving()
            return now.engine.drift(now.held)

    def refitted(self):
        """A model of the same choices, built from scratch from what this one holds.

        Its decision values are what this model's should be: `gramian.forget` compares them.
        """
        with self._lock:
            now = self._serving()
            rows = make_rows(now.held.rows.shown(), precomputed=now.settings.samples.precomputed)
            held = replace(now.held, rows=rows)
            twin = clone(self)
            twin._now = now.moved(held, now.engine.fresh(held))
        return twin

    def __sklearn_is_fitted__(self):
        return "_now" in vars(self)

    # -- for classifiers and regressors ---------------------------------------------------------

    @abstractmethod
    def _check_targets(self, y: Any, held: Holdings | None) -> Any:
        """Targets as an array that goes with those held; ValueError if it does not."""

    @abstractmethod
    def _joined(self, before: Holdings | None, after: Holdings, classes: tuple) -> Holdings:
        """Holdings with new samples, their classes brought up to date; ValueError if unfit."""

    @abstractmethod
    def _left(self, before: Holdings, after: Holdings) -> Holdings:
        """Holdings that samples have left, with their classes; ValueError if too few are left."""

    def _begin(self, X, y, sample_weight, ids, classes):
        """Fit from scratch."""
        settings = self._settings()
        X, y, names = settings.samples.first(self, X, y)
        y, weight = self._check_targets(y, None), np.ones(X.shape[0])
        own = np.arange(len(y)) if ids is None else check_ids(ids, len(y))
        next_id = len(y) if ids is None else 0
        if sample_weight is not None:
            X, y, weight, own = with_weight(settings.samples, X, y, sample_weight, own)
        rows = make_rows(X, precomputed=settings.samples.precomputed)
        held = Holdings(rows, np.array(y), np.array(weight), np.array(own), next_id)
        held = self._joined(None, held, classes)
        choice = settings.choose(held, None)
        self._now = Fitted(settings, choice, held, choice.engine(held), names)

    def _learn(self, X, y, sample_weight, ids, classes=()):
        """Learn more samples; the first call learns from scratch."""
        if "_now" not in vars(self):
            self._begin(X, y, sample_weight, ids, classes)
            return
        now = self._serving()
        kind, before = now.settings.samples, now.held
        X, y = kind.more(self, before, X, y)
        y, weight = self._check_targets(y, before), np.ones(X.shape[0])
        if ids is None:
            own, next_id = next_ids(before.ids, before.next_id, len(y))
        else:
            own, next_id = check_ids(ids, len(y)), before.next_id
            check_new(before.ids, own)
        if sample_weight is not None:
            X, y, weight, own = with_weight(kind, X, y, sample_weight, own)
        after = self._joined(before, before.appended(X, y, weight, own, next_id), classes)
        try:
            engine = now.engine.append(before, after)
        except NotPositiveDefiniteError as refused:
            engine = _built_after(refused, now.engine, after)
        self._now = now.moved(after, engine)

    # -- reading --------------------------------------------------------------------------------

    @property
    def _lock(self) -> Any:
        """One lock for each model, made when it is first needed."""
        return self.__dict__.setdefault("_mutex", RLock())

    def _fitted(self) -> Fitted:
        if "_now" not in vars(self):
            check_is_fitted(self)
        return self._now

    def _serving(self) -> Fitted:
        """The model with an engine that serves its holdings, which is built if it does not."""
        if "_now" not in vars(self):
            check_is_fitted(self)
        now = self._now
        if now.engine.serves is not now.held.version:
            with self._lock:
                now = self._now
                built = isinstance(now.engine, Unbuilt)
                engine = now.engine.fresh(now.held, None if built else "an edit was interrupted")
                self._now = now = replace(now, engine=engine)
                now.held.rows.scrub()
        return now

    def _reading(self) -> tuple[Fitted, Any]:
        """One version of the model, and what its predictions need."""
        with self._lock:
            now = vars(self).get("_now") or self._fitted()
            if "reader" not in now.cache:
                now = now if isinstance(now.engine, Unbuilt) else self._serving()
                now.cache["reader"] = now.engine.reader(now.held)
            return now, now.cache["reader"]

    def _derived(self, name: str, compute: Callable[[Fitted], Any]) -> Any:
        """A value of the present version, computed once."""
        with self._lock:
            now = self._serving()
            if name not in now.cache:
                now.cache[name] = compute(now)
            return now.cache[name]

    def _outputs(self, X) -> tuple[Fitted, Any]:
        """One version of the model, and its outputs for queries, of shape (n, t)."""
        now, reader = self._reading()
        return now, reader.outputs(now.settings.samples.queries(self, now.held, X))

    def _loo_outputs(self) -> Any:
        """Exact leave-one-out outputs of the held samples, of shape (n, t)."""
        return self._derived("loo", lambda now: now.engine.loo(now.held))

    # -- state ----------------------------------------------------------------------------------

    def _get_state(self):
        """All that the fitted model is, as plain values and arrays: for model files."""
        with self._lock:
            now = self._fitted()
            held = now.held
            state = (now if isinstance(now.engine, Unbuilt) else self._serving()).engine.state(held)
        public = {name: getattr(self, name) for name in ("n_features_in_", *self._state_names)}
        if now.names is not None:
            public["feature_names_in_"] = now.names
        kept = {"_ids": held.ids, "_y": held.y, "_weight": held.weight, "_next_id": held.next_id}
        added = {name: state.get(name) for name in self._state_keys}
        return {"held": kept, "X": held.rows.shown(), "public": public, **added}

    def _set_state(self, state):
        """The inverse of `_get_state`, on an estimator with the same parameters."""
        settings, kept, public = self._settings(), state["held"], state["public"]
        rows = make_rows(state["X"], precomputed=settings.samples.precomputed)
        held = Holdings(rows, kept["_y"], kept["_weight"], kept["_ids"], kept["_next_id"])
        if "classes_" in public:
            declared = tuple(np.asarray(state.get("declared", ())).tolist())
            held = replace(held, classes=public["classes_"], declared=declared)
        choice, engine = settings.restore(held, public, state)
        self._now = Fitted(settings, choice, held, engine, public.get("feature_names_in_"))

    def __getstate__(self):
        with self._lock:
            state = super().__getstate__()
            state.pop("_mutex", None)
            if "_now" in state:
                now = state["_now"]
                now = now if isinstance(now.engine, Unbuilt) else self._serving()
                state["_now"] = now.moved(now.held, now.engine.frozen(now.held))
        return state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if self.__sklearn_is_fitted__():
            tags.input_tags.pairwise = self._now.settings.samples.precomputed
        else:
            kernel = getattr(self, "kernel", None)
            tags.input_tags.pairwise = isinstance(kernel, str) and kernel == "precomputed"
        return tags


def _built_after(refused: NotPositiveDefiniteError, engine: Engine, after: Holdings) -> Engine:
    """The engine with samples that an update refused: what `fit` takes, `partial_fit` takes too."""
    try:
        return engine.fresh(after, f"learning by an update was refused: {refused}")
    except np.linalg.LinAlgError:
        raise refused from None
