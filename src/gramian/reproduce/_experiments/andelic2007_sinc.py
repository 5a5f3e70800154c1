"""The sinc function: a fit, and the error against noise and against the number of samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.svm import SVR

from gramian import OrthogonalKernelRegressor
from gramian.datasets import make_sinc
from gramian.reproduce._compare import column, grouped, spread
from gramian.reproduce._data import SEED
from gramian.reproduce._drawing import BLUE, GREY, ORANGE, RED, draw, legend_above
from gramian.reproduce._experiment import Experiment, Parameters, Record
from gramian.reproduce._experiments._sparse import PAPER, tuned
from gramian.reproduce._parts import Figure, Part, Table, Text
from gramian.reproduce._published import andelic2007

N, NOISE, N_TEST = 100, 0.1, 1000
NOISES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
SIZES = (25, 50, 100, 200, 400)
MACHINES = ("SVR", "OROLS", "ours")
LINE = np.linspace(-10.0, 10.0, 201)
STYLES = {"SVR": (ORANGE, "s"), "OROLS": (GREY, "^"), "ours": (BLUE, "o")}


def cases(quick: bool) -> list[Parameters]:
    runs = 2 if quick else 20
    noises, sizes = (NOISES[1:4], SIZES[:3]) if quick else (NOISES, SIZES)
    settings = {(N, noise) for noise in noises} | {(n, NOISE) for n in sizes}
    return [
        {"machine": machine, "n": n, "noise": noise, "seed": seed}
        for machine in MACHINES
        for n, noise in sorted(settings)
        for seed in range(runs)
    ]


def run(machine: str, n: int, noise: float, seed: int) -> dict[str, Any]:
    """Root mean square error against the true function, and centres; the fit itself for seed 0."""
    rng = np.random.default_rng([SEED, seed])
    X, y = make_sinc(n, noise=noise, random_state=rng)
    X_test, y_test = make_sinc(N_TEST, noise=0.0, random_state=rng)
    model, centres = _fitted(machine, X, y)
    error = float(np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2)))
    values: dict[str, Any] = {"rmse": error, "centres": len(centres)}
    if seed == 0 and (n, noise) == (N, NOISE):
        fit = model.predict(LINE[:, None])
        values |= {"x": X[:, 0], "y": y, "chosen": np.sort(centres), "fit": fit}
    return values


def _fitted(machine: str, X: np.ndarray, y: np.ndarray) -> tuple[Any, np.ndarray]:
    """The machine, and the positions of its centres."""
    if machine == "SVR":
        grid = {"C": [1.0, 10.0], "epsilon": [0.01, 0.1]}
        model = tuned(SVR(), grid, X, y).fit(X, y)
        return model, model.support_
    model = OrthogonalKernelRegressor(**(PAPER if machine == "OROLS" else {})).fit(X, y)
    return model, model.basis_ids_


def report(records: list[Record]) -> list[Part]:
    usual = [record for record in records if (record["n"], record["noise"]) == (N, NOISE)]
    rows = [
        [
            machine,
            spread(column(cases, "rmse")).text(4),
            spread(column(cases, "centres")).text(1),
            len(cases),
        ]
        for machine, cases in grouped(usual, "machine").items()
    ]
    return [
        Text(
            f"sin(x)/x on [−10, 10] with Gaussian noise; {N} samples and noise {NOISE:g} unless an "
            f"axis says otherwise; root mean square error against the function itself at {N_TEST:,}"
            " points. γ, C and ε of the SVR by five folds on each training set; OROLS "
            "has the paper's settings, with GCV at its minimum for the end; ours is "
            "OrthogonalKernelRegressor as it is by default."
        ),
        Text(andelic2007.WHY_NONE),
        Table(["machine", "RMSE", "centres", "runs"], rows, "andelic2007, Table 3"),
        *_figure_of_fits([record for record in usual if "fit" in record]),
        Figure(
            draw(lambda left, right: plot_errors(left, right, records), columns=2),
            "andelic2007, Figures 2 and 3: error against noise and against the number of samples; "
            "bars are one deviation over runs.",
        ),
    ]


def _figure_of_fits(records: list[Record]) -> list[Figure]:
    """None where the runs to be shown are not among the finished ones."""
    if not records:
        return []
    drawing = draw(lambda *panels: plot_fits(panels, records), columns=len(records))
    return [Figure(drawing, "andelic2007, Figure 1: a fit; the paper shows that of OROLS.")]


def plot_fits(panels: Sequence[Any], records: list[Record]) -> None:
    for axes, record in zip(panels, records, strict=True):
        x, y, chosen = (np.array(record[name]) for name in ("x", "y", "chosen"))
        axes.plot(LINE, np.sinc(LINE / np.pi), color=GREY, linestyle="--", label="true function")
        axes.plot(LINE, record["fit"], color=BLUE, label=record["machine"])
        axes.scatter(x, y, s=10, color=ORANGE, label="training samples")
        label = f"{len(chosen)} centres"
        axes.scatter(x[chosen], y[chosen], s=60, facecolors="none", edgecolors=RED, label=label)
        legend_above(axes, 2)


def plot_errors(left: Any, right: Any, records: list[Record]) -> None:
    for axes, name, fixed in ((left, "noise", ("n", N)), (right, "n", ("noise", NOISE))):
        chosen = [record for record in records if record[fixed[0]] == fixed[1]]
        for machine, cases in grouped(chosen, "machine").items():
            curve = {x: spread(column(rs, "rmse")) for x, rs in grouped(cases, name).items()}
            xs = sorted(curve)
            means, bars = [curve[x].mean for x in xs], [curve[x].deviation or 0.0 for x in xs]
            color, marker = STYLES[machine]
            axes.errorbar(xs, means, bars, color=color, marker=marker,
                          capsize=2, label=machine)  # fmt: skip
        axes.set(xlabel="deviation of the noise" if name == "noise" else "samples", ylabel="RMSE")
        legend_above(axes, 3)


EXPERIMENT = Experiment(
    "andelic2007-sinc", "andelic2007, Figures 1 to 3 and Table 3: sinc", cases, run, report
)
