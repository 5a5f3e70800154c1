"""What every display shares: axes to draw on, a legend, and colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeAlias

from gramian.core.text import excerpt

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OptionalAxes: TypeAlias = "Axes | None"

# Okabe and Ito's colours, which colour-blind readers can tell apart; without yellow: too pale.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
BLUE, ORANGE, GREEN, RED = COLORS[0], COLORS[1], COLORS[2], COLORS[5]
GREY = "#666666"
MARKERS = "os^Dv<>P"

_SIZE = (6.0, 4.0)
_NAME = 40  # characters of a name at most
_LINE, _HANDLE = 68, 8  # characters: of a line over the axes, and that a legend's handle takes


def pyplot() -> Any:
    """matplotlib's pyplot, or an error that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('drawing needs matplotlib: pip install "gramian[plot]".') from error
    return plt


class Display:
    """A figure that keeps its data, so that it can be drawn again on other axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was last drawn.
    figure_ : matplotlib Figure
    """

    ax_: Any
    figure_: Any

    def plot(self, ax: OptionalAxes = None) -> Self:
        """Draw the figure on ``ax``, or on new axes. Returns self.

        The axes and their figure are then ``ax_`` and ``figure_``.
        """
        self._draw(self._begin(ax))
        return self

    def _draw(self, ax: Any) -> None:
        """Draw the data on these axes."""

    def _begin(self, ax: Any) -> Any:
        """The axes to draw on, made if there are none."""
        if ax is None:
            _, ax = pyplot().subplots(figsize=_SIZE, layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _legend_above(self, title: str | None = None) -> None:
        """A legend over the axes, where it hides nothing, in as many columns as fit there."""
        _, labels = self.ax_.get_legend_handles_labels()
        longest = max(len(label) for label in labels)
        self.ax_.legend(
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=max(1, _LINE // (longest + _HANDLE)),
            title=title,
            alignment="left",
            frameon=False,
            borderaxespad=0.2,
        )

    def _write_numbers(self, x: Any, y: Any, numbers: Any, color: str, below: int) -> None:
        """Write numbers next to points, ``below`` typographic points under them."""
        style = {"textcoords": "offset points", "color": color, "fontsize": 8}
        for place, height, number in zip(x, y, numbers, strict=True):
            self.ax_.annotate(f"{number:.3g}", (place, height), (4, -below), **style)


def label_text(name: Any) -> str:
    r"""A name from the data, as text: cut, without control characters, a dollar is a dollar.

    Examples
    --------
    >>> label_text("$x$")
    '\\$x\\$'
    """
    text = excerpt(name, _NAME).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text  # a legend leaves _x out


def class_color(index: int) -> str:
    """A colour for each class; the colours repeat after seven."""
    return COLORS[index % len(COLORS)]


def class_marker(index: int) -> str:
    """A marker for each class; the markers repeat after eight."""
    return MARKERS[index % len(MARKERS)]
