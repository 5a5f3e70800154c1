"""More rows than a stack is for: what ``gramian fit`` takes, next to boosted trees."""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.preprocessing import StandardScaler

from evidence._compare import grouped
from evidence._environment import machine as facts
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.experiments.libraries import installed
from evidence.shared.data import SEED, split
from evidence.shared.trees import PACKAGES, trees
from gramian import StackedKernelClassifier, StackedKernelRegressor
from gramian.cli._estimators import choose_estimator, make_estimator
from gramian.tables import number

AUTO, STACK = "as `gramian fit`", "stack"
SETS = ("abalone", "ann_thyroid", "optdigits", "satimage", "pendigits", "letter")
N_TRAIN = {"abalone": 2784}  # two thirds; the others have an official partition
STACKED = ("abalone", "ann_thyroid")
"""Sets on which a stack takes less than a minute."""
MACHINES = (AUTO, "HistGradientBoosting", "LightGBM", "CatBoost", STACK)


def cases(quick: bool) -> list[Parameters]:
    return [
        {"data": name, "machine": machine, "n": 200 if quick else None}
        for name in (SETS[:1] if quick else SETS)
        for machine in MACHINES
        if installed(PACKAGES.get(machine, "gramian"))
        if machine != STACK or name in STACKED
    ]


def run(data: str, machine: str, n: int | None) -> dict[str, Any]:
    """Error in %, or unexplained variance; processor seconds of the fit with all tuning."""
    part = split(data, 0, n_train=n or N_TRAIN.get(data))
    scaler = StandardScaler().fit(np.asarray(part.X, dtype=float))
    X, X_test = (scaler.transform(np.asarray(a, dtype=float)) for a in (part.X, part.X_test))
    classes = data != "abalone"
    y, truth = part.y, part.y_test
    name, model = _model(machine, classes, y)
    start = process_time()
    model.fit(X, y)
    seconds = process_time() - start
    predicted = np.asarray(model.predict(X_test)).ravel()
    error = 100.0 * float(np.mean(predicted != truth))
    if not classes:
        error = 100.0 * float(np.mean((predicted - truth) ** 2) / np.mean((truth - y.mean()) ** 2))
    about = {"rows": len(y), "estimator": name, "classes": classes}
    return {**about, "error": error, "seconds": seconds, "processor": facts()["processor"]}


def _model(machine: str, classes: bool, y: Any) -> tuple[str, Any]:
    if machine == AUTO:
        # Classes as texts: those of letter are numbered here, and 26 numbers would be a regression.
        cells = [f"class {label}" for label in y] if classes else y.tolist()
        name, _ = choose_estimator(cells, number, 8)
        model = make_estimator(name, gamma=None, ridge=None, kernel=None)
        if is_classifier(model) != classes:
            raise ValueError(
                f"{name} is not for this target, {'classes' if classes else 'numbers'}."
            )
        return name, model
    if machine == STACK:
        kind = StackedKernelClassifier if classes else StackedKernelRegressor
        return "", kind(random_state=SEED)
    return "", trees(machine, classes=classes)


def report(records: list[Record]) -> list[Part]:
    rows = []
    for name, found in grouped(records, "data").items():
        by_machine = {record["machine"]: record for record in found}
        auto = by_machine.get(AUTO, {})
        rows.append(
            [
                name,
                found[0]["rows"],
                auto.get("estimator", ""),
                *(_digits(by_machine.get(m, {}).get("error")) for m in MACHINES),
                *(_digits(by_machine.get(m, {}).get("seconds")) for m in MACHINES),
            ]
        )
    errors = [f"{machine}: error (%)" for machine in MACHINES]
    times = [f"{machine}: s" for machine in MACHINES]
    return [
        Text(
            "The official partition of each set, of abalone a random one. Features have deviation "
            "1 on the training samples. The error of abalone, a number, is the unexplained share "
            "of its test variance. The first model is the one that `gramian fit` takes for so many "
            "rows; trees are as they are by default. Seconds are those of the processor, on one "
            "thread of a machine with other work. One partition of each set: differences of half "
            "a point mean little. What is empty was not measured."
        ),
        Table(["set", "rows learned", "estimator", *errors, *times], rows),
    ]


def _digits(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


EXPERIMENTS = (
    benchmark("more_rows", "More rows: what is taken, and trees", cases, run, report, timed=False),
)
