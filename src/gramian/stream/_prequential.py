"""Test-then-train evaluation: each sample is predicted first and learned afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gramian.core.arrays import Array
from gramian.core.equations import accepted
from gramian.core.estimators import answer_p_values, check_confidence
from gramian.stream._martingale import mixture_martingale
from gramian.stream._window import SlidingWindow

METRICS: dict[str, Callable[[Any, Any], float]] = {
    "accuracy": lambda y, prediction: float(y == prediction),
    "absolute error": lambda y, prediction: float(np.mean(np.abs(y - prediction))),
    "squared error": lambda y, prediction: float(np.mean(np.square(y - prediction))),
}


@dataclass(frozen=True)
class Prequential:
    """What a model predicted before it learned each sample.

    Other metrics can be computed from `y_true` and `y_pred`.

    Attributes
    ----------
    metric : str
    window : int
    n_seen : int
        Number of samples in the stream.
    steps : ndarray of shape (m,)
        Positions in the stream of the samples that were predicted. While a window has no model
        yet, samples are learned without a prediction.
    y_true, y_pred : ndarray of shape (m,) or (m, n_targets)
    scores : ndarray of shape (m,)
        The metric of each prediction.
    confidence_level : float or None
        That of the prediction sets or intervals, if any were asked for.
    p_values : ndarray of shape (m,), or None
        Smoothed conformal p-value of each sample: uniform while the stream stays as it was.
    no_change : ndarray of shape (m,)
        The metric of "the same as the sample before", NaN for the first sample of a stream. A model
        that is not better than this has learned nothing but the order of the stream.
    """

    metric: str
    window: int
    n_seen: int
    steps: Array
    y_true: Array
    y_pred: Array
    scores: Array
    no_change: Array = field(default_factory=lambda: np.empty(0))
    confidence_level: float | None = None
    p_values: Array | None = None

    @property
    def running(self) -> Array:
        """Mean score of all predictions so far, of shape (m,)."""
        return np.cumsum(self.scores) / np.arange(1, len(self.scores) + 1)

    @property
    def windowed(self) -> Array:
        """Mean score of the last ``window`` predictions, of shape (m,); of fewer at the start."""
        return _last_means(self.scores, self.window)

    @property
    def covered(self) -> Array:
        """Whether the smoothed set or region of each sample held the truth, of shape (m,)."""
        return accepted(self._given_p_values(), self.confidence_level or 0.0)

    @property
    def coverage(self) -> float:
        """Share of all samples that their set or region held."""
        return float(np.mean(self.covered)) if len(self.covered) else np.nan

    @property
    def windowed_coverage(self) -> Array:
        """Coverage of the last ``window`` predictions, of shape (m,); of fewer at the start."""
        return _last_means(self.covered, self.window)

    @property
    def martingale(self) -> Array:
        """log₁₀ of the `mixture_martingale` of the p-values, of shape (m,)."""
        return mixture_martingale(self._given_p_values())

    def alarm(self, level: float = 100.0) -> int | None:
        """Position in the stream where the martingale first reached ``level``, or None.

        A stream that does not change reaches 100 with a probability of at most 1/100, if the model
        holds all samples so far; for a sliding window this is a guide.
        """
        high = np.flatnonzero(self.martingale >= np.log10(level))
        return int(self.steps[high[0]]) if len(high) else None

    def _given_p_values(self) -> Array:
        if self.p_values is None:
            raise ValueError("no sets were asked for; give `confidence_level` to prequential.")
        return self.p_values

    @property
    def score(self) -> float:
        """Mean score of all predictions."""
        return float(np.mean(self.scores)) if len(self.scores) else np.nan

    @property
    def baseline(self) -> float:
        """Mean score of predicting no change."""
        known = self.no_change[~np.isnan(self.no_change)]
        return float(np.mean(known)) if len(known) else np.nan

    def __str__(self) -> str:
        return (
            f"{self.metric} {self.score:.4g} (no change: {self.baseline:.4g}), "
            f"{len(self.scores)} of {self.n_seen} samples predicted"
        )


def prequential(
    model: Any,
    stream: Iterable[tuple[Any, ...]],
    *,
    metric: str | Callable[[Any, Any], float] | None = None,
    window: int = 200,
    confidence_level: float | None = None,
    width: str = "constant",
    score: str = "margin",
    mondrian: bool = False,
    random_state: Any = 0,
) -> Prequential:
    """Predict each sample of a stream, then learn it.

    Parameters
    ----------
    model : SlidingWindow or fitted estimator
        The model that learns the stream. An estimator must be fitted first, because a classifier
        cannot learn from a single class; a `SlidingWindow` handles the start by itself.
    stream : iterable of (x, y) or (x, y, time)
        One sample at a time, such as ``zip(X, y)``. With a time, samples that are too old by then
        leave the window before the prediction.
    metric : {"accuracy", "absolute error", "squared error"} or callable, optional
        A callable gives the score of one sample from ``(y, prediction)``. By default the accuracy
        for classifiers and the absolute error for regressors.
    window : int, default=200
        Number of predictions that `Prequential.windowed` averages over.
    confidence_level : float, optional
        Also ask for the prediction set or region of each sample, which costs one more pass over the
        model, and report whether it held the truth, the p-value of each sample, and the martingale
        that grows when the stream changes. For one target.
    width : {"constant", "density", "local"}
        For numbers: regions nearly as wide everywhere, wider where samples are few, or as wide as
        the errors around a sample are large; see ``predict_interval``. With "local", the promise is
        that of jackknife+, and the alarm of the martingale a guide.
    score : {"margin", "adaptive"}
        For classes: how ill a label fits; see ``p_values``.
    mondrian : bool
        For classes: compare with held samples of the same class alone.
    random_state : int, RandomState or None
        Draws the random numbers of the smoothed p-values and of adaptive scores.

    Returns
    -------
    Prequential

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import KernelDiscriminant
    >>> from gramian.stream import SlidingWindow, prequential
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2))
    >>> y = np.where(np.arange(200) < 100, X[:, 0] > 0, X[:, 0] < 0)    # the concept turns over
    >>> model = SlidingWindow(KernelDiscriminant(gamma=0.5, ridge=0.1), max_samples=40)
    >>> result = prequential(model, zip(X, y), window=20)
    >>> len(result.scores), round(result.score, 2)
    (180, 0.84)
    >>> print(result)
    accuracy 0.8444 (no change: 0.5167), 180 of 200 samples predicted
    """
    if window < 1:
        raise ValueError(f"window must be an integer >= 1, got {window!r}.")
    name, scored = _metric(metric, model)
    options = {"width": width, "score": score, "mondrian": mondrian}
    if not isinstance(model, SlidingWindow):
        check_is_fitted(
            model,
            msg="prequential needs a %(name)s that is fitted to some first samples. Or wrap it in "
            "a SlidingWindow, which handles the start.",
        )
    if getattr(model, "kernel", None) == "precomputed":
        raise ValueError(
            'a stream has samples; a model with kernel="precomputed" takes kernel values, of '
            "which each sample that is learned adds one. Give the kernel as a function."
        )
    confidence_level = None if confidence_level is None else check_confidence(confidence_level)
    random = check_random_state(random_state)
    n_seen, steps, predictions, last = 0, [], [], None
    ranks: list[float] = []
    for x, y, *time in stream:
        X = x if sparse.issparse(x) else np.reshape(x, (1, -1))
        predicted = _predict(model, X, time)
        if predicted is not None:
            steps.append(n_seen)
            predictions.append((y, predicted, np.nan if n_seen == 0 else scored(y, last)))
            if confidence_level is not None:
                ranks.append(_ranked(model, X, y, random, options))
        model.partial_fit(X, np.asarray([y]), **({"times": time} if time else {}))
        n_seen, last = n_seen + 1, y
    return Prequential(
        metric=name,
        window=window,
        n_seen=n_seen,
        steps=np.array(steps, dtype=int),
        y_true=np.array([y for y, _, _ in predictions]),
        y_pred=np.array([prediction for _, prediction, _ in predictions]),
        scores=np.array([scored(y, prediction) for y, prediction, _ in predictions]),
        no_change=np.array([baseline for _, _, baseline in predictions]),
        confidence_level=confidence_level,
        p_values=None if confidence_level is None else np.array(ranks, dtype=float),
    )


def _ranked(model: Any, X: Any, y: Any, random: Any, options: dict[str, Any]) -> float:
    """Smoothed p-value of one sample before it is learned."""
    model = model.estimator_ if isinstance(model, SlidingWindow) else model
    if np.ndim(y):
        raise ValueError("confidence is for one target, got several.")
    found = answer_p_values(model, X, [y], smoothed=True, random_state=random, **options)
    return float(found[0])


def _last_means(values: Array, window: int) -> Array:
    """Means of the last ``window`` values."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    last = np.arange(1, len(values) + 1)
    first = np.maximum(last - window, 0)
    result: Array = (total[last] - total[first]) / (last - first)
    return result


def _predict(model: Any, X: Any, time: list[Any]) -> Any:
    """The prediction for one sample at its time; None where a window has no model."""
    if time:
        model.advance(time[0])
    return model.predict(X)[0] if model.__sklearn_is_fitted__() else None


def _metric(metric: Any, model: Any) -> tuple[str, Callable[[Any, Any], float]]:
    if callable(metric):
        return getattr(metric, "__name__", repr(metric)), metric
    if metric is None:
        metric = "accuracy" if is_classifier(model) else "absolute error"
    if metric not in METRICS:
        raise ValueError(f"metric must be callable or one of {tuple(METRICS)}, got {metric!r}.")
    return metric, METRICS[metric]
