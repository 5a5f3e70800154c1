"""Outputs without each pair of samples, against real refits without both."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from gramian import (
    LagrangianSVC,
    LeastSquaresSVC,
    LeastSquaresSVR,
    StackedKernelRegressor,
    TableModel,
)
from gramian.data import leave_two_out
from tests.estimators.conftest import CLASSIFIERS, REGRESSORS
from tests.estimators.test_conformal import edited, refitted_values, samples

OTHER = ("kda", "kfd", "lsvc", "fuzzy")  # no closed form without two samples
CLASSES = {name: model for name, model in CLASSIFIERS.items() if not name.startswith(OTHER)}
TOL = 1e-9


def check(model, classes=None, codes=None):
    """Every pair by a refit without both, or without both groups."""
    pairs = leave_two_out(model)
    X, y, w = model.X_fit_, model.y_fit_, model.sample_weight_
    n, codes = len(y), np.arange(len(y)) if codes is None else codes
    assert pairs.ids.tolist() == model.ids_.tolist()
    for i in range(n):
        for j in range(n):
            s = (codes != codes[i]) & (codes != codes[j])
            expected = refitted_values(model, X[s], y[s], w[s], X[j : j + 1], classes)[0]
            np.testing.assert_allclose(pairs.values[i, j], expected, rtol=TOL, atol=TOL)
    return pairs


@pytest.mark.parametrize("targets", [0, 2])
@pytest.mark.parametrize("name", REGRESSORS)
def test_numbers_are_those_of_refits(name, targets):
    X, y, w = samples(seed=3, targets=targets, weights=True)
    pairs = check(edited(REGRESSORS[name], X, y, w))
    sizes = pairs.targets - pairs.values
    np.testing.assert_array_equal(pairs.residuals, sizes)


@pytest.mark.slow
@pytest.mark.parametrize("two", [True, False])
@pytest.mark.parametrize("name", CLASSES)
def test_classes_are_those_of_refits(name, two):
    X, y, w = samples(seed=1, n=12, two=two, weights=True)
    y = np.arange(12) % (2 if two else 3)  # each class stays without two of its samples
    model = clone(CLASSES[name]).fit(X, y, sample_weight=w)
    check(model, model.classes_)


@pytest.mark.slow
@pytest.mark.parametrize("name", REGRESSORS)
def test_groups_leave_together(name):
    X, y, w = samples(seed=4, n=13, targets=2, weights=True)
    codes = np.array([0, 1, 0, 2, 3, 3, 4, 4, 4, 5, 6, 6, 6])
    model = clone(REGRESSORS[name]).fit(X, y, sample_weight=w, groups=codes)
    check(model, codes=codes)


def test_leave_one_out_is_the_diagonal():
    X, y, _ = samples(seed=5, n=30, targets=0)
    model = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X, y)
    pairs = leave_two_out(model)
    np.testing.assert_allclose(pairs.values[np.arange(30), np.arange(30), 0], model.loo_predict())
    assert np.all(pairs.influence[np.arange(30), np.arange(30)] == 0.0)


def test_where_rounding_decides_it_is_a_refit():
    """Copies at a ridge of next to nothing leave no digits to a closed form."""
    X, y, _ = samples(seed=6, n=8, targets=0)
    X, y = np.vstack([X, X[:2]]), np.append(y, y[:2] + 1e-3)
    for model in (LeastSquaresSVR(gamma=0.5, C=1e13), LeastSquaresSVR("linear", C=1e13)):
        pairs = leave_two_out(model.fit(X, y))
        for i in range(10):
            rest = clone(model).fit(np.delete(X, i, axis=0), np.delete(y, i))
            np.testing.assert_allclose(
                np.delete(pairs.values[i, :, 0], i), rest.loo_predict(), rtol=1e-6, atol=1e-6
            )


def test_copies_leak_and_neighbours_explain():
    rng = np.random.default_rng(0)
    X = np.linspace(-3, 3, 40)[:, None]
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(40)
    X[4], y[4], y[9] = X[9], 3.0, 3.0
    ids = np.array([f"row {i}" for i in range(40)])
    pairs = leave_two_out(LeastSquaresSVR(gamma=0.3, C=10.0).fit(X, y, ids=ids))
    (first, second, leak), *others = pairs.leaks(3)
    assert (first, second) == ("row 4", "row 9")
    assert leak > 2.0 * others[0][2]
    (nearest, change), *_ = pairs.explain("row 9", 2)
    assert nearest == "row 4"
    j, i = 9, 4
    assert change == pytest.approx(pairs.influence[i, j, 0])
    assert [name for name, _ in pairs.explain("row 9", 50)].count("row 9") == 0


def test_a_table_and_a_model_from_a_pickle():
    X, y, _ = samples(seed=7, n=20, targets=0)
    table = {"a": X[:, 0].tolist(), "b": X[:, 1].tolist(), "y": y.tolist()}
    model = TableModel(LeastSquaresSVR(gamma=0.5, C=1.0), target="y").fit(table)
    again = model.estimator_.refitted()
    np.testing.assert_allclose(
        leave_two_out(model).values, leave_two_out(again).values, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize(
    "model",
    [
        *(model for name, model in CLASSIFIERS.items() if name.startswith(OTHER)),
        LeastSquaresSVC(gamma=0.5, C=1.0, class_weight="balanced"),
        LeastSquaresSVC("linear", C=1.0, class_weight="balanced"),
    ],
    ids=lambda model: f"{type(model).__name__}-{model.kernel}",
)
def test_others_say_that_they_cannot(model):
    X, y, _ = samples(n=12)
    model = clone(model).fit(X, y)
    with pytest.raises(ValueError, match="values without two samples are known in closed form"):
        leave_two_out(model)


def test_a_stack_adds_up_its_parts():
    X, y, _ = samples(seed=8, n=15, targets=0)
    stack = StackedKernelRegressor(("rbf", "laplacian"), gamma=0.5, C=10.0, weights=[0.3, 0.9])
    found = leave_two_out(stack.fit(X, y)).values
    parts = [LeastSquaresSVR(k, gamma=0.5, C=10.0).fit(X, y) for k in ("rbf", "laplacian")]
    first, second = (leave_two_out(part).values for part in parts)
    np.testing.assert_allclose(found, 0.3 * first + 0.9 * second + stack.offset_)


def check_effects(model, queries, classes=None, codes=None):
    """Every pair by a refit without both, or without both groups, at queries."""
    effects = leave_two_out(model, queries).effects
    X, y, w = model.X_fit_, model.y_fit_, model.sample_weight_
    n, codes = len(y), np.arange(len(y)) if codes is None else codes
    everyone = refitted_values(model, X, y, w, queries, classes)
    assert effects.shape == (len(queries), n, n, everyone.shape[1])
    for i in range(n):
        for j in range(i + 1):
            s = (codes != codes[i]) & (codes != codes[j])
            lost = everyone - refitted_values(model, X[s], y[s], w[s], queries, classes)
            np.testing.assert_allclose(effects[:, i, j], lost, rtol=1e-8, atol=1e-8)
            np.testing.assert_allclose(effects[:, j, i], lost, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", REGRESSORS)
def test_effects_on_queries_are_those_of_refits(name):
    X, y, w = samples(seed=3, targets=2, weights=True)
    check_effects(edited(REGRESSORS[name], X, y, w), np.array([[0.1, -0.3], [2.0, 1.0]]))


@pytest.mark.parametrize("two", [True, False])
@pytest.mark.parametrize("name", CLASSES)
def test_effects_on_queries_of_classes_are_those_of_refits(name, two):
    X, _, w = samples(seed=1, n=12, two=two, weights=True)
    y = np.arange(12) % (2 if two else 3)
    model = clone(CLASSES[name]).fit(X, y, sample_weight=w)
    check_effects(model, np.array([[0.1, -0.3]]), model.classes_)


def test_effects_of_groups_are_those_of_refits():
    X, y, w = samples(seed=4, n=13, targets=2, weights=True)
    codes = np.array([0, 1, 0, 2, 3, 3, 4, 4, 4, 5, 6, 6, 6])
    model = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X, y, sample_weight=w, groups=codes)
    check_effects(model, np.array([[0.1, -0.3]]), codes=codes)


def test_copies_explain_a_prediction_jointly():
    X = np.linspace(-3, 3, 40)[:, None]
    y = np.sin(X[:, 0])
    X[4], y[4], y[9] = X[9], 3.0, 3.0
    table = {"x": X[:, 0].tolist(), "y": y.tolist()}
    model = TableModel(LeastSquaresSVR(gamma=3.0, C=100.0), target="y").fit(table)
    pairs = leave_two_out(model, {"x": [float(X[9, 0]), 2.0]})
    (first, second, effect, jointly), *others = pairs.explain_query(0, 3)
    assert (first, second) == (4, 9)
    assert effect > 1.0
    assert jointly > 0.2 * effect  # without one, its copy stands in for it
    assert len(others) == 2
    assert abs(others[0][2]) <= effect
    assert pairs.explain_query(1, 1)[0][:2] != (4, 9)


def test_queries_are_needed_to_explain_one():
    X, y, _ = samples(seed=5, n=12, targets=0)
    pairs = leave_two_out(LeastSquaresSVR(gamma=0.5, C=10.0).fit(X, y))
    with pytest.raises(ValueError, match=r"needs queries.*leave_two_out\(model, X\)"):
        pairs.explain_query()


def test_an_estimator_without_a_closed_form_is_refused():
    X, y, _ = samples(seed=5, n=12, two=True)
    y = np.arange(12) % 2
    engine = LagrangianSVC(gamma=0.5, C=1.0).fit(X, y)._serving()
    with pytest.raises(ValueError, match="closed form"):
        engine.engine.pair_effects(engine.holdings, X[:1])


def test_effects_after_a_pickle_are_the_same():
    X, y, _ = samples(seed=5, n=12, targets=0)
    model = LeastSquaresSVR(gamma=0.5, C=10.0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(
        leave_two_out(again, X[:1]).effects, leave_two_out(model, X[:1]).effects, atol=1e-12
    )
