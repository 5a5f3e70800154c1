"""Probabilities calibrated on leave-one-out values, against those of scikit-learn's SVC."""

from __future__ import annotations

import numpy as np

from evidence._compare import column, grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.shared.study import BINS, run

SETS = (
    *("ida_banana", "ida_diabetis", "ida_german", "ida_heart"),
    *("ida_titanic", "ida_twonorm", "ida_waveform", "digits"),
)
METHODS = (
    "KernelDiscriminant",
    "LeastSquaresSVC",
    "KernelFisherDiscriminant",
    "CalibratedClassifierCV(SVC)",
)
FIGURES = {
    "log_loss": "log-loss",
    "ece": "ECE (%)",
    "proba_error": "error (%)",
    "seconds": "fit (s)",
}


def cases(quick: bool) -> list[Parameters]:
    return [
        {"data": name, "machine": machine, "partition": k}
        for name in (("ida_heart", "iris") if quick else SETS)
        for machine in METHODS
        for k in ((0, 5) if quick else range(10))
    ]


def report(records: list[Record]) -> list[Part]:
    rows = [
        [data.removeprefix("ida_"), found[0]["n"], machine, *means(found)]
        for (data, machine), found in grouped(records, "data", "machine").items()
    ]
    late = [record for record in records if record["partition"] >= 5]
    for title, some in (("mean", records), ("mean, partitions 6–10", late)):
        rows += [[title, None, m, *means(found)] for m, found in grouped(some, "machine").items()]
    return [
        Text(
            "`predict_proba` on the test part, means over partitions 1–10. ECE: expected "
            f"calibration error of the predicted class, in {BINS} bins of equal width. Models "
            'with their defaults against `CalibratedClassifierCV(SVC, method="sigmoid", '
            "cv=5)`, the SVC chosen by the grid search of [selection](selection.md); times "
            "include it. The IDA sets as they are published, 500 training samples of the "
            "1,797 digits, pixels from 0 to 1. The last rows are means over the sets, of all "
            "partitions and of partitions 6–10, which had no part in the choice of the "
            "defaults."
        ),
        Table(["set", "n", "method", *FIGURES.values()], rows),
    ]


def means(records: list[Record]) -> list[float]:
    return [float(np.mean(column(records, figure))) for figure in FIGURES]


EXPERIMENTS = (
    benchmark(
        "calibration",
        "Probabilities from leave-one-out values, against a calibrated SVC",
        cases, run, report, timed=False,
    ),
)  # fmt: skip
