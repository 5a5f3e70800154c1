"""Drawings in the style of the page, as SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
    "draw_times",
    "legend_above",
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


def draw_times(lines: Mapping[str, Iterable[tuple[int, float]]], xlabel: str, ylabel: str) -> bytes:
    """Lines by their labels, both axes logarithmic, with ticks where there are points."""
    points = {label: sorted(line) for label, line in lines.items()}
    sizes = sorted({x for line in points.values() for x, _ in line})

    def plot(axes: Any) -> None:
        for k, (label, line) in enumerate(points.items()):
            if line:
                style = {"color": COLORS[k], "marker": MARKERS[k]}
                axes.loglog(*zip(*line, strict=True), label=label, **style)
        axes.set(xlabel=xlabel, ylabel=ylabel)
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.minorticks_off()
        legend_above(axes, 1 + len(points) // 5)

    return draw(plot)
