"""The decision boundary, with every sample's leave-one-out loss."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from gramian._arrays import Array
from gramian.machines._calibration import class_scores
from gramian.plots._display import Display, class_color, class_marker
from gramian.plots._left_out import columns, labels_of, loo_losses

_MARGIN = 0.08
_EVEN = np.log(2.0)


class LeaveOneOutBoundaryDisplay(Display):
    """Regions of the predicted classes, and the held samples coloured by leave-one-out loss.

    The loss is minus the log probability that the model without the sample gives its class. Those
    above log 2 are drawn larger and on top: their own class has less than an even chance. They are
    likely label errors, or where classes overlap.

    Parameters
    ----------
    grid : tuple of two ndarray of shape (g,)
        Values of the two features.
    margins : ndarray of shape (c, g, g)
        For each class, how far its decision value is above the best of the others, row by row of
        the second feature.
    samples : ndarray of shape (n, 2)
    labels : ndarray of shape (n,)
        Index of each sample's class.
    losses : ndarray of shape (n,)
    classes : sequence of length c
    feature_names : tuple of two str
    n_fixed : int
        Number of other features, which the regions hold at their means.

    Attributes
    ----------
    ax_, figure_
        Where it was last drawn.

    Examples
    --------
    >>> from gramian import KernelDiscriminant
    >>> from gramian.datasets import make_banana
    >>> from gramian.plots import LeaveOneOutBoundaryDisplay
    >>> X, y = make_banana(100, random_state=0)
    >>> model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y)
    >>> display = LeaveOneOutBoundaryDisplay.from_estimator(model)
    >>> display.ax_.get_xlabel()
    'feature 0'
    """

    def __init__(
        self, grid, margins, samples, labels, losses, *, classes, feature_names, n_fixed=0
    ):
        self.grid = grid
        self.margins = margins
        self.samples = samples
        self.labels = labels
        self.losses = losses
        self.classes = classes
        self.feature_names = feature_names
        self.n_fixed = n_fixed

    @classmethod
    def from_estimator(cls, model, *, features=(0, 1), grid_resolution=200, ax=None):
        """Draw a fitted classifier.

        Parameters
        ----------
        model : classifier
            Of dense samples.
        features : pair of int or str
            Which two; the others are held at the means of the samples.
        grid_resolution : int, default=200
        ax : matplotlib Axes, optional
        """
        X = _dense_samples(model)
        names = [str(name) for name in _feature_names(model)]
        pair = [_position(feature, names) for feature in features]
        grid = tuple(_axis(X[:, k], grid_resolution) for k in pair)
        queries = np.tile(X.mean(axis=0), (grid_resolution**2, 1))
        queries[:, pair] = np.column_stack([values.ravel() for values in np.meshgrid(*grid)])
        return cls(
            grid,
            _margins(model, queries).reshape(-1, grid_resolution, grid_resolution),
            X[:, pair],
            labels_of(model),
            loo_losses(model),
            classes=model.classes_,
            feature_names=tuple(names[k] for k in pair),
            n_fixed=X.shape[1] - 2,
        ).plot(ax=ax)

    def plot(self, ax=None):
        """Draw it. Returns self."""
        ax = self._begin(ax)
        for index in range(len(self.classes)):
            self._draw_region(ax, index)
        points = [
            self._draw_samples(ax, index, doubtful)
            for doubtful in (False, True)
            for index in range(len(self.classes))
        ]
        ax.figure.colorbar(points[0], ax=ax, label="leave-one-out loss")
        self._draw_legend(ax)
        ax.set_xlabel(self.feature_names[0])
        ax.set_ylabel(self.feature_names[1])
        return self

    def _draw_region(self, ax: Any, index: int) -> None:
        margin = self.margins[index]
        if margin.max() <= 0:
            return
        top = [0.0, float(margin.max())]
        ax.contourf(*self.grid, margin, levels=top, colors=[class_color(index)], alpha=0.18)
        if margin.min() < 0:
            ax.contour(*self.grid, margin, levels=[0.0], colors="black", linewidths=1.0)

    def _draw_samples(self, ax: Any, index: int, doubtful: bool) -> Any:
        mine = (self.labels == index) & ((self.losses > _EVEN) == doubtful)
        return ax.scatter(
            *self.samples[mine].T,
            c=self.losses[mine],
            cmap="magma_r",
            vmin=0.0,
            vmax=max(float(self.losses.max()), _EVEN),
            marker=class_marker(index),
            edgecolors=class_color(index),
            linewidths=1.0,
            s=50 if doubtful else 25,
        )

    def _draw_legend(self, ax: Any) -> None:
        for index, label in enumerate(self.classes):
            marker, color = class_marker(index), class_color(index)
            ax.scatter(
                [], [], marker=marker, facecolors="white", edgecolors=color, label=str(label)
            )
        title, others = "class", "feature" if self.n_fixed == 1 else f"{self.n_fixed} features"
        if self.n_fixed:
            title += f" (regions at the mean of the other {others})"
        self._legend_above(title)


def _margins(model: Any, queries: Array) -> Array:
    """Decision value of each class less the best of the others, of shape (c, m)."""
    with warnings.catch_warnings():
        # The columns are in the model's own order.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        F = model.decision_function(queries)
    scores = class_scores(columns(F)).T
    return np.array(
        [scores[k] - np.delete(scores, k, axis=0).max(axis=0) for k in range(len(scores))]
    )


def _dense_samples(model: Any) -> Array:
    check_is_fitted(model)
    X = model.X_fit_
    pairwise = getattr(model, "kernel", None) == "precomputed"
    if not is_classifier(model) or sparse.issparse(X) or pairwise or X.shape[1] < 2:
        raise ValueError(
            "a decision boundary needs a classifier of dense samples with two features or more, "
            f"got {type(model).__name__} of {X.shape[1]} features."
        )
    return np.asarray(X, dtype=float)


def _feature_names(model: Any) -> Any:
    default = [f"feature {k}" for k in range(model.n_features_in_)]
    return getattr(model, "feature_names_in_", default)


def _position(feature: Any, names: list[str]) -> int:
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    if not isinstance(feature, str) and 0 <= feature < len(names):
        return int(feature)
    raise ValueError(
        f"features must be two of {names} or of 0 … {len(names) - 1}, got {feature!r}."
    )


def _axis(values: Array, resolution: int) -> Array:
    margin = _MARGIN * (np.ptp(values) or 1.0)
    return np.linspace(values.min() - margin, values.max() + margin, resolution)
