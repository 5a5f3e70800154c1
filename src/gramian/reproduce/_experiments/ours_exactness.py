"""Ten thousand learn and forget steps, and how far they lead from a refit."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian import KernelDiscriminant
from gramian.reproduce._compare import grouped
from gramian.reproduce._data import SEED
from gramian.reproduce._drawing import COLORS, MARKERS, draw, legend_above
from gramian.reproduce._experiment import Experiment, Parameters, Record
from gramian.reproduce._experiments._learning import largest_difference
from gramian.reproduce._parts import Figure, Part, Table, Text

RIDGES = (1e-1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
GAMMA, POOL, HELD = 0.02, 600, 200


def cases(quick: bool) -> list[Parameters]:
    steps = 300 if quick else 10_000
    return [{"ridge": ridge, "steps": steps} for ridge in (RIDGES[::2] if quick else RIDGES)]


def run(ridge: float, steps: int) -> dict[str, Any]:
    """Distances of decision values from those of a refit, at steps a factor of about two apart."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((POOL, 5))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(POOL) > 0, 1, -1)
    queries = rng.standard_normal((200, 5))
    model = KernelDiscriminant(gamma=GAMMA, ridge=ridge)
    model.fit(X[:HELD], y[:HELD], ids=np.arange(HELD))
    marks = sorted({round(steps / 2**k) for k in range(10)} - {0})
    distances = []
    for step in range(1, steps + 1):
        edit(model, X, y, rng)
        if step in marks:
            fresh = refit(model, np.arange(len(model.ids_))).decision_function(queries)
            distances.append(largest_difference(model.decision_function(queries), fresh))
    shuffled = refit(model, rng.permutation(len(model.ids_))).decision_function(queries)
    return {
        "marks": marks,
        "distances": distances,
        "floor": largest_difference(shuffled, fresh),
        "drift": model.drift(),
        "rebuilt": len(model.refactorizations_),
        "factor": model.factor_,
    }


def refit(model: KernelDiscriminant, order: np.ndarray) -> KernelDiscriminant:
    """A machine fitted to the samples that ``model`` holds, in some order."""
    machine = KernelDiscriminant(gamma=GAMMA, ridge=model.ridge_, factor="cholesky")
    return machine.fit(model.X_fit_[order], model.y_fit_[order])


def edit(model: KernelDiscriminant, X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> None:
    """Learn a sample that is not held, or forget one; about as many as at the start are held."""
    held = model.ids_
    grow = rng.random() < 0.5 + (HELD - len(held)) / HELD
    if grow:
        new = rng.choice(np.setdiff1d(np.arange(POOL), held), 1)
        model.partial_fit(X[new], y[new], ids=new)
    else:
        model.forget(rng.choice(held))


def report(records: list[Record]) -> list[Part]:
    steps = records[0]["steps"]
    rows = [
        [f"{r['ridge']:g}", r["distances"][-1], r["floor"], r["drift"], r["rebuilt"], r["factor"]]
        for r in records
    ]
    return [
        Text(
            f"About {HELD} samples held, {steps:,} random steps that learn or forget one. The "
            "distance is the largest difference of decision values from a refit on 200 other "
            "points, relative to the largest value. A refit has an error of its own: two of them, "
            "to the same samples in another order, differ as well, the more so the smaller λ."
        ),
        Figure(draw(lambda axes: plot(axes, records)), "Distance to a refit along the way."),
        Table(
            [
                "ridge λ",
                "distance to a refit at the end",
                "distance between two refits",
                "drift(), measured residual",
                "times rebuilt by itself",
                "factor at the end",
            ],
            rows,
        ),
    ]


def plot(axes: Any, records: list[Record]) -> None:
    for k, (ridge, cases) in enumerate(grouped(records, "ridge").items()):
        for record in cases:
            style = {
                "color": COLORS[k],
                "marker": MARKERS[k],
                "label": f"λ = {ridge:g}",
            }
            axes.loglog(record["marks"], record["distances"], **style)
    axes.set(xlabel="steps", ylabel="relative distance to a refit")
    legend_above(axes, 3)


EXPERIMENT = Experiment(
    "ours-exactness", "Ours: ten thousand steps from a refit", cases, run, report
)
