"""How far the leave-one-out error is too small after tuning on the same samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence._compare import grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.shared.tables import CLASSES, MADE, NUMBERS, PACKED, fold
from gramian import KernelDiscriminant, LeastSquaresSVR

SIZES, PARTITIONS = (100, 300, 1000), {100: 5, 300: 4, 1000: 2}


def cases(quick: bool) -> list[Parameters]:
    numbers = [name for name in NUMBERS if name not in PACKED]
    tables = (*CLASSES[:1], *numbers[-1:]) if quick else (*CLASSES, *numbers)
    return [
        {"table": name, "n": n, "partition": k, **({} if name in MADE else {"data": name})}
        for n in (SIZES[:1] if quick else SIZES)
        for name in tables
        for k in range(PARTITIONS[n])
    ]


def run(table: str, n: int, partition: int, data: str = "") -> dict[str, Any]:
    """Leave-one-out error and that on fresh samples: wrong ones in %, or 100 (1 − R²).

    None where a set has fewer than three quarters of the samples asked for.
    """
    part, classes = fold(table, partition, n), table in CLASSES
    if len(part.y) < 0.75 * n:
        return {"left_out": None, "fresh": None}
    model = (KernelDiscriminant() if classes else LeastSquaresSVR()).fit(part.X, part.y)
    found = model.loo_predict(), model.predict(part.X_test)
    left_out, fresh = (
        100.0 * float(np.mean(said != true if classes else (said - true) ** 2))
        for said, true in zip(found, (part.y, part.y_test), strict=True)
    )
    return {"left_out": left_out, "fresh": fresh}


def report(records: list[Record]) -> list[Part]:
    rows = []
    for kind, tables in (("classes", CLASSES), ("numbers", NUMBERS)):
        some = [r for r in records if r["table"] in tables and r["left_out"] is not None]
        for n, found in grouped(some, "n").items():
            rows.append([kind, n, *_summary(list(grouped(found, "table").values()))])
    return [
        Text(
            "Default `KernelDiscriminant` and `LeastSquaresSVR`, tuned by leave-one-out on "
            "their n samples: the leave-one-out error after tuning, and the error on up to "
            "2,000 fresh samples. Classification: wrong samples in %. Regression: squared "
            "error in % of the variance of the training targets. Means over partitions "
            f"({', '.join(f'{k} at n = {n:,}' for n, k in PARTITIONS.items())}), then over "
            "sets; ± is the standard error over sets of the difference. Sets with fewer than "
            "three quarters of n training samples are left out."
        ),
        Table(
            ["target", "n", "sets", "left out", "fresh", "fresh − left out",
             "sets where it is too small"],
            rows,
        ),
    ]  # fmt: skip


def _summary(tables: list[list[Record]]) -> list[Any]:
    pairs = np.array([[np.mean([r[k] for r in t]) for k in ("left_out", "fresh")] for t in tables])
    gap = pairs[:, 1] - pairs[:, 0]
    error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
    means = pairs.mean(axis=0).tolist()
    return [len(gap), *means, f"{gap.mean():.2f} ± {error:.2f}", int((gap > 0).sum())]


EXPERIMENTS = (
    benchmark("flattery", "Leave-one-out error after tuning, and the error on fresh samples",
              cases, run, report, timed=False),
)  # fmt: skip
