"""The leave-one-out criterion along the searched path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gramian.core.arrays import Array
from gramian.core.equations import CRITERIA
from gramian.core.search import Selection
from gramian.plots._display import RED, Display, OptionalAxes

_NAMES = {
    "log": "log-loss",
    "squared": "squared error",
    "hinge": "squared hinge loss",
    "error": "error rate",
}


@dataclass(eq=False, repr=False)
class SelectionPathDisplay(Display):
    """The leave-one-out criterion over the ridge, one line per kernel width.

    Lines of the first stage of a search, on a subsample, are dashed. Where the ridge was given,
    the criterion is drawn over the width. The ring is what was chosen; a prior keeps it from
    widths far from the typical distance of samples, so that it need not be the lowest point.

    Parameters
    ----------
    selection : Selection
        The ``selection_`` of a fitted model.

    Examples
    --------
    >>> from gramian import KernelDiscriminant
    >>> from gramian.datasets import make_banana
    >>> from gramian.plots import SelectionPathDisplay
    >>> X, y = make_banana(100, random_state=0)
    >>> display = SelectionPathDisplay.from_estimator(KernelDiscriminant().fit(X, y))
    >>> display.ax_.get_ylabel()
    'leave-one-out log-loss'
    """

    selection: Selection

    @classmethod
    def from_estimator(cls, model: Any, *, ax: OptionalAxes = None) -> Self:
        """Draw the search of a fitted model.

        Parameters
        ----------
        model : estimator
            With hyper-parameters that were chosen by leave-one-out.
        ax : matplotlib Axes, optional
        """
        selection = getattr(model, "selection_", None)
        if selection is None:
            raise ValueError(
                f"this {type(model).__name__} has no searched path: nothing in it was chosen by "
                f'leave-one-out. Fit it with gamma="loo" or another parameter set to "loo".'
            )
        return cls(selection).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        if len(np.unique(self.selection.ridges)) > 1:
            self._draw_ridges(ax)
        else:
            self._draw_widths(ax)
        ax.set_xscale("log")
        if CRITERIA[self.selection.criterion].relative:
            ax.set_yscale("log")
        ax.set_ylabel(f"leave-one-out {_NAMES[self.selection.criterion]}")
        self._legend_above()

    def _draw_ridges(self, ax: Any) -> None:
        chosen = self.selection
        colors = self._width_colors(ax)
        for stage, width, path in self._paths():
            ax.plot(
                chosen.ridges[path],
                chosen.values[path],
                color=colors(width),
                linestyle="-" if stage == "all samples" else "--",
                linewidth=1.2,
                marker="o" if len(path) == 1 else None,
                markersize=4,
            )
        if len(set(chosen.stages)) > 1:
            ax.plot([], [], color="grey", linestyle="--", label="on a subsample")
        self._draw_chosen(ax, chosen.ridge)
        ax.set_xlabel("ridge λ")

    def _draw_widths(self, ax: Any) -> None:
        chosen = self.selection
        order = np.argsort(chosen.gammas)
        ax.plot(chosen.gammas[order], chosen.values[order], marker="o", markersize=4)
        self._draw_chosen(ax, _mean_width(chosen.gamma))
        ax.set_xlabel("width gamma")

    def _draw_chosen(self, ax: Any, x: float) -> None:
        chosen = self.selection
        width = "" if chosen.gamma is None else f"gamma {_mean_width(chosen.gamma):.2g}, "
        ax.plot(
            [x],
            [chosen.value],
            linestyle="none",
            marker="o",
            markersize=11,
            markerfacecolor="none",
            markeredgecolor=RED,
            markeredgewidth=2.0,
            label=f"chosen: {width}ridge {chosen.ridge:.2g}",
            zorder=5,
        )

    def _width_colors(self, ax: Any) -> Any:
        """Colours of the widths, with their scale next to the axes where there are several."""
        widths = self.selection.gammas
        if len(np.unique(widths)) < 2:  # one, or NaN: a kernel without a width
            return lambda width: "C0"
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import LogNorm

        scale = ScalarMappable(LogNorm(widths.min(), widths.max()), cmap="viridis")
        ax.figure.colorbar(scale, ax=ax, label="width gamma")
        return scale.to_rgba

    def _paths(self) -> list[tuple[str, float, Array]]:
        """Stage, width, and the trials in order of ridge, for each line to draw."""
        chosen = self.selection
        widths = np.nan_to_num(chosen.gammas)  # NaN, which equals nothing: a kernel without a width
        paths = []
        for stage, width in sorted(set(zip(chosen.stages, widths.tolist(), strict=True))):
            mine = np.flatnonzero((chosen.stages == stage) & (widths == width))
            paths.append((stage, width, mine[np.argsort(chosen.ridges[mine])]))
        return paths


def _mean_width(gamma: Any) -> float:
    """One number for one width per feature too."""
    return float(np.exp(np.mean(np.log(gamma))))
