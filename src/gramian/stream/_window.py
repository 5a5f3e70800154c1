"""A model fitted to the latest samples of a stream."""

from __future__ import annotations

from math import inf
from numbers import Integral
from operator import is_
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import (
    _get_feature_names,
    check_X_y,
    column_or_1d,
    validate_data,
)

from gramian.core.arrays import Array, ArrayLike, MatrixLike
from gramian.core.estimators import positions_of
from gramian.core.estimators._delegation import if_estimator_has
from gramian.core.estimators._moving import Moving
from gramian.core.estimators._scikit_learn import BaseEstimator, MetaEstimatorMixin
from gramian.stream._alarm import LOOKS, Alarm
from gramian.stream._holdings import Held, check_age, check_times

ALARM = "alarm"


class _Window(NamedTuple):
    """All that a window knows, replaced by one assignment.

    The model follows by edits of its own. Where one of them was interrupted it holds other samples
    than `held`, and is brought there before it is used again.
    """

    holdings: Held
    model: Any
    now: Any
    next_id: int
    selected_at: int
    classifies: bool
    alarm: Alarm | None = None
    looked_at: int = 0
    version: object = None
    """Of the model that holds the samples of `holdings`."""
    moving: Moving | None = None
    """Steps that the model has made since, of which nothing else here knows yet."""
    due: float = inf
    """The number of samples at which the hyper-parameters are looked at."""

    def held(self) -> Held:
        """The samples of now."""
        if self.moving is None:
            return self.holdings
        X, y, ids = self.moving.samples()
        return Held(X, y, ids, ids)

    def settled(self) -> _Window:
        """The window of now, with a model that moves no more."""
        self.model._now  # noqa: B018 - whoever reads it ends the movement
        assert self.moving is not None and self.moving.left is not None
        X, y, ids, version = self.moving.left
        next_id = self.next_id + self.moving.steps
        now = ids[-1] if self.moving.steps else self.now
        return self._replace(
            holdings=Held(X, y, ids, ids), now=now, next_id=next_id, version=version, moving=None
        )


class SlidingWindow(MetaEstimatorMixin, BaseEstimator):
    """Estimator fitted to the latest samples of a stream, limited by number or by age.

    New samples are learned and samples that leave the window are forgotten, each by an exact
    update. The model always equals one fitted to the samples in the window, up to rounding.

    There is a model while the window holds at least ``min_samples`` samples, for a classifier of
    at least two classes. Otherwise the window only keeps the samples, `estimator_` is None and
    `predict` raises NotFittedError.

    A call that fails leaves the window as it was.

    Parameters
    ----------
    estimator : estimator
        An estimator of Gramian that takes samples (no precomputed kernel). It is cloned.
    max_samples : int, optional
        Number of latest samples to keep.
    max_age : number or timedelta, optional
        Largest age of a sample, in the unit of the ``times`` given with it. A sample leaves when
        ``now − time > max_age``, where now is the latest time seen. Samples may arrive out of
        order. Without any limit the window keeps all samples.
    min_samples : int, default=20
        Number of samples from which on there is a model. If the estimator chooses its
        hyper-parameters by leave-one-out, it does so on these samples.
    reselect_every : int or "alarm", optional
        Number of samples after which ``estimator_.reselect()`` chooses the hyper-parameters again.
        With ``"alarm"``, it does so when a third as many samples have come as the last choice was
        made on, or when the leave-one-out error has risen beyond chance since then.

    Attributes
    ----------
    estimator_ : estimator or None
        The model of the window's samples. `loo_score`, `drift` and the like are its methods.
    ids_, times_, X_, y_ : ndarray
        What the window holds, in order of arrival. The id of a sample is the number of samples
        that came before it. Without ``max_age``, the id is also its time.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import KernelDiscriminant
    >>> from gramian.stream import SlidingWindow
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> window = SlidingWindow(KernelDiscriminant(gamma=0.5, ridge=0.1), max_samples=100)
    >>> for x, label in zip(X, y):
    ...     window = window.partial_fit([x], [label])
    >>> len(window.ids_), int(window.ids_[0])
    (100, 200)
    >>> window.predict([[2.0, 0.0], [-2.0, 0.0]])
    array([1, 0])
    """

    def __init__(
        self,
        estimator: Any,
        *,
        max_samples: int | None = None,
        max_age: Any = None,
        min_samples: int = 20,
        reselect_every: int | str | None = None,
    ) -> None:
        self.estimator = estimator
        self.max_samples = max_samples
        self.max_age = max_age
        self.min_samples = min_samples
        self.reselect_every = reselect_every

    # -- learning -------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: ArrayLike, times: ArrayLike | None = None) -> Self:
        """Forget everything and start from these samples. Returns self."""
        self._state = clone(self).partial_fit(X, y, times)._state
        return self

    def partial_fit(self, X: MatrixLike, y: ArrayLike, times: ArrayLike | None = None) -> Self:
        """Learn samples in order of arrival and forget those that fall out of the window.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or, for regressors, (n_samples, n_targets)
        times : array-like of shape (n_samples,) or one time for all
            Numbers or datetimes. Needed with ``max_age``, refused without.

        Returns
        -------
        self
        """
        self._check_parameters()
        if times is None and self._step(X, y):
            return self
        before = self._before()
        new = self._check_samples(X, y, times)
        now = new.times.max() if before is None else max(before.now, new.times.max())
        self._hold(self._slid(before, new, now), now, next_id=int(new.ids[-1]) + 1)
        self._reselect_if_due()
        return self

    def advance(self, time: float) -> Self:
        """Move the time forward and forget samples that are too old at ``time``. Returns self.

        A time before the latest seen changes nothing.
        """
        if self.max_age is None:
            raise ValueError("advance needs a window by age; set `max_age`.")
        (time,) = check_times(time, 1, check_age(self.max_age))
        if "_state" in vars(self) and time > self._state.now:
            self._hold(self._within(self._state.holdings, time), time, self._state.next_id)
        return self

    def forget(self, ids: ArrayLike) -> Self:
        """Forget samples by id, before they leave the window. Returns self."""
        holdings = self._require_samples()
        stay = np.delete(np.arange(len(holdings)), positions_of(holdings.ids, ids))
        self._hold(holdings.take(stay), self._state.now, self._state.next_id)
        return self

    # -- reading --------------------------------------------------------------------------------

    def predict(self, X: MatrixLike) -> Array:
        """Predictions of the window's model; NotFittedError while there is none."""
        moving = self._moving()
        known = None if moving is None else moving.predict(X)
        if known is not None:
            return known
        found: Array = self._model().predict(self._check_queries(X))
        return found

    @if_estimator_has("decision_function")
    def decision_function(self, X: MatrixLike) -> Array:
        """Decision values of the window's model."""
        moving = self._moving()
        known = None if moving is None else moving.decide(X)
        if known is not None:
            return known
        found: Array = self._model().decision_function(self._check_queries(X))
        return found

    @if_estimator_has("predict_proba")
    def predict_proba(self, X: MatrixLike) -> Array:
        """Class probabilities by the window's model."""
        found: Array = self._model().predict_proba(self._check_queries(X))
        return found

    @if_estimator_has("predict_set")
    def predict_set(self, X: MatrixLike, confidence_level: float = 0.9, **options: Any) -> Array:
        """Sets of classes by the window's model; see `LiveClassifier.predict_set`."""
        model, queries = self._model(), self._check_queries(X)
        found: Array = model.predict_set(queries, confidence_level, **options)
        return found

    @if_estimator_has("predict_interval")
    def predict_interval(
        self,
        X: MatrixLike,
        confidence_level: float = 0.9,
        method: str = "auto",
        width: str = "auto",
    ) -> Array:
        """Intervals by the window's model; see `LiveRegressor.predict_interval`."""
        model, queries = self._model(), self._check_queries(X)
        found: Array = model.predict_interval(queries, confidence_level, method, width)
        return found

    def score(self, X: MatrixLike, y: ArrayLike) -> float:
        """Accuracy or R² of the window's model."""
        return float(self._model().score(self._check_queries(X), y))

    @property
    def ids_(self) -> Array:
        """Ids of the window's samples, in order of arrival."""
        return self._require_samples().ids.copy()

    @property
    def times_(self) -> Array:
        """Times of the window's samples, in the order of `ids_`."""
        return self._require_samples().times.copy()

    @property
    def X_(self) -> Any:
        """The window's samples, in the order of `ids_`."""
        return self._require_samples().X.copy()

    @property
    def y_(self) -> Array:
        """Their labels or targets, in the order of `ids_`."""
        return self._require_samples().y.copy()

    @property
    def estimator_(self) -> Any:
        """The model of the window's samples; None while there is none."""
        state = self._before()
        if state is None:
            raise AttributeError("the window has seen no samples yet; call partial_fit first.")
        if state.model is not None and _version(state.model) is not state.version:
            _follow(state.model, state.holdings)
        return state.model

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        return int(self._require_samples().X.shape[1])

    @property
    def feature_names_in_(self) -> Array:
        """Names of the features, if they were all strings."""
        names: Array | None = self._require_samples().names
        if names is None:
            raise AttributeError("the samples came without names of features.")
        return names

    def __sklearn_is_fitted__(self) -> bool:
        state = vars(self).get("_state")
        return state is not None and state.model is not None

    def __sklearn_tags__(self) -> Tags:
        return get_tags(self.estimator)

    # -- state ----------------------------------------------------------------------------------

    @property
    def _state(self) -> _Window:
        """All that the window knows, settled: its model moves no more."""
        state: _Window = vars(self)["_state"]
        if state.moving is not None:
            vars(self)["_state"] = state = state.settled()
        return state

    @_state.setter
    def _state(self, state: _Window) -> None:
        vars(self)["_state"] = state

    def _before(self) -> _Window | None:
        """The same, or None before the first sample."""
        return self._state if "_state" in vars(self) else None

    def __getstate__(self) -> dict[str, Any]:
        self._before()  # a copy has a model of its own, and shares no movement
        return super().__getstate__()

    def _get_state(self) -> dict[str, Any]:
        """What a model file stores: the samples, and the model of them."""
        state = self._state
        times, now = np.asarray(state.holdings.times), np.asarray(state.now)
        dated = times.dtype.kind == "M"
        return {
            "estimator_": self.estimator_,
            "X": state.holdings.X,
            "y": state.holdings.y,
            "ids": state.holdings.ids,
            "times": times.astype("datetime64[us]").astype(np.int64) if dated else times,
            "now": int(now.astype("datetime64[us]").astype(np.int64)) if dated else now.item(),
            "dated": dated,
            "names": state.holdings.names,
            "next_id": state.next_id,
            "selected_at": state.selected_at,
        }

    def _set_state(self, state: dict[str, Any]) -> None:
        times, now = np.asarray(state["times"]), np.asarray(state["now"])
        if state["dated"]:
            times, now = times.astype("datetime64[us]"), now.astype("datetime64[us]")
        holdings = Held(state["X"], state["y"], state["ids"], times, state["names"])
        self._state = _Window(
            holdings,
            state["estimator_"],
            now[()],
            state["next_id"],
            state["selected_at"],
            is_classifier(self.estimator),
        )

    # -- steps ----------------------------------------------------------------------------------

    def _moving(self) -> Moving | None:
        """The model through which samples move, if they do."""
        state: _Window | None = vars(self).get("_state")
        return None if state is None else state.moving

    def _step(self, X: Any, y: Any) -> bool:
        """Learn one sample the short way, and forget one if need be; False if nothing was done."""
        state: _Window | None = vars(self).get("_state")
        if state is None or (state.moving is None and not self._begin_steps(state, X, y)):
            return False
        state = vars(self)["_state"]
        assert state is not None and state.moving is not None
        new_id = state.next_id + state.moving.steps
        return new_id + 1 < state.due and state.moving.step(X, y, new_id)

    def _begin_steps(self, state: _Window, X: Any, y: Any) -> bool:
        """Let the model of a window move, if it can and this sample is one to begin with."""
        holdings, due = state.holdings, self._due(state)
        most = inf if self.max_samples is None else self.max_samples
        if (
            state.model is None
            or self.max_age is not None
            or len(holdings) > most
            or state.next_id + 1 >= due
            or _version(state.model) is not state.version
            or not (holdings.is_like(X) and len(X) == 1 and holdings.accepts_targets(y, 1))
            or not (state.classifies or y.dtype == np.float64)
            or not (state.model.ids_ == holdings.ids).all()
        ):
            return False
        moving = state.model._start_moving(most)
        if moving is not None:
            self._state = state._replace(moving=moving, due=due)
        return moving is not None

    def _due(self, state: _Window) -> float:
        """The number of samples at which the hyper-parameters are looked at."""
        if self.reselect_every is None:
            return inf
        if self.reselect_every == ALARM:
            return 0 if state.alarm is None else state.looked_at + len(state.holdings) / LOOKS
        return state.selected_at + int(self.reselect_every)

    # -- for River's wrappers -------------------------------------------------------------------

    def _count(self) -> int:
        """Number of samples in the window."""
        state: _Window = vars(self)["_state"]
        return len(state.holdings) if state.moving is None else state.moving.count

    def _used_features(self) -> Array:
        """Which features of the window's samples are not 0 in all of them."""
        moving = self._moving()
        used: Array = (
            (self._require_samples().X != 0).any(axis=0) if moving is None else moving.used()
        )
        return used

    # -- inside ---------------------------------------------------------------------------------

    def _slid(self, before: _Window | None, new: Held, now: Any) -> Held:
        """The samples of the window when new ones have come."""
        if before is None:
            return self._within(new, now)
        if self.max_age is not None or len(new) != 1:
            return self._within(before.holdings.join(new), now)
        leaving = 0
        if self.max_samples is not None:
            leaving = max(0, len(before.holdings) + 1 - self.max_samples)
        return before.holdings.join(new, leaving)

    def _within(self, holdings: Held, now: Any) -> Held:
        """Those of the samples that are in the window."""
        stay = np.arange(len(holdings))
        if self.max_age is not None:
            stay = np.flatnonzero(now - holdings.times <= check_age(self.max_age))
        return holdings.take(stay if self.max_samples is None else stay[-self.max_samples :])

    def _hold(self, holdings: Held, now: Any, next_id: int) -> None:
        """Hold these samples: bring the model there, then put all in place at once."""
        before = self._before()
        model = None if before is None else before.model
        selected_at = next_id if before is None else before.selected_at
        classifies = is_classifier(self.estimator) if before is None else before.classifies
        if len(holdings) < self.min_samples or (classifies and (holdings.y == holdings.y[0]).all()):
            model = None
        elif model is not None:
            self._move(model, holdings)
        else:
            model = clone(self.estimator).fit(holdings.X, holdings.y, ids=holdings.ids)
            selected_at = next_id
        alarm, looked_at = (None, 0) if before is None else (before.alarm, before.looked_at)
        version = None if model is None else _version(model)
        self._state = _Window(
            holdings, model, now, next_id, selected_at, classifies, alarm, looked_at, version
        )

    def _move(self, model: Any, holdings: Held) -> None:
        """Bring the model to these samples, mostly by one step from where the window is."""
        state = self._state
        if _version(model) is not state.version:  # it may hold another sample under a new id
            _follow(model, state.holdings)
        if holdings.follows(state.holdings):
            X, y, ids = holdings.X[-1:], holdings.y[-1:], holdings.ids[-1:]
            if model._takes(X, y, state.holdings.ids[0]):
                model._step(X, y, ids)
                return
        _follow(model, holdings)

    def _reselect_if_due(self) -> None:
        state = self._state
        if self.reselect_every is None or state.model is None:
            return
        if self.reselect_every == ALARM:
            self._follow_alarm(state)
        elif state.next_id - state.selected_at >= int(self.reselect_every):
            state.model.reselect()
            self._state = state._replace(selected_at=state.next_id)

    def _follow_alarm(self, state: _Window) -> None:
        """Look at the leave-one-out error from time to time, and choose again if it rings."""
        if state.alarm is None or state.selected_at == state.next_id:  # a new model
            alarm = Alarm.set(state.model)
        elif LOOKS * (state.next_id - state.looked_at) < len(state.holdings):
            return
        else:
            alarm = state.alarm
            new = state.next_id - state.selected_at
            if state.model.chosen_on_data_ and alarm.rings(
                state.model, new
            ):  # else nothing was chosen
                state.model.reselect()
                alarm = Alarm.set(state.model)
                state = state._replace(selected_at=state.next_id)
        self._state = state._replace(alarm=alarm, looked_at=state.next_id)

    def _model(self) -> Any:
        model = getattr(self, "estimator_", None)
        if model is not None:
            return model
        before = self._before()
        holdings = 0 if before is None else len(before.holdings)
        classes = " of two classes or more" if is_classifier(self.estimator) else ""
        raise NotFittedError(
            f"the window has no model: it holds {holdings} samples, and a model needs "
            f"{self.min_samples}{classes}. Learn more samples, or lower `min_samples`."
        )

    def _require_samples(self) -> Held:
        state: _Window | None = vars(self).get("_state")
        if state is None:
            raise NotFittedError("the window has seen no samples yet; call partial_fit first.")
        return state.held()

    # -- validation -----------------------------------------------------------------------------

    def _check_samples(self, X: Any, y: Any, times: Any) -> Held:
        before = self._before()
        if (
            before is not None
            and before.holdings.accepts(X)
            and before.holdings.accepts_targets(y, len(X))
        ):
            ids = np.arange(before.next_id, before.next_id + len(X))
            return Held(X, y, ids, self._check_times(times, ids), None)
        classifies = is_classifier(self.estimator)
        options = {
            "accept_sparse": "csr",
            "multi_output": True,
            "y_numeric": not classifies,
        }
        if before is None:
            names = _get_feature_names(X)
            dtype = [np.float64, np.float32]
            X, y = check_X_y(X, y, dtype=dtype, estimator=self, **options)
        else:
            names = before.holdings.names
            dtype = before.holdings.X.dtype
            X, y = validate_data(self, X, y, reset=False, dtype=dtype, **options)
        y = column_or_1d(y, warn=True) if classifies else y
        if before is not None and sparse.issparse(X) != sparse.issparse(before.holdings.X):
            raise ValueError("X must stay sparse or stay dense for as long as the window lives.")
        start = 0 if before is None else before.next_id
        ids = np.arange(start, start + len(y))
        return Held(X, y, ids, self._check_times(times, ids), names)

    def _check_times(self, times: Any, ids: Any) -> Array:
        if (times is None) != (self.max_age is None):
            raise ValueError(
                f"times go with max_age: got times={times!r} and max_age={self.max_age!r}."
            )
        return ids if times is None else check_times(times, len(ids), check_age(self.max_age))

    def _check_queries(self, X: Any) -> Any:
        holdings = self._require_samples()
        if holdings.is_like(X):
            return X  # the model looks at the numbers
        return validate_data(self, X, reset=False, accept_sparse="csr", dtype=holdings.X.dtype)

    def _check_parameters(self) -> None:
        """Check the parameters if they have been set anew since the last call."""
        kernel, counts = getattr(self.estimator, "kernel", None), (self.max_samples, self.max_age)
        parameters = (self.estimator, kernel, *counts, self.min_samples, self.reselect_every)
        checked = vars(self).get("_checked")
        if checked is not None and all(map(is_, parameters, checked)):
            return
        self._check_each_parameter()
        self._before()  # steps were made under other parameters
        self._checked = parameters

    def _check_each_parameter(self) -> None:
        if getattr(self.estimator, "kernel", None) == "precomputed":
            raise ValueError(
                'a window needs samples; kernel="precomputed" has none to keep. Give the kernel '
                "as a function."
            )
        counts = ("max_samples", "min_samples", "reselect_every")
        for name in counts[:2] if self.reselect_every == ALARM else counts:
            _check_count(name, getattr(self, name), optional=name != "min_samples")
        if self.max_samples is not None and self.max_samples < self.min_samples:
            raise ValueError(
                f"max_samples must be at least min_samples, or there is never a model; got "
                f"{self.max_samples} and {self.min_samples}."
            )
        if self.max_age is not None:
            check_age(self.max_age)


def _version(model: Any) -> object:
    """Token of what a fitted model holds, another one after every edit."""
    return model._now.holdings.version


def _follow(model: Any, holdings: Held) -> None:
    """Bring a model to hold these samples: learn the new ones, forget those that are gone.

    In one edit, so that a call that fails leaves the model where it was.
    """
    ids = model.ids_
    if ids.shape == holdings.ids.shape and (ids == holdings.ids).all():
        return
    if ids.shape == holdings.ids.shape and (ids[1:] == holdings.ids[:-1]).all():  # a step by one
        new, gone = np.array([len(ids) - 1]), ids[:1]
    else:
        new, gone = _absent(holdings.ids, ids), ids[_absent(ids, holdings.ids)]
    if len(new) == 0:
        model.forget(gone)
    else:
        rows = holdings.take(new)
        model.exchange(gone, rows.X, rows.y, new_ids=rows.ids)


def _absent(ids: Array, among: Array) -> Array:
    """Positions of the ids that are not among others, which an interrupt may have disordered."""
    if len(among) == 0:
        return np.arange(len(ids))
    among = np.sort(among)
    places = np.searchsorted(among, ids)
    return np.flatnonzero(among[np.minimum(places, len(among) - 1)] != ids)


def _check_count(name: str, value: Any, *, optional: bool) -> None:
    if optional and value is None:
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer >= 1, got {value!r}.")
