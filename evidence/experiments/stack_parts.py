"""One part more in a stack: what it gains on mixed tables, and what it costs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from time import process_time
from typing import Any

from evidence._compare import grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.experiments.mixed_tables import NONE, STACK, OfColumns, coded, confirms, scores
from evidence.shared import mixed
from evidence.shared.data import SEED
from evidence.shared.pairs import against, mean_of
from gramian import StackedKernelClassifier, StackedKernelRegressor
from gramian.tables import TableWarning

N_TRAIN = 500
MORE = {
    STACK: (),
    "with thresholds": ("exponential+diagonal+thresholds",),
}


def cases(quick: bool) -> list[Parameters]:
    found = list(mixed.tables())
    tables = mixed.MADE if quick else found or [*mixed.MADE, NONE]
    return [
        {"table": table, "machine": machine, "partition": 0, "n": 100 if quick else N_TRAIN}
        for machine in MORE
        for table in tables
    ]


def run(table: str, machine: str, partition: int, n: int) -> dict[str, Any]:
    """Error in % and log-loss, or unexplained variance; processor seconds of the whole fit."""
    part, test, y, truth = coded(table, partition, n)
    classes = mixed.is_classes(table)
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)  # remarks on columns
        model = OfColumns(_stack(classes, MORE[machine]), part, y)
        seconds = process_time() - start
        found = scores(model, classes, test, truth, part.target)
    last = float(model.model.estimator_.weights_[-1])
    about = {"seconds": seconds, "rows": len(y), "used": bool(MORE[machine]) and last > 0}
    return {**about, "classes": classes, "confirms": confirms(table), **found}


def _stack(classes: bool, more: Sequence[str]) -> Any:
    kind = StackedKernelClassifier if classes else StackedKernelRegressor
    return kind((*kind().kernel, *more), random_state=SEED)


def report(records: list[Record]) -> list[Part]:
    tables = len(grouped(records, "table"))
    return [
        Text(
            f"{tables} tables with text, numbers and missing cells, one partition of each: two "
            f"thirds of the rows are used for training, {N_TRAIN} at most. A stack with its "
            "default parts is compared with the same stack with one more part. Negative "
            "numbers mean less error with that part; ± is one standard error over tables. For "
            "regression, ratios of squared errors are compared. The part was chosen among "
            "several on the tables of `mixed`; nothing was chosen on the others."
        ),
        *(table for new in (True, False) for table in _compared(records, new)),
        *_each_table(records),
        _costs(records),
    ]


def _compared(records: list[Record], new: bool) -> list[Part]:
    where = (
        "tables that had no part in the choice" if new else "tables on which the part was chosen"
    )
    found: list[Part] = []
    for classes, what in ((True, "classes"), (False, "numbers")):
        some = [r for r in records if r["classes"] == classes and r["confirms"] == new]
        if some:
            found.append(against(some, list(MORE), STACK, classes, f", {what}, {where}"))
    return found


def _each_table(records: list[Record]) -> list[Part]:
    """The tables on which the part changes the error."""
    found = grouped(records, "table", "machine")
    rows = []
    for name, some in grouped(records, "table").items():
        errors = [mean_of(found.get((name, machine), []), "error") for machine in MORE]
        if len(set(errors)) > 1:
            kind = "error (%)" if some[0]["classes"] else "unexplained variance"
            rows.append([name, some[0]["rows"], kind, *errors])
    names = ["table", "rows", "error as", *MORE]
    return [Table(names, rows, "Tables on which the error differs")] if rows else []


def _costs(records: list[Record]) -> Table:
    found, both = grouped(records, "machine"), grouped(records, "table", "machine")
    rows = []
    for machine, some in found.items():
        pairs = [both[r["table"], STACK][0] for r in some if (r["table"], STACK) in both]
        ratio = sum(r["seconds"] for r in some) / (sum(r["seconds"] for r in pairs) or 1.0)
        used = sum(r["used"] for r in some) if MORE[machine] else None
        rows.append([machine, len(some), mean_of(some, "seconds"), round(ratio, 2), used])
    names = ["stack", "tables", "mean (s)", "times the default's", "tables where the part counts"]
    return Table(names, rows, "Processor seconds of a fit with all tuning, on a busy computer")


EXPERIMENTS = (
    benchmark("stack_parts", "One part more in a stack", cases, run, report, timed=False),
)
