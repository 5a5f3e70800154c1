"""LS-SVM against direct solves of the paper's bordered system, duan2008, eq. (6)."""

from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import r2_score

from gramian import LeastSquaresSVC, LeastSquaresSVR
from gramian.core.gram import _inverse, _slots
from tests.estimators.conftest import class_targets, close_values, make_samples, queries, rbf

GAMMA, C = 0.5, 10.0
close = partial(close_values, n=40, cond=40 * C)  # the condition of K + I/C is below n C here


def bordered(X, Y, weight=None):
    """Intercepts and coefficients: ``[0 1ᵀ; 1 K + D/C] [b; α] = [0; y]``, solved as it stands."""
    n = len(X)
    D = np.diag(np.ones(n) if weight is None else 1.0 / weight)
    system = np.block([[np.zeros((1, 1)), np.ones((1, n))], [np.ones((n, 1)), rbf(X, X) + D / C]])
    solution = np.linalg.solve(system, np.vstack([np.zeros((1, Y.shape[1])), Y]))
    return solution[0], solution[1:]


def bordered_loo(X, Y, weight=None):
    """Decision values at each sample of the model solved without it."""
    out = np.empty_like(Y)
    for i in range(len(X)):
        stay = np.arange(len(X)) != i
        b, alpha = bordered(X[stay], Y[stay], None if weight is None else weight[stay])
        out[i] = rbf(X[i : i + 1], X[stay]) @ alpha + b
    return out


def samples(n=40, *, classes=2):
    return make_samples(LeastSquaresSVC(), n, classes=classes)


def responses(n=40, *, t=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, np.sin(X[:, :t]) + 0.1 * rng.standard_normal((n, t))


def squeezed(values):
    return values[..., 0] if values.shape[-1] == 1 else values


def assert_solves(model, X, Y, weight=None, updates=0):
    b, alpha = bordered(X, Y, weight)
    close(model.intercept_, squeezed(b), updates=updates)
    close(model.dual_coef_, squeezed(alpha), updates=updates)
    close(model.loo_decision_function(), squeezed(bordered_loo(X, Y, weight)), updates=updates)


# -- the solution -------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_classifier_solves_the_bordered_system(classes, weighted):
    X, y = samples(classes=classes)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    model = LeastSquaresSVC(gamma=GAMMA, C=C).fit(X, y, sample_weight=weight)
    assert_solves(model, X, class_targets(y), weight)


@pytest.mark.parametrize("t", [1, 3])
def test_regressor_solves_the_bordered_system(t):
    X, Y = responses(t=t)
    assert_solves(LeastSquaresSVR(gamma=GAMMA, C=C).fit(X, squeezed(Y)), X, Y)


@pytest.mark.parametrize("factor", ["inverse", "cholesky", "qr"])
@pytest.mark.parametrize("k", [1, 7])
def test_increment_and_decrement_solve_the_bordered_system(k, factor):
    X, y = samples(40, classes=3)
    model = LeastSquaresSVC(gamma=GAMMA, C=C, factor=factor).fit(X[:-k], y[:-k])
    model.partial_fit(X[-k:], y[-k:])
    assert_solves(model, X, class_targets(y), updates=k)
    model.forget(np.arange(k))  # duan2008, section 3.3: online for k = 1, else a batch
    assert_solves(model, X[k:], class_targets(y)[k:], updates=2 * k)


def test_several_targets_follow_updates():
    X, Y = responses()
    model = LeastSquaresSVR(gamma=GAMMA, C=C).fit(X[:30], Y[:30])
    model.partial_fit(X[30:], Y[30:]).forget([0, 35])
    stay = np.delete(np.arange(40), [0, 35])
    assert_solves(model, X[stay], Y[stay], updates=12)


def test_a_weight_is_so_many_copies():
    X, y = samples(20)
    counts = np.random.default_rng(1).integers(1, 4, 20)
    copies = np.repeat(np.arange(20), counts)
    weighted = LeastSquaresSVC(gamma=GAMMA, C=C).fit(X[:15], y[:15], sample_weight=counts[:15])
    weighted.partial_fit(X[15:], y[15:], sample_weight=counts[15:]).forget([3])
    repeated = LeastSquaresSVC(gamma=GAMMA, C=C).fit(X[copies], y[copies])
    repeated.forget(np.flatnonzero(copies == 3))
    Xq = queries(9)
    close(weighted.decision_function(Xq), repeated.decision_function(Xq), updates=10)
    for i in (0, 7):  # leaving a sample out means all its copies
        without = clone(repeated).fit(X[copies], y[copies])
        without.forget(np.flatnonzero((copies == 3) | (copies == i)))
        left_out = weighted.loo_decision_function()[np.flatnonzero(weighted.ids_ == i)]
        close(left_out, without.decision_function(X[i : i + 1]), updates=10)


def test_coefficients_sum_to_zero():
    X, y = samples(classes=3)
    sums = LeastSquaresSVC(gamma=GAMMA, C=C).fit(X, y).dual_coef_.sum(axis=0)
    close(sums, np.zeros(3))


# -- live leave-one-out -------------------------------------------------------------------------


def test_reading_loo_after_an_update_passes_over_no_matrix(monkeypatch):
    X, y = samples(60, classes=3)
    model = LeastSquaresSVC(gamma=GAMMA, C=C, factor="inverse").fit(X[:50], y[:50])
    model.loo_score()  # solves for the first time
    passes = []
    for module in (_inverse, _slots):
        product = module.symmetric_product
        monkeypatch.setattr(
            module, "symmetric_product", lambda *a, f=product, **k: passes.append(1) or f(*a, **k)
        )
        monkeypatch.setattr(module, "row_blocks", lambda *a: pytest.fail("a pass in blocks"))
    for i in range(50, 58):  # after 16 edits, P is checked as a whole
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        assert len(passes) == 1  # the append's own product; none before this line reads LOO
        model.forget(i - 50)
        passes.clear()
        model.loo_score()
        model.loo_decision_function()
        assert passes == []
    close(model.loo_decision_function(), bordered_loo(X[8:58], class_targets(y)[8:58]), updates=16)


# -- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0, -1.0, np.inf, np.nan, "scale", None, True, 1j])
@pytest.mark.parametrize("model", [LeastSquaresSVC(), LeastSquaresSVR()])
def test_bad_C(model, bad):
    X, y = samples()
    with pytest.raises(ValueError, match=r'C must be > 0 and finite, or "loo", got'):
        clone(model).set_params(C=bad).fit(X, y)


def test_C_is_taken_as_it_is():
    X, y = samples()
    for value in (3, 0.1, 49.0):  # 1 / (1 / 49) is not 49
        model = LeastSquaresSVC(gamma=GAMMA, C=value).fit(X, y)
        assert value == model.C_


@pytest.mark.parametrize("estimator", [LeastSquaresSVC, LeastSquaresSVR])
def test_defaults_are_chosen_by_leave_one_out(estimator):
    X, y = samples()
    model = estimator(random_state=0).fit(X, y)
    assert 1.0 / model.selection_.ridge == model.C_
    assert model.gamma_ == model.selection_.gamma
    poor = estimator(gamma=model.gamma_ * 100, C=model.C_).fit(X, y)
    assert model.loo_score() > poor.loo_score()


# -- regression ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(40,), (40, 1), (40, 2)])
def test_outputs_have_the_shape_of_the_targets(shape):
    X, Y = responses()
    y = np.resize(Y, shape)
    model = LeastSquaresSVR(gamma=GAMMA, C=C).fit(X, y)
    assert model.predict(X[:5]).shape == (5, *shape[1:])
    assert model.loo_predict().shape == model.dual_coef_.shape == shape
    assert np.shape(model.intercept_) == shape[1:]
    np.testing.assert_array_equal(model.loo_decision_function(), model.loo_predict())
    assert model.loo_score() == r2_score(y, model.loo_predict())


def test_score_counts_weights():
    X, Y = responses()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 40)
    model = LeastSquaresSVR(gamma=GAMMA, C=C).fit(X, Y, sample_weight=weight)
    assert model.loo_score() == r2_score(Y, model.loo_predict(), sample_weight=weight)


def test_targets_of_another_shape_are_refused():
    X, Y = responses()
    model = LeastSquaresSVR(gamma=GAMMA, C=C).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match=r"y must have 2 columns, .*; got one dimension"):
        model.partial_fit(X, Y[:, 0])
    with pytest.raises(ValueError, match=r"y must have 2 columns, .*; got 1 columns"):
        model.partial_fit(X, Y[:, :1])
    np.testing.assert_array_equal(model.predict(X), before)
    assert model.fit(X, Y[:, 0]).predict(X).shape == (40,)  # a new fit may


def test_the_last_sample_stays():
    X, Y = responses()
    model = LeastSquaresSVR(gamma=GAMMA, C=C).fit(X, Y).forget(np.arange(39))
    close(model.predict(X), np.tile(Y[39], (40, 1)), updates=39)  # the intercept alone
    with pytest.raises(ValueError, match="forget would leave none of 1 samples"):
        model.forget([39])
    with pytest.raises(ValueError, match="leave-one-out needs at least two samples"):
        model.loo_score()


@pytest.mark.parametrize("bad", [["a"] * 40, np.full(40, np.nan), np.full(40, 1j)])
def test_targets_that_are_no_numbers(bad):
    X, _ = responses()
    with pytest.raises(ValueError, match=r"could not convert|NaN|[Cc]omplex"):
        LeastSquaresSVR(gamma=GAMMA, C=C).fit(X, bad)


def test_more_samples_than_are_held_are_learned_from_scratch():
    X = np.random.default_rng(0).standard_normal((330, 3))
    y = np.sin(X[:, 0])
    model, twin = (LeastSquaresSVR(gamma=0.5, C=3.0) for _ in range(2))
    model.fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    twin.fit(X[:40], y[:40]).partial_fit(X[40:200], y[40:200]).partial_fit(X[200:], y[200:])
    fresh = LeastSquaresSVR(gamma=0.5, C=3.0).fit(X, y)
    for found in (model, twin):
        np.testing.assert_allclose(found.predict(X), fresh.predict(X), rtol=0, atol=1e-10)
        np.testing.assert_allclose(found.loo_predict(), fresh.loo_predict(), rtol=0, atol=1e-9)
    assert [event.reason for event in model.rebuilds_] == ["more samples came than were held"]
    assert twin.rebuilds_ == []
