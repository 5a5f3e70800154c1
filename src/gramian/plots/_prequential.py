"""Test-then-train scores along a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from gramian.plots._display import Display, OptionalAxes, class_color


@dataclass(eq=False, repr=False)
class PrequentialDisplay(Display):
    """Scores of predictions made before the sample was learned, along the stream.

    The full line is the mean of the last predictions, which shows where a model is in trouble; the
    dashed one the mean of all so far.

    Parameters
    ----------
    results : dict of str to Prequential
        One for each model; see `gramian.stream.prequential`.
    """

    results: Any

    @classmethod
    def from_results(cls, results: Any, *, ax: OptionalAxes = None) -> Self:
        """Draw one result, or several by name.

        Parameters
        ----------
        results : Prequential or dict of str to Prequential
        ax : matplotlib Axes, optional
        """
        named = results if isinstance(results, Mapping) else {"": results}
        if len({result.metric for result in named.values()}) != 1:
            metrics = sorted({result.metric for result in named.values()})
            raise ValueError(f"results must be of one metric to share an axis, got {metrics}.")
        return cls(dict(named)).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        for k, (name, result) in enumerate(self.results.items()):
            color, prefix = class_color(k), f"{name}, " if name else ""
            recent, all_so_far = f"last {result.window}", f"all: {result.score:.3g}"
            for values, line, width, label in (
                (result.windowed, "-", 1.5, recent),
                (result.running, "--", 1.0, all_so_far),
            ):
                style = {"color": color, "linestyle": line}
                ax.plot(result.steps, values, linewidth=width, label=prefix + label, **style)
        ax.set_xlabel("samples seen")
        ax.set_ylabel(f"{result.metric}, predicted before learned")
        self._legend_above()
