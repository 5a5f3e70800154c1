"""The decision boundary, with every sample's leave-one-out loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from gramian.core.arrays import Array
from gramian.core.equations import class_scores
from gramian.plots._display import Display, OptionalAxes, class_color, class_marker, label_text
from gramian.plots._left_out import labels_of, loo_losses
from gramian.plots._plane import legend_title, plane_of, unnamed

_EVEN = np.log(2.0)


@dataclass(eq=False, repr=False)
class LeaveOneOutBoundaryDisplay(Display):
    """Regions of the predicted classes, and the held samples coloured by leave-one-out loss.

    The loss is minus the logarithm of the probability that the model without the sample gives to
    its class. Samples with a loss above log 2 are drawn larger and on top: their class has a
    probability below one half. They are often label errors, or lie where classes overlap.

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
        Number of other features, which are set to their means.

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

    grid: tuple[Array, Array]
    margins: Array
    samples: Array
    labels: Array
    losses: Array
    _: KW_ONLY
    classes: Sequence[Any]
    feature_names: tuple[str, str]
    n_fixed: int = 0

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        features: tuple[int | str, int | str] = (0, 1),
        grid_resolution: int = 200,
        ax: OptionalAxes = None,
    ) -> Self:
        """Draw a fitted classifier.

        Parameters
        ----------
        model : classifier
            Fitted to dense samples.
        features : pair of int or str
            The two features to draw; the others are set to the means of the samples.
        grid_resolution : int, default=200
        ax : matplotlib Axes, optional
        """
        plane = plane_of(model, features, grid_resolution)
        return cls(
            plane.grid,
            plane.shaped(_margins(model, plane.queries)),
            plane.samples,
            labels_of(model),
            loo_losses(model),
            classes=model.classes_,
            feature_names=plane.names,
            n_fixed=plane.n_fixed,
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        for index in range(len(self.classes)):
            self._draw_region(ax, index)
        points = [
            self._draw_samples(ax, index, doubtful)
            for doubtful in (False, True)
            for index in range(len(self.classes))
        ]
        ax.figure.colorbar(points[0], ax=ax, label="leave-one-out loss")
        self._draw_legend(ax)
        ax.set_xlabel(label_text(self.feature_names[0]))
        ax.set_ylabel(label_text(self.feature_names[1]))

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
                [], [], marker=marker, facecolors="white", edgecolors=color, label=label_text(label)
            )
        self._legend_above(legend_title(self.n_fixed))


def _margins(model: Any, queries: Array) -> Array:
    """Decision value of each class less the best of the others, of shape (c, m)."""
    F = unnamed(model.decision_function, queries)
    scores = class_scores(_columns(F)).T
    return np.array(
        [scores[k] - np.delete(scores, k, axis=0).max(axis=0) for k in range(len(scores))]
    )


def _columns(F: Any) -> Array:
    """Decision values as an array of shape (n, t), infinite ones as the largest finite."""
    F = np.asarray(F)
    largest = np.abs(F[np.isfinite(F)]).max(initial=1.0)
    result: Array = np.nan_to_num(F.reshape(len(F), -1), posinf=largest, neginf=-largest)
    return result
