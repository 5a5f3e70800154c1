"""What an estimator and a model of a table have in common: how they take rows."""

import numpy as np
import pytest

from gramian import KernelDiscriminant, TableModel
from gramian.tables._model_rows import model_rows

X = np.random.default_rng(0).standard_normal((12, 2))
Y = np.where(X[:, 0] > 0, "yes", "no")
TABLE = {"a": X[:, 0].tolist(), "b": X[:, 1].tolist(), "y": Y.tolist(), "who": [*range(12)]}


def estimator():
    return KernelDiscriminant(gamma=0.5, ridge=0.1)


def of_table(**options):
    options = {"target": "y", "id_column": "who"} | options
    return TableModel(estimator(), **options).fit(TABLE)


def test_an_estimator_takes_arrays():
    model = estimator().fit(X, Y)
    rows = model_rows(model)
    assert rows.estimator is model
    assert rows.columns is rows.target is rows.id_column is rows.subject_column is None
    assert rows.names() is None
    np.testing.assert_array_equal(rows.held()["x1"], X[:, 1])
    assert rows.features(X) is X
    assert rows.targets(X, Y) is Y
    assert rows.numbers(None)
    assert not rows.numbers([3])
    assert rows.new(X[:2], Y[:2], None, None, 20).ids.tolist() == [20, 21]
    assert rows.new(X[:2], Y[:2], None, None).ids is None


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda rows: rows.targets(X, None), "y must be given"),
        (lambda rows: rows.new(X, None, None, None), "needs the targets"),
        (lambda rows: rows.from_cells({"a": [1.0]}), "knows no names"),
    ],
)
def test_what_an_estimator_does_not_take(ask, said):
    with pytest.raises(ValueError, match=said):
        ask(model_rows(estimator().fit(X, Y)))


def test_an_estimator_that_knows_names_takes_cells():
    pandas = pytest.importorskip("pandas")
    rows = model_rows(estimator().fit(pandas.DataFrame(X, columns=["a", "b"]), Y))
    assert [*rows.names()] == [*rows.held()] == ["a", "b"]
    np.testing.assert_array_equal(rows.from_cells({"b": [2], "a": [1]}), [[1.0, 2.0]])
    with pytest.raises(ValueError, match="columns of this model are a, b"):
        rows.from_cells({"a": [1]})
    with pytest.raises(ValueError, match="not a number"):
        rows.from_cells({"a": ["x"], "b": [1]})


def test_a_model_of_a_table_takes_columns():
    model = of_table()
    rows = model_rows(model)
    assert rows.estimator is model.estimator_
    assert [column.name for column in rows.columns] == ["a", "b"]
    assert (rows.target, rows.id_column, rows.subject_column) == ("y", "who", None)
    assert [*rows.names()] == ["a", "b", "y", "who"]
    np.testing.assert_array_equal(rows.held()["b"], X[:, 1])
    np.testing.assert_array_equal(rows.features(TABLE), model.transform(TABLE))
    np.testing.assert_array_equal(rows.targets(TABLE, None), Y)
    assert rows.targets(TABLE, Y) is Y
    assert not rows.numbers(None)


def test_targets_and_ids_become_columns():
    bare = {name: TABLE[name][:2] for name in ("a", "b")}
    new = model_rows(of_table()).new(bare, np.array(["no", "yes"]), [20, 21], ["p", "q"])
    assert {**bare, "y": ["no", "yes"], "who": [20, 21]} == new.X
    assert (new.y, new.ids, new.groups) == (None, None, ["p", "q"])
    model = of_table(id_column=None, subject_column="who")
    new = model_rows(model).new(bare, ["no", "yes"], None, [3, 4])
    assert {**bare, "y": ["no", "yes"], "who": [3, 4]} == new.X
    assert new.groups is None
    assert model_rows(model).numbers(None)
    with pytest.raises(ValueError, match="numbers its rows by itself"):
        model_rows(model).new(bare, ["no", "yes"], [20, 21], None)
