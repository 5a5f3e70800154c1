"""The bet against a stream that stays the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gramian.plots._display import BLUE, GREY, ORANGE, RED, Display, OptionalAxes


@dataclass(eq=False, repr=False)
class MartingaleDisplay(Display):
    """The conformal test martingale along a stream, with the level of its alarm.

    It stays low while the stream stays as it was, and grows by orders of magnitude when it changes.
    The thin line, on the axis at the right, is the coverage of the latest prediction sets.

    Parameters
    ----------
    result : Prequential
        Of `gramian.stream.prequential` with a ``confidence_level``.
    level : float
        Where the alarm goes off.
    """

    result: Any
    level: float = 100.0

    @classmethod
    def from_result(cls, result: Any, *, level: float = 100.0, ax: OptionalAxes = None) -> Self:
        """Draw the martingale of a `Prequential` result.

        Parameters
        ----------
        result : Prequential
        level : float
        ax : matplotlib Axes, optional
        """
        return cls(result, level).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        result = self.result
        ax.plot(result.steps, result.martingale, color=BLUE, label="log₁₀ of the martingale")
        ax.axhline(
            np.log10(self.level), color=RED, linestyle="--", label=f"alarm at {self.level:g}"
        )
        alarm = result.alarm(self.level)
        if alarm is not None:
            ax.axvline(alarm, color=RED, linewidth=1.0, label=f"alarm after {alarm:,} samples")
        ax.plot([], [], color=ORANGE, linewidth=1.0, label=f"coverage, last {result.window}")
        right = ax.twinx()
        right.plot(result.steps, result.windowed_coverage, color=ORANGE, linewidth=1.0)
        right.axhline(result.confidence_level, color=GREY, linewidth=0.8, linestyle=":")
        right.set_ylim(0.0, 1.05)
        right.set_ylabel(f"coverage of sets at {result.confidence_level:g}")
        ax.set_xlabel("samples seen")
        ax.set_ylabel("log₁₀ of the martingale")
        self._legend_above()
