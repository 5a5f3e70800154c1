"""Why intervals by folds cover more than they promise: fold models that disagree."""

from __future__ import annotations

import numpy as np

from evidence._compare import column, grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.experiments.widths import N_TRAIN, OURS, real, real_cases

LEVEL = 0.9


def cases(quick: bool) -> list[Parameters]:
    """Those of `bench widths` that are ours: computed once, they serve both pages."""
    return [case for case in real_cases(quick) if case["who"] in OURS]


def report(records: list[Record]) -> list[Part]:
    rows, off = [], {who: [0, 0] for who in OURS}
    for (table, who), found in grouped(records, "table", "who").items():
        covered = {way: _covered(found, way) for way in ("local", "constant")}
        folds = {way: np.array(column(found, f"{way} folds")) for way in covered}
        held, asked = np.array(column(found, "held")), np.array(column(found, "asked"))
        # Which samples are held matters more than how many are asked for.
        error = np.sqrt(np.sum(LEVEL * (1 - LEVEL) * (1 / (held + 2) + 1 / asked))) / len(found)
        away = covered["local"] - LEVEL
        off[who][0] += bool(abs(away) > 0.01)
        off[who][1] += bool(abs(away) > 2.0 * error)
        alike = [covered["constant"], float(folds["constant"][:, 0].mean())]
        near = folds["local"].mean(axis=0).tolist()
        rows.append([table, who, covered["local"], f"{100 * error:.1f}", *near, *alike])
    mean = [
        ["mean", who, *("" if k == 3 else float(np.mean([r[k] for r in rows if r[1] == who]))
                        for k in range(2, 9))]
        for who in OURS if any(r[1] == who for r in rows)
    ]  # fmt: skip
    names = ["coverage, local", "± points", "each fold's model", "their mean", "disagreement"]
    counted = "; ".join(f"{who}: {a} and {b}" for who, (a, b) in off.items())
    partitions = len({record["partition"] for record in records})
    return [
        Text(
            f'Intervals at {LEVEL:g} by `method="cv+"` on the ten sets of [widths](widths.md), '
            f"{partitions} random partitions with at most {N_TRAIN} training samples and 2,000 "
            "queries. The coverage has its standard error, √(0.09/(n + 2) + 0.09/m) over the "
            "root of the partitions: coverage depends on the n training samples, and with so "
            "many partitions it is uncertain by about a point. Each fold's model: the query "
            "is judged by a single one of the ten models, with the quantile of all "
            "out-of-fold scores; coverage is then 0.9 except for chance, since the scores of "
            "fold k and of the query come from the same model. Their mean: the interval "
            "around the mean of the ten models, which has no guarantee. Disagreement: the "
            "deviation of the ten predictions over the mean error. CV+ takes a quantile over "
            "the intervals of all models, so its coverage is higher the more they disagree; "
            "this is the price of its guarantee, not of local widths. Sets that are off by "
            f"more than a point, and by more than two standard errors: {counted}."
        ),
        Table(["set", "model", *names, "constant", "each fold's model, constant"],
              [*rows, *mean]),
    ]  # fmt: skip


def _covered(records: list[Record], way: str) -> float:
    """Coverage, over partitions."""
    inside, asked = np.sum(column(records, way), axis=(0, 2))
    return float(inside / asked)


EXPERIMENTS = (
    benchmark("widths_folds", "Why intervals by folds cover more than they guarantee",
              cases, real, report, timed=False),
)  # fmt: skip
