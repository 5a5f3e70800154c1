"""Drawings as SVG, the same bytes for the same data."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any


def require_drawing() -> None:
    """Raise ModuleNotFoundError, with the remedy, where figures cannot be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'figures need matplotlib: pip install "gramian[plot]".'
        ) from error


def draw_svg(
    plot: Callable[[Any], Any], size: tuple[float, float], style: Mapping[Any, Any] | None = None
) -> bytes:
    """What ``plot(figure)`` draws on a figure of so many inches, with these rcParams."""
    require_drawing()
    import matplotlib
    from matplotlib.figure import Figure

    stream = io.BytesIO()
    with matplotlib.rc_context({**(style or {}), "svg.hashsalt": "gramian"}):
        figure = Figure(figsize=size, layout="constrained")
        plot(figure)
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()
