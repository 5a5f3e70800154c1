"""Columns under edits: cells that were not there at fit, and cells that are gone."""

import numpy as np
import pytest

import gramian
from gramian import KernelDiscriminant, LeastSquaresSVR, TableModel
from gramian.tables import NumberColumn

MACHINE = KernelDiscriminant(gamma=0.3, ridge=0.1)


def rows_of(rng, n, levels=("p", "q")):
    """Rows of all kinds of columns."""
    return {
        "number": rng.normal(size=n).tolist(),
        "level": rng.choice(levels, n).tolist(),
        "day": [f"2024-{m:02}-{d:02}" for m, d in zip(*rng.integers(1, 13, (2, n)), strict=True)],
        "y": rng.choice(["u", "v"], n).tolist(),
    }


def by_hand(model, queries):
    """A new estimator on the features of what is held, by the model's own columns."""
    held = {name: cells.tolist() for name, cells in model.table_.items()}
    return (
        MACHINE.__class__(**MACHINE.get_params())
        .fit(model.transform(held), model.y_fit_)
        .decision_function(model.transform(queries))
    )


def test_any_edits_keep_the_features_of_the_fit(tmp_path):
    """Levels that come, go and come back; cells that go missing; a file in between."""
    rng = np.random.default_rng(0)
    model = TableModel(MACHINE, target="y").fit(rows_of(rng, 30, ("p", "q", "rare")))
    queries = {name: cells[:8] for name, cells in rows_of(rng, 8).items() if name != "y"}
    width = model.transform(queries).shape[1]
    for step in range(12):
        more = rows_of(rng, 2, ("p", "rare", f"new {step}", ""))
        more["number"][0] = None
        more["day"][1] = None
        gone = rng.choice(model.ids_, 2, replace=False)
        model = model.partial_fit(more).forget(gone)
        if step == 6:
            gramian.save(model, tmp_path / "m.gram")
            model = gramian.load(tmp_path / "m.gram")
        assert model.transform(queries).shape[1] == width
        expected = by_hand(model, queries)
        np.testing.assert_allclose(model.decision_function(queries), expected, atol=1e-10)
    assert "means and deviations of columns" in model.chosen_on_data_
    held = {name: cells.tolist() for name, cells in model.table_.items()}
    fresh = TableModel(MACHINE).fit(held, model.y_fit_).decision_function(queries)
    np.testing.assert_allclose(model.reselect().decision_function(queries), fresh, atol=1e-10)


def test_a_level_that_comes_back_is_another_text_until_reselect():
    """Its name was forgotten with its last row, and so is what it had to do with the target."""
    table = {"x": [1.0, 2.0, 3.0, 4.0, 5.0], "level": ["p", "p", "q", "q", "rare"]}
    model = TableModel(MACHINE).fit(table, ["u", "v", "u", "v", "u"]).forget(4)
    asked = {"x": [0.0, 0.0], "level": ["rare", "never seen"]}
    same = model.transform(asked)
    np.testing.assert_array_equal(same[0], same[1])
    model.partial_fit({"x": [5.0], "level": ["rare"]}, ["u"])
    same = model.transform(asked)
    np.testing.assert_array_equal(same[0], same[1])
    one, other = model.reselect().transform(asked)
    assert (one != other).any()


def test_cells_that_go_missing_later_are_the_mean_until_reselect():
    table = {
        "x": [1.0, 2.0, 3.0, 6.0],
        "day": ["2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01"],
    }
    model = TableModel(MACHINE).fit(table, ["u", "v", "u", "v"])
    model.partial_fit({"x": [None], "day": [None]}, ["u"])
    np.testing.assert_array_equal(model.transform({"x": [None], "day": [None]}), np.zeros((1, 6)))
    assert not any(column.marks_missing for column in model.columns_)
    assert all(column.marks_missing for column in model.reselect().columns_)
    np.testing.assert_array_equal(
        model.transform({"x": [None], "day": [None]}), [[0, 1, 0, 0, 0, 0, 0, 1]]
    )


@pytest.mark.parametrize("values", [[7.0] * 4, [7.0, 7.0, 7.0, None]], ids=["whole", "missing"])
def test_a_number_that_becomes_constant_stays_a_feature_until_reselect(values):
    table = {"x": [*values, 1.0, 2.0], "z": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    y = [1.0, 2.0, 3.0, 4.0, 0.0, 0.0]
    model = TableModel(LeastSquaresSVR(gamma=0.3, C=5.0)).fit(table, y).forget([4, 5])
    column = model.columns_[0]
    assert (type(column), column.name) == (NumberColumn, "x")
    expected = LeastSquaresSVR(gamma=0.3, C=5.0).fit(
        model.transform({name: cells.tolist() for name, cells in model.table_.items()}), y[:4]
    )
    asked = {"x": [7.0, 1.0], "z": [1.5, 1.5]}
    np.testing.assert_allclose(
        model.predict(asked), expected.predict(model.transform(asked)), atol=1e-10
    )
    kept = [column.name for column in model.reselect().columns_]
    assert kept == (["x", "z"] if None in values else ["z"])
