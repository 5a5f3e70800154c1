"""Drawings as SVG, the same bytes for the same data."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import Any

from gramian.plots._display import BLUE, COLORS, GREEN, GREY, MARKERS, ORANGE, RED

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
    "require_drawing",
    "ticks_at",
]

_SIZE = (5.6, 3.8)
_SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "gramian",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
}


def require_drawing() -> None:
    """Raise ModuleNotFoundError, with the remedy, where figures cannot be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'figures need matplotlib: pip install "gramian[plot]".'
        ) from error


def draw(plot: Callable[..., Any], *, columns: int = 1, **options: Any) -> bytes:
    """What ``plot(axes)`` draws, or ``plot(axes_1, axes_2, …)`` for several columns."""
    require_drawing()
    import matplotlib
    from matplotlib.figure import Figure

    stream = io.BytesIO()
    with matplotlib.rc_context(_SETTINGS):
        figure = Figure(figsize=(_SIZE[0] * columns, _SIZE[1]), layout="constrained")
        plot(*figure.subplots(1, columns, squeeze=False, **options).ravel())
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()


def legend_above(axes: Any, columns: int = 1) -> None:
    """A legend over the axes, where it hides nothing."""
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, fontsize=9)


def ticks_at(axes: Any, values: Iterable[int]) -> None:
    """On a logarithmic axis, ticks at these values and nowhere else."""
    values = sorted(set(values))
    axes.set_xticks(values, [f"{value:,}" for value in values])
    axes.minorticks_off()
