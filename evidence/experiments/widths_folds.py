"""Why intervals by folds cover more than they promise: fold models that disagree."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence._compare import column, grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.experiments.libraries import installed
from evidence.experiments.widths import OURS, SETS
from evidence.shared.data import SEED
from evidence.shared.tables import MADE, PACKED, fold
from gramian.core.estimators._cross_conformal import cross_fold_scores

N_TRAIN, PARTITIONS, LEVEL = 400, 2, 0.9


def cases(quick: bool) -> list[Parameters]:
    return [
        {"table": name, "who": who, "partition": k, "n": 60 if quick else N_TRAIN,
         **({} if name in MADE or name in PACKED else {"data": name})}
        for k in range(1 if quick else PARTITIONS)
        for name in (("diabetes",) if quick else SETS)
        for who in OURS
        if name not in PACKED or installed("pydataset") is not None
    ]  # fmt: skip


def run(table: str, who: str, partition: int, n: int, data: str = "") -> dict[str, Any]:
    """Coverage of CV+, of each fold's model alone and of their mean, with how far they disagree."""
    part, out = fold(table, partition, n), {}
    model = OURS[who](random_state=SEED).fit(part.X, part.y)
    for width in ("local", "constant"):
        ends = model.predict_interval(part.X_test, LEVEL, "cv+", width)
        inside = (ends[:, 0] <= part.y_test) & (part.y_test <= ends[:, 1])
        scores, values, scales = cross_fold_scores(model, part.X_test, width == "local")
        rank = int(np.ceil(LEVEL * (len(scores) + 1) - 1e-9))
        reach = np.sort(scores[:, 0])[rank - 1]
        away = np.abs(part.y_test[:, None] - values[..., 0])
        middle, around = values[..., 0].mean(axis=1), scales[..., 0].mean(axis=1)
        out[width] = [
            float(inside.mean()),
            float(np.mean(away <= reach * scales[..., 0])),
            float(np.mean(np.abs(part.y_test - middle) <= reach * around)),
            float(values[..., 0].std(axis=1).mean() / away.mean()),
        ]
    return {**out, "held": len(part.y), "asked": len(part.y_test)}


def report(records: list[Record]) -> list[Part]:
    rows, off = [], {who: [0, 0] for who in OURS}
    for (table, who), found in grouped(records, "table", "who").items():
        local, alike = (np.array(column(found, name)) for name in ("local", "constant"))
        held, asked = np.array(column(found, "held")), np.array(column(found, "asked"))
        # Which samples are held matters more than how many are asked for.
        error = np.sqrt(np.sum(LEVEL * (1 - LEVEL) * (1 / (held + 2) + 1 / asked))) / len(found)
        away = local[:, 0].mean() - LEVEL
        off[who][0] += bool(abs(away) > 0.01)
        off[who][1] += bool(abs(away) > 2.0 * error)
        row = [*local.mean(axis=0).tolist(), *alike.mean(axis=0).tolist()[:2]]
        rows.append([table, who, len(local), row[0], f"{100 * error:.1f}", *row[1:]])
    mean = [
        ["mean", who, "", *("" if k == 4 else np.mean([r[k] for r in rows if r[1] == who])
                            for k in range(3, 10))]
        for who in sorted({r[1] for r in rows})
    ]  # fmt: skip
    names = ["coverage, local", "± points", "each fold's model", "their mean", "disagreement"]
    counted = "; ".join(f"{who}: {a} and {b}" for who, (a, b) in off.items())
    return [
        Text(
            f"Intervals at {LEVEL:g} by `method=\"cv+\"` on the ten sets of "
            "[widths](widths.md), random partitions with at most "
            f"{N_TRAIN} samples to learn and 2,000 to ask for. Beside the coverage its standard "
            "error, √(0.09/(n + 2) + 0.09/m) over the root of the partitions: coverage depends on "
            "the n samples held, and so many partitions leave about a point. Each fold's model: "
            "the query is judged by one of the ten models alone, with the quantile of all "
            "out-of-fold scores; coverage is then 0.9 but for chance, since the scores of fold "
            "k and of the query are by the same model. Their mean: the interval "
            "around the mean of the ten models, which has no guarantee. "
            "Disagreement: the deviation of the ten predictions over the mean error. CV+ takes "
            "a quantile over all models' intervals, so that it covers more the more they disagree: "
            "that is the price of its guarantee, not of the widths. Sets that are off by more than "
            f"a point, and by more than two standard errors: {counted}."
        ),
        Table(["set", "machine", "partitions", *names, "constant", "each fold's model, constant"],
              [*rows, *mean]),
    ]  # fmt: skip


EXPERIMENTS = (
    benchmark("widths_folds", "Why intervals by folds cover more than they promise",
              cases, run, report, timed=False),
)  # fmt: skip
