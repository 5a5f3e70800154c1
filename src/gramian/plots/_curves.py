"""Test losses while samples are forgotten or labelled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from gramian.core.arrays import ArrayLike, MatrixLike, RandomSource
from gramian.data import Curve, forgetting_curve
from gramian.plots._display import Display, OptionalAxes, class_color, class_marker


@dataclass(eq=False, repr=False)
class CurveDisplay(Display):
    """Test loss against the number of samples forgotten or labelled, a line for each way.

    Parameters
    ----------
    curves : dict of str to Curve
        See `gramian.data.forgetting_curve` and `gramian.data.labelling_curve`.
    """

    curves: Mapping[str, Curve]

    @classmethod
    def from_curves(cls, curves: Mapping[str, Curve], *, ax: OptionalAxes = None) -> Self:
        """Draw curves by name, such as those of several strategies."""
        kinds = {(curve.edited, curve.loss) for curve in curves.values()}
        if len(kinds) != 1:
            raise ValueError(f"curves must be of one kind to share axes, got {sorted(kinds)}.")
        return cls(dict(curves)).plot(ax=ax)

    @classmethod
    def from_values(
        cls,
        model: Any,
        values: Any,
        X: MatrixLike,
        y: ArrayLike | None = None,
        *,
        share: float = 0.5,
        steps: int = 20,
        loss: str | None = None,
        random_state: RandomSource = 0,
        ax: OptionalAxes = None,
    ) -> Self:
        """Draw what happens if the samples of the least or of the greatest value leave first.

        Good values part the lines: without its worst samples a model is better than at random,
        without its best ones worse.

        Parameters
        ----------
        model : estimator or TableModel
            It stays as it is.
        values : SampleValues
            See `gramian.data.sample_values`.
        X, y : test samples
            Others than those on which the values were computed.
        share : float
            Share of the samples to forget.
        steps, loss
            See `gramian.data.forgetting_curve`.
        random_state : int, RandomState or None
            Draws the order of the third line.
        ax : matplotlib Axes, optional
        """
        ranked = values.ranked()
        orders = {
            "worst first": ranked,
            "best first": ranked[::-1],
            "at random": check_random_state(random_state).permutation(ranked),
        }
        k = int(share * len(ranked))
        return cls.from_curves(
            {
                name: forgetting_curve(model, ids[:k], X, y, steps=steps, loss=loss)
                for name, ids in orders.items()
            },
            ax=ax,
        )

    def _draw(self, ax: Any) -> None:
        for k, (name, curve) in enumerate(self.curves.items()):
            style = {"color": class_color(k), "marker": class_marker(k)}
            ax.plot(curve.counts, curve.losses, label=name, markersize=4, **style)
        words = {"error": "test error", "log": "test log-loss"}
        ax.set_xlabel(f"samples {curve.edited}")
        ax.set_ylabel(words.get(curve.loss, f"{curve.loss} test error"))
        ax.set_ylim(bottom=min(0.0, np.min([c.losses.min() for c in self.curves.values()])))
        self._legend_above()
