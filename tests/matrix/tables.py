"""Models of tables, and streams of samples."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from gramian import TableModel
from gramian.stream import SlidingWindow, prequential
from tests.matrix.capabilities import capability
from tests.matrix.cases import Array, Case, as_array

tables = partial(capability, group="tables and streams")

COLUMNS = ("a", "b", "c")


def table_of(case: Case, samples: Array, *, target: bool = True) -> dict[str, Any]:
    """Samples as columns, with names and targets."""
    columns: dict[str, Any] = {"name": [f"row {k}" for k in samples]}
    columns |= {c: case.X[samples, j].tolist() for j, c in enumerate(COLUMNS)}
    return {**columns, "target": case.y[samples].tolist()} if target else columns


def table_model(case: Case, estimator: Any = None) -> TableModel:
    """The configuration as a model of a table, not fitted."""
    return TableModel(
        case.unfitted() if estimator is None else estimator,
        target="target",
        id_column="name",
        dtype=case.how.dtype,
    )


def table_values(case: Case, model: TableModel) -> Array:
    """Decision values or predictions for the queries as a table."""
    asked = table_of(case, case.asked, target=False)
    return np.asarray(model.decision_function(asked) if case.classifies else model.predict(asked))


@tables("TableModel", tables=True)
def table(case: Case, folder: Path) -> None:
    """Against the estimator on columns that are scaled here.

    Scaling rounds, so that folds are dealt out by a seed and not by a hash of the samples.
    """
    unfitted = case.unfitted()
    if "random_state" in unfitted.get_params():
        unfitted.set_params(random_state=0)
    model = table_model(case, unfitted).fit(table_of(case, case.held))
    model.partial_fit(table_of(case, case.more)).forget(["row 3"])
    mean, deviation = case.X[case.held].mean(axis=0), case.X[case.held].std(axis=0)
    scaled = ((case.X - mean) / deviation).astype(case.how.dtype)
    plain = clone(unfitted).fit(scaled[case.held], case.y[case.held])
    plain.partial_fit(scaled[case.more], case.y[case.more]).forget([3])
    expected = plain.decision_function if case.classifies else plain.predict
    case.close(table_values(case, model), expected(scaled[case.asked]))
    if case.how.chosen and "C_" in dir(plain):  # least squares: one search, from where it is
        model.reselect(fresh=False)
        case.close(model.estimator_.C_, plain.reselect().C_, 1e-6)


@tables("SlidingWindow")
def window(case: Case, folder: Path) -> None:
    """The window holds the last samples alone."""
    size = len(case.held)
    moving = SlidingWindow(case.unfitted(), max_samples=size, min_samples=size)
    X, y = case.form(case.X[case.held]), case.y[case.held]
    moving.partial_fit(X, y)
    before = case.values(moving.estimator_)
    case.close(before, case.values(case.unfitted().fit(X, y)))
    moving.partial_fit(case.form(case.X[case.more]), case.y[case.more])
    assert moving.ids_.tolist() == [*case.held[len(case.more) :], *case.more]
    _equals_refit(case, moving.estimator_)


def _equals_refit(case: Case, model: Any) -> None:
    """The model is that of the samples by their ids, without weights."""
    ids = model.ids_
    if case.makes_choices:
        fresh = model.refitted()
    else:
        fresh = case.unfitted().fit(case.form(case.X[ids]), case.y[ids], ids=ids)
    case.close(case.values(model), case.values(fresh))


@tables("River", package="river")
def river(case: Case, folder: Path) -> None:
    from gramian.stream import RiverClassifier, RiverRegressor

    kind = RiverClassifier if case.classifies else RiverRegressor
    size = len(case.held)
    model = kind(case.unfitted(), max_samples=size, min_samples=size, reselect_every=None)
    samples = [*case.held, *case.more]
    first = (
        [int(np.argmax(case.y == label)) for label in np.unique(case.y)] if case.classifies else []
    )
    samples = [*first, *(k for k in samples if k not in first)]  # labels are numbered as they come
    rows = [dict(zip(COLUMNS, x.tolist(), strict=True)) for x in case.X]
    for k in samples:
        model.learn_one(rows[k], case.y[k].tolist())
    inner, ids = model._model(), np.array(samples[len(case.more) :])
    vectors = np.vstack([model._features.vector(rows[k]) for k in case.asked])
    if case.makes_choices:
        expected = inner.refitted().predict(vectors)
        expected = np.unique(case.y)[expected] if case.classifies else expected
    else:
        fresh = case.unfitted().fit(case.form(case.X[ids]), case.y[ids], ids=ids)
        expected = as_array(fresh.predict(case.queries(fresh)))
    found = [model.predict_one(rows[k]) for k in case.asked]
    if case.classifies:
        assert found == expected.tolist()
    else:
        case.close(found, expected)


@tables("prequential")
def tests_then_trains(case: Case, folder: Path) -> None:
    model = case.model()
    first = as_array(model.predict(case.queries(model, case.more[:1])))[0]
    X = case.to_learn(model, case.more)
    rows = [X[[k]] if case.how.form == "csr" else X[k] for k in range(len(case.more))]
    found = prequential(model, zip(rows, case.y[case.more], strict=True))
    assert len(found.y_pred) == len(case.more)
    assert np.array_equal(found.y_pred[0], first)
    assert len(model.ids_) == len(case.held) + len(case.more)
