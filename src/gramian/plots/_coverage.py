"""Coverage of prediction sets against their confidence, and intervals along a feature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gramian.core.arrays import Array, ArrayLike, MatrixLike, RandomSource
from gramian.core.equations import accepted
from gramian.plots._display import (
    BLUE,
    GREY,
    ORANGE,
    Display,
    OptionalAxes,
    class_color,
    label_text,
)

CONFIDENCES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_LEFT_OUT = 100  # samples that are left out and asked for
_AT_ONCE = 20  # a share of one in so many leaves together


@dataclass(frozen=True)
class Coverage:
    """How often sets held the truth, and how large they were, at each confidence."""

    confidences: Array
    coverage: Array
    size: Array
    """Mean number of classes in a set, or median width of an interval."""
    by_class: dict[str, Array]
    """Coverage of the samples of each class; empty for a regressor."""
    count: int


def coverage_of(
    model: Any,
    X: MatrixLike | None = None,
    y: ArrayLike | None = None,
    confidences: Sequence[float] = CONFIDENCES,
    random_state: RandomSource = 0,
    **options: Any,
) -> Coverage:
    """Coverage on test samples, or on held ones, each asked of the model without it.

    Parameters
    ----------
    model : fitted estimator
        A regressor must have one target.
    X, y : array-like, optional
        Test samples. By default up to 100 held samples are drawn. A copy of the model forgets
        some of them, at most a twentieth of all, is asked for them by ``method="full"``, learns
        them again, and goes on with the next ones. The hyper-parameters stay.
    confidences : sequence of float
    random_state : int, RandomState or None
        Draws the held samples, and the random numbers of adaptive scores.
    **options
        Of ``p_values``, such as ``score`` and ``mondrian``, or of ``predict_interval``, such as
        ``width``. Of held samples, local widths are by ``method="jackknife+"``.
    """
    check_is_fitted(model)
    levels = np.asarray(confidences, dtype=float)
    truth: Array
    if X is None:
        found, truth = _left_out(model, levels, random_state, options)
    else:
        found, truth = _predicted(model, X, levels, random_state, options), np.asarray(y)
    if is_classifier(model):
        sets = np.stack([accepted(found, c) for c in levels])
        own = (sets & (model.classes_ == truth[:, None])).any(axis=2)
        by_class = {str(c): own[:, truth == c].mean(axis=1) for c in np.unique(truth)}
        return Coverage(
            levels, own.mean(axis=1), sets.sum(axis=2).mean(axis=1), by_class, len(truth)
        )
    low, high = found[..., 0], found[..., 1]
    own = (low <= truth[:, None]) & (truth[:, None] <= high)
    return Coverage(levels, own.mean(axis=0), np.median(high - low, axis=0), {}, len(truth))


def _predicted(
    model: Any, X: Any, confidences: Array, random: RandomSource, options: dict[str, Any]
) -> Array:
    """p-values of all classes (m, c), or intervals at all confidences (m, k, 2)."""
    if is_classifier(model):
        result: Array = model.p_values(X, random_state=random, **options)
        return result
    return np.stack([model.predict_interval(X, c, **options) for c in confidences], axis=1)


def _left_out(
    model: Any, confidences: Array, random_state: RandomSource, options: dict[str, Any]
) -> tuple[Array, Array]:
    twin, ids, X, y = model.refitted(), model.ids_, model.X_fit_, model.y_fit_
    if getattr(model, "kernel", None) == "precomputed":
        raise ValueError("leaving samples out and asking for them needs samples; give X and y.")
    random = check_random_state(random_state)
    order = random.permutation(len(ids))[:_LEFT_OUT]
    # Folds would be tuned anew after every edit: many searches for a figure.
    options = {"method": "jackknife+" if options.get("width") == "local" else "full", **options}
    weight, found, asked = model.sample_weight_, [], []
    for some in _rounds(order, len(ids), model.y_fit_ if is_classifier(model) else None):
        twin.forget(ids[some])
        found.append(_predicted(twin, X[some], confidences, random, options))
        twin.partial_fit(X[some], y[some], ids=ids[some], sample_weight=weight[some])
        asked.append(some)
    return np.concatenate(found), y[np.concatenate(asked)]


def _rounds(order: Array, n: int, labels: Array | None) -> Iterator[Array]:
    """Samples that leave together: at most a twentieth of all, and never all of a class."""
    size = max(1, n // _AT_ONCE)
    for start in range(0, len(order), size):
        some = order[start : start + size]
        if labels is not None:
            names, first, leaving = np.unique(labels[some], return_index=True, return_counts=True)
            held = np.array([np.sum(labels == name) for name in names])
            some = np.delete(some, first[leaving == held])
        if len(some):
            yield some


@dataclass(eq=False, repr=False)
class CoverageDisplay(Display):
    """How often prediction sets or intervals held the truth, against the confidence.

    On the diagonal they hold it as often as they say. Thin lines are the coverage within each
    class, which only ``mondrian=True`` promises. The sizes are written next to the points.

    Parameters
    ----------
    coverage : Coverage
    name : str
        Name of the samples.
    """

    coverage: Coverage
    name: str = "left-out samples"

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: MatrixLike | None = None,
        y: ArrayLike | None = None,
        *,
        confidences: Sequence[float] = CONFIDENCES,
        ax: OptionalAxes = None,
        **options: Any,
    ) -> Self:
        """Draw the coverage on test samples, or on up to 100 held samples, each left out.

        Parameters
        ----------
        model : fitted estimator
        X, y, confidences
            As for `coverage_of`.
        ax : matplotlib Axes, optional
        **options
            As for `coverage_of`.
        """
        name = "left-out samples" if X is None else "test samples"
        return cls(coverage_of(model, X, y, confidences, **options), name).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        found = self.coverage
        ends = [found.confidences[0], 1.0]
        ax.plot(ends, ends, color=GREY, linestyle=":", label="as promised")
        if 1 < len(found.by_class) <= 7:
            for k, (name, values) in enumerate(found.by_class.items()):
                label, color = f"class {label_text(name)}", class_color(k + 1)
                ax.plot(found.confidences, values, label=label, color=color, linewidth=0.8)
        label = f"{found.count:,} {self.name}"
        ax.plot(found.confidences, found.coverage, "o-", color=BLUE, label=label)
        self._write_numbers(found.confidences, found.coverage, found.size, BLUE, below=12)
        ax.set_xlabel("confidence")
        ax.set_ylabel("share of samples covered")
        self._legend_above()


@dataclass(eq=False, repr=False)
class IntervalDisplay(Display):
    """Prediction intervals along one feature: how sure a regressor is, and where.

    Parameters
    ----------
    x, prediction : ndarray of shape (m,)
        Queries in the order of the feature.
    intervals : ndarray of shape (m, 2)
    holdings : tuple of ndarray
        Feature and target of the held samples.
    confidence_level : float
    feature : str
        Name of the feature.
    """

    x: Array
    prediction: Array
    intervals: Array
    holdings: tuple[Array, Array]
    confidence_level: float
    feature: str

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: MatrixLike | None = None,
        *,
        feature: int = 0,
        confidence_level: float = 0.9,
        method: str = "auto",
        width: str = "auto",
        resolution: int = 200,
        ax: OptionalAxes = None,
    ) -> Self:
        """Draw intervals at samples, or along the feature with the others at their medians.

        Parameters
        ----------
        model : fitted regressor with one target
        X : array-like of shape (m, n_features), optional
            Queries. By default ``resolution`` steps across the held samples and a fifth beyond.
        feature : int
        confidence_level : float
        method, width : str
            As for ``predict_interval``; ``width="local"`` shows where the noise is.
        resolution : int
        ax : matplotlib Axes, optional
        """
        held = model.X_fit_
        if X is None:
            low, high = held[:, feature].min(), held[:, feature].max()
            beyond = 0.2 * (high - low)
            X = np.tile(np.median(held, axis=0), (resolution, 1))
            X[:, feature] = np.linspace(low - beyond, high + beyond, resolution)
        X = np.asarray(X)[np.argsort(np.asarray(X)[:, feature])]
        ends = model.predict_interval(X, confidence_level, method, width)
        names = getattr(model, "feature_names_in_", None)
        name = f"feature {feature}" if names is None else str(names[feature])
        pairs = held[:, feature], model.y_fit_
        display = cls(X[:, feature], model.predict(X), ends, pairs, confidence_level, name)
        return display.plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        ax.plot(*self.holdings, ".", color=GREY, markersize=3, label="samples")
        label = f"holds {self.confidence_level:.0%} of new samples"
        ax.fill_between(
            self.x, *self.intervals.T, color=ORANGE, alpha=0.3, linewidth=0, label=label
        )
        ax.plot(self.x, self.prediction, color=BLUE, label="prediction")
        ax.set_xlabel(label_text(self.feature))
        ax.set_ylabel("target")
        self._legend_above()
