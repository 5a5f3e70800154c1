"""A model fitted to the latest samples of a stream."""

from __future__ import annotations

from math import inf
from operator import is_
from typing import Any, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags, get_tags

from gramian.core.arrays import Array, ArrayLike, MatrixLike
from gramian.core.estimators import positions_of
from gramian.core.estimators._delegation import if_estimator_has
from gramian.core.estimators._moving import Moving
from gramian.core.estimators._scikit_learn import BaseEstimator, MetaEstimatorMixin
from gramian.stream._choices import due, reselected
from gramian.stream._holdings import Held, check_age, check_times
from gramian.stream._state import WindowState, follow, version_of
from gramian.stream._validation import check_parameters, check_queries, check_samples


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
    ids_, times_, X_fit_, y_fit_ : ndarray
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
        new = check_samples(self, before, X, y, times)
        now = new.times.max() if before is None else max(before.now, new.times.max())
        self._hold(self._slid(before, new, now), now, next_id=int(new.ids[-1]) + 1)
        self._state = reselected(self._state, self.reselect_every)
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
        found: Array = self._model().predict(self._queries(X))
        return found

    @if_estimator_has("decision_function")
    def decision_function(self, X: MatrixLike) -> Array:
        """Decision values of the window's model."""
        moving = self._moving()
        known = None if moving is None else moving.decide(X)
        if known is not None:
            return known
        found: Array = self._model().decision_function(self._queries(X))
        return found

    @if_estimator_has("predict_proba")
    def predict_proba(self, X: MatrixLike) -> Array:
        """Class probabilities by the window's model."""
        found: Array = self._model().predict_proba(self._queries(X))
        return found

    @if_estimator_has("predict_set")
    def predict_set(self, X: MatrixLike, confidence_level: float = 0.9, **options: Any) -> Array:
        """Sets of classes by the window's model; see `LiveClassifier.predict_set`."""
        model, queries = self._model(), self._queries(X)
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
        model, queries = self._model(), self._queries(X)
        found: Array = model.predict_interval(queries, confidence_level, method, width)
        return found

    def score(self, X: MatrixLike, y: ArrayLike) -> float:
        """Accuracy or R² of the window's model."""
        return float(self._model().score(self._queries(X), y))

    @property
    def ids_(self) -> Array:
        """Ids of the window's samples, in order of arrival."""
        return self._require_samples().ids.copy()

    @property
    def times_(self) -> Array:
        """Times of the window's samples, in the order of `ids_`."""
        return self._require_samples().times.copy()

    @property
    def X_fit_(self) -> Any:
        """The window's samples, in the order of `ids_`."""
        return self._require_samples().X.copy()

    @property
    def y_fit_(self) -> Array:
        """Their labels or targets, in the order of `ids_`."""
        return self._require_samples().y.copy()

    @property
    def estimator_(self) -> Any:
        """The model of the window's samples; None while there is none."""
        state = self._before()
        if state is None:
            raise AttributeError("the window has seen no samples yet; call partial_fit first.")
        if state.model is not None and version_of(state.model) is not state.version:
            follow(state.model, state.holdings)
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
    def _state(self) -> WindowState:
        """All that the window knows, settled: its model moves no more."""
        state: WindowState = vars(self)["_state"]
        if state.moving is not None:
            vars(self)["_state"] = state = state.settled()
        return state

    @_state.setter
    def _state(self, state: WindowState) -> None:
        vars(self)["_state"] = state

    def _before(self) -> WindowState | None:
        """The same, or None before the first sample."""
        return self._state if "_state" in vars(self) else None

    def __getstate__(self) -> dict[str, Any]:
        self._before()  # a copy has a model of its own, and shares no movement
        return super().__getstate__()

    def _get_state(self) -> dict[str, Any]:
        """What a model file stores: the samples, and the model of them."""
        return {"estimator_": self.estimator_, **self._state.stored()}

    def _set_state(self, state: dict[str, Any]) -> None:
        self._state = WindowState.loaded(state, is_classifier(self.estimator))

    # -- steps ----------------------------------------------------------------------------------

    def _moving(self) -> Moving | None:
        """The model through which samples move, if they do."""
        state: WindowState | None = vars(self).get("_state")
        return None if state is None else state.moving

    def _step(self, X: Any, y: Any) -> bool:
        """Learn one sample the short way, and forget one if need be; False if nothing was done."""
        state: WindowState | None = vars(self).get("_state")
        if state is None or (state.moving is None and not self._begin_steps(state, X, y)):
            return False
        state = vars(self)["_state"]
        assert state is not None and state.moving is not None
        new_id = state.next_id + state.moving.steps
        return new_id + 1 < state.due and state.moving.step(X, y, new_id)

    def _begin_steps(self, state: WindowState, X: Any, y: Any) -> bool:
        """Let the model of a window move, if it can and this sample is one to begin with."""
        holdings, looked_at = state.holdings, due(state, self.reselect_every)
        most = inf if self.max_samples is None else self.max_samples
        if (
            state.model is None
            or self.max_age is not None
            or len(holdings) > most
            or not state.resume_at <= state.next_id < looked_at - 1
            or version_of(state.model) is not state.version
            or not (holdings.is_like(X) and len(X) == 1 and holdings.accepts_targets(y, 1))
            or not (state.classifies or y.dtype == np.float64)
            or not (state.model.ids_ == holdings.ids).all()
        ):
            return False
        moving = state.model._start_moving(most)
        if moving is not None:
            self._state = state._replace(moving=moving, due=looked_at)
        return moving is not None

    # -- for River's wrappers -------------------------------------------------------------------

    def _count(self) -> int:
        """Number of samples in the window."""
        state: WindowState = vars(self)["_state"]
        return len(state.holdings) if state.moving is None else state.moving.count

    def _used_features(self) -> Array:
        """Which features of the window's samples are not 0 in all of them."""
        moving = self._moving()
        return moving.used() if moving is not None else (self._require_samples().X != 0).any(axis=0)

    # -- inside ---------------------------------------------------------------------------------

    def _slid(self, before: WindowState | None, new: Held, now: Any) -> Held:
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
        version = None if model is None else version_of(model)
        state = WindowState(holdings, model, now, next_id, selected_at, classifies, version=version)
        if before is not None:
            state = state._replace(
                alarm=before.alarm, looked_at=before.looked_at, resume_at=before.resume_at
            )
        self._state = state

    def _move(self, model: Any, holdings: Held) -> None:
        """Bring the model to these samples, mostly by one step from where the window is."""
        state = self._state
        if version_of(model) is not state.version:  # it may hold another sample under a new id
            follow(model, state.holdings)
        if holdings.follows(state.holdings):
            X, y, ids = holdings.X[-1:], holdings.y[-1:], holdings.ids[-1:]
            if model._takes(X, y, state.holdings.ids[0]):
                model._step(X, y, ids)
                return
        follow(model, holdings)

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

    def _queries(self, X: Any) -> Any:
        return check_queries(self, self._require_samples(), X)

    def _require_samples(self) -> Held:
        state: WindowState | None = vars(self).get("_state")
        if state is None:
            raise NotFittedError("the window has seen no samples yet; call partial_fit first.")
        return state.held()

    def _check_parameters(self) -> None:
        """Check the parameters if they have been set anew since the last call."""
        kernel, counts = getattr(self.estimator, "kernel", None), (self.max_samples, self.max_age)
        parameters = (self.estimator, kernel, *counts, self.min_samples, self.reselect_every)
        checked = vars(self).get("_checked")
        if checked is not None and all(map(is_, parameters, checked)):
            return
        check_parameters(self)
        self._before()  # steps were made under other parameters
        self._checked = parameters
