"""Models of tables: features, missing cells, unknown texts, learning, forgetting, reselecting."""

import pickle
import threading

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import gramian
import gramian.files
from gramian import KernelDiscriminant, LeastSquaresSVC, LeastSquaresSVR, TableModel
from gramian.store import Store
from gramian.tables import CategoryColumn, NumberColumn, TableError, TargetColumn, encode
from gramian.tables._cells import are_classes, are_numbers
from gramian.tables._columns import FEW_LEVELS

MACHINE = KernelDiscriminant(gamma=0.5, ridge=0.1)


def rows(table, keep):
    """Some rows of a table."""
    return {name: np.asarray(column, dtype=object)[keep] for name, column in table.items()}


# -- cells --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", " 2.5", "-3e4"], True),
        (["1", "NA", "", None, "?", "nan", "N/A"], True),
        ([True, False], True),
        (["1", "two"], False),
        (["1_000", "2"], False),
        (["", None], False),
        ([np.nan, None], False),
    ],
)
def test_what_counts_as_numbers(cells, expected):
    assert are_numbers(cells) is expected


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["a", "b"], True),
        (["0", "1", "1.0"], True),
        (range(20), True),
        (range(21), False),
        ([0.5, 1.0], False),
    ],
)
def test_what_counts_as_classes(cells, expected):
    assert are_classes(list(cells)) is expected


# -- columns ------------------------------------------------------------------------------------


def test_numbers_are_centred_and_scaled():
    values = np.array([1.0, 2.0, 6.0])
    column = NumberColumn.fit("x", values)
    features = column.encode(values)
    assert features.shape == (3, 1)
    np.testing.assert_allclose(features[:, 0], (values - 3.0) / np.sqrt(14 / 3))
    np.testing.assert_array_equal(column.encode(np.array([np.nan, 3.0])), [[0.0], [0.0]])


def test_missing_numbers_are_the_mean_and_marked():
    column = NumberColumn.fit("x", np.array([1.0, np.nan, 3.0]))
    np.testing.assert_array_equal(column.encode(np.array([np.nan, 3.0])), [[0.0, 1.0], [1.0, 0.0]])


def test_texts_have_a_feature_each_and_one_for_others():
    values = np.array(["b", "a", "b", ""], dtype=object)
    column = CategoryColumn.fit("x", values)
    assert column.levels == ("", "a", "b")
    asked = np.array(["a", "", "new"], dtype=object)
    np.testing.assert_array_equal(column.encode(asked), [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]])
    assert column.others(asked) == ["new"]


def test_only_frequent_texts_have_a_feature():
    many = [f"t{i}" for i in range(FEW_LEVELS + 5)]
    column = CategoryColumn.fit("x", np.array([*many, *many[10:]], dtype=object))
    assert len(column.levels) == FEW_LEVELS
    assert set(many[10:]) <= set(column.levels)


def test_forgotten_level_is_unknown_and_unnamed():
    column = CategoryColumn("x", ("a", "b")).forget(np.array(["b", "b"], dtype=object))
    assert column.levels == (None, "b")
    np.testing.assert_array_equal(column.encode(np.array(["a"], dtype=object)), [[0, 0, 1]])


@pytest.mark.parametrize(
    ("cells", "kind", "y"),
    [
        (["0", "1", "1"], "integer", [0, 1, 1]),
        (["1.0", 2.0, True], "integer", [1, 2, 1]),
        (["none", "NA", " mild "], "text", ["none", "NA", "mild"]),
        (["1", "x"], "text", ["1", "x"]),
    ],
)
def test_classes(cells, kind, y):
    target = TargetColumn.fit("y", cells, classes=True)
    assert target.kind == kind
    assert target.read(cells).tolist() == y


# -- the model ----------------------------------------------------------------------------------


def test_columns_and_what_was_left_out(table):
    table = {**table, "constant": [7] * 24, "note": [f"n{i}" for i in range(24)]}
    model = TableModel(MACHINE, target="animal", id_column="name", ignore=["age"]).fit(table)
    assert [column.name for column in model.columns_] == ["weight", "sound"]
    assert model.ignored_ == {
        "age": "asked for",
        "constant": "constant",
        "note": "every text is different",
    }
    assert model.ids_.tolist() == table["name"]
    assert sorted(model.table_) == ["sound", "weight"]


def test_predicts_as_the_estimator_on_the_features_by_hand(table, table_model):
    weight = np.asarray(table["weight"])
    missing = np.isnan(weight)
    scaled = (weight - np.nanmean(weight)) / np.nanstd(weight)
    age = (table["age"] - table["age"].mean()) / table["age"].std()
    levels = ["", "hum", "meow", "woof", "yodel 8128", "another"]
    one_hot = (np.asarray(table["sound"])[:, None] == np.array(levels)).astype(float)
    X = np.column_stack([np.where(missing, 0, scaled), missing, one_hot, age])
    by_hand = clone(MACHINE).fit(X, table["animal"])
    np.testing.assert_allclose(table_model.transform(table), X, rtol=1e-13)  # one rounding each
    np.testing.assert_array_equal(table_model.predict(table), by_hand.predict(X))
    assert table_model.predict_proba(table).shape == (24, 2)


def test_rows_are_named_from_zero_and_names_go_on(table):
    model = TableModel(MACHINE, target="animal", ignore=["name"]).fit(rows(table, slice(0, 10)))
    assert model.ids_.tolist() == list(range(10))
    model.forget(9).partial_fit(rows(table, slice(10, 12)))
    assert model.ids_.tolist() == [*range(9), 10, 11]


def test_partial_fit_equals_an_estimator_on_the_same_features(table):
    model = TableModel(MACHINE, target="animal", id_column="name").fit(rows(table, slice(0, 12)))
    features = model.transform(table)
    model.partial_fit(rows(table, slice(12, None)))
    expected = clone(MACHINE).fit(features, table["animal"])
    assert model.ids_.tolist() == table["name"]
    assert model.table_["sound"].tolist() == table["sound"].tolist()
    np.testing.assert_allclose(
        model.estimator_.decision_function(features),
        expected.decision_function(features),
        atol=1e-12,  # cond(A) < 24 / 0.1
    )


def test_forget_drops_the_row_and_its_level(table, table_model):
    table_model.forget("pet 23")
    assert "yodel 8128" not in table_model.table_["sound"]
    (sound,) = [column for column in table_model.columns_ if column.name == "sound"]
    assert sound.levels == ("", "hum", "meow", "woof", None)
    assert len(table_model.table_["weight"]) == len(table_model.ids_) == 23
    assert table_model.drift() < 1e-13  # eps · cond(A), which is below 24 / 0.1
    X = table_model.estimator_.X_fit_
    fresh = clone(MACHINE).fit(X, table_model.estimator_.y_fit_)
    np.testing.assert_allclose(
        table_model.estimator_.decision_function(X), fresh.decision_function(X), atol=1e-12
    )


def test_failed_forget_leaves_the_model(table, table_model):
    before = gramian.files.fingerprint(table_model)
    with pytest.raises(ValueError, match="forget got id nobody"):
        table_model.forget(["pet 3", "nobody"])
    assert gramian.files.fingerprint(table_model) == before


def test_reselect_is_the_fit_to_the_rows_that_stay(table):
    estimator = KernelDiscriminant(random_state=0)
    model = TableModel(estimator, target="animal", id_column="name", ignore=["age"])
    stay = np.delete(np.arange(24), [3, 7, 23])
    model.fit(table).forget(["pet 3", "pet 7", "pet 23"]).reselect()
    fresh = clone(model).fit(rows(table, stay))
    assert model.columns_ == fresh.columns_
    assert model.ignored_ == {"age": "asked for"}
    np.testing.assert_array_equal(
        model.estimator_.decision_function(model.transform(table)),
        fresh.estimator_.decision_function(fresh.transform(table)),
    )


def test_reselect_keeps_names_and_gives_none_twice(table):
    model = TableModel(MACHINE, target="animal", ignore=["name"]).fit(table)
    model.forget([1, 23]).reselect().partial_fit(rows(table, slice(0, 1)))
    assert model.ids_.tolist() == [0, *range(2, 23), 24]


def test_regression(table):
    estimator = LeastSquaresSVR(gamma=0.5, C=10.0)
    model = TableModel(estimator, target="age", id_column="name").fit(table)
    assert model.target_.kind == "number"
    assert model.predict(table).dtype == float


def test_file_round_trip(table, table_model, tmp_path):
    gramian.save(table_model, tmp_path / "m")
    twin = gramian.load(tmp_path / "m")
    np.testing.assert_array_equal(
        twin.estimator_.decision_function(twin.transform(table)),
        table_model.estimator_.decision_function(table_model.transform(table)),
    )
    assert gramian.files.fingerprint(twin) == gramian.files.fingerprint(table_model)
    assert repr(twin.get_params(deep=False)) == repr(table_model.get_params(deep=False))
    twin.forget("pet 23").reselect()
    gramian.save(twin, tmp_path / "m")
    content = (tmp_path / "m").read_bytes()
    assert b"yodel" not in content
    assert b"pet 23" not in content
    assert "pet 23".encode("utf-32-le") not in content


def test_no_byte_of_a_forgotten_row_is_written_without_reselect(table, table_model, tmp_path):
    weight = np.float64(table["weight"][23]).tobytes()
    encoded = table_model.transform(rows(table, [23]))[0, 0].tobytes()
    traces = [weight, encoded, b"yodel", "pet 23".encode("utf-32-le")]
    gramian.save(table_model, tmp_path / "m")
    assert all(trace in (tmp_path / "m").read_bytes() for trace in traces)
    gramian.save(table_model.forget("pet 23"), tmp_path / "m")
    assert not any(trace in (tmp_path / "m").read_bytes() for trace in traces)


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_frames(kind, table, table_model):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table)
    if kind == "pyarrow":
        frame = pytest.importorskip("pyarrow").Table.from_pandas(frame)
    model = clone(table_model).fit(frame)
    assert model.columns_ == table_model.columns_
    assert model.ids_.tolist() == table["name"]
    np.testing.assert_array_equal(model.transform(frame), table_model.transform(table))


def test_missing_cells_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "a": pandas.array([1, None, 3, 4], dtype="Int64"),
            "b": pandas.array(["x", None, "y", "x"], dtype="string"),
            "y": [0, 1, 0, 1],
        }
    )
    model = TableModel(MACHINE, target="y").fit(frame)
    assert model.columns_ == [
        NumberColumn("a", 8 / 3, np.std([1, 3, 4]), True),
        CategoryColumn("b", ("", "x", "y")),
    ]


def test_answers_of_the_estimator(table, table_model):
    inner, X = table_model.estimator_, table_model.transform(table)
    np.testing.assert_array_equal(table_model.decision_function(table), inner.decision_function(X))
    np.testing.assert_array_equal(table_model.loo_predict(), inner.loo_predict())
    np.testing.assert_array_equal(
        table_model.loo_decision_function(), inner.loo_decision_function()
    )
    assert table_model.score(table) == inner.score(X, table["animal"])
    assert table_model.loo_score() == inner.loo_score()
    assert table_model.classes_.tolist() == ["cat", "dog"]
    assert table_model.y_fit_.tolist() == table["animal"].tolist()


def test_regression_has_no_decisions(table):
    model = TableModel(LeastSquaresSVR(gamma=0.5, C=10.0), target="age", id_column="name")
    model.fit(table)
    for name in ("decision_function", "predict_proba", "loo_predict_proba", "classes_"):
        assert not hasattr(model, name)
    assert model.score(table) == model.estimator_.score(model.transform(table), table["age"])


def test_reselect_of_hyper_parameters_alone_keeps_the_columns(table):
    model = TableModel(KernelDiscriminant(random_state=0), target="animal", id_column="name")
    model.fit(table).forget("pet 3")
    before = model.columns_
    model.reselect(fresh=False)
    assert model.columns_ == before
    assert model.ids_.tolist() == [name for name in table["name"] if name != "pet 3"]


def test_what_was_chosen_on_columns_is_named(table, table_model):
    assert table_model.column_choices_ == (
        "means and deviations of columns",
        "choice of levels of columns",
    )
    numbers = TableModel(MACHINE, target="animal", ignore=["name", "sound"]).fit(table)
    assert numbers.column_choices_ == ("means and deviations of columns",)


def test_pickles_and_copies_hold_the_rows_of_the_estimator(table, table_model):
    table_model.estimator_.forget("pet 23")  # as an interrupted edit would leave it
    assert b"yodel" not in pickle.dumps(table_model)
    assert len(pickle.loads(pickle.dumps(table_model)).table_["sound"]) == 23


def test_readers_in_other_threads_see_rows_that_agree(table, table_model):
    stop, failures = threading.Event(), []

    def read():
        while not stop.is_set():
            try:
                held = table_model._agreed()
                assert len(held.table["weight"]) == len(held.ids)
            except Exception as error:
                failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for i in range(30):
        new = {**rows(table, [4, 5]), "name": [f"a{i}", f"b{i}"]}
        table_model.partial_fit(new).forget([f"a{i}"])
    stop.set()
    reader.join()
    assert failures == []


# -- errors -------------------------------------------------------------------------------------


def with_cell(table, column, row, value):
    cells = list(table[column])
    cells[row] = value
    return {**table, column: cells}


@pytest.mark.parametrize(
    ("column", "row", "value", "match"),
    [
        ("animal", 4, "", r"row 5, column 'animal': the target is missing"),
        ("animal", 4, None, r"row 5, column 'animal': the target is missing"),
        ("name", 2, "", r"row 3, column 'name': the id is missing"),
        ("name", 9, "pet 4", r"row 10, column 'name': row 5 has the same id, pet 4"),
        ("weight", 6, "inf", r"row 7, column 'weight': 'inf' is not a finite number"),
    ],
)
def test_bad_cell_at_fit_is_named(table, table_model, column, row, value, match):
    with pytest.raises(TableError, match=match):
        clone(table_model).fit(with_cell(table, column, row, value))


@pytest.mark.parametrize(
    ("column", "value", "match"),
    [
        ("weight", "heavy", r"row 2, column 'weight': 'heavy' is not a number"),
        ("age", "1_0", r"row 2, column 'age': '1_0' is not a number"),
    ],
)
def test_bad_cell_at_predict_is_named(table, table_model, column, value, match):
    with pytest.raises(TableError, match=match):
        table_model.predict(with_cell(table, column, 1, value))


def test_class_of_another_kind_is_named(table):
    table = {**table, "animal": np.arange(24) % 2}
    model = TableModel(MACHINE, target="animal", id_column="name").fit(table)
    with pytest.raises(TableError, match=r"row 1, column 'animal': 'bird' is not a whole number"):
        model.partial_fit(with_cell(rows(table, [0]), "animal", 0, "bird"))


def test_id_that_is_held_is_named(table, table_model):
    more = rows(table, [5, 6])
    more["name"] = ["new", "pet 6"]
    before = gramian.files.fingerprint(table_model)
    with pytest.raises(TableError, match=r"row 2, column 'name': the model holds id pet 6"):
        table_model.partial_fit(more)
    assert gramian.files.fingerprint(table_model) == before


def test_regression_target_must_be_numbers(table):
    model = TableModel(LeastSquaresSVR(), target="age", id_column="name")
    for value, what in [("old", "'old' is not a number"), ("NA", "the target is missing")]:
        with pytest.raises(TableError, match=f"row 1, column 'age': {what}"):
            model.fit(with_cell(table, "age", 0, value))


@pytest.mark.parametrize("parameter", ["target", "id_column", "ignore", "categorical"])
def test_unknown_column_is_named(table, table_model, parameter):
    value = "nose" if parameter in ("target", "id_column") else ["nose"]
    model = clone(table_model).set_params(**{parameter: value})
    with pytest.raises(TableError, match=r"no column 'nose'. The columns are: name, weight"):
        model.fit(table)


def test_missing_column_at_predict_is_named(table, table_model):
    del table["sound"]
    with pytest.raises(TableError, match="no column 'sound'"):
        table_model.predict(table)


def test_empty_and_useless_tables():
    with pytest.raises(TableError, match="no rows"):
        TableModel(MACHINE, target="y").fit({"x": [], "y": []})
    with pytest.raises(TableError, match="no column is left to predict 'y' from"):
        TableModel(MACHINE, target="y").fit({"x": [1, 1], "y": [0, 1]})


def many_levels(rows=400, seed=0):
    """Persons with four rows each, whose targets depend on the person."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(rows // 4), 4)
    value = rng.standard_normal(rows // 4)[person]
    names = [f"person {i:03}" for i in person]
    return {"who": names, "x": rng.standard_normal(rows), "y": value + 0.1 * rng.random(rows)}


def test_every_level_with_rows_enough_has_a_feature():
    table = many_levels()
    table["who"][-1] = "once"
    model = TableModel(LeastSquaresSVR(gamma=0.3, C=100.0), target="y").fit(table)
    (who, _) = model.columns_
    assert len(who.levels) == 100
    assert who.others(np.array(["once", "person 002"], dtype=object)) == ["once"]
    cut = TableModel(LeastSquaresSVR(gamma=0.3, C=100.0), target="y", max_levels=50).fit(table)
    assert len(cut.columns_[0].levels) == 50
    assert model.loo_score() > 0.9 > cut.loo_score()
    with pytest.raises(ValueError, match="max_levels must be None or a whole number >= 1, got 0"):
        TableModel(LeastSquaresSVR(), target="y", max_levels=0).fit(table)


@pytest.mark.parametrize("kept", ["model", "file", "store"])
def test_many_levels_are_sparse_features(monkeypatch, tmp_path, kept):
    table = many_levels()
    dense = TableModel(LeastSquaresSVR(gamma=0.3, C=100.0), target="y").fit(table)
    monkeypatch.setattr("gramian.tables._reading._DENSE_BYTES", 1000)
    model = TableModel(LeastSquaresSVR(gamma=0.3, C=100.0), target="y").fit(table)
    assert sparse.issparse(model.estimator_.X_fit_)
    assert not sparse.issparse(dense.estimator_.X_fit_)
    if kept == "file":
        gramian.save(model, tmp_path / "m.gram")
        model = gramian.load(tmp_path / "m.gram")
    elif kept == "store":
        with Store.create(tmp_path / "m.store", model) as store:
            model = store.model
    some = {name: cells[:7] for name, cells in table.items()}
    new = {name: cells[-3:] for name, cells in many_levels(seed=1).items()}
    for fitted in (model, dense):
        fitted.partial_fit(new).forget([3, 4])
    np.testing.assert_allclose(model.predict(some), dense.predict(some), atol=1e-9)
    np.testing.assert_allclose(model.reselect().loo_predict(), dense.reselect().loo_predict())


def test_levels_that_come_and_go_constant_columns_and_dates_follow_edits():
    rng, n = np.random.default_rng(0), 60
    table = {
        "a": rng.normal(size=n).tolist(),
        "kind": [*rng.choice(["p", "q"], n - 2), "rare", "rare"],
        "day": [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(n)],
        "flat": [1.0] * (n - 2) + [2.0, 3.0],
        "y": rng.choice(["u", "v"], n).tolist(),
    }
    model = TableModel(LeastSquaresSVC(gamma=0.3, C=2.0), target="y").fit(table)
    more = {"a": [0.1], "kind": ["new"], "day": ["2031-05-05"], "flat": [1.0], "y": ["u"]}
    model.partial_fit(more).forget(
        [n - 2, n - 1]
    )  # one level is new, one is gone; flat is constant
    queries = {name: cells[:10] for name, cells in table.items() if name != "y"}
    kept = {c.name: c for c in model.columns_}
    assert kept["kind"].levels == ("p", "q", None)
    X = encode(model.columns_, {name: model.table_[name] for name in kept})
    by_hand = LeastSquaresSVC(gamma=0.3, C=2.0).fit(X, model.y_fit_)
    expected = by_hand.decision_function(model.transform(queries))
    np.testing.assert_allclose(model.decision_function(queries), expected, atol=1e-10)
    assert {"means and deviations of columns", "choice of levels of columns"} == set(
        model.chosen_on_data_
    )
    model.reselect()
    assert model.ignored_ == {"flat": "constant"}
    held = {name: cells.tolist() for name, cells in model.table_.items()}
    fresh = TableModel(LeastSquaresSVC(gamma=0.3, C=2.0)).fit(held, model.y_fit_)
    expected = fresh.decision_function(queries)
    np.testing.assert_allclose(model.decision_function(queries), expected, atol=1e-12)
