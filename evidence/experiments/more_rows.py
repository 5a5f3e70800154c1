"""More rows than a stack is for: what ``gramian fit`` takes, what else was tried, and trees."""

from __future__ import annotations

import warnings
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.preprocessing import StandardScaler

from evidence._compare import grouped
from evidence._environment import machine as facts
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.experiments.libraries import installed
from evidence.experiments.mixed_tables import texts_like_numbers
from evidence.shared import mixed
from evidence.shared.candidates import encoded, encoding
from evidence.shared.data import SEED, split
from evidence.shared.mixed_peers import Peer
from evidence.shared.pairs import against
from evidence.shared.trees import PACKAGES, trees
from gramian import (
    KernelDiscriminant,
    LeastSquaresSVR,
    OrthogonalKernelClassifier,
    OrthogonalKernelRegressor,
    StackedKernelClassifier,
    StackedKernelRegressor,
)
from gramian.cli._estimators import (
    CENTRES,
    EXACT_UP_TO,
    choose_estimator,
    make_estimator,
)
from gramian.tables import number

AUTO = "as `gramian fit`"
TREES = ("HistGradientBoosting", "LightGBM", "CatBoost")
STACK, ONE, LOO = "stack", 'one kernel, `"rbf"`', 'one kernel, `"loo"`'
TRIED = (ONE, LOO)
SELECTED, DRAWN = "500 selected centres", f"{CENTRES:,} drawn centres"
BASES = {SELECTED: {}, DRAWN: {"selection": "random", "max_basis": CENTRES}}
"""Bases with one `"rbf"` kernel; the first is the estimator as it is."""
SETS = ("abalone", "ann_thyroid", "optdigits", "satimage", "pendigits", "letter")
N_TRAIN = {"abalone": 2784}  # two thirds; the others have an official partition
DECIDED = ("pendigits", "letter", "deliveries")
"""Sets with more rows than those of one kernel on all rows, on which the basis was chosen."""
CONFIRM = (
    *("diamonds", "hotel_rates", "CPS1988", "loans"),
    *("lending_club", "HealthInsurance", "flchain", "surveys"),
)
"""As many rows; they had no part in the choice and were looked at once, afterwards."""
MANY_ROWS = (*DECIDED, *CONFIRM)
LIMITED = {
    SELECTED: MANY_ROWS,
    DRAWN: DECIDED,
    "CatBoost": (*SETS, "mlc_churn", "deliveries", "diamonds"),
}
"""Sets to which what takes minutes is limited."""
MEDIUM, MEDIUM_MODELS = 2000, (ONE, LOO, STACK)
MEDIUM_TABLES = (
    *("HMDA", "mlc_churn", "credit_data", "lending_club"),
    *("deliveries", "SLID", "SaratogaHouses"),
)
"""Tables that had no part in the choice; at most ``MEDIUM`` of their rows are learned."""


class Rows(NamedTuple):
    """Features and targets to learn and to judge by; of a table also its cells."""

    X: Any
    y: Any
    X_test: Any
    truth: Any
    classes: bool
    cells: tuple[mixed.Columns, mixed.Columns] | None = None


def cases(quick: bool) -> list[Parameters]:
    sets, tables = (SETS[:1], []) if quick else (SETS, list(mixed.many()))
    medium = [] if quick else [name for name in MEDIUM_TABLES if name in mixed.tables()]
    return [
        {kind: name, "machine": machine, "n": 200 if quick else None}
        for kind, names in (("data", sets), ("table", tables))
        for name in names
        for machine in (AUTO, *TREES, *TRIED, *BASES)
        if installed(PACKAGES.get(machine, "gramian")) and (quick or _is_tried(name, machine))
    ] + [
        {"table": name, "machine": machine, "n": MEDIUM}
        for name in medium
        for machine in MEDIUM_MODELS
    ]


def _is_tried(name: str, machine: str) -> bool:
    if machine in TRIED:
        return name not in MANY_ROWS
    return name in LIMITED.get(machine, (name,))


def run(machine: str, n: int | None, data: str = "", table: str = "") -> dict[str, Any]:
    """Error in %, or unexplained variance; processor seconds of the fit with all tuning."""
    rows = _table(table, n) if table else _set(data, n)
    name, model = _model(machine, rows.classes, rows.y)
    learned, asked = (rows.X, rows.X_test)
    if rows.cells is not None and machine in TREES:
        model, (learned, asked) = Peer(machine, rows.classes), rows.cells
    start = process_time()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(feature names|categor).*")
        model.fit(learned, rows.y)
        seconds = process_time() - start
        predicted = np.asarray(model.predict(asked)).ravel()
    about = {"rows": len(rows.y), "estimator": name, "classes": rows.classes}
    found = {"error": _error(predicted, rows), "seconds": seconds}
    return {**about, **found, "processor": facts()["processor"]}


def _error(predicted: Any, rows: Rows) -> float:
    if rows.classes:
        return 100.0 * float(np.mean(predicted != rows.truth))
    spread = np.mean((rows.truth - rows.y.mean()) ** 2)
    return 100.0 * float(np.mean((predicted - rows.truth) ** 2) / spread)


def _set(data: str, n: int | None) -> Rows:
    part = split(data, 0, n_train=n or N_TRAIN.get(data))
    scaler = StandardScaler().fit(np.asarray(part.X, dtype=float))
    X, X_test = (scaler.transform(np.asarray(a, dtype=float)) for a in (part.X, part.X_test))
    return Rows(X, part.y, X_test, part.y_test, data != "abalone")


def _table(data: str, n: int | None) -> Rows:
    medium = n == MEDIUM
    part, test = mixed.split(data, 0, n) if medium else mixed.split_many(data, n)
    described = (mixed.tables() if medium else mixed.many())[data]
    classes, y, truth = described.classes, part.target, test.target
    if classes:
        labels, y = np.unique(part.target, return_inverse=True)
        truth = np.searchsorted(labels, test.target)
    columns = encoding(part, y, texts_like_numbers(part))
    X, X_test = (encoded(columns, rows).X for rows in (part, test))
    return Rows(X, y, X_test, truth, classes, (part, test))


def _model(machine: str, classes: bool, y: Any) -> tuple[str, Any]:
    if machine in TREES:
        return "", trees(machine, classes=classes)
    if machine == STACK:
        kind = StackedKernelClassifier if classes else StackedKernelRegressor
        return "", kind(random_state=SEED)
    if machine in (ONE, LOO):
        one = KernelDiscriminant if classes else LeastSquaresSVR
        return "", one("loo" if machine == LOO else "rbf", random_state=SEED)
    if machine in BASES:
        basis = OrthogonalKernelClassifier if classes else OrthogonalKernelRegressor
        return "", basis(random_state=SEED, **BASES[machine])
    # Classes as texts: those of letter are numbered here, and 26 numbers would be a regression.
    cells = [f"class {label}" for label in y] if classes else y.tolist()
    choice = choose_estimator(cells, number, 8)
    asked = {"gamma": None, "ridge": None, "kernel": None}
    model = make_estimator(choice.name, **asked, parameters=choice.parameters)
    if is_classifier(model) != classes:
        what = "classes" if classes else "numbers"
        raise ValueError(f"{choice.name} is not for this target, {what}.")
    return choice.name, model


def report(records: list[Record]) -> list[Part]:
    medium = [record for record in records if record["n"] == MEDIUM]
    records = [record for record in records if record["n"] != MEDIUM]
    return [
        Text(
            "The official partition of each set or, for abalone and for tables with text, a "
            "random one: two thirds of the rows are used for training, at most 50,000. "
            "Features of sets have deviation 1 on the training samples; tables are encoded as "
            "by `TableModel`, and trees get the categories without encoding. Errors are "
            "shares of wrong classes in %; for the regression tables (abalone, deliveries, "
            "diamonds, hotel_rates, CPS1988 and loans) they are unexplained shares of the "
            "test variance in %. The first model is the one that `gramian fit` takes for that "
            "number of rows; trees have their defaults. Seconds are processor time on one "
            "thread of a computer with other work, and vary by half from run to run. One "
            "partition of each set: differences of half a point mean little. Empty cells were "
            "not measured."
        ),
        _side_by_side(records, (AUTO, *TREES), "What `gramian fit` takes, and trees"),
        Text(
            f"Up to {EXACT_UP_TO:,} rows `gramian fit` takes a stack. The alternatives are one "
            "`rbf` kernel, and the best of three kernels by leave-one-out."
        ),
        _side_by_side(_among(records, MANY_ROWS, False), (AUTO, *TRIED), "What else was tried"),
        Text(
            f"Beyond {EXACT_UP_TO:,} rows it takes a basis of {CENTRES:,} rows drawn at "
            "random, and the best of three kernels with a width for each feature. The "
            "alternative is one `rbf` kernel with one width, on centres that are selected one "
            "by one, as the estimators do by default, and on drawn ones. The choice was made "
            "on the first sets; the others were looked at once, afterwards."
        ),
        *(
            _side_by_side(_among(records, sets, True), (AUTO, *machines, "LightGBM"), caption)
            for sets, machines, caption in (
                (DECIDED, (DRAWN, SELECTED), "More than 5,000 rows: sets that decided"),
                (CONFIRM, (SELECTED,), "More than 5,000 rows: sets that had no part in the choice"),
            )
        ),
        *_of_medium(medium),
    ]


def _among(records: list[Record], sets: tuple[str, ...], inside: bool) -> list[Record]:
    """Those of the sets, or of the others."""
    return [r for r in records if (r.get("table", r.get("data")) in sets) == inside]


def _of_medium(records: list[Record]) -> list[Part]:
    """One kernel, a choice of three and a stack, on tables that had no part in the choice."""
    if not records:
        return []
    pairs = [{**record, "partition": 0} for record in records]
    kinds = [([r for r in pairs if r["classes"] == classes], classes) for classes in (True, False)]
    return [
        Text(
            "The best of three kernels by leave-one-out, and a stack, on tables that were "
            f"looked at once, after that choice, with 1,000 to {MEDIUM:,} training rows. Above "
            "zero, the stack has the smaller error; ± is one standard error over tables. For "
            "regression, ratios of squared errors are compared."
        ),
        *(
            against(some, MEDIUM_MODELS, STACK, classes, ", classes" if classes else ", numbers")
            for some, classes in kinds
            if some
        ),
        Table(
            [
                "table",
                "rows learned",
                *(f"{machine}: error (%)" for machine in MEDIUM_MODELS),
                *(f"{machine}: s" for machine in MEDIUM_MODELS),
            ],
            [_pair(name, found) for name, found in grouped(records, "table").items()],
        ),
    ]


def _pair(name: str, records: list[Record]) -> list[Any]:
    found = {record["machine"]: record for record in records}
    values = [_digits(found.get(m, {}).get(v)) for v in ("error", "seconds") for m in MEDIUM_MODELS]
    return [name, records[0]["rows"], *values]


def _side_by_side(records: list[Record], machines: tuple[str, ...], caption: str) -> Table:
    rows = []
    named = [{"data": record.get("table", ""), **record} for record in records]
    for name, found in grouped(named, "data").items():
        by_machine = {record["machine"]: record for record in found}
        auto = by_machine.get(AUTO, {})
        rows.append(
            [
                name,
                found[0]["rows"],
                auto.get("estimator", ""),
                *(_digits(by_machine.get(m, {}).get("error")) for m in machines),
                *(_digits(by_machine.get(m, {}).get("seconds")) for m in machines),
            ]
        )
    errors = [f"{machine}: error (%)" for machine in machines]
    times = [f"{machine}: s" for machine in machines]
    return Table(["set", "rows learned", "estimator", *errors, *times], rows, caption)


def _digits(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


EXPERIMENTS = (
    benchmark("more_rows", "More rows: what is taken, and trees", cases, run, report, timed=False),
)
