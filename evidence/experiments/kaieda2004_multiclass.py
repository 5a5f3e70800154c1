"""Iris and thyroid: recognition rates with and without tuned slopes, and vectors selected."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidence._compare import Spread, column, compared, grouped, spread
from evidence._experiment import Cell, Experiment, Parameters, Part, Record, Table, Text
from evidence.published import kaieda2004
from evidence.shared.data import SEED, Split, dataset, split
from evidence.shared.ellipsoids import multiclass_classifier, selected, untuned_labels

SLOW = "SVD"
TABLES = {
    "tuned": ("Table 5: recognition of test samples, slopes tuned, in %", kaieda2004.TABLE_5),
    "untuned": ("Table 6: the same, slopes not tuned", kaieda2004.TABLE_6),
    "selected": ("Table 7: vectors selected", kaieda2004.TABLE_7),
}


def cases(quick: bool) -> list[Parameters]:
    halves = 3 if quick else 30
    kinds = list(kaieda2004.TABLE_5)
    fast = [kind for kind in kinds if not (quick and kind.startswith(SLOW))]
    return [
        *({"data": "ann_thyroid", "kind": kind, "partition": 0} for kind in fast),
        *(
            {"data": "iris_uci", "kind": kind, "partition": k}
            for kind in kinds
            for k in range(halves)
        ),
    ]


def run(data: str, kind: str, partition: int) -> dict[str, Any]:
    """Rates in %, and the number of vectors (none for the conventional classifier)."""
    part = _half_of_iris(partition) if data == "iris_uci" else split(data, partition)
    # §8.1.1: eq. (27) only where the training data are degenerate, which those of iris are not.
    options = {"inverse_of_small": "zero"} if data == "iris_uci" else {}
    model = multiclass_classifier(kind, data, **options).fit(part.X, part.y)
    if kind.startswith("KPCA III"):
        values = _batch(model, part)
    else:
        values = {
            "tuned": _rate(model.predict(part.X_test), part),
            "untuned": _rate(untuned_labels(model, part.X_test), part),
        }
        if kind != "Conventional":
            values["selected"] = selected(model)
    return {**values, **part.facts}


def _half_of_iris(k: int) -> Split:
    """25 samples of each class to train and 25 to test, in units of the largest value."""
    iris, rng = dataset("iris_uci"), np.random.default_rng([SEED, k])
    orders = [rng.permutation(np.flatnonzero(iris.y == label)) for label in np.unique(iris.y)]
    train, test = (np.concatenate([order[half] for order in orders]) for half in HALVES)
    X = iris.X / iris.X.max()
    return Split(X[train], iris.y[train], X[test], iris.y[test], official=False, number=None)


HALVES = (slice(None, 25), slice(25, None))


def _batch(model: Any, part: Split) -> dict[str, Any]:
    """KPCA III: all test samples enter as unlabelled, at once (§8.1.1)."""
    tuned = model.transduce(part.X_test)
    untuned = model.set_params(tune=False).fit(part.X, part.y).transduce(part.X_test)
    return {
        "tuned": _rate(tuned, part),
        "untuned": _rate(untuned, part),
        "selected": selected(model, part.X_test),
    }


def _rate(labels: np.ndarray, part: Split) -> float:
    return 100.0 * float(np.mean(labels == part.y_test))


def report(records: list[Record]) -> list[Part]:
    by_kind = grouped(records, "kind", "data")
    halves = 1 + max((r["partition"] for r in records if r["data"] == "iris_uci"), default=0)
    return [
        Text(
            "Kernels and floors are those of Tables 3 and 4; τ = 1e-5, which the paper states "
            "for its other experiments, gives the numbers of vectors that it prints. Thyroid "
            "has an official partition. The paper's halves of iris are not known: ours are "
            f"{halves} random ones, with mean and deviation, and with the samples divided by "
            "the largest value, which gives about the paper's numbers of vectors; ▲ marks "
            "more than one deviation of ours. For thyroid ▲ marks more than one deviation of "
            "a share of the 3,428 test samples and, for numbers of vectors, any difference."
        ),
        *(_table(by_kind, name) for name in TABLES),
        Text(
            "Where a rate agrees in Table 6 but not in Table 5, tuning took another path: it "
            "goes from one best change to the next, and which change is best depends on the "
            "order of nearly equal distances, down to their rounding."
        ),
        Text("The other sets of the paper (blood cell, numeral, hiragana) are not available."),
    ]


def _table(by_kind: dict[Any, list[Record]], name: str) -> Table:
    caption, published = TABLES[name]
    rows = []
    for kind, cells in published.items():
        iris, thyroid = (by_kind.get((kind, data), []) for data in ("iris_uci", "ann_thyroid"))
        rows.append(
            [
                kind,
                _published(cells["iris_uci"], name),
                _iris_cell(iris, name, cells["iris_uci"]),
                _published(cells["ann_thyroid"], name),
                _thyroid_cell(thyroid, name, cells["ann_thyroid"]),
            ]
        )
    columns = ["type", "iris, published", "iris", "thyroid, published", "thyroid"]
    return Table(columns, rows, caption)


def _published(value: float, name: str) -> str:
    return f"{value:,.0f}" if name == "selected" else f"{value:.2f}"


def _iris_cell(records: list[Record], name: str, published: float) -> Cell | None:
    if not records:
        return None
    digits = 1 if name == "selected" else 2
    return compared(spread(column(records, name)), Spread(published), digits)


def _thyroid_cell(records: list[Record], name: str, published: float) -> Cell | None:
    if not records:
        return None
    value = records[0][name]
    if name == "selected":
        return Cell(f"{value:,}", "" if value == published else f"{value - published:+.0f}",
                    value != published)  # fmt: skip
    share = published / 100.0
    deviation = 100.0 * float(np.sqrt(share * (1.0 - share) / N_TEST))
    return compared(Spread(value), Spread(published, deviation))


N_TEST = 3428

EXPERIMENTS = (
    Experiment("kaieda2004-tables-5-to-7", "kaieda2004, Tables 5 to 7: iris and thyroid",
               cases, run, report, file="ellipsoidal_multiclass"),
)  # fmt: skip
