"""Membership regions of the fuzzy classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from gramian.core.arrays import Array
from gramian.plots._display import Display, OptionalAxes, class_color, class_marker, label_text
from gramian.plots._left_out import labels_of
from gramian.plots._plane import legend_title, plane_of, unnamed

_LEVELS = (0.1, 0.5, 0.9)


@dataclass(eq=False, repr=False)
class MembershipDisplay(Display):
    """Degrees of membership in each class, and the region where samples are new.

    The figure shows lines of equal degree at 0.1, 0.5 and 0.9, with one colour per class, and the
    held samples. The plane is grey where `novelty` exceeds its threshold, outside every class.

    Parameters
    ----------
    grid : tuple of two ndarray of shape (g,)
        Values of the two features.
    degrees : ndarray of shape (c, g, g)
        Degrees of membership, row by row of the second feature.
    newness : ndarray of shape (g, g)
        Novelty over its threshold; above 1 is new.
    samples : ndarray of shape (n, 2)
    labels : ndarray of shape (n,)
        Index of each sample's class.
    classes : sequence of length c
    feature_names : tuple of two str
    n_fixed : int
        Number of other features, which are set to their means.

    Examples
    --------
    >>> from gramian import EllipsoidalFuzzyClassifier
    >>> from gramian.datasets import make_banana
    >>> from gramian.plots import MembershipDisplay
    >>> X, y = make_banana(100, random_state=0)
    >>> model = EllipsoidalFuzzyClassifier(tau=1e-3).fit(X, y)
    >>> display = MembershipDisplay.from_estimator(model, grid_resolution=50)
    >>> display.degrees.shape
    (2, 50, 50)
    """

    grid: tuple[Array, Array]
    degrees: Array
    newness: Array
    samples: Array
    labels: Array
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
        grid_resolution: int = 150,
        ax: OptionalAxes = None,
    ) -> Self:
        """Draw a fitted `EllipsoidalFuzzyClassifier`.

        Parameters
        ----------
        model : EllipsoidalFuzzyClassifier
            Fitted to dense samples.
        features : pair of int or str
            The two features to draw; the others are set to the means of the samples.
        grid_resolution : int, default=150
        ax : matplotlib Axes, optional
        """
        if not hasattr(model, "predict_membership"):
            raise ValueError(
                f"membership regions need an EllipsoidalFuzzyClassifier, got "
                f"{type(model).__name__}. LeaveOneOutBoundaryDisplay draws the regions of others."
            )
        plane = plane_of(model, features, grid_resolution)
        novelty = unnamed(model.novelty, plane.queries) / model.novelty_threshold_
        return cls(
            plane.grid,
            plane.shaped(unnamed(model.predict_membership, plane.queries).T),
            plane.shaped(novelty[None])[0],
            plane.samples,
            labels_of(model),
            classes=model.classes_,
            feature_names=plane.names,
            n_fixed=plane.n_fixed,
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        if self.newness.max() > 1.0:
            top = [1.0, float(self.newness.max())]
            ax.contourf(*self.grid, self.newness, levels=top, colors=["0.5"], alpha=0.25)
        for index, label in enumerate(self.classes):
            self._draw_class(ax, index, label_text(label))
        ax.set_xlabel(label_text(self.feature_names[0]))
        ax.set_ylabel(label_text(self.feature_names[1]))
        self._legend_above(legend_title(self.n_fixed))

    def _draw_class(self, ax: Any, index: int, label: str) -> None:
        color, degrees = class_color(index), self.degrees[index]
        levels = [level for level in _LEVELS if degrees.min() < level < degrees.max()]
        if levels:
            lines = ax.contour(*self.grid, degrees, levels=levels, colors=[color], linewidths=1.2)
            ax.clabel(lines, fontsize=7)
        mine = self.labels == index
        ax.scatter(
            *self.samples[mine].T,
            marker=class_marker(index),
            facecolors="white",
            edgecolors=color,
            s=20,
            label=label,
        )
