"""Twelve points: decision boundaries from scratch and by updating, over each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence._drawing import BLUE, GREY, ORANGE, draw
from evidence._experiment import Experiment, Figure, Parameters, Part, Record, Table, Text
from evidence.published import kim2006
from evidence.shared.learning import largest_difference
from gramian import KernelDiscriminant
from gramian.core.kernels import make_kernel
from gramian.datasets import make_twelve_points

ROADS = ("scratch", "adaptive")
EDITS = {"remove": "the 12th point removed", "append": "a point appended"}
SPAN = np.linspace(0.0, 11.0, 111)


def cases(quick: bool) -> list[Parameters]:
    return [{"edit": edit} for edit in EDITS]


def run(edit: str) -> dict[str, Any]:
    """The model after the edit, by both methods: coefficients and intercept."""
    X, y = make_twelve_points()
    adaptive = _machine().fit(X, y)
    if edit == "remove":
        adaptive.forget(11)
        X, y = X[:11], y[:11]
    else:
        new = [kim2006.FIGURE_2_APPENDED]
        adaptive.partial_fit(new, [1])
        X, y = np.vstack([X, new]), np.append(y, 1)
    models = dict(zip(ROADS, (_machine().fit(X, y), adaptive), strict=True))
    solved = {
        road: {"coefficients": model.dual_coef_, "intercept": model.intercept_}
        for road, model in models.items()
    }
    values = {road: model.decision_function(_grid()) for road, model in models.items()}
    return {
        "X": X,
        "y": y,
        **solved,
        "difference": largest_difference(values["adaptive"], values["scratch"]),
    }


def _machine() -> KernelDiscriminant:
    return KernelDiscriminant(
        gamma=kim2006.FIGURE_2_GAMMA, ridge=kim2006.FIGURE_2_RIDGE, factor="qr"
    )


def _grid() -> np.ndarray:
    return np.column_stack([axis.ravel() for axis in np.meshgrid(SPAN, SPAN)])


def report(records: list[Record]) -> list[Part]:
    def plot(*panels: Any) -> None:
        for axes, record in zip(panels, records, strict=True):
            draw_boundaries(axes, record)

    rows = [[EDITS[record["edit"]], record["difference"]] for record in records]
    return [
        Text(
            "KDA/RMSE on the paper's 12 points, with γ = 0.1 and λ = 1e-11. The last point is "
            "uncertain: our copy of the paper gives 13 digits for 12 second coordinates "
            "(docs/datasets.md). That the boundaries coincide does not depend on it."
        ),
        Figure(
            draw(plot, columns=len(records)),
            "Where the decision value is zero, from scratch and after the edit.",
        ),
        Table(
            ["edit", "largest difference of decision values, relative"],
            rows,
            "On a grid over the figure. Published: the contours perfectly match",
        ),
    ]


def draw_boundaries(axes: Any, record: Record) -> None:
    X, y = np.array(record["X"]), np.array(record["y"])
    K = make_kernel("rbf", gamma=kim2006.FIGURE_2_GAMMA)(_grid(), X)
    for road, style in zip(ROADS, ((BLUE, "dashed", 3.5), (ORANGE, "dashdot", 1.5)), strict=True):
        solved = record[road]
        values = (K @ solved["coefficients"] + solved["intercept"]).reshape(len(SPAN), -1)
        color, line, width = style
        axes.contour(
            SPAN, SPAN, values, [0.0], colors=[color], linestyles=[line], linewidths=[width]
        )
        axes.plot([], [], color=color, linestyle=line, linewidth=width, label=road)
    for label, marker in ((-1, "o"), (1, "P")):
        axes.scatter(*X[y == label].T, marker=marker, color=GREY, zorder=3, label=f"class {label}")
    axes.set(title=EDITS[record["edit"]], aspect="equal")
    axes.legend(loc="upper left", fontsize=8, frameon=True)


EXPERIMENTS = (
    Experiment(
        "kim2006-figure-2", "kim2006, Figure 2: boundaries after an edit", cases, run, report
    ),
)
