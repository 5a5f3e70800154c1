"""What one sample costs to learn and to forget, against a refit and against memory."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge

from gramian import KernelDiscriminant
from gramian.reproduce._data import SEED
from gramian.reproduce._drawing import BLUE, GREY, ORANGE, draw, legend_above, ticks_at
from gramian.reproduce._experiment import Experiment, Parameters, Record
from gramian.reproduce._experiments._learning import best_time
from gramian.reproduce._parts import Figure, Part, Table, Text

FEATURES, RIDGE, CALLS = 20, 1e-2, 64
GAMMA = 1.0 / FEATURES
SIZES = (250, 500, 1000, 2000, 4000, 8000)


def cases(quick: bool) -> list[Parameters]:
    return [{"n": n} for n in (SIZES[:2] if quick else SIZES)]


def run(n: int) -> dict[str, Any]:
    """Seconds of a refit, of learning and of forgetting a sample, and of a pass over memory."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n + CALLS, FEATURES))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    peer = KernelRidge(kernel="rbf", gamma=GAMMA, alpha=RIDGE)
    refit, _ = best_time(lambda: peer.fit(X[:n], y[:n].astype(float)))
    model = KernelDiscriminant(gamma=GAMMA, ridge=RIDGE).fit(X[:n], y[:n])
    return {
        "refit": refit,
        "learn": _per_call(model, lambda i: model.partial_fit(X[i : i + 1], y[i : i + 1]), n),
        "forget": _per_call(model, model.forget, n),
        "memory": _memory_pass(n),
    }


def _per_call(model: KernelDiscriminant, edit: Callable[[int], Any], first: int) -> float:
    """Mean seconds of an edit, with the reading of the solution at the end."""
    start = perf_counter()
    for i in range(first, first + CALLS):
        edit(i)
    _ = model.dual_coef_
    return (perf_counter() - start) / CALLS


def _memory_pass(n: int) -> float:
    """Seconds to read n²/2 numbers once."""
    block = np.ones(n * n // 2)
    return best_time(block.sum, repeat=5)[0]


def report(records: list[Record]) -> list[Part]:
    rows = [
        [
            record["n"],
            *(1e3 * record[name] for name in ("refit", "learn", "forget", "memory")),
            record["refit"] / record["learn"],
            record["refit"] / record["forget"],
        ]
        for record in sorted(records, key=lambda record: record["n"])
    ]
    return [
        Text(
            f"RBF kernel, {FEATURES} features, λ = {RIDGE:g}. partial_fit and forget are means "
            f"over {CALLS} calls of one sample each, the solution read at the end. The refit is "
            "scikit-learn's KernelRidge. A pass over memory reads half of an n×n matrix once: no "
            "method that holds the inverse can learn a sample faster."
        ),
        Figure(draw(lambda axes: plot(axes, records)), "Cost of one sample."),
        Table(
            [
                "n",
                "KernelRidge.fit (ms)",
                "partial_fit (ms)",
                "forget (ms)",
                "memory pass (ms)",
                "refit / partial_fit",
                "refit / forget",
            ],
            rows,
        ),
    ]


def plot(axes: Any, records: list[Record]) -> None:
    records = sorted(records, key=lambda record: record["n"])
    n = [record["n"] for record in records]
    for name, style, label in (
        ("refit", {"color": GREY, "marker": "s"}, "refit, KernelRidge"),
        ("learn", {"color": BLUE, "marker": "o"}, "partial_fit, one sample"),
        ("forget", {"color": ORANGE, "marker": "v"}, "forget, one sample"),
        ("memory", {"color": "k", "linestyle": ":"}, "one pass over half the matrix"),
    ):
        axes.loglog(n, [1e3 * record[name] for record in records], label=label, **style)
    axes.set(xlabel="samples held", ylabel="milliseconds")
    ticks_at(axes, n)
    legend_above(axes)


EXPERIMENT = Experiment(
    "ours-updates", "Ours: one sample in, one sample out", cases, run, report, timed=True
)
