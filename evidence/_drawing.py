"""Drawings in the style of the page, as SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gramian.plots._display import BLUE, COLORS, GREEN, GREY, MARKERS, ORANGE, RED
from gramian.plots._svg import draw_svg

__all__ = [
    "BLUE",
    "COLORS",
    "GREEN",
    "GREY",
    "MARKERS",
    "ORANGE",
    "RED",
    "draw",
    "legend_above",
    "ticks_at",
]

_SIZE = (5.6, 3.8)
_STYLE = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
}


def draw(plot: Callable[..., Any], *, columns: int = 1, **options: Any) -> bytes:
    """What ``plot(axes)`` draws, or ``plot(axes_1, axes_2, …)`` for several columns."""
    width, height = _SIZE
    return draw_svg(
        lambda figure: plot(*figure.subplots(1, columns, squeeze=False, **options).ravel()),
        (width * columns, height),
        _STYLE,
    )


def legend_above(axes: Any, columns: int = 1) -> None:
    """A legend over the axes, where it hides nothing."""
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, fontsize=9)


def ticks_at(axes: Any, values: Iterable[int]) -> None:
    """On a logarithmic axis, ticks at these values and nowhere else."""
    values = sorted(set(values))
    axes.set_xticks(values, [f"{value:,}" for value in values])
    axes.minorticks_off()
