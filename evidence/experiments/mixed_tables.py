"""Tables with text, numbers and missing cells: a stack of kernels next to trees and others."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from time import perf_counter, process_time
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from evidence._compare import grouped
from evidence._environment import machine as facts
from evidence._experiment import (
    Parameters,
    Part,
    Record,
    Table,
    Text,
    UnavailableError,
    benchmark,
)
from evidence.experiments.libraries import installed
from evidence.shared import mixed
from evidence.shared.data import SEED
from evidence.shared.mixed_peers import FOLDS, PACKAGES, TRIALS, Peer
from evidence.shared.pairs import against, mean_of
from gramian import (
    LeastSquaresSVC,
    LeastSquaresSVR,
    StackedKernelClassifier,
    StackedKernelRegressor,
    TableModel,
)
from gramian.tables import TableWarning, are_numbers

N_TRAIN = 1000
STACK, SINGLE = "stack", "least squares SVM"
OURS = {
    (STACK, True): StackedKernelClassifier,
    (STACK, False): StackedKernelRegressor,
    (SINGLE, True): LeastSquaresSVC,
    (SINGLE, False): LeastSquaresSVR,
}
SMALL = 200
"""Rows learned up to which a table has three partitions."""
TUNED = "LightGBM, tuned"
REMARKS = {
    TUNED: f"The tuned LightGBM has {TRIALS} random trials by {FOLDS} folds, on one partition of "
    "each table.",
    "RealMLP": "RealMLP is the default of pytabkit without tuning.",
    "xRFM": "xRFM validates on a fifth of the rows.",
    "TorchKM": "TorchKM has classifiers of two classes only; it warns where it did not converge.",
}
NONE = "none"


def cases(quick: bool) -> list[Parameters]:
    found = list(mixed.tables())
    tables = mixed.MADE if quick else found or [*mixed.MADE, NONE]
    return [
        {"table": table, "machine": machine, "partition": k, "n": 100 if quick else N_TRAIN}
        for k in range(1 if quick else 3)
        for machine in (STACK, SINGLE, *PACKAGES)
        if installed(PACKAGES.get(machine, "gramian"))
        for table in tables
        if _is_measured(table, machine, k)
    ]


def _is_measured(table: str, machine: str, partition: int) -> bool:
    """More partitions of a small table, whose test says little; of tuned trees the first alone."""
    if table in mixed.MADE or table == NONE:
        return partition == 0 and (machine != "TorchKM" or _has_two_classes(table))
    n = mixed.learned(mixed.tables()[table].rows, N_TRAIN)
    if machine == TUNED:
        return partition == 0
    return (partition == 0 or n <= SMALL) and (machine != "TorchKM" or _has_two_classes(table))


def _has_two_classes(table: str) -> bool:
    """What TorchKM asks for."""
    if table == NONE or not mixed.is_classes(table):
        return False
    return len(np.unique(mixed.split(table, 0, N_TRAIN)[0].target)) == 2


def run(table: str, machine: str, partition: int, n: int) -> dict[str, Any]:
    """Error in % and log-loss, or unexplained variance; processor seconds of the whole fit."""
    part, test, y, truth = coded(table, partition, n)
    classes = mixed.is_classes(table)
    start, wall = process_time(), perf_counter()
    with warnings.catch_warnings():
        # Remarks on columns and on the names of features: nothing for the table of results.
        warnings.simplefilter("ignore", TableWarning)
        warnings.filterwarnings("ignore", message=".*(feature names|categor|Found unknown).*")
        model = _fitted(machine, classes, part, y)
        seconds, wall = process_time() - start, perf_counter() - wall
        found = scores(model, classes, test, truth, part.target)
    device = getattr(model, "device", "")
    about = {
        "seconds": wall if device else seconds,
        "processor": device or facts()["processor"],
        "rows": len(y),
    }
    return {**about, "classes": classes, "confirms": confirms(table), **found}


def coded(table: str, partition: int, n: int) -> tuple[mixed.Columns, mixed.Columns, Any, Any]:
    """Rows to learn and rows to judge by, and the targets of both; classes as numbers."""
    if table == NONE:
        raise UnavailableError(
            "no folder of mixed tables: name them by GRAMIAN_DATA, GRAMIAN_MIXED"
        )
    part, test = mixed.split(table, partition, n)
    if not mixed.is_classes(table):
        return part, test, part.target, test.target
    labels, y = np.unique(part.target, return_inverse=True)
    return part, test, y, np.searchsorted(labels, test.target)


def _fitted(machine: str, classes: bool, part: mixed.Columns, y: Any) -> Any:
    if (machine, classes) not in OURS:
        return Peer(machine, classes).fit(part, y)
    return OfColumns(OURS[machine, classes](random_state=SEED), part, y)


class OfColumns:
    """A `TableModel` that takes columns as the peers do."""

    def __init__(self, estimator: Any, part: mixed.Columns, y: Any) -> None:
        self.model = TableModel(estimator, categorical=texts_like_numbers(part))
        self.model.fit(part.values, y)

    def predict(self, part: mixed.Columns) -> Any:
        return self.model.predict(part.values)

    def predict_proba(self, part: mixed.Columns) -> Any:
        return self.model.predict_proba(part.values)


def texts_like_numbers(part: mixed.Columns) -> list[str]:
    """Columns of texts whose cells in these rows could be numbers: the trees take them as texts."""
    some = [(name, column) for name, column in part.values.items() if column.dtype == object]
    return [name for name, column in some if are_numbers(column.tolist())]


def scores(model: Any, classes: bool, test: Any, truth: Any, learned: Any) -> dict[str, float]:
    predicted = model.predict(test)
    if not classes:
        spread = float(np.mean((truth - learned.mean()) ** 2))
        return {"error": float(np.mean((predicted - truth) ** 2)) / spread}
    p = np.asarray(model.predict_proba(test), dtype=float)
    p = p / p.sum(axis=1, keepdims=True)
    return {
        "error": 100.0 * float(np.mean(predicted != truth)),
        "log_loss": float(log_loss(truth, p, labels=np.arange(p.shape[1]))),
    }


def confirms(table: str) -> bool:
    return table not in mixed.MADE and mixed.tables()[table].confirms


# -- the report ---------------------------------------------------------------------------------


def report(records: list[Record]) -> list[Part]:
    machines = list(grouped(records, "machine"))
    absent = [m for m in PACKAGES if m not in machines]
    lacking = f" Not measured here: {', '.join(absent)}." if absent else ""
    remarks = "".join(f"{words} " for m, words in REMARKS.items() if m in machines)
    tables = len(grouped(records, "table"))
    return [
        Text(
            f"{tables} real tables with text, numbers and missing cells. Two thirds of the "
            f"rows are used for training, {N_TRAIN:,} at most; up to {mixed.LARGEST_TEST:,} "
            "others for testing. All models have the same random partitions: one of each "
            f"table, or three if at most {SMALL} rows are used for training; pairs use the "
            "partitions that both models have. All models have their defaults and one thread; "
            f"trees get the categories without encoding. {remarks}A star marks tables on which "
            f"parts of the stack were tried; nothing was chosen on the others.{lacking}"
        ),
        *(part for classes in (True, False) for part in _of_kind(records, machines, classes)),
        Text(
            "Seconds of a fit with all tuning, means over the first partitions: processor "
            "time, on a computer with other work; on a GPU, elapsed time."
        ),
        _seconds(records, machines),
    ]


def _of_kind(records: list[Record], machines: Sequence[str], classes: bool) -> list[Part]:
    some = [r for r in records if r["classes"] == classes]
    if not some:
        return []
    new = [r for r in some if r["confirms"]]
    how = "Test error (%)" if classes else "Unexplained share of the test variance"
    what = ", classes" if classes else ", numbers"
    sign = (
        "Above zero, the stack has the smaller error; ± is one standard error over tables. "
        "For regression, ratios of squared errors are compared."
    )
    return [
        _means(some, machines, how),
        Text(sign),
        against(some, machines, STACK, classes, what),
        *([against(new, machines, STACK, classes, f"{what}, without a star")] if new else []),
    ]


def _means(records: list[Record], machines: Sequence[str], caption: str) -> Table:
    found = grouped(records, "table", "machine")
    rows = [
        [
            name if of_table[0]["confirms"] else f"{name} *",
            of_table[0]["rows"],
            *(mean_of(found.get((name, machine), []), "error") for machine in machines),
        ]
        for name, of_table in grouped(records, "table").items()
    ]
    return Table(["table", "rows", *machines], rows, caption)


def _seconds(records: list[Record], machines: Sequence[str]) -> Table:
    first = [r for r in records if r["partition"] == 0]
    rows = []
    for machine in machines:
        for processor, some in grouped(
            [r for r in first if r["machine"] == machine], "processor"
        ).items():
            slowest = round(max(r["seconds"] for r in some), 1)
            rows.append([machine, len(some), mean_of(some, "seconds"), slowest, processor])
    return Table(["model", "tables", "mean (s)", "largest (s)", "processor"], rows)


EXPERIMENTS = (
    benchmark(
        "mixed_tables",
        "Tables with text, numbers and missing cells",
        cases,
        run,
        report,
        timed=False,
    ),
)
