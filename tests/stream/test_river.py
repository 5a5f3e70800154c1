"""The River models: River's own checks, and the window inside against a refit."""

import pickle

import numpy as np
import pytest

pytest.importorskip("river", reason="River is not installed (extra: river)")

from river import preprocessing
from river.checks import yield_checks

from gramian import KernelDiscriminant, LeastSquaresSVR, load, save
from gramian.stream import RiverClassifier, RiverRegressor
from gramian.stream._river import FeatureOrder
from tests.stream.conftest import assert_equals_refit, make_stream
from tests.tolerance import tolerance

MODELS = [
    cls(**params) for cls in (RiverClassifier, RiverRegressor) for params in cls._unit_test_params()
]
CHECKS = [(model, check) for model in MODELS for check in yield_checks(model)]
KDA = KernelDiscriminant(gamma=0.5, ridge=0.1)
SVR = LeastSquaresSVR(gamma=0.5, C=10.0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gramian.ScaleWarning")  # River's data are as they are
@pytest.mark.parametrize(
    ("model", "check"), CHECKS, ids=[f"{type(m).__name__}-{c.__name__}" for m, c in CHECKS]
)
def test_river_checks(model, check):
    check(model.clone())


def rows(X):
    """Samples as dictionaries."""
    return [dict(zip("abc", x.tolist(), strict=True)) for x in X]


def test_places_of_features():
    order = FeatureOrder().extended(["b", "a"])
    assert (order.places, order.width) == ({"a": 0, "b": 1}, 2)
    wider = order.extended({"c": 1.0, "a": 2.0, 7: 0.0})
    assert (wider.places, wider.width) == ({"a": 0, "b": 1, 7: 2, "c": 3}, 4)
    assert order.width == 2
    vector = wider.vector({"c": True, "b": None, "unknown": 5.0, "a": 2})
    np.testing.assert_array_equal(vector, [[2, 0, 0, 1]])
    assert FeatureOrder().vector({}).shape == (1, 1)


def test_features_must_be_numbers():
    with pytest.raises(ValueError, match=r"feature 'a' must be a number, got 'red'; encode it"):
        RiverClassifier().learn_one({"a": "red"}, 1)


def test_classifier_equals_a_refit_on_the_last_samples():
    X, y, _ = make_stream(classes=3)
    model = RiverClassifier(KDA, max_samples=25)
    for x, label in zip(rows(X), y.tolist(), strict=True):
        model.learn_one(x, label)
    fresh = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(X[-25:], y[-25:])
    assert [model.predict_one(x) for x in rows(X)] == fresh.predict(X).tolist()
    expected = fresh.predict_proba(X)
    for x, row in zip(rows(X), expected, strict=True):
        probability = model.predict_proba_one(x)
        values = [probability[label] for label in fresh.classes_]
        # The calibration stops at 1e-10 in its loss, which is 1e-5 in its parameters.
        np.testing.assert_allclose(values, row, atol=1e-5)


def test_regressor_equals_a_refit_on_the_last_samples():
    X, _, y = make_stream()
    model = RiverRegressor(SVR, max_samples=25)
    for x, target in zip(rows(X), y.tolist(), strict=True):
        model.learn_one(x, target)
    fresh = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X[-25:], y[-25:])
    predictions = [model.predict_one(x) for x in rows(X)]
    atol = tolerance(25, updates=95, cond=25 / 0.1, power=1)
    np.testing.assert_allclose(predictions, fresh.predict(X), atol=atol)


def test_a_feature_that_comes_late_was_zero_before():
    X, y, _ = make_stream()
    late = X.copy()
    late[:30, 0] = 0.0
    model = RiverClassifier(KDA)
    for k, (x, label) in enumerate(zip(rows(X), y.tolist(), strict=True)):
        model.learn_one(x if k >= 30 else {name: x[name] for name in "bc"}, label)
    assert model._features.places == {"b": 0, "c": 1, "a": 2}
    fresh = KernelDiscriminant(gamma=0.5, ridge=0.1).fit(late, y)
    assert [model.predict_one(x) for x in rows(X)] == fresh.predict(X).tolist()
    assert_equals_refit(model._window, updates=30)


def test_before_there_is_a_model():
    classifier, regressor = RiverClassifier(KDA), RiverRegressor(SVR)
    assert classifier.predict_one({"a": 1.0}) is None
    assert classifier.predict_proba_one({"a": 1.0}) == {}
    assert regressor.predict_one({"a": 1.0}) == 0.0
    for label, target in (("x", 1.0), ("y", 2.0), ("x", 6.0)):
        classifier.learn_one({"a": 1.0}, label)
        regressor.learn_one({"a": 1.0}, target)
    assert classifier.predict_one({"a": 1.0}) == "x"
    assert classifier.predict_proba_one({"a": 1.0}) == pytest.approx({"x": 2 / 3, "y": 1 / 3})
    assert regressor.predict_one({"a": 1.0}) == 3.0


def test_labels_of_several_kinds():
    X, _, response = make_stream()
    model = RiverClassifier(KDA, max_samples=30)
    labels = [None if value < 0 else (1, "one") for value in response]
    for x, label in zip(rows(X), labels, strict=True):
        model.learn_one(x, label)
    assert set(model.predict_proba_one({})) == {None, (1, "one")}
    assert model.predict_one(rows(X)[-1]) == labels[-1]


def test_a_failed_call_changes_nothing():
    X, y, _ = make_stream()
    model = RiverClassifier(KDA)
    for x, label in zip(rows(X), y.tolist(), strict=True):
        model.learn_one(x, label)
    before = model.predict_proba_one({"a": 1.0})
    with pytest.raises(ValueError, match="NaN"):
        model.learn_one({"a": 1.0, "d": 2.0, "e": float("nan")}, "new")
    assert model.predict_proba_one({"a": 1.0}) == before
    assert model._features.width == 4


def test_default_estimators_in_a_pipeline():
    X, labels, responses = make_stream()
    for estimator, targets in ((RiverClassifier(), labels), (RiverRegressor(), responses)):
        model = preprocessing.StandardScaler() | estimator
        for x, target in zip(rows(X), targets.tolist(), strict=True):
            model.learn_one(x, target)
        assert type(model.predict_one(rows(X)[0])) is type(targets.tolist()[0])


@pytest.mark.parametrize("cls", [RiverClassifier, RiverRegressor])
def test_a_sample_can_be_forgotten(cls):
    X, labels, responses = make_stream()
    model, targets = (
        (RiverClassifier(KDA, min_samples=5), labels)
        if cls is RiverClassifier
        else (RiverRegressor(SVR, min_samples=5), responses)
    )
    for x, target in zip(rows(X[:20]), targets[:20].tolist(), strict=True):
        model.learn_one(x, target)
    model.forget_one(rows(X)[7], targets[7].item())
    fresh = cls(model.estimator, min_samples=5)
    for k in np.delete(np.arange(20), 7):
        fresh.learn_one(rows(X)[k], targets[k].item())
    for x in rows(X):
        if cls is RiverClassifier:
            assert model.predict_proba_one(x) == pytest.approx(fresh.predict_proba_one(x), abs=1e-5)
        else:
            assert model.predict_one(x) == pytest.approx(fresh.predict_one(x), rel=1e-9)
    for x, target in [
        (rows(X)[7], targets[7].item()),
        ({**rows(X)[3], "d": 1.0}, targets[3].item()),
    ]:
        with pytest.raises(ValueError, match="forget_one got a sample that the window does not"):
            model.forget_one(x, target)
    with pytest.raises(ValueError, match="forget_one got a sample"):
        cls(model.estimator).forget_one({"a": 1.0}, 1.0)


def test_labels_and_names_leave_with_their_last_sample(tmp_path):
    model = RiverClassifier(KDA, max_samples=10, min_samples=4)
    for i in range(12):
        x, label = ({"secret": 1.0, "a": 2.0}, "rare") if i == 1 else ({"a": i}, "xy"[i % 2])
        model.learn_one(x, label)
    assert set(model.predict_proba_one({"a": 1.0})) == {"x", "y"}
    assert model._features.places == {"a": 0, ("", 1): 1}
    assert b"rare" not in pickle.dumps(model)
    assert b"secret" not in pickle.dumps(model)
    save(model, tmp_path / "m.gram")
    assert b"rare" not in (tmp_path / "m.gram").read_bytes()
    twin = load(tmp_path / "m.gram")
    for one in (model, twin):
        one.learn_one({"a": 3.0, "new": 1.0}, None)  # takes the free place and number
        one.learn_one({"b": 3.0}, "z")
        assert one._features.places == {"a": 0, "new": 1, "b": 2}
        assert set(one.predict_proba_one({})) == {"x", "y", None, "z"}
    for x in ({"a": 1.0}, {"new": 2.0}, {"b": 1.0}):
        assert model.predict_proba_one(x) == twin.predict_proba_one(x)
    model.forget_one({"b": 3.0}, "z")
    assert set(model.predict_proba_one({})) == {"x", "y", None}
    assert "b" not in model._features.places
