"""A model of a table is an estimator like any other."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import gramian
from gramian import EllipsoidalFuzzyClassifier, KernelDiscriminant, LeastSquaresSVR, TableModel
from gramian.store import Store
from gramian.tables import TableError

FEATURES = "transform gives the features that the estimator inside takes; nobody fits it for them"
MODELS = [
    TableModel(KernelDiscriminant(gamma="scale", ridge=0.1)),
    TableModel(LeastSquaresSVR(gamma="scale", C=10.0)),
]


@parametrize_with_checks(
    MODELS,
    expected_failed_checks=lambda model: {
        "check_transformer_general": FEATURES,
        "check_transformer_data_not_an_array": FEATURES,
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_kind_is_that_of_the_estimator():
    assert is_classifier(MODELS[0])
    assert is_regressor(MODELS[1])


def test_cross_validation_of_a_frame(table):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table)
    estimator = KernelDiscriminant(gamma=0.5, ridge=0.1)
    model = TableModel(estimator, target="animal", ignore=["name"])
    scores = cross_val_score(model, frame, frame["animal"], cv=3)
    apart = TableModel(estimator, ignore=["name"])
    assert cross_val_score(apart, frame.drop(columns="animal"), frame["animal"], cv=3).tolist() == (
        scores.tolist()
    )
    assert cross_val_score(model, frame, cv=3).shape == scores.shape


def test_answers_are_those_of_the_estimator_inside(table, table_model):
    inside, X = table_model.estimator_, table_model.transform(table)
    for name in ("decision_function", "predict_proba", "predict"):
        np.testing.assert_array_equal(getattr(table_model, name)(table), getattr(inside, name)(X))
    for name in ("loo_predict", "loo_predict_proba", "loo_decision_function"):
        np.testing.assert_array_equal(getattr(table_model, name)(), getattr(inside, name)())
    assert table_model.loo_score() == inside.loo_score()
    assert table_model.score(table) == inside.score(X, table["animal"])
    assert not hasattr(table_model, "novelty")
    assert hasattr(clone(table_model).set_params(estimator=EllipsoidalFuzzyClassifier()), "novelty")


def test_ids_beside_the_table(table):
    apart = {name: table[name] for name in ("weight", "age")}
    model = TableModel(KernelDiscriminant(gamma=0.5, ridge=0.1))
    model.partial_fit(apart, table["animal"], ids=range(100, 124))
    new = {"weight": [5.0], "age": [3]}
    model.partial_fit(new, ["cat"], ids=[7]).partial_fit(new, ["eel"], classes=["eel", "fox"])
    assert model.ids_[-2:].tolist() == [7, 124]
    assert model.forget([7, 124]).classes_.tolist() == ["cat", "dog", "eel", "fox"]
    assert model.target_.name == "y"


def test_ids_of_the_wrong_kind_are_told(table, table_model):
    numbered = clone(table_model).set_params(id_column=None, ignore=["name"]).fit(table)
    with pytest.raises(ValueError, match=r"got id 7, a string; .* are integers, such as 0\."):
        numbered.forget("7")
    with pytest.raises(ValueError, match=r"got id 7, an integer; the ids .* are strings, such as"):
        table_model.forget(7)
    with pytest.raises(ValueError, match=r"forget got ids 77, 78, which the model does not hold"):
        numbered.forget([3, 78, 77])
    with pytest.raises(ValueError, match="must be integers as those the model holds, got strings"):
        numbered.partial_fit({name: cells[:1] for name, cells in table.items()}, ids=["a"])
    assert len(numbered.predict(table)) == len(numbered.ids_)


def test_width_of_arrays(table_model):
    X = np.random.default_rng(0).standard_normal((20, 3))
    model = TableModel(KernelDiscriminant(gamma=0.5, ridge=0.1)).fit(X, X[:, 0] > 0)
    assert model.n_features_in_ == 3
    with pytest.raises(TableError, match="X has 2 features, but TableModel is expecting 3"):
        model.predict(X[:, :2])
    with pytest.raises(TableError, match="no column 'weight'"):
        table_model.predict(X)


@pytest.mark.parametrize("kept", ["model", "file", "store"])
def test_columns_named_as_those_of_an_array(tmp_path, kept):
    X = np.random.default_rng(0).standard_normal((20, 3))
    named = {f"x{j}": X[:, j] for j in range(3)} | {"y": X[:, 0] > 0}
    model = TableModel(KernelDiscriminant(gamma=0.5, ridge=0.1), target="y").fit(named)
    array = TableModel(KernelDiscriminant(gamma=0.5, ridge=0.1), target="y").fit(X, named["y"])
    for fitted in (model, array):
        if kept == "file":
            gramian.save(fitted, tmp_path / "model.gram")
            fitted = gramian.load(tmp_path / "model.gram")
        elif kept == "store":
            with Store.create(tmp_path / f"{fitted is model}.store", fitted) as store:
                fitted = store.model
        assert fitted.predict(named).tolist() == model.predict(X).tolist()
        assert fitted.score(named) == fitted.reselect().score(named)
    with pytest.raises(TableError, match="X has 4 features, but TableModel is expecting 3"):
        fitted.predict(np.column_stack([X, X[:, 0]]))


def test_single_precision(table):
    model = TableModel(
        KernelDiscriminant(gamma=0.5, ridge=0.1), target="animal", ignore=["name"], dtype="float32"
    ).fit(table)
    assert model.transform(table).dtype == model.decision_function(table).dtype == np.float32
