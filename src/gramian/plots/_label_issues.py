"""The samples whose labels are most likely wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gramian.data import label_issues
from gramian.plots._display import BLUE, GREY, RED, Display, OptionalAxes, label_text


@dataclass(eq=False, repr=False)
class LabelIssuesDisplay(Display):
    """Samples ranked by the probability that their labels are wrong.

    A bar is the probability, according to the model without the sample, that its label is wrong. At
    its end stand the given label and the suggested one.

    Parameters
    ----------
    issues : LabelIssues
        See `gramian.data.label_issues`.

    Examples
    --------
    >>> from gramian import LeastSquaresSVC
    >>> from gramian.datasets import make_banana
    >>> from gramian.plots import LabelIssuesDisplay
    >>> X, y = make_banana(100, random_state=0)
    >>> y[7] *= -1
    >>> model = LeastSquaresSVC(gamma=1.0, C=1.0).fit(X, y)
    >>> display = LabelIssuesDisplay.from_estimator(model, n_samples=5)
    >>> display.ax_.get_yticklabels()[0].get_text()
    '7'
    """

    issues: Any

    @classmethod
    def from_estimator(cls, model: Any, *, n_samples: int = 15, ax: OptionalAxes = None) -> Self:
        """Draw the most doubtful samples of a classifier or `TableModel`."""
        return cls(label_issues(model, top=n_samples)).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        issues = self.issues
        places = np.arange(len(issues))
        doubted = issues.suggested != issues.given
        for mine, color, label in (
            (doubted, RED, "another label is more probable"),
            (~doubted, BLUE, "its label is the most probable"),
        ):
            if mine.any():
                ax.barh(places[mine], issues.probability[mine], color=color, label=label)
        for row in np.flatnonzero(doubted).tolist():
            words = f" {label_text(issues.given[row])} → {label_text(issues.suggested[row])}"
            ax.text(issues.probability[row], row, words, va="center", color=GREY)
        ax.set_yticks(places, [label_text(name) for name in issues.ids])
        ax.set_ylim(len(places) - 0.5, -0.5)
        ax.set_xlim(0.0, 1.25)
        ax.set_xticks([0.0, 0.25, 0.5, 0.75, 1.0])
        ax.set_xlabel("probability that the label is wrong")
        ax.set_ylabel("sample id")
        self._legend_above()
