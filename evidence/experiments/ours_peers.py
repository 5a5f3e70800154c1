"""Error and time of estimators with their defaults, and of peers tuned by folds."""

from __future__ import annotations

import numpy as np

from evidence._compare import column, grouped, spread
from evidence._experiment import Experiment, Parameters, Part, Record, Table, Text
from evidence.shared.study import N_TRAIN, run

MACHINES = {
    "KernelDiscriminant": "KernelDiscriminant",
    "LeastSquaresSVC": "LeastSquaresSVC",
    "KernelFisherDiscriminant": "KernelFisherDiscriminant",
    "GridSearchCV(SVC)": "SVC, 36 settings by five folds",
    "SVC": "SVC as it is by default",
    "GaussianProcessClassifier": "GaussianProcessClassifier",
}
TOO_SLOW = {("digits", "GaussianProcessClassifier")}


def cases(quick: bool) -> list[Parameters]:
    return [
        {"data": name, "machine": machine, "partition": k}
        for name in (("breast_cancer", "wine") if quick else ("breast_cancer", "wine", "digits"))
        for machine in MACHINES
        if (name, machine) not in TOO_SLOW
        for k in range(1 if quick else 5)
    ]


def report(records: list[Record]) -> list[Part]:
    rows = [
        [
            data,
            MACHINES[machine],
            spread(column(found, "error")).text(),
            float(np.mean(column(found, "seconds"))),
        ]
        for (data, machine), found in grouped(records, "data", "machine").items()
    ]
    sizes = ", ".join(f"{N_TRAIN[name]} of {name}" for name in ("breast_cancer", "wine", "digits"))
    return [
        Text(
            f"Sets that scikit-learn ships, random partitions, training samples: {sizes}; "
            "features standardised, pixels of the digits from 0 to 1. Gramian's estimators "
            "choose width and ridge by exact leave-one-out within `fit`; other models are "
            "tuned by folds, by marginal likelihood, or not at all. One process per core, one "
            "thread each."
        ),
        Table(["set", "model", "test error (%)", "fit, all tuning included (s)"], rows),
    ]


EXPERIMENTS = (
    Experiment("ours-peers", "Default fits next to tuned peers", cases, run, report,
               file="peers_fits"),
)  # fmt: skip
