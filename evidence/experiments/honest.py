"""Whether the error and the sets that a model reports are those of rows that it has not seen."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from evidence._compare import column, grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.shared import mixed
from evidence.shared.data import SEED
from evidence.shared.tables import CLASSES, MADE, NUMBERS, PACKED, fold
from gramian import LeastSquaresSVC, LeastSquaresSVR, TableModel
from gramian.estimators import ESTIMATORS
from gramian.tables import TableWarning

DRAWS = int(os.environ.get("GRAMIAN_DRAWS", "20"))
"""The most draws of a case; fewer for a first look, where a computer is slow."""

SIZES = ((50, 20), (100, 50), (100, 200), (200, 500), (100, 2000))
FRESH, CONFIDENCE = 500, 0.9
SLOW = ("OrthogonalKernelClassifier", "OrthogonalKernelRegressor", "EllipsoidalFuzzyClassifier")
MODELS = {
    **ESTIMATORS,
    'LeastSquaresSVC, metric="diagonal"': partial(LeastSquaresSVC, metric="diagonal"),
    'LeastSquaresSVR, metric="diagonal"': partial(LeastSquaresSVR, metric="diagonal"),
}
PERSONS, ROWS = 40, (2, 8, 20)
SUBJECTS = {"colon": None, "Males": "nr", "gapminder": "country"}
"""Real tables, and their columns that say to whom a row belongs."""
SUBJECTS_OF = ("LeastSquaresSVC", "LeastSquaresSVR", "StackedKernelClassifier",
               "StackedKernelRegressor")  # fmt: skip
SUBJECT_ROWS, LARGEST_TEST, MADE_PERSONS = 300, 1000, ["made persons"]
N_TRAIN, TABLES_OF = 150, ("KernelDiscriminant", "LeastSquaresSVR", "StackedKernelClassifier",
                           "StackedKernelRegressor")  # fmt: skip


# --- noise --------------------------------------------------------------------------------------


def noise_cases(quick: bool) -> list[Parameters]:
    sizes = SIZES[:1] if quick else SIZES
    return [
        {"model": name, "n": n, "d": d, "seed": seed}
        for n, d in sizes
        for name in MODELS
        for seed in range(1 if quick else seeds(name, n * d))
    ]


def seeds(model: str, cells: int) -> int:
    """Draws of a model: fewer of those that take long."""
    wanted = (3 if cells <= 5_000 else 1) if model in SLOW else (20 if cells <= 5_000 else 5)
    return min(wanted, DRAWS)


def run_noise(model: str, n: int, d: int, seed: int) -> dict[str, Any]:
    """Rows and targets that know nothing of one another."""
    one, rng = MODELS[model](), np.random.default_rng(SEED + seed)
    X, X_new = rng.standard_normal((n, d)), rng.standard_normal((FRESH, d))
    if is_classifier(one):  # as many heads as tails: no model can learn which side is the larger
        y, y_new = rng.permutation(np.arange(n) % 2), np.arange(FRESH) % 2
    else:
        y, y_new = rng.standard_normal(n), rng.standard_normal(FRESH)
    return judged(one.fit(X, y), X_new, y_new)


def judged(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Errors in %: wrong rows, or squares in units of the variance; shares of rows covered."""
    found = {
        "reported": 100.0 * (1.0 - model.nested_score().score),
        "left_out": 100.0 * (1.0 - model.loo_score()),
        "true": 100.0 * (1.0 - model.score(X, y)),
    }
    return {**found, "covered": 100.0 * float(np.mean(covered(model, X, y)))}


def covered(model: Any, X: Any, y: Any) -> Any:
    """Whether the set or interval of each row holds its target."""
    if is_classifier(model):
        inside = model.predict_set(X, CONFIDENCE)
        return inside[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    low, high = model.predict_interval(X, CONFIDENCE).T
    return (low <= y) & (y <= high)


def report_noise(records: list[Record]) -> list[Part]:
    return [
        Text(
            f"Features and targets are independent: a coin, as many heads as tails, or a normal "
            f"number. Reported is `nested_score()`, left out is `loo_score()` with the choices "
            f"that were made, true is the error on {FRESH} fresh rows; classes in % of wrong rows, "
            f"numbers in % of the variance. Covered: 90 % sets and intervals, by default. Means "
            f"over draws; ± is the standard error of the difference."
        ),
        Table(
            ["model", "rows × features", "draws", "left out", "reported", "true",
             "true − reported", "covered"],
            [
                [model, f"{n} × {d}", len(some), *summary(some), mean(some, "covered")]
                for (model, n, d), some in grouped(records, "model", "n", "d").items()
            ],
        ),
    ]  # fmt: skip


def summary(records: Sequence[Record]) -> list[Any]:
    """Means of the errors, and of the difference that matters."""
    gaps = np.array(column(records, "true")) - np.array(column(records, "reported"))
    error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.nan
    names = ("left_out", "reported", "true")
    return [*(mean(records, k) for k in names), f"{gaps.mean():+.1f} ± {error:.1f}"]


def mean(records: Sequence[Record], name: str) -> float:
    return float(np.mean(column(records, name)))


# --- tables -------------------------------------------------------------------------------------


def table_cases(quick: bool) -> list[Parameters]:
    tables = {True: CLASSES, False: [name for name in NUMBERS if name not in PACKED]}
    return [
        {"model": model, "table": name, **({} if name in MADE else {"data": name})}
        for model in TABLES_OF
        for name in tables[is_classifier(MODELS[model]())][: 2 if quick else None]
    ]


def run_table(model: str, table: str, data: str = "") -> dict[str, Any]:
    """A model of a part of a real table."""
    part = fold(table, 0, N_TRAIN)
    return judged(MODELS[model]().fit(part.X, part.y), part.X_test, part.y_test)


def report_tables(records: list[Record]) -> list[Part]:
    return [
        Text(
            f"One partition of each table, {N_TRAIN} rows to learn at most, up to 2,000 fresh "
            f"ones. ± is the standard error over the tables; else as for noise."
        ),
        Table(
            ["model", "tables", "left out", "reported", "true", "true − reported", "covered"],
            [
                [model, len(some), *summary(some), mean(some, "covered")]
                for model, some in grouped(records, "model").items()
            ],
        ),
    ]


# --- persons ------------------------------------------------------------------------------------


def group_cases(quick: bool) -> list[Parameters]:
    return [
        {"model": name, "rows": rows, "seed": seed}
        for rows in (ROWS[:1] if quick else ROWS)
        for name in ESTIMATORS
        if name not in SLOW or rows < ROWS[-1]
        for seed in range(1 if quick or name in SLOW else min(5, DRAWS))
    ]


def run_group(model: str, rows: int, seed: int) -> dict[str, Any]:
    """Persons whose rows are alike, with a target of their own and a weak signal; new persons."""
    rng = np.random.default_rng(SEED + seed)
    X, y, persons = drawn(rng, PERSONS, rows)
    X_new, y_new, _ = drawn(rng, 400, 1)
    one = ESTIMATORS[model]()
    if is_classifier(one):
        y, y_new = (y > 0).astype(int), (y_new > 0).astype(int)
    alone = ESTIMATORS[model]().fit(X, y)
    found = judged(one.fit(X, y, groups=persons), X_new, y_new)
    rest = {"alone": 100.0 * (1.0 - alone.loo_score())}
    return {**found, **rest, "alone_covered": 100.0 * float(np.mean(covered(alone, X_new, y_new)))}


def drawn(rng: np.random.Generator, persons: int, rows: int) -> tuple[Any, Any, Any]:
    """Rows of persons: features near one another, one target for each person."""
    centre = rng.standard_normal((persons, 5))
    y = 0.7 * centre[:, 0] + rng.standard_normal(persons)
    each = np.repeat(np.arange(persons), rows)
    return centre[each] + 0.2 * rng.standard_normal((len(each), 5)), y[each], each


def report_groups(records: list[Record]) -> list[Part]:
    return [
        Text(
            f"{PERSONS} persons with 2, 8 or 20 rows each, which are alike and have one target; "
            f"judged on one row each of 400 new persons. Alone: leave-one-out error and coverage "
            f"without `groups`. The others with `groups`, as for noise."
        ),
        Table(
            ["model", "rows a person", "draws", "alone", "left out", "reported", "true",
             "true − reported", "alone covered", "covered"],
            [
                [model, rows, len(some), mean(some, "alone"), *summary(some),
                 mean(some, "alone_covered"), mean(some, "covered")]
                for (model, rows), some in grouped(records, "model", "rows").items()
            ],
        ),
    ]  # fmt: skip


# --- real subjects ------------------------------------------------------------------------------


def subject_cases(quick: bool) -> list[Parameters]:
    tables = MADE_PERSONS if quick else [*filter(mixed.tables().__contains__, SUBJECTS)]
    return [
        {"model": model, "table": table, "partition": k}
        for table in tables or MADE_PERSONS
        for model in SUBJECTS_OF
        if is_classifier(MODELS[model]()) == has_classes(table)
        for k in range(1 if quick else min(5, DRAWS))
    ]


def has_classes(table: str) -> bool:
    """Whether the target of a table of subjects is a class."""
    return table in MADE_PERSONS or mixed.is_classes(table)


def run_subject(model: str, table: str, partition: int) -> dict[str, Any]:
    """Some subjects with all of their rows; the others are new."""
    cells, y, subjects = of_subjects(table)
    names = np.random.default_rng(SEED + partition).permutation(np.unique(subjects))
    counts = np.cumsum([np.sum(subjects == name) for name in names])
    most = min(SUBJECT_ROWS, 2 * len(y) // 3)
    learned = np.isin(subjects, names[: int(np.searchsorted(counts, most))])
    new = np.flatnonzero(~learned)[:LARGEST_TEST]
    rows = {name: values[learned] for name, values in cells.items()}
    table_model = TableModel(MODELS[model](), target="y", subject_column="subject")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        fitted = table_model.fit({**rows, "y": y[learned], "subject": subjects[learned]})
        alone = MODELS[model]().fit(fitted.estimator_.X_fit_, fitted.estimator_.y_fit_)
    X = fitted.transform({name: values[new] for name, values in cells.items()})
    targets = fitted.read_targets({"y": y[new]})
    found = judged(fitted.estimator_, X, targets)
    rest = {"alone": 100.0 * (1.0 - alone.loo_score()), "subjects": len(set(fitted.groups_))}
    return {**found, **rest, "alone_covered": 100.0 * float(np.mean(covered(alone, X, targets)))}


def of_subjects(table: str) -> tuple[dict[str, Any], Any, Any]:
    """Cells by column without the subject's, targets, and to whom each row belongs."""
    if table in MADE_PERSONS:
        X, y, persons = drawn(np.random.default_rng(SEED), 60, 3)
        return {f"x{j}": column for j, column in enumerate(X.T)}, (y > 0).astype(str), persons
    values, y = mixed.read(table)
    column = SUBJECTS[table]
    if column is None:  # two rows each, one after the other
        return dict(values), y, np.arange(len(y)) // 2
    return {k: v for k, v in values.items() if k != column}, y, values[column].astype(str)


def report_subjects(records: list[Record]) -> list[Part]:
    return [
        Text(
            f"Tables with several rows of one subject: patients of a cancer trial (colon), workers "
            f"(Males), countries (gapminder). Some subjects are learned with all of their rows, "
            f"{SUBJECT_ROWS} at most; up to {LARGEST_TEST:,} rows of the others are new. Alone: "
            f"leave-one-out error and coverage without `groups`. The others with "
            f"`subject_column`, as for noise."
        ),
        Table(
            ["table", "model", "draws", "subjects", "alone", "left out", "reported", "true",
             "true − reported", "alone covered", "covered"],
            [
                [table, model, len(some), round(mean(some, "subjects")), mean(some, "alone"),
                 *summary(some), mean(some, "alone_covered"), mean(some, "covered")]
                for (table, model), some in grouped(records, "table", "model").items()
            ],
        ),
    ]  # fmt: skip


EXPERIMENTS = (
    benchmark("honest_noise", "The error that is reported, on noise",
              noise_cases, run_noise, report_noise, timed=False),
    benchmark("honest_tables", "The error that is reported, on small tables",
              table_cases, run_table, report_tables, timed=False),
    benchmark("honest_groups", "The error that is reported, for new persons",
              group_cases, run_group, report_groups, timed=False),
    benchmark("honest_subjects", "The error that is reported, for new persons of real tables",
              subject_cases, run_subject, report_subjects, timed=False),
)  # fmt: skip
