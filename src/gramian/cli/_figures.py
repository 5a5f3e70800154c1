"""The figures of a report, as SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from sklearn.base import is_classifier
from sklearn.metrics import PredictionErrorDisplay

from gramian.core.estimators import Influence, sample_influence
from gramian.plots import (
    CalibrationDisplay,
    CoverageDisplay,
    InfluenceDisplay,
    LeaveOneOutBoundaryDisplay,
    SelectionPathDisplay,
)
from gramian.plots._svg import draw_svg

# Samples up to which a hundred are left out and asked for: in closed form, and by edits.
_MANY, _SOME = 3_000, 100


class Figure(NamedTuple):
    """A drawing with its title and caption; ``svg`` draws it."""

    title: str
    caption: str
    draw: Callable[[Any], Any]

    def svg(self) -> bytes:
        """The drawing; ModuleNotFoundError without matplotlib."""
        return draw_svg(lambda figure: self.draw(figure.subplots()), (6.4, 4.2))


def drawings(estimator: Any) -> Iterator[Figure]:
    """Those that make sense for this estimator."""
    influence = _influence(estimator)
    if is_classifier(estimator):
        if estimator.n_features_in_ == 2:
            yield Figure(
                "Decision boundary",
                "Samples by their leave-one-out loss; large ones are doubtful.",
                lambda ax: LeaveOneOutBoundaryDisplay.from_estimator(estimator, ax=ax),
            )
        yield Figure(
            "Calibration",
            "How often what was given some probability came true, on left-out samples.",
            lambda ax: CalibrationDisplay.from_estimator(estimator, ax=ax),
        )
    else:
        yield Figure(
            "Left-out predictions",
            "Each sample as the model without it predicts it.",
            lambda ax: PredictionErrorDisplay(
                y_true=estimator.y_fit_, y_pred=estimator.loo_predict()
            ).plot(ax=ax, kind="actual_vs_predicted"),
        )
    if _has_coverage(estimator, _SOME if influence is None else _MANY):
        yield Figure(
            "Coverage",
            "How often prediction sets hold the truth, asked of the model without the sample, and "
            "their size: classes in a set, or width of an interval.",
            lambda ax: CoverageDisplay.from_estimator(estimator, ax=ax),
        )
    if getattr(estimator, "selection_", None) is not None:
        yield Figure(
            "Search",
            "The leave-one-out criterion of every setting that was tried.",
            lambda ax: SelectionPathDisplay.from_estimator(estimator, ax=ax),
        )
    if influence is not None:
        yield Figure(
            "Influence",
            "How far the decision values of all samples would move if one were forgotten.",
            lambda ax: _draw_influence(estimator, influence, ax),
        )


def _has_coverage(estimator: Any, most: int) -> bool:
    """Whether samples can be left out, learned again, and asked for, of at most so many."""
    if estimator.kernel == "precomputed" or getattr(estimator, "ridge_", None) == 0:
        return False  # no samples to ask for; as many fits as samples for each
    if not is_classifier(estimator) and estimator.y_fit_.ndim > 1:
        return False
    return 20 <= len(estimator.ids_) <= most


def _influence(estimator: Any) -> Influence | None:
    """The influence of samples, where it is known in closed form."""
    try:
        return sample_influence(estimator)
    except ValueError:
        return None


def _draw_influence(estimator: Any, influence: Influence, ax: Any) -> None:
    """As `InfluenceDisplay.from_estimator`, without computing it again."""
    classes = is_classifier(estimator)
    wrong = estimator.loo_predict() != estimator.y_fit_ if classes else None
    InfluenceDisplay(estimator.ids_, influence.rms, wrong).plot(ax=ax)
