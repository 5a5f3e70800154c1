"""Parts that a stack might have more: what each gains on mixed tables, and what it costs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.metrics import log_loss

from evidence._compare import column, grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.experiments.mixed_tables import (
    N_TRAIN,
    NONE,
    SMALL,
    coded,
    confirms,
    texts_like_numbers,
)
from evidence.shared import mixed
from evidence.shared.candidates import Outputs, Parts, encoded, encoding, fit_parts
from evidence.shared.pairs import differences, mean_of, shown
from gramian.core.equations import ClassTargets, class_scores
from gramian.stack._spec import CLASS_KERNELS, NUMBER_KERNELS
from gramian.stack._weights import class_weights, response_weights

BASE = "default parts"
MORE = {
    "linear": Parts(("linear",)),
    "polynomial of degree 2": Parts(("poly",), degree=2),
    "exponential": Parts(("exponential",)),
    "exponential, widths by gradients": Parts(("exponential+ard",)),
    "rbf, a metric": Parts(("rbf+diagonal",)),
    "ranks, linear": Parts(("linear",), "ranks"),
    "ranks, exponential": Parts(("exponential",), "ranks"),
    "ranks, exponential, a metric": Parts(("exponential+diagonal",), "ranks"),
    "ranks, laplacian, a metric": Parts(("laplacian+diagonal",), "ranks"),
    "ranks, rbf": Parts(("rbf",), "ranks"),
    "ranks, rbf, widths by gradients": Parts(("rbf+ard",), "ranks"),
    "thresholds, linear": Parts(("linear",), "thresholds"),
    "thresholds, exponential, a metric": Parts(("exponential+diagonal+thresholds",)),
    "levels by mean targets, exponential": Parts(("exponential",), "ordered"),
    "levels by mean targets, exponential, a metric": Parts(("exponential+diagonal",), "ordered"),
    "levels by mean targets, rbf, widths by gradients": Parts(("rbf+ard",), "ordered"),
    "levels by mean targets, ranks, linear": Parts(("linear",), "ordered ranks"),
    "levels by mean targets, ranks, laplacian, a metric": Parts(
        ("laplacian+diagonal",), "ordered ranks"
    ),
    "a factor for each column, exponential": Parts(("exponential",), "blocks"),
    "full metric from slopes, exponential": Parts(("exponential",), "slopes"),
    "missing cells alone, rbf": Parts(("rbf",), "marks"),
}
ALL, CHOSEN = "all of these", "chosen: several of these"
SEVERAL = {
    True: ("ranks, laplacian, a metric", "ranks, linear"),
    False: (
        *("polynomial of degree 2", "exponential, widths by gradients"),
        "ranks, exponential",
    ),
}
"""Of classes and of numbers, what the tables of `mixed` chose before the others were read."""
WORDS = (
    "What was chosen, among kernels of features and of their ranks: for regression, one after "
    "the other the part that lowers the mean logarithm of the squared error most, as long as "
    "that is 0.5 %; for classification the part that lowers the mean log-loss most, and one "
    "that adds to this for little time. Classification: "
    f"{', '.join(f'“{n}”' for n in SEVERAL[True])}; regression: "
    f"{', '.join(f'“{n}”' for n in SEVERAL[False])}. The choice was then evaluated once on the "
    "tables that had no part in it; the other lines were added afterwards. Ranks: numbers as "
    "quantiles of the normal distribution, by all training rows. Thresholds: on which side of "
    "up to 16 quantiles each feature lies. Levels by mean targets: one number for a text "
    "column instead of a feature for each level. A factor for each column, full metric: from "
    "the outer products of gradients of a fit. Missing cells alone: a kernel of the marks, "
    "where there are any."
)


def cases(quick: bool) -> list[Parameters]:
    found = list(mixed.tables())
    tables = mixed.MADE if quick else found or [*mixed.MADE, NONE]
    return [
        {"table": table, "partition": k, "n": 60 if quick else N_TRAIN}
        for table in tables
        for k in range(_partitions(table))
    ]


def _partitions(table: str) -> int:
    """As many as of the stack in `mixed_tables`."""
    if table in mixed.MADE or table == NONE:
        return 1
    return 3 if mixed.learned(mixed.tables()[table].rows, N_TRAIN) <= SMALL else 1


def run(table: str, partition: int, n: int) -> dict[str, Any]:
    """Of each stack its error (%, or unexplained variance) and log-loss; seconds of its parts."""
    part, test, y, truth = coded(table, partition, n)
    classes = len(np.unique(y)) if mixed.is_classes(table) else 0
    columns = encoding(part, y, texts_like_numbers(part))
    rows, new = encoded(columns, part), encoded(columns, test)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # more features than rows, classes of one row
        found = {
            name: fit_parts(one, rows, y, new, classes)
            for name, one in {BASE: _default_parts(classes), **MORE}.items()
        }
    about = {"rows": len(y), "classes": bool(classes), "confirms": confirms(table)}
    return {**about, "stacks": stacks(found, y, truth, classes)}


def _default_parts(classes: int) -> Parts:
    return Parts(CLASS_KERNELS if classes else NUMBER_KERNELS)


def stacks(found: Mapping[str, Outputs | None], y: Any, truth: Any, classes: int) -> dict[str, Any]:
    """The default parts, these with one more or several, and all; weights by values out of fold."""
    sets: dict[str, tuple[str, ...]] = {BASE: (), **{name: (name,) for name in MORE}}
    sets |= {CHOSEN: SEVERAL[bool(classes)], ALL: tuple(MORE)}
    return {
        name: _scores([found[one] for one in (BASE, *more)], y, truth, classes)
        for name, more in sets.items()
    }


def _scores(parts: list[Outputs | None], y: Any, truth: Any, classes: int) -> dict[str, Any]:
    some = [part for part in parts if part is not None]
    F, G = (np.concatenate([part[k] for part in some]) for k in (0, 1))
    if not classes:
        weights, offset = response_weights(F, y[:, None], np.ones(len(y)))
        predicted = (np.tensordot(weights, G, 1) + offset)[:, 0]
        spread = float(np.mean((truth - y.mean()) ** 2))
        found = {"error": float(np.mean((predicted - truth) ** 2)) / spread}
    else:
        weights = class_weights(F, ClassTargets(y, classes))
        p = softmax(class_scores(np.tensordot(weights, G, 1)), axis=1)
        found = {
            "error": 100.0 * float(np.mean(p.argmax(axis=1) != truth)),
            "log_loss": float(log_loss(truth, p, labels=np.arange(classes))),
        }
    return {
        **found,
        "used": bool(weights[len(some[0].new) :].any()),
        "seconds": sum(part.seconds for part in some),
    }


# -- the report ---------------------------------------------------------------------------------


def report(records: list[Record]) -> list[Part]:
    flat = [
        {**{k: record[k] for k in ("table", "partition", "rows", "classes", "confirms")}, **found}
        | {"machine": name}
        for record in records
        for name, found in record["stacks"].items()
    ]
    tables = len(grouped(records, "table"))
    return [
        Text(
            f"{tables} tables with text, numbers and missing cells, with the rows and "
            f"partitions of the stack in `mixed_tables`: at most {N_TRAIN:,} training rows. "
            "Stacks of least squares SVMs, built by this script: each part is tuned as in the "
            "library's stack, with all rows and without each of five folds, and weights are "
            "fitted to the out-of-fold outputs. The table has the default parts, and these "
            "with one or several more. Negative numbers mean less error; ± is one standard "
            "error over tables. For regression, ratios of squared errors are compared. "
            "Seconds are processor time."
        ),
        *(_compared(flat, new) for new in (False, True) if _some(flat, new)),
        *_each_table(flat),
        Text(WORDS),
    ]


def _some(records: list[Record], new: bool) -> list[Record]:
    return [record for record in records if record["confirms"] == new]


def _compared(records: list[Record], new: bool) -> Table:
    some = _some(records, new)
    kinds = {c: [r for r in some if r["classes"] == c] for c in (True, False)}
    where = "Tables that had no part in any choice" if new else "Tables that choices were made on"
    rows = []
    for name in (*MORE, CHOSEN, ALL):
        points = differences(kinds[True], name, BASE, "error", False)
        losses = differences(kinds[True], name, BASE, "log_loss", False)
        ratios = differences(kinds[False], name, BASE, "error", True)
        own = [r for r in some if r["machine"] == name]
        rows.append(
            [
                name,
                _won(points),
                shown(points, 2, False),
                shown(losses, 3, False),
                _won(ratios),
                shown(ratios, 1, True),
                sum(any(column(r, "used")) for r in grouped(own, "table").values()),
                *(_times(kinds[c], name) for c in (True, False)),
            ]
        )
    columns = [
        "part more",
        "classes: won, lost",
        "error (points)",
        "log-loss",
        "numbers: won, lost",
        "squared error",
        "tables with a weight > 0",
        "classes: times the seconds",
        "numbers: times the seconds",
    ]
    return Table(columns, rows, f"{where}: {len(grouped(some, 'table'))}")


def _won(values: Any) -> str:
    return "" if not len(values) else f"{int(np.sum(values < -1e-9))}, {int(np.sum(values > 1e-9))}"


def _times(records: list[Record], name: str) -> float | None:
    """Seconds of the stack with this part, next to those of the default parts."""
    of = grouped([r for r in records if r["partition"] == 0], "machine")
    if name not in of:
        return None
    own, base = (float(np.sum(column(of[m], "seconds"))) for m in (name, BASE))
    return round(own / base, 2)


def _each_table(records: list[Record]) -> list[Part]:
    found: list[Part] = []
    names = (BASE, CHOSEN, ALL)
    for classes, what in ((True, "Test error (%)"), (False, "Unexplained share of the variance")):
        some = [r for r in records if r["classes"] == classes]
        of = grouped(some, "table", "machine")
        rows = [
            [
                table if own[0]["confirms"] else f"{table} *",
                own[0]["rows"],
                *(mean_of(of.get((table, name), []), "error") for name in names),
            ]
            for table, own in grouped(some, "table").items()
        ]
        if rows:
            caption = f"{what}; a star marks tables that choices were made on"
            found.append(Table(["table", "rows", *names], rows, caption))
    return found


EXPERIMENTS = (
    benchmark(
        "stack_candidates",
        "Candidates for parts more in a stack",
        cases,
        run,
        report,
        timed=False,
    ),
)
