"""Ten thousand learn and forget steps, and how far they lead from a refit.

The yardstick is the same machine in extended precision; a refit in double precision has an error
of its own against it, which grows as the ridge shrinks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence._drawing import COLORS, MARKERS, draw, legend_above
from evidence._experiment import Experiment, Figure, Parameters, Part, Record, Table, Text
from evidence.shared.data import SEED
from evidence.shared.extended import solve_extended
from evidence.shared.learning import edit, largest_difference
from gramian import KernelDiscriminant
from gramian.core.kernels import make_kernel

RIDGES = (1e-1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
FACTORS = ("auto", "inverse", "cholesky")
SMALLEST_FOR_INVERSE = 1e-6
GAMMA, POOL, HELD = 0.02, 600, 200


def cases(quick: bool) -> list[Parameters]:
    steps = 300 if quick else 10_000
    return [
        {"ridge": ridge, "factor": factor, "steps": steps}
        for ridge in (RIDGES[::2] if quick else RIDGES)
        for factor in FACTORS
        if factor != "inverse" or ridge >= SMALLEST_FOR_INVERSE
    ]


def run(ridge: float, factor: str, steps: int) -> dict[str, Any]:
    """Distances of decision values from those of a refit, at steps a factor of about two apart."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((POOL, 5))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(POOL) > 0, 1, -1)
    queries = rng.standard_normal((200, 5))
    model = KernelDiscriminant(gamma=GAMMA, ridge=ridge, factor=factor)
    model.fit(X[:HELD], y[:HELD], ids=np.arange(HELD))
    marks = sorted({round(steps / 2**k) for k in range(10)} - {0})
    distances = []
    for step in range(1, steps + 1):
        edit(model, X, y, HELD, rng)
        if step % 100 == 0 or step in marks:
            live = model.decision_function(queries)
        if step in marks:
            fresh = refit(model, np.arange(len(model.ids_))).decision_function(queries)
            distances.append(largest_difference(live, fresh))
    shuffled = refit(model, rng.permutation(len(model.ids_))).decision_function(queries)
    true = extended_decisions(model.X_fit_, model.y_fit_, queries, ridge)
    return {
        "marks": marks,
        "distances": distances,
        "floor": largest_difference(shuffled, fresh),
        "live": largest_difference(live, true),
        "refit": largest_difference(fresh, true),
        "drift": model.drift(),
        "rebuilt": len(model.rebuilds_),
        "end": model.factor_,
    }


def refit(model: KernelDiscriminant, order: np.ndarray) -> KernelDiscriminant:
    """An estimator fitted to the samples that ``model`` holds, in some order."""
    machine = KernelDiscriminant(gamma=GAMMA, ridge=model.ridge_, factor="cholesky")
    return machine.fit(model.X_fit_[order], model.y_fit_[order])


def extended_decisions(
    X: np.ndarray, y: np.ndarray, queries: np.ndarray, ridge: float
) -> np.ndarray:
    """KDA/RMSE (kim2006, eqs. 16 to 20) in extended precision, on the double-precision kernel."""
    kernel = make_kernel("rbf", gamma=GAMMA)
    A = kernel(X, X).astype(np.longdouble)
    np.fill_diagonal(A, 1.0 + np.longdouble(ridge))
    columns = np.column_stack([np.where(y > 0, 1, -1), np.ones(len(y))]).astype(np.longdouble)
    r, s = solve_extended(A, columns).T
    intercept = s @ r / (1 + s @ s)
    return np.asarray(kernel(queries, X) @ (r - intercept * s) + intercept, dtype=float)


COLUMNS = {
    "ridge": "ridge λ",
    "factor": "factor asked",
    "end": "factor at the end",
    "distance": "live − refit",
    "floor": "between two refits",
    "live": "live − extended",
    "refit": "refit − extended",
    "rebuilt": "rebuilt (times)",
    "drift": "drift()",
}


def report(records: list[Record]) -> list[Part]:
    rows = [
        [
            {**r, "ridge": f"{r['ridge']:g}", "distance": r["distances"][-1]}[name]
            for name in COLUMNS
        ]
        for r in records
    ]
    return [
        Text(
            f"RBF kernel, 5 features, about {HELD} samples, {records[0]['steps']:,} random "
            "steps that learn or forget one sample, with the solution read after every "
            "hundredth. Distances are the largest differences of decision values on 200 other "
            "points, relative to the largest value. A refit also has rounding errors: two "
            "refits to the same samples in another order differ, too, and more for smaller λ; "
            "both are compared with the same estimator in extended precision. Below a ridge "
            "of 1e-6 an explicit inverse, if it is asked for, refuses samples that it cannot "
            "distinguish from others."
        ),
        Figure(
            draw(lambda axes: plot(axes, [r for r in records if r["factor"] == "auto"])),
            'Distance to a refit along the way, factor="auto".',
        ),
        Table([*COLUMNS.values()], rows),
    ]


def plot(axes: Any, records: list[Record]) -> None:
    for k, record in enumerate(records):
        style = {"color": COLORS[k], "marker": MARKERS[k], "label": f"λ = {record['ridge']:g}"}
        axes.loglog(record["marks"], record["distances"], **style)
    axes.set(xlabel="steps", ylabel="relative distance to a refit")
    if records:
        legend_above(axes, 3)


EXPERIMENTS = (
    Experiment("ours-exactness", "Ten thousand steps from a refit", cases, run, report,
               file="exactness"),
)  # fmt: skip
