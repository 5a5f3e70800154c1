"""Small tables: a stack of kernels next to the default, to boosted trees and to other kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from evidence._compare import grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.experiments.libraries import installed
from evidence.shared.data import SEED
from evidence.shared.kernel_peers import FOR_NUMBERS, PACKAGES, kernel_peer
from evidence.shared.pairs import against, mean_of
from evidence.shared.tables import CLASSES, MADE, NUMBERS, PACKED, fold
from evidence.shared.trees import FOLDS, TRIALS, trees
from evidence.shared.trees import PACKAGES as TREES
from gramian import (
    LeastSquaresSVC,
    LeastSquaresSVR,
    StackedKernelClassifier,
    StackedKernelRegressor,
)

N_TRAIN, PARTITIONS = 1000, 3
DEFAULT, STACK, KERNELS = "least squares SVM", "stack", 'least squares SVM, kernel="loo"'
OURS = {
    (DEFAULT, True): LeastSquaresSVC,
    (DEFAULT, False): LeastSquaresSVR,
    (STACK, True): StackedKernelClassifier,
    (STACK, False): StackedKernelRegressor,
    (KERNELS, True): partial(LeastSquaresSVC, kernel="loo"),
    (KERNELS, False): partial(LeastSquaresSVR, kernel="loo"),
}
MACHINES = (STACK, DEFAULT, KERNELS, *TREES, *PACKAGES)
CHEAP = ("LightGBM", "XGBoost", "HistGradientBoosting", "xRFM")
GAUSSIAN = "GP, a width per feature"
# Partitions of models with classes (True) or numbers, where three would take hours.
FEWER = {
    **{(machine, True): 1 for machine in ("CatBoost", "LightGBM, tuned")},
    **{(machine, False): 1 for machine in ("LightGBM, tuned", *FOR_NUMBERS, "NeoLSSVM")},
    ("NeoLSSVM", True): 0,
    ("CatBoost", False): 2,
    **{(m, c): 2 for m in (KERNELS, *CHEAP) for c in (True, False)},
}
EARLIER = " They were first chosen in an earlier study, which may have used any of these sets."
# Looked at, with 400 samples of the first partition, while the parts of the stack were decided.
SEEN = (
    *("ida_banana", "ida_german", "ida_image", "ida_splice", "ida_thyroid"),
    *("ann_thyroid", "satimage", "breast_cancer"),
    *("friedman1", "boston", "sinc2", "Computers", "Housing", "quakes"),  # decided
    *("abalone", "diabetes", "friedman2", "friedman3", "sparse_linear"),  # confirmed
    *("Wages", "Griliches", "diamonds"),
)


def cases(quick: bool, tables: Sequence[str], machines: Sequence[str]) -> list[Parameters]:
    some = tables[:2] if quick else [name for name in tables if _is_there(name)]
    return [
        {
            "table": name,
            "machine": machine,
            "partition": k,
            "n": 100 if quick else N_TRAIN,
            **({} if name in MADE or name in PACKED else {"data": name}),
        }
        for k in range(1 if quick else PARTITIONS)
        for machine in machines
        if installed({**TREES, **PACKAGES}.get(machine, "gramian"))
        for name in some
        if k < partitions(machine, name)
    ]


def partitions(machine: str, table: str) -> int:
    """How many of them are measured."""
    tuned_for_minutes = machine == "LightGBM, tuned" and table in ("letter", "usps")
    if tuned_for_minutes or (machine == GAUSSIAN and table in PACKED):
        return 0
    return FEWER.get((machine, table in CLASSES), PARTITIONS)


def _is_there(table: str) -> bool:
    return table not in PACKED or installed("pydataset") is not None


def run(table: str, machine: str, partition: int, n: int, data: str = "") -> dict[str, Any]:
    """Error in % and log-loss, or mean squared error; CPU seconds of the fit with all tuning."""
    part, classes = fold(table, partition, n), table in CLASSES
    if (machine, classes) in OURS:
        model = OURS[machine, classes](random_state=SEED)
    elif machine in TREES:
        model = trees(machine, classes=classes)
    else:
        model = kernel_peer(machine, classes=classes, d=part.X.shape[1])
    start = process_time()
    model.fit(part.X, part.y)
    seconds = process_time() - start
    predicted = np.asarray(model.predict(part.X_test)).ravel()
    if not classes:
        return {"seconds": seconds, "error": float(np.mean((predicted - part.y_test) ** 2))}
    p = model.predict_proba(part.X_test)
    return {
        "seconds": seconds,
        "error": 100.0 * float(np.mean(predicted != part.y_test)),
        "log_loss": float(log_loss(part.y_test, p, labels=np.unique(part.y))),
    }


# -- the report ---------------------------------------------------------------------------------


def report(records: list[Record], *, classes: bool) -> list[Part]:
    machines = list(grouped(records, "machine"))
    sizes = sorted({record["n"] for record in records})
    splits = len({record["partition"] for record in records})
    measure = "error (%)" if classes else "squared error"
    how = "difference" if classes else "change of the squared error"
    new = [record for record in records if record["table"] not in SEEN]
    return [
        Text(
            f"Random partitions (up to {splits} of a set, seeds from {SEED}; fewer for slow "
            f"models): at most {sizes[-1]} training samples, and no more than half of the set; "
            "at most 2,000 to test. Features have deviation 1 on the training samples. All "
            f"models have their defaults and one thread; the tuned LightGBM has {TRIALS} "
            f"random trials by {FOLDS} folds. Seconds are processor time for a fit with all "
            "tuning, on a computer with other work. Sets with a star were looked at (400 "
            "samples of the first partition) while the parts of the stack were "
            f"chosen.{EARLIER if classes else ''} If models have different numbers of "
            "partitions, compare them by the pairs below, not by these means."
        ),
        _means(records, machines, measure),
        Text(
            "Pairs of the same partitions, means over sets ± standard error of that mean. A "
            f"{how} below zero means that the model on the left is better."
        ),
        *(against(records, machines, other, classes) for other in (DEFAULT, STACK)),
        against(new, machines, STACK, classes, ", on the sets without a star"),
    ]


def _means(records: list[Record], machines: list[str], measure: str) -> Table:
    found = grouped(records, "table", "machine")
    rows = [
        [
            f"{name} *" if name in SEEN else name,
            *(mean_of(found.get((name, machine), []), "error") for machine in machines),
        ]
        for name in grouped(records, "table")
    ]
    seconds = [mean_of([r for r in records if r["machine"] == m], "seconds") for m in machines]
    splits = [
        len(grouped([r for r in records if r["machine"] == m], "partition")) for m in machines
    ]
    last = [["seconds", *seconds], ["partitions, at most", *splits]]
    return Table(["set", *machines], [*rows, *last], f"Mean test {measure}")


def _experiment(file: str, title: str, tables: Sequence[str], machines: Sequence[str]) -> Any:
    listed: Callable[[bool], list[Parameters]] = partial(cases, tables=tables, machines=machines)
    told = partial(report, classes=tables is CLASSES)
    return benchmark(file, title, listed, run, told, timed=False)


EXPERIMENTS = (
    _experiment("stack_classes", "Small tables of classes", CLASSES, MACHINES),
    _experiment("stack_numbers", "Small tables of numbers", NUMBERS, (*MACHINES, *FOR_NUMBERS)),
)
