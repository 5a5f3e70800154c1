"""How far each sample moves the decision values of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier

from gramian.core.arrays import Array
from gramian.core.estimators import sample_influence
from gramian.plots._display import BLUE, GREY, RED, Display, OptionalAxes, label_text


@dataclass(eq=False, repr=False)
class InfluenceDisplay(Display):
    """The samples whose removal would change the decision values most.

    A bar is the root mean square change of the decision values of all held samples if that sample
    is forgotten. It equals the result of a refit and needs none. Samples that the model without
    them predicts wrongly are marked; an influential sample that is wrong is often a label error.

    Parameters
    ----------
    ids : ndarray of shape (n,)
    influence : ndarray of shape (n,)
    wrong : ndarray of shape (n,), optional
        Whether the leave-one-out prediction is wrong.

    Examples
    --------
    >>> from gramian import KernelDiscriminant
    >>> from gramian.datasets import make_banana
    >>> from gramian.plots import InfluenceDisplay
    >>> X, y = make_banana(100, random_state=0)
    >>> model = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X, y)
    >>> display = InfluenceDisplay.from_estimator(model, n_samples=3)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['61', '50', '78']
    """

    ids: Array
    influence: Array
    wrong: Array | None = None

    @classmethod
    def from_estimator(cls, model: Any, *, n_samples: int = 15, ax: OptionalAxes = None) -> Self:
        """Draw the most influential samples of a fitted model.

        Parameters
        ----------
        model : estimator
            An estimator that `sample_influence` accepts.
        n_samples : int, default=15
            Number of samples to show.
        ax : matplotlib Axes, optional
        """
        influence = sample_influence(model).rms
        wrong = model.loo_predict() != model.y_fit_ if is_classifier(model) else None
        return cls(model.ids_, influence, wrong).plot(n_samples=n_samples, ax=ax)

    def plot(self, ax: OptionalAxes = None, *, n_samples: int = 15) -> Self:
        """Draw the most influential samples on ``ax``, or on new axes. Returns self."""
        self._draw(self._begin(ax), n_samples)
        return self

    def _draw(self, ax: Any, n_samples: int = 15) -> None:
        top = np.argsort(-self.influence, kind="stable")[:n_samples]
        places = np.arange(len(top))
        for mine, color, label in self._groups(top):
            ax.barh(places[mine], self.influence[top[mine]], color=color, label=label, height=0.7)
        median = np.median(self.influence)
        ax.axvline(median, color=GREY, linestyle="--", label="median of all samples")
        ax.set_yticks(places, [label_text(name) for name in self.ids[top]])
        ax.set_ylim(len(top) - 0.5, -0.5)
        ax.set_xlim(left=0.0)
        ax.set_xlabel("change of the decision values without the sample (RMS)")
        ax.set_ylabel("sample id")
        ax.legend(loc="lower right", framealpha=0.9)

    def _groups(self, top: Array) -> list[tuple[Array, str, str | None]]:
        """Which bars have which colour and name."""
        if self.wrong is None:
            return [(np.ones(len(top), dtype=bool), BLUE, None)]
        wrong = self.wrong[top]
        return [(~wrong, BLUE, "right when left out"), (wrong, RED, "wrong when left out")]
