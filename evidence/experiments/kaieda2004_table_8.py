"""Thyroid: training times of the fuzzy classifiers."""

from __future__ import annotations

from typing import Any

from evidence._experiment import Experiment, Parameters, Part, Record, Table, Text
from evidence.published import kaieda2004
from evidence.shared.data import split
from evidence.shared.ellipsoids import multiclass_classifier
from evidence.shared.learning import best_time

DATA = "ann_thyroid"


def cases(quick: bool) -> list[Parameters]:
    kinds = [kind for kind in kaieda2004.TABLE_8 if not (quick and kind.startswith("SVD"))]
    return [{"data": DATA, "kind": kind} for kind in kinds]


def run(data: str, kind: str) -> dict[str, Any]:
    """Seconds of a fit, slopes tuned."""
    part = split(data, 0)
    repeat = 1 if kind.startswith("SVD") else 3
    seconds, _ = best_time(lambda: multiclass_classifier(kind, data).fit(part.X, part.y), repeat)
    return {"seconds": seconds, **part.facts}


def report(records: list[Record]) -> list[Part]:
    ours = {record["kind"]: record["seconds"] for record in records}
    times = {kind: cells[DATA] for kind, cells in kaieda2004.TABLE_8.items()}
    rows = [
        [
            kind,
            f"{published:,.0f}",
            ours.get(kind),
            *_shares(kind, times),
            *_shares(kind, ours),
        ]
        for kind, published in times.items()
    ]
    return [
        Text(
            "Seconds to train on the 3,772 samples of thyroid. The paper's computer was a "
            "Pentium III at 1 GHz: compare the columns of ratios, not the seconds. A quick "
            "run omits the SVD."
        ),
        Table(
            [
                "type",
                "published (s)",
                "ours (s)",
                "SVD / this, published",
                "SVD / this, ours",
            ],
            rows,
            "kaieda2004, Table 8",
        ),
    ]


def _shares(kind: str, seconds: dict[str, float]) -> list[float | None]:
    """How many times longer the SVD takes with the same kernel."""
    kernel = kind[kind.find("(") :] if kind.startswith("KPCA") else None
    slow, fast = seconds.get(f"SVD {kernel}"), seconds.get(kind)
    return [slow / fast if slow and fast else None]


EXPERIMENTS = (
    Experiment("kaieda2004-table-8", "kaieda2004, Table 8: training time of the fuzzy classifier",
               cases, run, report, timed=True, file="ellipsoidal_times"),
)  # fmt: skip
