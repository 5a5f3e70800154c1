"""Where intervals hold the truth: coverage by how hard a regressor finds its queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gramian.core.arrays import Array
from gramian.plots._display import BLUE, GREY, ORANGE, Display, OptionalAxes

_FIFTHS = 5


@dataclass(eq=False, repr=False)
class WidthDisplay(Display):
    """Coverage among the easiest fifth of the queries, the next one, up to the hardest.

    The local width says how hard a query is. Intervals that follow x hold the truth about as often
    in each fifth; intervals of constant width do so too often in the first and not often enough
    in the last. The mean widths are written next to the points.

    Parameters
    ----------
    coverage, widths : dict of ndarray of shape (5,)
        By kind of width, "local" and "constant": of each fifth.
    confidence_level : float
    """

    coverage: dict[str, Array]
    widths: dict[str, Array]
    confidence_level: float

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        confidence_level: float = 0.9,
        method: str = "auto",
        ax: OptionalAxes = None,
    ) -> Self:
        """Ask for intervals of both kinds at test samples, and draw how often they hold the truth.

        Parameters
        ----------
        model : fitted regressor with one target
        X, y : array-like
            Test samples, at least 5.
        confidence_level : float
        method : {"auto", "jackknife+", "cv+"}
            As for ``predict_interval``; "auto" with a width that follows x.
        ax : matplotlib Axes, optional
        """
        y = np.asarray(y, dtype=float)
        if len(y) < _FIFTHS:
            raise ValueError(
                f"fifths of the samples need at least {_FIFTHS} samples, got {len(y)}."
            )
        local = model.predict_interval(X, confidence_level, method, "local")
        method = "jackknife+" if method == "auto" and not model.chosen_on_data_ else method
        ends = {
            "local": local,
            "constant": model.predict_interval(X, confidence_level, method, "constant"),
        }
        parts = np.array_split(np.argsort(local[:, 1] - local[:, 0], kind="stable"), _FIFTHS)
        coverage, widths = {}, {}
        for kind, found in ends.items():
            inside, wide = (found[:, 0] <= y) & (y <= found[:, 1]), found[:, 1] - found[:, 0]
            coverage[kind] = np.array([inside[part].mean() for part in parts])
            widths[kind] = np.array([wide[part].mean() for part in parts])
        return cls(coverage, widths, confidence_level).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        place = np.arange(_FIFTHS)
        ax.axhline(self.confidence_level, color=GREY, linestyle=":", label="as promised")
        for kind, color, below in (("local", BLUE, 12), ("constant", ORANGE, -6)):
            ax.plot(place, self.coverage[kind], "o-", color=color, label=f"{kind} width")
            self._write_numbers(place, self.coverage[kind], self.widths[kind], color, below)
        ax.set_xticks(place, ["easiest", "", "", "", "hardest"])
        ax.set_xlabel("fifths of the queries, by their local width")
        ax.set_ylabel("share of samples covered")
        self._legend_above()
