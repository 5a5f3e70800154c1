"""The sinc function: a fit, and the error against noise and against the number of samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.svm import SVR

from evidence._compare import column, grouped, spread
from evidence._drawing import BLUE, GREY, ORANGE, RED, draw, legend_above
from evidence._experiment import Experiment, Figure, Parameters, Part, Record, Table, Text
from evidence.published import andelic2007
from evidence.shared.data import SEED
from evidence.shared.learning import best_time
from evidence.shared.sparse import PAPER, tuned
from gramian import OrthogonalKernelRegressor
from gramian.datasets import make_sinc

N, NOISE, N_TEST = 100, 0.1, 1000
NOISES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
SIZES = (25, 50, 100, 200, 400)
SETTINGS: dict[str, dict[str, Any]] = {
    "OROLS": PAPER,
    "OROLS, λ settles": {**PAPER, "stopping": "lambda"},
    "ours": {},
    'ours, stopping="loo"': {"stopping": "loo"},
    'ours, stopping="bic"': {"stopping": "bic"},
    'ours, penalty="orthogonal"': {"penalty": "orthogonal"},
}
MAIN = ("SVR", "OROLS", "ours")
SETTLED = 0.2  # the noise at which all settings are compared
LINE = np.linspace(-10.0, 10.0, 201)
STYLES = {"SVR": (ORANGE, "s"), "OROLS": (GREY, "^"), "ours": (BLUE, "o")}


def cases(quick: bool) -> list[Parameters]:
    runs = 2 if quick else 20
    noises, sizes = (NOISES[1:4], SIZES[:3]) if quick else (NOISES, SIZES)
    settings = sorted({(N, noise) for noise in noises} | {(n, NOISE) for n in sizes})
    shown = [(machine, *setting) for machine in MAIN for setting in settings]
    others = [(machine, N, SETTLED) for machine in SETTINGS if machine not in MAIN]
    return [
        {"machine": machine, "n": n, "noise": noise, "seed": seed}
        for machine, n, noise in [*shown, *others]
        for seed in range(runs)
    ]


def run(machine: str, n: int, noise: float, seed: int) -> dict[str, Any]:
    """Root mean square error against the true function, and centres; the fit itself for seed 0."""
    rng = np.random.default_rng([SEED, seed])
    X, y = make_sinc(n, noise=noise, random_state=rng)
    X_test, y_test = make_sinc(N_TEST, noise=0.0, random_state=rng)
    seconds, (model, centres) = best_time(lambda: _fitted(machine, X, y), repeat=1)
    error = float(np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2)))
    values: dict[str, Any] = {"rmse": error, "centres": len(centres), "seconds": seconds}
    if seed == 0 and (n, noise) == (N, NOISE):
        fit = model.predict(LINE[:, None])
        values |= {"x": X[:, 0], "y": y, "chosen": np.sort(centres), "fit": fit}
    return values


def _fitted(machine: str, X: np.ndarray, y: np.ndarray) -> tuple[Any, np.ndarray]:
    """The model, and the positions of its centres."""
    if machine == "SVR":
        grid = {"C": [1.0, 10.0], "epsilon": [0.01, 0.1]}
        model = tuned(SVR(), grid, X, y).fit(X, y)
        return model, model.support_
    model = OrthogonalKernelRegressor(**SETTINGS[machine]).fit(X, y)
    return model, model.basis_ids_


def report(records: list[Record]) -> list[Part]:
    shown = [record for record in records if record["machine"] in MAIN]
    usual = [record for record in shown if (record["n"], record["noise"]) == (N, NOISE)]
    settled = [record for record in records if (record["n"], record["noise"]) == (N, SETTLED)]
    return [
        Text(
            f"sin(x)/x on [−10, 10] with Gaussian noise; {N} samples and noise {NOISE:g} "
            "unless an axis or a table says otherwise; root mean square error against the "
            f"function itself at {N_TEST:,} points. γ, C and ε of the SVR by five folds on "
            "each training set; OROLS has the paper's parameters, but ends at the minimum of "
            "GCV; ours is `OrthogonalKernelRegressor` with its defaults, the width by "
            f"cross-validation. The bar: at noise {SETTLED:g} an error below 0.08 with fewer "
            "than 15 centres."
        ),
        Text(andelic2007.WHY_NONE),
        *([_table(usual, f"andelic2007, Table 3 (noise {NOISE:g})")] if usual else []),
        *([_table(settled, f"Settings, at noise {SETTLED:g}")] if settled else []),
        *_figure_of_fits([record for record in usual if "fit" in record]),
        Figure(
            draw(lambda left, right: plot_errors(left, right, shown), columns=2),
            "andelic2007, Figures 2 and 3: error against noise and against the number of samples; "
            "bars are one deviation over runs.",
        ),
    ]


def _table(records: list[Record], caption: str) -> Table:
    rows = [
        [
            machine,
            spread(column(found, "rmse")).text(4),
            max(column(found, "rmse")),
            spread(column(found, "centres")).text(1),
            1e3 * float(np.mean(column(found, "seconds"))),
            len(found),
        ]
        for machine, found in grouped(records, "machine").items()
    ]
    return Table(["model", "RMSE", "largest RMSE", "centres", "fit (ms)", "runs"], rows, caption)


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


EXPERIMENTS = (
    Experiment("andelic2007-sinc", "andelic2007, Figures 1 to 3 and Table 3: noisy sinc",
               cases, run, report, file="orthogonal_sinc"),
)  # fmt: skip
