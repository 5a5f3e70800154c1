"""What a model reports of itself, and what fresh rows say: one draw, table or set of persons."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from evidence.experiments.mixed_tables import texts_like_numbers
from evidence.shared import mixed
from evidence.shared.data import SEED
from evidence.shared.tables import fold
from gramian import LeastSquaresSVC, LeastSquaresSVR, TableModel
from gramian.estimators import ESTIMATORS
from gramian.tables import TableWarning

FRESH, CONFIDENCE = 500, 0.9
METRIC_OF_CLASSES, METRIC_OF_NUMBERS = (
    'LeastSquaresSVC, metric="diagonal"',
    'LeastSquaresSVR, metric="diagonal"',
)
MODELS: dict[str, Any] = {
    **ESTIMATORS,
    METRIC_OF_CLASSES: partial(LeastSquaresSVC, metric="diagonal"),
    METRIC_OF_NUMBERS: partial(LeastSquaresSVR, metric="diagonal"),
}
PERSONS, N_TRAIN = 40, 150
SUBJECTS = {"colon": None, "Males": "nr", "gapminder": "country"}
"""Real tables, and their columns that say to whom a row belongs."""
SUBJECT_ROWS, LARGEST_TEST, MADE_PERSONS = 300, 1000, ["made persons"]


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
    return {**found, "covered": covered(model, X, y), "labels": labels(model, X)}


def covered(model: Any, X: Any, y: Any) -> float:
    """The share of rows in % whose set or interval holds the target."""
    if is_classifier(model):
        sets = model.predict_set(X, CONFIDENCE)
        inside = sets[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    else:
        low, high = model.predict_interval(X, CONFIDENCE).T
        inside = (low <= y) & (y <= high)
    return 100.0 * float(np.mean(inside))


def labels(model: Any, X: Any) -> float:
    """How many labels a set has in the mean; 0 for numbers."""
    if not is_classifier(model):
        return 0.0
    return float(model.predict_set(X, CONFIDENCE).sum(axis=1).mean())


def run_table(model: str, table: str, data: str = "") -> dict[str, Any]:
    """A model of a part of a real table."""
    if table in mixed.tables():
        return run_mixed(model, table)
    part = fold(table, 0, N_TRAIN)
    return judged(MODELS[model]().fit(part.X, part.y), part.X_test, part.y_test)


def run_mixed(model: str, table: str) -> dict[str, Any]:
    """The same for a table with texts and missing cells."""
    part, test = mixed.split(table, 0, N_TRAIN)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        like_numbers = texts_like_numbers(part)
        table_model = TableModel(MODELS[model](), target="y", categorical=like_numbers)
        fitted = table_model.fit({**part.values, "y": part.target})
        X, y = fitted.transform(test.values), fitted.read_targets({"y": test.target})
    return judged(fitted.estimator_, X, y)


def run_group(model: str, rows: int, seed: int, shares: str) -> dict[str, Any]:
    """Persons whose rows are alike, with a target of their own and a weak signal; new persons.

    Of two classes, ``shares="equal"`` has as many persons of each: no model can learn which is the
    larger. With "chance", the shares of the persons learned are those of their draw.
    """
    rng = np.random.default_rng(SEED + seed)
    X, y, persons = drawn(rng, PERSONS, rows)
    X_new, y_new, _ = drawn(rng, 400, 1)
    one = ESTIMATORS[model]()
    if is_classifier(one):
        cut, cut_new = (np.median(y), np.median(y_new)) if shares == "equal" else (0.0, 0.0)
        y, y_new = (y > cut).astype(int), (y_new > cut_new).astype(int)
    alone = ESTIMATORS[model]().fit(X, y)
    found = judged(one.fit(X, y, groups=persons), X_new, y_new)
    rest = {"alone": 100.0 * (1.0 - alone.loo_score())}
    return {**found, **rest, "alone_covered": covered(alone, X_new, y_new)}


def drawn(rng: np.random.Generator, persons: int, rows: int) -> tuple[Any, Any, Any]:
    """Rows of persons: features near one another, one target for each person."""
    centre = rng.standard_normal((persons, 5))
    y = 0.7 * centre[:, 0] + rng.standard_normal(persons)
    each = np.repeat(np.arange(persons), rows)
    return centre[each] + 0.2 * rng.standard_normal((len(each), 5)), y[each], each


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
    return {**found, **rest, "alone_covered": covered(alone, X, targets)}


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
