"""The linear kernel held as sums, against the n×n form and direct solves."""

import copy
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from gramian import LeastSquaresSVC, LeastSquaresSVR, forget
from tests.estimators.conftest import close_values
from tests.tolerance import tolerance

C = 5.0
# The condition of the n×n form, for samples of a few units.
close = partial(close_values, n=60, cond=10.0 * 60 * C)


def samples(n=60, *, d=3, seed=0, shift=2.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + shift
    return X, np.column_stack([X[:, 0] - X[:, 1], X[:, 2]]) + 0.3 * rng.standard_normal((n, 2))


def labels(Y, classes=3):
    return np.argsort(np.argsort(Y[:, 0])) * classes // len(Y)


def primal(X, Y, weight=None, penalty=1.0 / C):
    """Weights and free intercept of the regularised least-squares problem, by its SVD."""
    root = np.ones((len(X), 1)) if weight is None else np.sqrt(weight)[:, None]
    d = X.shape[1]
    rows = np.vstack([root * np.column_stack([X, np.ones(len(X))]), np.zeros((d, d + 1))])
    rows[len(X) :, :d] = np.sqrt(penalty) * np.eye(d)
    targets = np.vstack([root * Y, np.zeros((d, Y.shape[1]))])
    solution = np.linalg.lstsq(rows, targets, rcond=None)[0]
    return solution[:d], solution[d]


def both(estimator, **parameters):
    """The same estimator in both forms."""
    return [
        estimator(kernel="linear", C=C, factor=factor, **parameters)
        for factor in ("primal", "inverse")
    ]


def assert_same(sums, gram, Xq, updates=0):
    assert (sums.factor_, gram.factor_) == ("primal", "inverse")
    np.testing.assert_array_equal(sums.ids_, gram.ids_)
    np.testing.assert_array_equal(sums.X_fit_, gram.X_fit_)
    for read in (
        lambda model: model.predict(Xq),
        lambda model: model.loo_predict(),
        lambda model: model.dual_coef_,
        lambda model: model.intercept_,
        lambda model: model.coef_,
    ):
        close(read(sums), read(gram), updates=updates)


# -- the same solution --------------------------------------------------------------------------


def test_equals_the_primal_solution():
    X, Y = samples()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 60)
    model = LeastSquaresSVR(kernel="linear", C=C).fit(X, Y, sample_weight=weight)
    coef, intercept = primal(X, Y, weight)
    close(model.coef_, coef.T)
    close(model.intercept_, intercept)
    loo = np.empty_like(Y)
    for i in range(60):
        stay = np.arange(60) != i
        coef, intercept = primal(X[stay], Y[stay], weight[stay])
        loo[i] = X[i] @ coef + intercept
    close(model.loo_predict(), loo)


@pytest.mark.parametrize("k", [1, 11])
def test_equals_the_gram_form_after_edits(k):
    X, Y = samples()
    sums, gram = both(LeastSquaresSVR)
    for model in (sums, gram):
        model.fit(X[:-k], Y[:-k]).partial_fit(X[-k:], Y[-k:], sample_weight=np.full(k, 2.0))
        model.forget(np.arange(k))
    assert_same(sums, gram, samples(9, seed=3)[0], updates=2 * k)


def test_classes_come_and_go():
    X, Y = samples()
    names = np.array(["b", "c", "a"])[labels(Y)]
    first = np.flatnonzero(names != "a")
    rest = np.flatnonzero(names == "a")
    sums, gram = both(LeastSquaresSVC, class_weight={"a": 2.0})
    for model in (sums, gram):
        model.fit(X[first], names[first], ids=first).partial_fit(X[rest], names[rest], ids=rest)
    Xq = samples(9, seed=3)[0]
    close(sums.decision_function(Xq), gram.decision_function(Xq), updates=20)
    close(sums.loo_decision_function(), gram.loo_decision_function(), updates=20)
    for model in (sums, gram):
        model.forget(np.flatnonzero(names == "b"))
        np.testing.assert_array_equal(model.classes_, ["a", "c"])
    close(sums.decision_function(Xq), gram.decision_function(Xq), updates=40)


def test_balanced_classes_are_summed_again():
    X, Y = samples()
    y = labels(Y)
    sums, gram = both(LeastSquaresSVC, class_weight="balanced")
    for model in (sums, gram):
        model.fit(X[:50], y[:50]).partial_fit(X[50:], y[50:]).forget([0, 55])
    close(sums.loo_decision_function(), gram.loo_decision_function(), updates=12)


def test_csr_and_single_precision():
    X, Y = samples()
    dense = LeastSquaresSVR(kernel="linear", C=C).fit(X, Y).forget([5])
    csr = sparse.csr_array(X)
    model = clone(dense).fit(csr[:50], Y[:50]).partial_fit(csr[50:], Y[50:]).forget([5])
    assert model.factor_ == "primal"
    close(model.predict(csr), dense.predict(X), updates=11)
    close(model.loo_predict(), dense.loo_predict(), updates=11)
    single = clone(dense).fit(X.astype(np.float32), Y).forget([5])
    assert single.predict(X).dtype == single.loo_predict().dtype == np.float32
    close(single.predict(X), dense.predict(X), dtype=np.float32)


# -- choosing the form --------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "factor"), [(8, "inverse"), (9, "primal")])
def test_auto_takes_the_sums_beyond_twice_the_features(n, factor):
    X, Y = samples(n)
    assert LeastSquaresSVR(kernel="linear", C=C).fit(X, Y).factor_ == factor
    assert LeastSquaresSVR(kernel="rbf", gamma=1.0, C=C).fit(X, Y).factor_ == "inverse"


def test_a_model_that_grows_changes_to_sums_on_the_way():
    X, Y = samples()
    names = np.array(["c", "a", "b"])[labels(Y)]
    order = np.argsort(names == "a", kind="stable")  # class a, first in the alphabet, comes last
    X, names = X[order], names[order]
    model = LeastSquaresSVC(kernel="linear", C=C).fit(X[:8], names[:8])
    assert model.factor_ == "inverse"
    model.partial_fit(X[8:], names[8:])
    assert model.factor_ == "primal"
    assert model.rebuilds_[-1].reason == "more than 2 (d + 1) samples"
    whole = clone(model).set_params(factor="inverse").fit(X, names)
    close(model.decision_function(X), whole.decision_function(X), updates=52)
    model.forget(np.arange(5, 58))  # and stays there
    assert model.factor_ == "primal"
    close(model.loo_decision_function(), whole.forget(np.arange(5, 58)).loo_decision_function())
    model.forget([2, 3, 4])  # until the Gram matrix is the smaller one
    assert model.factor_ == "inverse"
    assert model.rebuilds_[-1].reason == "no more than d + 1 samples are left"
    close(model.loo_decision_function(), whole.forget([2, 3, 4]).loo_decision_function())


def test_sums_are_for_the_linear_kernel():
    X, Y = samples()
    with pytest.raises(ValueError, match="sums over the features of a linear kernel, got"):
        LeastSquaresSVR(kernel="rbf", factor="primal").fit(X, Y)
    with pytest.raises(AttributeError, match="coef_ is there for the linear kernel"):
        LeastSquaresSVR(gamma=1.0, C=C).fit(X, Y).coef_  # noqa: B018


def test_C_by_leave_one_out():
    X, Y = samples(200)
    model = LeastSquaresSVR(kernel="linear").fit(X, Y)
    errors = [
        np.square(clone(model).set_params(C=value).fit(X, Y).loo_predict() - Y).mean()
        for value in (model.C_ / 4, model.C_, model.C_ * 4)
    ]
    assert np.argmin(errors) == 1
    np.testing.assert_allclose(2 * errors[1], model.selection_.value)  # a sum over two targets
    again = LeastSquaresSVR(kernel="linear", factor="inverse").fit(X, Y)
    np.testing.assert_allclose(again.loo_predict(), model.loo_predict(), atol=1e-3)  # near optimum


# -- exactness ----------------------------------------------------------------------------------


@pytest.mark.parametrize("ridge", [1e-2, 1e-6])
def test_two_thousand_edits(ridge):
    X, Y = samples(500)
    model = LeastSquaresSVR(kernel="linear", C=1.0 / ridge, factor="primal")
    model.fit(X[:100], Y[:100])
    for i in range(1000):
        j = (i + 100) % 500
        model.partial_fit(X[j : j + 1], Y[j : j + 1]).forget(i)
    holdings = np.arange(1000, 1100) % 500
    np.testing.assert_array_equal(model.X_fit_, X[holdings])
    coef, intercept = primal(X[holdings], Y[holdings], penalty=ridge)
    # what a refit reaches: the samples themselves are well conditioned
    np.testing.assert_allclose(model.predict(X), X @ coef + intercept, rtol=0, atol=1e-12)
    assert model.drift() < 1e-14


def test_an_outlier_leaves_nothing_behind():
    X, Y = samples()
    model = LeastSquaresSVR(kernel="linear", C=C).fit(X, Y)
    before = model.predict(X)
    model.partial_fit(np.full((1, 3), 1e9), np.full((1, 2), -1e9)).forget([60])
    close(model.predict(X), before)
    assert model.rebuilds_[-1].reason == "most of what the sums held has left"


def test_drift_and_refactor():
    X, Y = samples()
    model = LeastSquaresSVR(kernel="linear", C=C).fit(X, Y)
    assert model.drift() < tolerance(60)
    normal = model._now.engine._normal
    normal._sums._high[0, 0] *= 1.0 + 1e-6
    normal._B = None  # solve again
    assert 1e-10 < model.drift() < 1e-4  # of the order of the damage
    assert model.rebuild() is model
    assert model.drift() < tolerance(60)
    assert model.rebuilds_[-1].reason == "asked for"


def test_a_copy_lives_its_own_life():
    X, Y = samples()
    model = LeastSquaresSVR(kernel="linear", C=C).fit(X, Y)
    twin = copy.deepcopy(model)
    before = model.loo_predict()
    twin.forget(np.arange(30))
    np.testing.assert_array_equal(model.loo_predict(), before)
    close(twin.predict(X), clone(model).fit(X[30:], Y[30:]).predict(X), updates=30)


def test_state_as_plain_values():
    X, Y = samples()
    model = LeastSquaresSVR(kernel="linear", C=C).fit(X, Y).forget([3])
    twin = clone(model)
    twin._set_state(model._get_state())
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    np.testing.assert_array_equal(twin.coef_, model.coef_)
    close(twin.forget([4]).loo_predict(), model.forget([4]).loo_predict())


def test_state_of_a_model_that_has_shrunk_below_the_sums():
    """A fit to what is left would take the n×n form; predictions stay those of the sums."""
    X, Y = samples()
    model = LeastSquaresSVR(kernel="linear", C=C).fit(X, Y).forget(np.arange(55))
    assert (model.factor_, clone(model).fit(X[55:], Y[55:]).factor_) == ("primal", "inverse")
    twin = clone(model)
    twin._set_state(model._get_state())
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    again = clone(model)
    again._set_state(twin._get_state())
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    close(twin.forget([57]).predict(X), model.forget([57]).predict(X), updates=56)


@pytest.mark.parametrize("n", [6, 60])
def test_state_predicts_without_a_solver(n):
    X, Y = samples(n)
    model = LeastSquaresSVR(kernel="linear", C=C).fit(X, Y)
    twin = clone(model)
    twin._set_state(model._get_state())
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    assert twin._now.engine.serves is None


@pytest.mark.parametrize("factor", ["primal", "inverse"])
def test_shown_weights_cannot_change_the_model(factor):
    X, Y = samples()
    model = LeastSquaresSVR(kernel="linear", C=C, factor=factor).fit(X, Y)
    before = model.predict(X)
    model.coef_[:] = np.nan
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("factor", ["auto", "primal"])
def test_after_most_samples_left_it_is_the_model_of_the_rest(factor):
    """Rounding errors of what passed through the sums would decide where the penalty is small."""
    X, Y = samples()
    for leave in (57, 50):
        model = LeastSquaresSVR(kernel="linear", C=1e8, factor=factor).fit(X, Y)
        for i in range(0, 48, 8):
            model.forget(np.arange(i, i + 8))
        receipt = forget(model, np.arange(48, leave), verify=True)
        assert receipt.verified
        fresh = LeastSquaresSVR(kernel="linear", C=1e8).fit(X[leave:], Y[leave:])
        for found, expected in (
            (model.predict(X), fresh.predict(X)),
            (model.loo_predict(), fresh.loo_predict()),
        ):
            off = np.abs(found - expected).max() / np.abs(expected).max()
            assert off < 1e-7  # rounding of 1e-16 over a penalty of 1e-8


def test_drift_tells_what_a_small_penalty_hides():
    """A weight that the penalty alone determines: an error of 1e-6 leaves a residual of 1e-14."""
    X, Y = samples()
    model = LeastSquaresSVR(kernel="linear", C=1e8, factor="primal").fit(X[:2], Y[:2])
    model.predict(X)
    assert model.drift() < 1e-9
    engine = model._now.engine
    seen = np.column_stack([X[:2] - engine._shift, np.ones(2)])
    unseen = np.linalg.svd(seen)[2][-1]  # no sample has anything in this direction
    B = engine._solution(model._now.holdings) + 1e-6 * unseen[:, None]
    engine._refined = engine._normal._B = B
    assert 1e-8 < model.drift() < 1e-4
