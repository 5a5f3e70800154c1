"""Reliability of the probabilities, on leave-one-out values and on test data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from gramian.core.arrays import Array, ArrayLike, MatrixLike
from gramian.plots._display import BLUE, GREY, ORANGE, Display, OptionalAxes, label_text
from gramian.plots._left_out import labels_of

_NORMAL = 1.96  # two-sided 95 %
_ENOUGH = 10


@dataclass(frozen=True)
class Reliability:
    """Predicted probability and observed frequency, bin by bin."""

    predicted: Array
    """Mean probability of the samples in each bin."""
    observed: Array
    """Share of them for which it came true."""
    count: Array

    def interval(self) -> tuple[Array, Array]:
        """Wilson's 95 % interval of each observed share."""
        z2 = _NORMAL**2 / self.count
        middle = (self.observed + z2 / 2) / (1 + z2)
        variance = self.observed * (1 - self.observed) / self.count + z2 / (4 * self.count)
        half = _NORMAL / (1 + z2) * np.sqrt(variance)
        return middle - half, middle + half


def reliability(probability: Array, true: Array, n_bins: int) -> Reliability:
    """Reliability in bins of equal width; bins of few samples are merged with neighbours."""
    bins = _bins(probability, n_bins)
    count = np.bincount(bins)
    predicted, observed = (np.bincount(bins, values) / count for values in (probability, true))
    return Reliability(predicted, observed, count)


def _bins(probability: Array, n_bins: int) -> Array:
    """Number of each sample's bin: from below, a bin is closed when it has enough samples."""
    narrow = np.minimum((probability * n_bins).astype(int), n_bins - 1)
    added = np.zeros(n_bins, dtype=int)
    current = collected = 0
    for k, count in enumerate(np.bincount(narrow, minlength=n_bins)):
        added[k] = current
        collected += count
        if collected >= _ENOUGH:
            current, collected = current + 1, 0
    if current > 0:  # what is left over goes to the last one that is closed
        added = np.minimum(added, current - 1)
    result: Array = added[narrow]
    return result


@dataclass(eq=False, repr=False)
class CalibrationDisplay(Display):
    """Observed frequency over predicted probability; a calibrated model follows the diagonal.

    For two classes, the probability is that of the second class. For more, it is that of the
    predicted class, or of ``pos_label``. Bins of fewer than ten samples are merged with their
    neighbours; bars are Wilson's 95 % intervals.

    Parameters
    ----------
    curves : dict of str to Reliability
        One for each set of samples.
    quantity : str
        Name of the event whose probability is drawn.

    Examples
    --------
    >>> from gramian import KernelDiscriminant
    >>> from gramian.datasets import make_banana
    >>> from gramian.plots import CalibrationDisplay
    >>> X, y = make_banana(100, random_state=0)
    >>> model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y)
    >>> display = CalibrationDisplay.from_estimator(model, n_bins=5)
    >>> int(display.curves["leave-one-out"].count.sum())
    100
    """

    curves: Any
    quantity: str

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: MatrixLike | None = None,
        y: ArrayLike | None = None,
        *,
        pos_label: Any = None,
        n_bins: int = 10,
        ax: OptionalAxes = None,
    ) -> Self:
        """Draw a fitted classifier.

        Parameters
        ----------
        model : classifier
        X, y : array-like, optional
            Test data, shown in addition to the leave-one-out values.
        pos_label : label, optional
        n_bins : int, default=10
        ax : matplotlib Axes, optional
        """
        check_is_fitted(model)
        if not is_classifier(model):
            raise ValueError(f"calibration is that of a classifier, got {type(model).__name__}.")
        samples = {"leave-one-out": (model.loo_predict_proba(), labels_of(model))}
        if X is not None:
            y = np.asarray(y)
            labels = np.where(np.isin(y, model.classes_), np.searchsorted(model.classes_, y), -1)
            samples["test data"] = (model.predict_proba(X), labels)
        column = _column(model.classes_, pos_label)
        curves = {
            name: reliability(*_events(probability, labels, column), n_bins)
            for name, (probability, labels) in samples.items()
        }
        what = (
            "the predicted class"
            if column is None
            else f"class {label_text(model.classes_[column])}"
        )
        return cls(curves, what).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", label="calibrated")
        styles = ((BLUE, "o"), (ORANGE, "s"))
        for (name, curve), (color, marker) in zip(self.curves.items(), styles, strict=False):
            low, high = curve.interval()
            error = np.maximum([curve.observed - low, high - curve.observed], 0.0)
            ax.errorbar(
                curve.predicted,
                curve.observed,
                yerr=error,
                color=color,
                marker=marker,
                markersize=5,
                linewidth=1.5,
                elinewidth=1.0,
                capsize=2,
                label=f"{name}, {curve.count.sum()} samples",
            )
        ax.set_xlabel(f"probability given to {self.quantity}")
        ax.set_ylabel("observed frequency")
        ax.set_ylim(-0.02, 1.02)
        self._legend_above()


def _column(classes: Array, pos_label: Any) -> int | None:
    """Whose probability to look at; None for that of the predicted class."""
    if pos_label is None:
        return 1 if len(classes) == 2 else None
    if pos_label not in classes:
        raise ValueError(f"pos_label must be one of {classes.tolist()}, got {pos_label!r}.")
    return int(np.searchsorted(classes, pos_label))


def _events(probability: Array, labels: Array, column: int | None) -> tuple[Array, Array]:
    """Predicted probabilities of an event, and whether it came true."""
    if column is not None:
        return probability[:, column], labels == column
    return probability.max(axis=1), labels == probability.argmax(axis=1)
