"""Whether the error and the sets that a model reports are those of rows that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from evidence._compare import column, grouped
from evidence._experiment import Parameters, Part, Record, Table, Text, benchmark
from evidence.experiments.honest_runs import (
    FRESH,
    LARGEST_TEST,
    MADE_PERSONS,
    METRIC_OF_CLASSES,
    METRIC_OF_NUMBERS,
    MODELS,
    N_TRAIN,
    PERSONS,
    SUBJECT_ROWS,
    SUBJECTS,
    run_group,
    run_noise,
    run_subject,
    run_table,
)
from evidence.shared import mixed
from evidence.shared.tables import CLASSES, MADE, NUMBERS, PACKED
from gramian.estimators import ESTIMATORS

SIZES = ((50, 20), (100, 50), (100, 200), (200, 500), (100, 2000))
SLOW = ("OrthogonalKernelClassifier", "OrthogonalKernelRegressor")
FUZZY = "EllipsoidalFuzzyClassifier"
METRICS = (METRIC_OF_CLASSES, METRIC_OF_NUMBERS)
DRAWS = (20, 20, 20, 4, 1)
FEWER_DRAWS = {
    **dict.fromkeys(METRICS, (8, 8, 4, 2, 1)),
    **dict.fromkeys(SLOW, (2, 1, 0, 0, 0)),
    FUZZY: (6, 6, 3, 1, 0),
}
"""Draws for each of the sizes: fewer, or none, where a case takes minutes."""
GROUP_DRAWS, SUBJECT_DRAWS = {2: 10, 8: 2, 20: 1}, 3
LEAST = ("LeastSquaresSVC", "LeastSquaresSVR")
STACKS = ("StackedKernelClassifier", "StackedKernelRegressor")
SHARES, CHANCE = ("equal", "chance"), ("LeastSquaresSVC", "KernelDiscriminant")
TABLES_OF = ("KernelDiscriminant", *LEAST, *STACKS)


# --- noise --------------------------------------------------------------------------------------


def noise_cases(quick: bool) -> list[Parameters]:
    return [
        {"model": name, "n": n, "d": d, "seed": seed}
        for i, (n, d) in enumerate(SIZES[:1] if quick else SIZES)
        for name in MODELS
        for seed in range(1 if quick else FEWER_DRAWS.get(name, DRAWS)[i])
    ]


def report_noise(records: list[Record]) -> list[Part]:
    return [
        Text(
            "Features and targets are independent: the targets are two equally frequent "
            "random classes, or normal numbers. Reported: `nested_score()`. Left out: "
            f"`loo_score()` with the chosen hyper-parameters. True: the error on {FRESH} fresh "
            "rows; for classes in % of wrong rows, for numbers in % of the variance. Covered: "
            "coverage of 90 % sets and intervals with their defaults. Labels: mean number of "
            "classes in a set; for two classes that cannot be told apart, 1.8 would be "
            "enough. Sets and intervals by folds cover more if the models of the folds "
            "disagree, as they do most on noise. Means over draws; ± is the standard error of "
            "the difference. By chance alone, the reported error of one draw of 100 rows "
            "varies by 5 points; all models have the same draws."
        ),
        Table(
            ["model", "rows × features", "draws", "left out", "reported", "true",
             "true − reported", "covered", "labels"],
            [
                [model, f"{n} × {d}", len(some), *summary(some), *sets(some)]
                for (model, n, d), some in grouped(records, "model", "n", "d").items()
            ],
        ),
    ]  # fmt: skip


def summary(records: Sequence[Record]) -> list[Any]:
    """Means of the errors, and of the difference that matters."""
    gaps = np.array(column(records, "true")) - np.array(column(records, "reported"))
    gap = f"{gaps.mean():+.1f}"
    if len(gaps) > 1:
        gap += f" ± {gaps.std(ddof=1) / np.sqrt(len(gaps)):.1f}"
    return [*(mean(records, k) for k in ("left_out", "reported", "true")), gap]


def sets(records: Sequence[Record]) -> list[Any]:
    """The share of rows that sets and intervals cover, and how many labels a set has."""
    return [mean(records, "covered"), mean(records, "labels") or ""]


def mean(records: Sequence[Record], name: str) -> float:
    return float(np.mean(column(records, name)))


# --- tables -------------------------------------------------------------------------------------


def table_cases(quick: bool) -> list[Parameters]:
    numbers = [name for name in NUMBERS if name not in PACKED]
    return [
        {"model": model, "table": name, **({} if name in MADE else {"data": name})}
        for model in TABLES_OF
        for name in (CLASSES if is_classifier(MODELS[model]()) else numbers)[: 2 if quick else None]
    ]


def report_tables(records: list[Record]) -> list[Part]:
    return [
        Text(
            f"One partition of each table, {N_TRAIN} training rows at most, and up to 2,000 "
            "fresh rows. ± is the standard error over the tables; everything else is as for "
            "noise."
        ),
        Table(
            ["model", "tables", "left out", "reported", "true", "true − reported", "covered",
             "labels"],
            [
                [model, len(some), *summary(some), *sets(some)]
                for model, some in grouped(records, "model").items()
            ],
        ),
    ]  # fmt: skip


# --- persons ------------------------------------------------------------------------------------


def group_cases(quick: bool) -> list[Parameters]:
    return [
        {"model": name, "rows": rows, "seed": seed, "shares": shares}
        for rows, draws in ({2: 1} if quick else GROUP_DRAWS).items()
        for name in ESTIMATORS
        if quick or is_measured(name, rows)
        for shares in SHARES[: 2 if name in CHANCE and rows == 2 else 1]
        for seed in range(draws)
    ]


def is_measured(model: str, rows: int) -> bool:
    """With many rows, estimators that take long are left out."""
    return (
        model not in SLOW
        and (rows < 8 or model != FUZZY)
        and (rows < 20 or model in (*LEAST, *STACKS))
    )


def report_groups(records: list[Record]) -> list[Part]:
    return [
        Text(
            f"{PERSONS} simulated persons with 2, 8 or 20 similar rows each, which have the "
            "same target; tested on one row of each of 400 new persons. Alone: leave-one-out "
            "error and coverage without `groups`. The other columns: with `groups`, as for "
            "noise. The two classes have equally many persons, or as many as chance gives: "
            f"then the share of a class among {PERSONS} persons is off by 8 points, and the "
            "reported error is that of new persons with these shares, because every fold has "
            "them."
        ),
        Table(
            ["model", "class shares", "rows a person", "draws", "alone", "left out", "reported",
             "true", "true − reported", "alone covered", "covered"],
            [
                [model, shares if is_classifier(MODELS[model]()) else "", rows, len(some),
                 mean(some, "alone"), *summary(some), mean(some, "alone_covered"),
                 mean(some, "covered")]
                for (model, shares, rows), some in grouped(
                    records, "model", "shares", "rows"
                ).items()
            ],
        ),
    ]  # fmt: skip


# --- real subjects ------------------------------------------------------------------------------


def subject_cases(quick: bool) -> list[Parameters]:
    tables = MADE_PERSONS if quick else [*filter(mixed.tables().__contains__, SUBJECTS)]
    return [
        {"model": model, "table": table, "partition": k}
        for table in tables or MADE_PERSONS
        for model in (*LEAST, *STACKS)
        if is_classifier(MODELS[model]()) == has_classes(table)
        for k in range(1 if quick else SUBJECT_DRAWS)
    ]


def has_classes(table: str) -> bool:
    """Whether the target of a table of subjects is a class."""
    return table in MADE_PERSONS or mixed.is_classes(table)


def report_subjects(records: list[Record]) -> list[Part]:
    return [
        Text(
            "Tables with several rows of one subject: patients of a cancer trial (colon), "
            "workers (Males), countries (gapminder). Some subjects are used for training, "
            f"with all of their rows, {SUBJECT_ROWS} at most; up to {LARGEST_TEST:,} rows of "
            "the others are new. Alone: leave-one-out error and coverage without `groups`. "
            "The other columns: with `subject_column`, as for noise."
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
    benchmark("honest_subjects", "The reported error, for new persons of real tables",
              subject_cases, run_subject, report_subjects, timed=False),
)  # fmt: skip
