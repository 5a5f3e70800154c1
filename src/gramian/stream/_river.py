"""Gramian's estimators as River models: dictionaries in, one sample at a time."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.discriminant._estimator import KernelDiscriminant
from gramian.stream._window import SlidingWindow
from gramian.svm._least_squares import LeastSquaresSVR

try:
    from river import base
except ImportError as error:
    raise ImportError('River models need River: pip install "gramian[river]".') from error


class FeatureOrder:
    """Places of named features in a vector: they stay while a sample has the feature.

    The vector has room to spare, which doubles when it is full. An empty place is zero in every
    sample, so that it changes no distance and no scalar product. The name of a place that has
    become empty is forgotten; ``("", place)`` stands for it until another name takes the place.
    """

    def __init__(self, places: dict[Hashable, int] | None = None) -> None:
        self.places: dict[Hashable, int] = {} if places is None else places

    @property
    def width(self) -> int:
        """Length of the vectors: a power of two."""
        return 1 << max(len(self.places) - 1, 0).bit_length()

    def extended(self, names: Iterable[Hashable]) -> FeatureOrder:
        """With places for new names, in an order that does not depend on how they came."""
        names = list(names)
        if all(name in self.places for name in names):
            return self
        new = sorted((name for name in names if name not in self.places), key=str)
        free = [place for name, place in self.places.items() if name == ("", place)]
        places = [*free, *range(len(self.places), len(self.places) + len(new))]
        named = {place: name for name, place in self.places.items()}
        named |= dict(zip(places, new, strict=False))
        return FeatureOrder({name: place for place, name in named.items()})

    def used(self, some: Array) -> FeatureOrder:
        """Without the names of features at places where no sample has another number than 0."""
        if np.count_nonzero(some) == len(self.places):
            return self
        return FeatureOrder(
            {name if some[place] else ("", place): place for name, place in self.places.items()}
        )

    def vector(self, x: Mapping[Any, Any]) -> Array:
        """Features as an array of shape (1, width); absent ones are 0, unknown ones left out."""
        values = [0.0] * self.width
        for name, value in x.items():
            place = self.places.get(name)
            if place is not None and value is not None:
                values[place] = value if type(value) is float else _number(name, value)
        return np.array([values])


class _River:
    """What classifier and regressor share: a window, and an order of features that may grow."""

    estimator: Any
    max_samples: int | None
    min_samples: int
    reselect_every: int | str | None

    def __init__(
        self,
        estimator: Any = None,
        max_samples: int | None = 500,
        min_samples: int = 20,
        reselect_every: int | str | None = "alarm",
    ) -> None:
        self.estimator = estimator
        self.max_samples = max_samples
        self.min_samples = min_samples
        self.reselect_every = reselect_every
        self._features = FeatureOrder()
        self._window: SlidingWindow | None = None

    def _default_estimator(self) -> Any:
        raise NotImplementedError

    def _model(self) -> Any:
        """The model of the window's samples; None while there is none."""
        return None if self._window is None else self._window.estimator_

    def _learn(self, x: dict[Any, Any], target: Any) -> None:
        features = self._features.extended(x)
        vector, window = features.vector(x), self._window
        if window is None:
            window = self._new_window()
        elif features.width > self._features.width:
            window = self._widened(window, features.width)
        holdings = 0 if self._window is None else self._window._count()
        self._window, self._features = window.partial_fit(vector, np.array([target])), features
        left = self._window._count() <= holdings
        if left and np.count_nonzero(vector) < len(features.places):  # else it has them all
            self._drop_names(self._window)

    def _forget(self, x: dict[Any, Any], target: Any) -> None:
        """Forget the last sample with these features and this target."""
        window, names = self._window, self._features.places.keys()
        found: list[int] = []
        if window is not None and not any(x[name] for name in x.keys() - names):
            same = (self._features.vector(x) == window.X_fit_).all(axis=1)
            found = window.ids_[same & (window.y_fit_ == target)].tolist()
        if window is None or not found:
            raise ValueError(
                "forget_one got a sample that the window does not hold. Give the features and the "
                "target as they were learned."
            )
        self._window = window.forget(found[-1:])
        self._drop_names(self._window)

    def _drop_names(self, window: SlidingWindow) -> None:
        """Forget the names of features that no held sample has."""
        self._features = self._features.used(window._used_features())

    def _new_window(self) -> SlidingWindow:
        estimator = self._default_estimator() if self.estimator is None else self.estimator
        if _has_feature_widths(estimator):
            raise ValueError(
                "features of a stream come and go by name: gamma must be one number, or chosen "
                f'with metric="ard", got {estimator.gamma!r}.'
            )
        return SlidingWindow(
            estimator,
            max_samples=self.max_samples,
            min_samples=self.min_samples,
            reselect_every=self.reselect_every,
        )

    def _widened(self, window: SlidingWindow, width: int) -> SlidingWindow:
        """A window that holds the same samples with zeros for the features to come."""
        padding = ((0, 0), (0, width - window.n_features_in_))
        return self._new_window().partial_fit(np.pad(window.X_fit_, padding), window.y_fit_)

    # -- for model files, as an estimator has them ----------------------------------------------

    def get_params(self, deep: bool = False) -> dict[str, Any]:
        """The arguments of the constructor."""
        names = ("estimator", "max_samples", "min_samples", "reselect_every")
        return {name: getattr(self, name) for name in names}

    def __sklearn_is_fitted__(self) -> bool:
        return self._window is not None

    def _get_state(self) -> dict[str, Any]:
        places = self._features.places
        return {"window": self._window, "features": sorted(places, key=lambda name: places[name])}

    def _set_state(self, state: dict[str, Any]) -> None:
        places = {name: place for place, name in enumerate(state["features"])}
        self._window, self._features = state["window"], FeatureOrder(places)

    def _held_targets(self) -> Array:
        return np.empty(0) if self._window is None else self._window.y_fit_


class RiverClassifier(_River, base.Classifier):
    """River model that holds a classifier of Gramian in a sliding window.

    The model always equals one fitted to the last ``max_samples`` samples. Each feature gets a
    fixed position when it first appears. New features may appear at any time, and a feature that
    a sample lacks counts as 0. Features are not scaled: put a scaler before the model.

    While there is no model (too few samples, or one class only), probabilities are the frequencies
    of the labels in the window.

    Parameters
    ----------
    estimator
        A classifier of Gramian, by default a `KernelDiscriminant` that chooses its
        hyper-parameters by leave-one-out.
    max_samples
        Number of latest samples to keep; None keeps all.
    min_samples
        Number of samples from which on there is a model.
    reselect_every
        Number of samples after which to choose the hyper-parameters again; None for never. By
        default, when the leave-one-out error or the number of samples says so, see `SlidingWindow`.

    Notes
    -----
    When the vector of features is full, its length doubles and the model is fitted again, with
    hyper-parameters chosen again. ``gamma="auto"`` also counts the unused positions.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from gramian import KernelDiscriminant
    >>> from gramian.stream import RiverClassifier
    >>> estimator = RiverClassifier(KernelDiscriminant(gamma=0.05, ridge=1.0), max_samples=200)
    >>> model = preprocessing.StandardScaler() | estimator
    >>> evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.Accuracy())
    Accuracy: 85.95%
    """

    def __init__(
        self,
        estimator: Any = None,
        max_samples: int | None = 500,
        min_samples: int = 20,
        reselect_every: int | str | None = "alarm",
    ) -> None:
        super().__init__(estimator, max_samples, min_samples, reselect_every)
        # Classes as numbers: labels of any kind, also of several kinds at once.
        self._codes: dict[Any, int] = {}

    @property
    def _multiclass(self) -> bool:
        return True

    def _new_window(self) -> SlidingWindow:
        weights = getattr(self.estimator, "class_weight", None)
        if isinstance(weights, dict):
            raise ValueError(
                "labels of a stream are numbered as they come, so that the estimator cannot tell "
                f'its classes by name: class_weight must be None or "balanced", got {weights!r}.'
            )
        return super()._new_window()

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Learn one sample, and forget the oldest if the window is full."""
        code = self._codes.get(y)
        if code is None:
            taken = set(self._codes.values())
            code = min(set(range(len(taken) + 1)) - taken)
        self._learn(x, code)
        self._codes[y] = code
        self._drop_labels()

    def forget_one(self, x: dict[Any, Any], y: Any) -> None:
        """Forget a sample of the window, given as it was learned; ValueError if there is none."""
        self._forget(x, self._codes.get(y))
        self._drop_labels()

    def _drop_labels(self) -> None:
        """Forget the labels that no held sample has; while a window steps on, all have some."""
        if self._window is not None and self._window._moving() is not None:
            return
        holdings = set(np.unique(self._held_targets()).tolist())
        if len(holdings) < len(self._codes):
            self._codes = {label: code for label, code in self._codes.items() if code in holdings}

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """The label; None before the first sample."""
        window = self._window
        if window is None or not window.__sklearn_is_fitted__():
            return super().predict_one(x, **kwargs)
        return self._labels()[int(window.predict(self._features.vector(x))[0])]

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """The probability of every label of the window; empty before the first sample."""
        labels = self._labels()
        probability = dict.fromkeys(labels.values(), 0.0)
        if (model := self._model()) is not None:
            codes, values = model.classes_, model.predict_proba(self._features.vector(x))[0]
        else:
            codes, counts = np.unique(self._held_targets(), return_counts=True)
            values = counts / counts.sum()
        for code, value in zip(codes.tolist(), values.tolist(), strict=True):
            probability[labels[int(code)]] = value
        return probability

    def _labels(self) -> dict[int, Any]:
        """The label of each number that stands for one in the window."""
        return {code: label for label, code in self._codes.items()}

    def _get_state(self) -> dict[str, Any]:
        labels = self._labels()  # a number that is free for now has no label
        listed = [labels.get(code) for code in range(max(labels, default=-1) + 1)]
        return {**super()._get_state(), "labels": listed}

    def _set_state(self, state: dict[str, Any]) -> None:
        super()._set_state(state)
        holdings = set(np.unique(self._held_targets()).tolist())
        labels = enumerate(state["labels"])
        self._codes = {label: code for code, label in labels if code in holdings}

    def _default_estimator(self) -> KernelDiscriminant:
        return KernelDiscriminant(random_state=0)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"estimator": KernelDiscriminant(gamma=0.1, ridge=0.1), "max_samples": 30}


class RiverRegressor(_River, base.Regressor):
    """River model that holds a regressor of Gramian in a sliding window.

    It works like `RiverClassifier`. While there is no model, the prediction is the mean of the
    targets in the window.

    Parameters
    ----------
    estimator
        A regressor of Gramian, by default a `LeastSquaresSVR` that chooses its hyper-parameters
        by leave-one-out.
    max_samples
        Number of latest samples to keep; None keeps all.
    min_samples
        Number of samples from which on there is a model.
    reselect_every
        Number of samples after which to choose the hyper-parameters again; None for never. By
        default, when the leave-one-out error or the number of samples says so, see `SlidingWindow`.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from gramian import LeastSquaresSVR
    >>> from gramian.stream import RiverRegressor
    >>> estimator = RiverRegressor(LeastSquaresSVR(gamma=0.05, C=100.0), max_samples=200)
    >>> model = preprocessing.StandardScaler() | estimator
    >>> evaluate.progressive_val_score(datasets.TrumpApproval().take(300), model, metrics.MAE())
    MAE: 0.817...
    """

    def learn_one(self, x: dict[Any, Any], y: float) -> None:
        """Learn one sample, and forget the oldest if the window is full."""
        self._learn(x, _target(y))

    def forget_one(self, x: dict[Any, Any], y: float) -> None:
        """Forget a sample of the window, given as it was learned; ValueError if there is none."""
        self._forget(x, _target(y))

    def predict_one(self, x: dict[Any, Any]) -> float:
        """The prediction; 0 before the first sample."""
        window = self._window
        if window is not None and window.__sklearn_is_fitted__():
            return float(window.predict(self._features.vector(x))[0])
        targets = self._held_targets()
        return float(targets.mean()) if len(targets) else 0.0

    def _default_estimator(self) -> LeastSquaresSVR:
        return LeastSquaresSVR(random_state=0)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"estimator": LeastSquaresSVR(gamma=0.1, C=10.0), "max_samples": 30}


def _has_feature_widths(estimator: Any) -> bool:
    """Whether a width is given for each feature; several kernels have a list of widths."""
    gamma = getattr(estimator, "gamma", None)
    if isinstance(gamma, list | tuple) and not isinstance(estimator.kernel, str):
        return any(np.ndim(width) for width in gamma)
    return gamma is not None and np.ndim(gamma) > 0


def _target(y: Any) -> float:
    try:
        return float(y)
    except (TypeError, ValueError):
        raise ValueError(
            f"the target must be one number, got {y!r}; take a model for each target, or "
            f"gramian.stream.SlidingWindow, which takes several."
        ) from None


def _number(name: Hashable, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(
            f"feature {name!r} must be a number, got {value!r}; encode it first, for example by "
            f"river.preprocessing.OneHotEncoder."
        ) from None
