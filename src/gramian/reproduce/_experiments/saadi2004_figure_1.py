"""Run time of training, of leave-one-out by refits, and of leave-one-out in closed form."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gramian import KernelFisherDiscriminant
from gramian.datasets import make_twonorm
from gramian.kernels import make_kernel
from gramian.machines._fisher import canonical_form
from gramian.reproduce._compare import column, grouped
from gramian.reproduce._data import SEED
from gramian.reproduce._drawing import COLORS, MARKERS, draw, legend_above, ticks_at
from gramian.reproduce._experiment import Experiment, Parameters, Record
from gramian.reproduce._experiments._learning import best_time, largest_difference
from gramian.reproduce._parts import Figure, Part, Table, Text

GAMMA, RIDGE = 0.02, 1e-2
WORK = {
    "direct": "direct leave-one-out: n fits",
    "canonical": "training in canonical form",
    "canonical loo": "fast leave-one-out in canonical form",
    "training": "training here",
    "loo": "fast leave-one-out here",
}
SIZES = (10, 30, 100, 300, 1000)
LARGEST_DIRECT = 300


def cases(quick: bool) -> list[Parameters]:
    largest = 100 if quick else max(SIZES)
    return [{"n": n, "direct": n <= LARGEST_DIRECT} for n in SIZES if n <= largest]


def run(n: int, direct: bool) -> dict[str, Any]:
    """Seconds of each piece of work on n samples, and how far fast is from direct."""
    X, y = make_twonorm(n, random_state=SEED)
    K = make_kernel("rbf", gamma=GAMMA)(X, X)
    targets = np.where(y > 0, n / (y > 0).sum(), -n / (y < 0).sum())[:, None]
    seconds: dict[str, float] = {}
    seconds["canonical"], form = best_time(lambda: canonical_form(K, targets))
    seconds["canonical loo"], _ = best_time(lambda: form.loo(targets, RIDGE))
    seconds["training"], _ = best_time(lambda: _fitted(X, y).dual_coef_)
    models = [_fitted(X, y) for _ in range(3)]  # a model computes its leave-one-out once
    seconds["loo"], values = best_time(lambda: models.pop().loo_decision_function())
    if not direct:
        return {"seconds": seconds}
    seconds["direct"], true = best_time(partial(refits, X, y), repeat=1)
    return {"seconds": seconds, "difference": largest_difference(values, true)}


def _fitted(X: np.ndarray, y: np.ndarray) -> KernelFisherDiscriminant:
    return KernelFisherDiscriminant(gamma=GAMMA, ridge=RIDGE).fit(X, y)


def refits(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Each value from a discriminant fitted without the sample."""
    rest = [np.delete(np.arange(len(y)), i) for i in range(len(y))]
    fits = (_fitted(X[others], y[others]) for others in rest)
    values = [model.decision_function(X[i : i + 1])[0] for i, model in enumerate(fits)]
    return np.array(values)


def report(records: list[Record]) -> list[Part]:
    rows = [
        [
            record["n"],
            *(record["seconds"].get(name) for name in WORK),
            _ratio(record["seconds"]),
            record.get("difference"),
        ]
        for record in sorted(records, key=lambda record: record["n"])
    ]
    return [
        Text(
            "Synthetic data (twonorm), RBF kernel. The paper's fast leave-one-out comes with "
            "training in canonical form and keeps the left-out sample among the centres; ours is "
            "that of a fit without the sample. The paper says of its own, in a figure without "
            "numbers: more than ten times faster than direct, and faster than training."
        ),
        Figure(draw(lambda axes: plot(axes, records)), "Run time against the number of samples."),
        Table(
            [
                "n",
                *(f"{text} (s)" for text in WORK.values()),
                "direct / fast",
                "fast differs from direct by at most",
            ],
            rows,
            "saadi2004, Figure 1",
        ),
    ]


def _ratio(seconds: dict[str, float]) -> float | None:
    """How many times faster the closed form is, its training included."""
    if "direct" not in seconds:
        return None
    return seconds["direct"] / (seconds["training"] + seconds["loo"])


def plot(axes: Any, records: list[Record]) -> None:
    for k, (name, text) in enumerate(WORK.items()):
        points = sorted((n, rs[0]["seconds"].get(name)) for n, rs in grouped(records, "n").items())
        known = [point for point in points if point[1] is not None]
        axes.loglog(*zip(*known, strict=True), color=COLORS[k], marker=MARKERS[k], label=text)
    axes.set(xlabel="samples", ylabel="seconds")
    ticks_at(axes, column(records, "n"))
    legend_above(axes)


EXPERIMENT = Experiment(
    "saadi2004-figure-1", "saadi2004, Figure 1: run time", cases, run, report, timed=True
)
