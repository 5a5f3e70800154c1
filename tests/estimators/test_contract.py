"""The contract of every estimator: learning, forgetting, and what a model shows of itself."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone, is_classifier

from tests.estimators.conftest import (
    ESTIMATORS,
    SQUARE,
    assert_same_model,
    assert_unchanged,
    close_values,
    every_form,
    make_samples,
    queries,
    refit,
    snapshot,
    values,
)

# -- learning and forgetting --------------------------------------------------------------------


def test_fit_returns_self_and_holds_the_samples(estimator):
    X, y = make_samples(estimator)
    assert estimator.fit(X, y) is estimator
    np.testing.assert_array_equal(estimator.ids_, np.arange(30))
    np.testing.assert_array_equal(estimator.X_fit_, X)
    np.testing.assert_array_equal(estimator.y_fit_, y)
    assert estimator.n_features_in_ == 3
    assert values(estimator).shape[0] == 7


def test_better_than_guessing(estimator):
    X, y = make_samples(estimator, 60)
    guess = 0.5 if is_classifier(estimator) else 0.0
    assert estimator.fit(X[:40], y[:40]).score(X[40:], y[40:]) > guess


@every_form
@pytest.mark.parametrize("cuts", [[29], [20], [12, 13, 20], range(12, 30)])
def test_partial_fit_in_pieces_equals_fit(estimator, cuts):
    X, y = make_samples(estimator)
    for part in np.split(np.arange(30), cuts):
        assert estimator.partial_fit(X[part], y[part]) is estimator
    np.testing.assert_array_equal(estimator.ids_, np.arange(30))
    np.testing.assert_array_equal(estimator.X_fit_, X)
    np.testing.assert_array_equal(estimator.y_fit_, y)
    assert_same_model(estimator, refit(estimator), updates=30)


@every_form
@pytest.mark.parametrize("gone", [[0], [29], [14, 3], range(5, 12), range(2, 28)])
def test_forget_equals_refit_on_the_rest(estimator, gone):
    X, y = make_samples(estimator)
    rest = np.delete(np.arange(30), gone)
    assert estimator.fit(X, y).forget(list(gone)) is estimator
    np.testing.assert_array_equal(estimator.ids_, rest)
    np.testing.assert_array_equal(estimator.X_fit_, X[rest])
    np.testing.assert_array_equal(estimator.y_fit_, y[rest])
    assert_same_model(estimator, refit(estimator), updates=30)


def test_forget_one_by_a_bare_id(estimator):
    X, y = make_samples(estimator)
    assert_same_model(
        estimator.fit(X, y).forget(7), clone(estimator).fit(X, y).forget([7]), updates=1
    )


def test_forget_nothing_changes_nothing(estimator):
    X, y = make_samples(estimator)
    before = snapshot(estimator.fit(X, y))
    assert_unchanged(estimator.forget([]), before)


@pytest.mark.parametrize("k", [1, 9])
def test_append_then_forget_returns_to_the_start(estimator, k):
    X, y = make_samples(estimator, 30 + k)
    start = clone(estimator).fit(X[:30], y[:30])
    estimator.fit(X[:30], y[:30]).partial_fit(X[30:], y[30:]).forget(range(30, 30 + k))
    np.testing.assert_array_equal(estimator.X_fit_, X[:30])
    assert_same_model(estimator, start, updates=2 * k)


def test_any_order_of_the_same_edits_predicts_the_same(estimator):
    X, y = make_samples(estimator, 36)
    a, b, c, d = np.arange(18), np.arange(18, 24), np.arange(24, 30), np.arange(30, 36)

    def learn(model, part):
        return model.partial_fit(X[part], y[part], ids=part)

    one = learn(learn(learn(estimator, a), b), c).forget(b[:4]).forget(a[:5])
    one = learn(one, d)
    two = learn(learn(learn(clone(estimator), a), d).forget(a[:5][::-1]), c)
    two = learn(two, b[::-1]).forget(b[:4])
    assert_same_model(one, two, updates=40)


EDITS = st.lists(st.tuples(st.booleans(), st.integers(1, 6), st.integers(0, 10**6)), max_size=8)


@pytest.mark.parametrize("name", ESTIMATORS)
@settings(max_examples=5)
@given(script=EDITS)
def test_random_edit_scripts_equal_a_refit(name, script):
    model = clone(ESTIMATORS[name])
    X, y = make_samples(model, 60, classes=3)
    holdings, unused = list(range(0, 60, 5)), [i for i in range(60) if i % 5]
    model.fit(X[holdings], y[holdings], ids=holdings)
    kept = {0, 25, 50}  # one of each class or so stays for good, a model needs two
    kept |= {holdings[int(np.argmax(y[holdings] == c))] for c in np.unique(y[holdings])}
    updates = 0
    for learns, k, seed in script:
        pool = unused if learns else [i for i in holdings if i not in kept]
        chosen = np.random.default_rng(seed).permutation(pool)[:k].astype(int).tolist()
        if learns and chosen:
            model.partial_fit(X[chosen], y[chosen], ids=chosen)
            holdings, unused = holdings + chosen, [i for i in unused if i not in chosen]
        elif chosen:
            model.forget(chosen)
            holdings = [i for i in holdings if i not in chosen]
        updates += len(chosen)
    np.testing.assert_array_equal(model.ids_, holdings)
    np.testing.assert_array_equal(model.X_fit_, X[holdings])
    np.testing.assert_array_equal(model.y_fit_, y[holdings])
    assert_same_model(model, refit(model), updates=updates)
    assert model.drift() < 1e-9  # far below what any prediction of these tests could feel


# -- inputs -------------------------------------------------------------------------------------


def test_float32_is_the_float64_model_to_its_precision(estimator):
    X, y = make_samples(estimator, dtype=np.float32)
    single = clone(estimator).fit(X[:20], y[:20]).partial_fit(X[20:], y[20:]).forget([3, 4])
    X = X.astype(float)
    double = estimator.fit(X[:20], y[:20]).partial_fit(X[20:], y[20:]).forget([3, 4])
    assert single.X_fit_.dtype == np.float32
    Xq = queries().astype(np.float32)
    close_values(values(single, Xq), values(double, Xq.astype(float)), updates=12, dtype=np.float32)


def check_dtypes(estimator):
    for dtype in (np.float32, np.float64):
        X, y = make_samples(estimator, dtype=dtype)
        model = clone(estimator).fit(X, y)
        found = [values(model), model.loo_decision_function()]
        if hasattr(model, "dual_coef_"):
            found.append(model.dual_coef_)
        assert {array.dtype for array in found} == {np.dtype(dtype)}


def test_dtype_of_predictions_is_that_of_the_samples(regressor):
    check_dtypes(regressor)


def test_dtype_of_decisions_is_that_of_the_samples(classifier):
    check_dtypes(classifier)


def test_integers_are_taken_as_float64(estimator):
    X, y = make_samples(estimator)
    X = np.round(10 * X).astype(int)
    model = clone(estimator).fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    np.testing.assert_array_equal(model.X_fit_, X)
    X = X.astype(float)
    assert_same_model(model, estimator.fit(X[:20], y[:20]).partial_fit(X[20:], y[20:]), updates=10)


@every_form
def test_csr_equals_dense(estimator):
    X, y = make_samples(estimator)
    X[np.abs(X) < 0.4] = 0.0
    make = sparse.csr_array
    model = clone(estimator).fit(make(X[:20]), y[:20]).partial_fit(make(X[20:]), y[20:])
    model.forget([2, 25])
    dense = estimator.fit(X[:20], y[:20]).partial_fit(X[20:], y[20:]).forget([2, 25])
    np.testing.assert_array_equal(model.X_fit_.toarray(), dense.X_fit_)
    close_values(values(model, make(queries())), values(dense), updates=12)


def test_dense_samples_join_a_sparse_model(estimator):
    X, y = make_samples(estimator)
    model = clone(estimator).fit(sparse.csr_array(X[:20]), y[:20]).partial_fit(X[20:], y[20:])
    assert sparse.issparse(model.X_fit_)
    assert_same_model(model, estimator.fit(X[:20], y[:20]).partial_fit(X[20:], y[20:]), updates=10)


def test_sparse_samples_join_a_dense_model(estimator):
    X, y = make_samples(estimator)
    model = clone(estimator).fit(X[:20], y[:20]).partial_fit(sparse.csr_array(X[20:]), y[20:])
    np.testing.assert_array_equal(model.X_fit_, X)
    assert_same_model(model, estimator.fit(X[:20], y[:20]).partial_fit(X[20:], y[20:]), updates=10)


def test_input_arrays_are_left_alone(estimator):
    X, y = make_samples(estimator)
    ids, weight, Xq = np.arange(30) + 5, np.ones(30), queries()
    arrays = (X, y, ids, weight, Xq)
    before = copy.deepcopy(arrays)
    for array in arrays:
        array.flags.writeable = False
    estimator.fit(X[:20], y[:20], sample_weight=weight[:20], ids=ids[:20])
    estimator.partial_fit(X[20:], y[20:], ids=ids[20:]).forget(ids[3:6])
    values(estimator, Xq)
    for array, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_model_does_not_share_the_callers_arrays(estimator):
    X, y = make_samples(estimator)
    ids, weight = np.array([f"s{i}" for i in range(30)]), np.ones(30)
    before = snapshot(estimator.fit(X, y, sample_weight=weight, ids=ids))
    X[:], y[:], ids[:], weight[:] = 5.0, 1, "x", 3.0
    assert_unchanged(estimator, before)
    assert_same_model(estimator, refit(estimator))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_shown_arrays_cannot_change_the_model(estimator, make):
    X, y = make_samples(estimator)
    estimator.fit(make(X), y)
    before, left_out = snapshot(estimator), estimator.loo_decision_function().copy()
    rows = estimator.X_fit_.data if sparse.issparse(estimator.X_fit_) else estimator.X_fit_
    shown = [rows, estimator.ids_, estimator.y_fit_]
    if hasattr(estimator, "dual_coef_"):
        shown.append(estimator.dual_coef_)
    for array in [*shown, estimator.loo_decision_function()]:
        if array.flags.writeable:
            array[...] = 0
    assert_unchanged(estimator, before)
    np.testing.assert_array_equal(estimator.loo_decision_function(), left_out)


def test_shown_arrays_do_not_change_with_the_model(estimator):
    X, y = make_samples(estimator)
    estimator.fit(X, y)
    shown = estimator.ids_, estimator.X_fit_, estimator.y_fit_
    before = copy.deepcopy(shown)
    estimator.forget([0, 4]).partial_fit(X[:1] + 3, y[:1])
    for array, old in zip(shown, before, strict=True):
        np.testing.assert_array_equal(array, old)


# -- kernels ------------------------------------------------------------------------------------


def polynomial(X, Y, power=2):
    return (1.0 + X @ Y.T) ** power


@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "linear"},
        {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0},
        {"kernel": "laplacian", "gamma": 0.5},
        {"kernel": "rbf", "gamma": np.array([0.5, 1.0, 0.1])},
        {"kernel": polynomial, "kernel_params": {"power": 3}},
    ],
    ids=lambda parameters: getattr(parameters["kernel"], "__name__", parameters["kernel"]),
)
def test_every_kernel_learns_and_forgets(estimator, kernel):
    X, y = make_samples(estimator)
    X *= 0.3  # keeps the condition of polynomials where the tolerance is
    estimator.set_params(**kernel)
    model = estimator.fit(X[:20], y[:20]).partial_fit(X[20:], y[20:]).forget([1, 22])
    assert_same_model(model, refit(model), updates=12)


def test_callable_kernel_equals_the_named_one(estimator):
    X, y = make_samples(estimator)
    X *= 0.3
    coef0 = (
        0.0 if type(estimator).__name__ == "LagrangianSVC" else 1.0
    )  # it adds gamma for the bias
    named = clone(estimator).set_params(kernel="poly", gamma=1.0, degree=2, coef0=coef0).fit(X, y)
    own = estimator.set_params(kernel=polynomial, kernel_params={"power": 2}).fit(X, y)
    assert_same_model(own, named)


# -- the object ---------------------------------------------------------------------------------


def test_parameters_are_stored_as_given(estimator):
    parameters = estimator.get_params()
    assert clone(estimator).get_params() == parameters
    X, y = make_samples(estimator)
    assert estimator.fit(X, y).get_params() == parameters
    assert estimator.set_params(gamma=0.25).gamma == 0.25


def test_parameters_set_after_fit_wait_for_the_next_fit(estimator):
    X, y = make_samples(estimator)
    expected = values(clone(estimator).fit(X[:20], y[:20]).partial_fit(X[20:], y[20:]))
    estimator.fit(X[:20], y[:20])
    others = {"gamma": 7.0, "ridge": 3.0, "C": 0.01, "kernel": "precomputed"}
    others |= {"targets": "fisher", "class_weight": {0: 5.0}}
    known = estimator.get_params().keys() & others.keys()
    estimator.set_params(**{name: others[name] for name in known})
    close_values(values(estimator.partial_fit(X[20:], y[20:])), expected, updates=10)


@every_form
def test_pickle_round_trip_goes_on_learning(estimator):
    X, y = make_samples(estimator)
    estimator.fit(X[:20], y[:20]).partial_fit(X[20:25], y[20:25]).forget(3)
    twin = pickle.loads(pickle.dumps(estimator))
    close_values(values(twin), values(estimator), updates=6)
    for model in (twin, estimator):
        model.partial_fit(X[25:], y[25:]).forget([0, 27])
    np.testing.assert_array_equal(twin.ids_, estimator.ids_)
    assert_same_model(twin, refit(twin), updates=12)


def test_a_copy_leaves_the_model_its_engine_and_lock(estimator):
    X, y = make_samples(estimator)
    estimator.fit(X, y).forget(3)
    before = {"_now": estimator._now, "_mutex": estimator._mutex}
    copy.copy(estimator)
    assert all(vars(estimator)[name] is value for name, value in before.items())


@every_form
def test_a_pickle_leaves_the_model_its_engine(estimator):
    X, y = make_samples(estimator)
    engine = estimator.fit(X[:20], y[:20])._now.engine
    pickle.dumps(estimator)
    assert estimator._now.engine is engine


@every_form
def test_a_snapshot_predicts_as_before_while_the_model_is_edited(estimator):
    X, y = make_samples(estimator)
    estimator.fit(X[:20], y[:20]).partial_fit(X[20:25], y[20:25])
    engine = estimator._now.engine
    shot = estimator.snapshot(loo=True)
    now = shot._now
    assert estimator._now.engine is engine
    expected = copy.deepcopy(estimator)
    estimator.forget([0, 3]).partial_fit(X[25:], y[25:]).forget(21)
    with estimator._lock:  # held by an edit that takes long
        close_values(values(shot), values(expected), updates=25)
        np.testing.assert_allclose(shot.loo_predict(), expected.loo_predict(), rtol=1e-6)
        if is_classifier(estimator):
            assert shot.predict_proba(X).shape == (30, len(shot.classes_))
        assert shot.loo_score() == pytest.approx(expected.loo_score())
        np.testing.assert_array_equal(shot.ids_, range(25))
    assert shot._now is now  # no engine was built for all this
    assert_same_model(estimator, refit(estimator), updates=12)


def test_deep_copy_is_independent(estimator):
    X, y = make_samples(estimator)
    twin = copy.deepcopy(estimator.fit(X[:20], y[:20]).partial_fit(X[20:], y[20:]))
    before = snapshot(estimator)
    twin.forget([0, 1, 2]).partial_fit(X[:3] + 2, y[:3])
    assert_unchanged(estimator, before)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("arrival", ["fit", "partial_fit"])
def test_nothing_of_a_forgotten_sample_remains(estimator, make, arrival):
    X, y = make_samples(estimator)
    secret = np.array([[0.7071234567891, -1.414987654321, 1.732246813579]])
    label = "confidential" if is_classifier(estimator) else 0.5772156649015329
    y = np.array(["no", "yes"])[y] if is_classifier(estimator) else y
    ids = np.array([f"s{i}" for i in range(30)])
    if arrival == "fit":
        X, y, ids = np.vstack([X, secret]), np.append(y, label), np.append(ids, "patient 8128")
        estimator.fit(make(X), y, ids=ids)
    else:
        estimator.fit(make(X), y, ids=ids)
        estimator.partial_fit(make(secret), [label], ids=["patient 8128"])
    values(estimator)
    traces = [*(x.tobytes() for x in secret[0]), "patient".encode("utf-32-le"), b"patient"]
    traces += (
        [label.encode("utf-32-le"), label.encode()]
        if is_classifier(estimator)
        else [np.float64(label).tobytes()]
    )
    before = pickle.dumps(estimator)
    assert sum(trace in before for trace in traces) >= 5
    after = pickle.dumps(estimator.forget("patient 8128"))
    assert not any(trace in after for trace in traces)


def test_drift_is_small_and_refactor_is_recorded(estimator):
    X, y = make_samples(estimator)
    estimator.fit(X[:20], y[:20]).partial_fit(X[20:], y[20:]).forget([1, 5])
    before, events = values(estimator), len(estimator.rebuilds_)
    assert estimator.drift() < 1e-12  # a fresh solve leaves some eps · cond(A)
    assert estimator.rebuild() is estimator
    assert len(estimator.rebuilds_) == events + 1
    assert estimator.rebuilds_[-1].reason == "asked for"
    assert estimator.rebuilds_[-1].n_samples == 28
    assert estimator.drift() < 1e-12
    close_values(values(estimator), before, updates=12)


@pytest.mark.parametrize("name", SQUARE)
def test_factor_is_named(name):
    estimator = clone(ESTIMATORS[name])
    X, y = make_samples(estimator)
    wanted = estimator.get_params().get("factor", "auto")
    found = estimator.fit(X, y).factor_
    assert found == wanted or wanted == "auto"


@every_form
def test_settling_changes_nothing_but_what_is_pending(estimator):
    X, y = make_samples(estimator)
    estimator.fit(X[:20], y[:20]).partial_fit(X[20:25], y[20:25]).forget([3, 4])
    before = values(estimator)
    assert estimator.settle() is estimator
    close_values(values(estimator), before, updates=7)
    assert_same_model(estimator, refit(estimator), updates=7)
    system = getattr(estimator._now.engine, "system", None)
    assert getattr(getattr(system, "factor", None), "_deferred", 0) == 0
