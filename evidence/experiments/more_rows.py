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
from evidence.shared.orthogonal_stack import OrthogonalStack
from evidence.shared.trees import PACKAGES, trees
from gramian import (
    KernelDiscriminant,
    LeastSquaresSVR,
    OrthogonalKernelClassifier,
    OrthogonalKernelRegressor,
    StackedKernelClassifier,
    StackedKernelRegressor,
)
from gramian.cli._estimators import EXACT_UP_TO, choose_estimator, make_estimator
from gramian.tables import number

AUTO = "as `gramian fit`"
TREES = ("HistGradientBoosting", "LightGBM", "CatBoost")
STACK, LOO, DIAGONAL = "stack", 'one kernel, `"loo"`', 'one kernel, `metric="diagonal"`'
CENTRES, ORTHOGONAL = "2,000 centres", "stack of orthogonal parts"
TRIED = (STACK, LOO, DIAGONAL, CENTRES, ORTHOGONAL)
SETS = ("abalone", "ann_thyroid", "optdigits", "satimage", "pendigits", "letter")
N_TRAIN = {"abalone": 2784}  # two thirds; the others have an official partition
SHORT = ("optdigits", "satimage")
"""Sets of many classes, on which a stack takes minutes."""


class Rows(NamedTuple):
    """Features and targets to learn and to judge by; of a table also its cells."""

    X: Any
    y: Any
    X_test: Any
    truth: Any
    classes: bool
    cells: tuple[mixed.Columns, mixed.Columns] | None = None


def cases(quick: bool) -> list[Parameters]:
    names = SETS[:1] if quick else (*SETS, *mixed.many())
    return [
        {"data": name, "machine": machine, "n": 200 if quick else None}
        for name in names
        for machine in (AUTO, *TREES, *TRIED)
        if installed(PACKAGES.get(machine, "gramian")) and (quick or _is_tried(name, machine))
    ]


def _is_tried(name: str, machine: str) -> bool:
    """Kernels of all rows where the matrix is small, bases where it is not."""
    described = mixed.many().get(name)
    n = 2 * described.rows // 3 if described else {"letter": 16000, "pendigits": 7494}.get(name, 0)
    if machine in (CENTRES, ORTHOGONAL):
        return n > EXACT_UP_TO
    return machine not in TRIED or (n <= EXACT_UP_TO and (machine != STACK or name not in SHORT))


def run(data: str, machine: str, n: int | None) -> dict[str, Any]:
    """Error in %, or unexplained variance; processor seconds of the fit with all tuning."""
    rows = _table(data, n) if data in mixed.many() else _set(data, n)
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
    part, test = mixed.split_many(data, n)
    classes, y, truth = mixed.many()[data].classes, part.target, test.target
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
    if machine in (LOO, DIAGONAL):
        one = KernelDiscriminant if classes else LeastSquaresSVR
        options = {"kernel": "loo"} if machine == LOO else {"metric": "diagonal"}
        return "", one(random_state=SEED, **options)
    if machine == CENTRES:
        sparse = OrthogonalKernelClassifier if classes else OrthogonalKernelRegressor
        return "", sparse(max_basis=2000)
    if machine == ORTHOGONAL:
        return "", OrthogonalStack(classes, 500)
    # Classes as texts: those of letter are numbered here, and 26 numbers would be a regression.
    cells = [f"class {label}" for label in y] if classes else y.tolist()
    name, _ = choose_estimator(cells, number, 8)
    model = make_estimator(name, gamma=None, ridge=None, kernel=None)
    if is_classifier(model) != classes:
        raise ValueError(f"{name} is not for this target, {'classes' if classes else 'numbers'}.")
    return name, model


def report(records: list[Record]) -> list[Part]:
    return [
        Text(
            "The official partition of each set, of abalone and of tables with text a random one: "
            "two thirds of the rows are learned, 50,000 where there are more. Features of sets "
            "have deviation 1 on the training samples; tables are encoded as `TableModel` does, "
            "and trees take their categories as they are. Errors are shares of wrong classes in %; "
            "those of abalone, deliveries and diamonds, which are numbers, are unexplained shares "
            "of the test variance in %. The first model is the one that `gramian fit` takes for "
            "so many rows; trees are as they are by default. Seconds are those of the processor, "
            "on one thread of a machine with other work. One partition of each set: differences of "
            "half a point mean little. What is empty was not measured."
        ),
        _side_by_side(records, (AUTO, *TREES), "What `gramian fit` takes, and trees"),
        Text(
            "What else was tried: a stack and one kernel with more choices where the Gram matrix "
            "is small, and where it is not, more centres and four orthogonal estimators with 500 "
            "centres each, weighted on a fifth of the rows by a script."
        ),
        _side_by_side(records, (AUTO, *TRIED), "What else was tried"),
    ]


def _side_by_side(records: list[Record], machines: tuple[str, ...], caption: str) -> Table:
    rows = []
    for name, found in grouped(records, "data").items():
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
