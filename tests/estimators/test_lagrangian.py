"""LagrangianSVC against nonnegative least squares of its dual problem, duan2008, eq. (2)."""

import copy
import pickle

import numpy as np
import pytest
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel

from gramian import LagrangianSVC, LeastSquaresSVC, forget
from gramian.core.gram import LiveSystem, NotPositiveDefiniteError
from gramian.core.gram._normal import LiveNormal
from gramian.svm._lagrangian_dense import GramSpace
from gramian.svm._lagrangian_equations import Tableau
from tests.estimators.conftest import class_targets
from tests.tolerance import tolerance

GAMMA, C = 0.3, 10.0
PIVOT = LagrangianSVC(gamma=GAMMA, C=C)
ITERATION = LagrangianSVC(gamma=GAMMA, C=C, solver="lagrangian", tol=1e-12, max_iter=100_000)
LINEAR = LagrangianSVC(kernel="linear", C=C)
MODELS = {
    "pivot": PIVOT,
    "pivot-cholesky": clone(PIVOT).set_params(factor="cholesky"),
    "iteration": ITERATION,
    "linear": LINEAR,
    "linear-gram": clone(LINEAR).set_params(factor="inverse"),
    "linear-iteration": clone(ITERATION).set_params(kernel="linear"),
    "poly": clone(PIVOT).set_params(kernel="poly", degree=2, coef0=0.5),
}
# The bias is in the kernel of samples with a constant added, [A −e] in duan2008.
KERNELS = {
    "rbf": lambda X, Y: rbf_kernel(X, Y, gamma=GAMMA),
    "laplacian": lambda X, Y: laplacian_kernel(X, Y, gamma=GAMMA),
    "linear": lambda X, Y: _augmented(X) @ _augmented(Y).T,
    "poly": lambda X, Y: polynomial_kernel(
        _augmented(X), _augmented(Y), gamma=GAMMA, degree=2, coef0=0.5
    ),
}


def _augmented(X):
    return np.column_stack([X, -np.ones(len(X))])


@pytest.fixture(params=MODELS)
def model(request):
    return clone(MODELS[request.param])


def samples(n=50, *, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    signal = X[:, 0] + 0.5 * np.square(X[:, 1]) + 0.4 * rng.standard_normal(n)
    return X, np.argsort(np.argsort(signal)) * classes // n


def reference(K, y, weight=None):
    """``y α`` of ``min ½ αᵀQα − 1ᵀα, α ≥ 0``: with Q = L Lᵀ, min ‖Lᵀα − L⁻¹1‖ over α ≥ 0."""
    D = np.diag(np.ones(len(y)) if weight is None else 1.0 / weight)
    L = np.linalg.cholesky(y[:, None] * (K + D / C) * y)
    return y * nnls(L.T, np.linalg.solve(L, np.ones(len(y))))[0]


def references(model, X, y, weight=None):
    K = KERNELS[model.kernel](X, X)
    return np.column_stack([reference(K, column, weight) for column in class_targets(y).T])


def reference_loo(model, X, y, weight=None):
    out = np.empty((len(X), class_targets(y).shape[1]))
    for i in range(len(X)):
        stay = np.arange(len(X)) != i
        Z = references(model, X[stay], y[stay], None if weight is None else weight[stay])
        out[i] = KERNELS[model.kernel](X[i : i + 1], X[stay]) @ Z
    return out


def close(a, b, *, n=50, updates=0, scale=1.0):
    """Equal up to rounding; the condition of K + I/C is below n C k_max here."""
    scale = max(scale, np.abs(b).max())
    atol = scale * tolerance(n, updates=updates, cond=10 * n * C, power=1)
    assert atol < 1e-8 * scale
    np.testing.assert_allclose(a, b, rtol=0, atol=atol)


def squeezed(values):
    return values[:, 0] if values.shape[1] == 1 else values


def assert_solves(model, X, y, weight=None, *, updates=0, loo=True):
    Z = references(model, X, y, weight)
    close(model.dual_coef_, squeezed(Z), updates=updates)
    np.testing.assert_array_equal(model.support_, np.flatnonzero((Z != 0).any(axis=1)))
    np.testing.assert_array_equal(model.support_ids_, model.ids_[model.support_])
    Xq = samples(9, seed=9)[0]
    values = squeezed(KERNELS[model.kernel](Xq, X) @ Z)
    close(model.decision_function(Xq), values, updates=updates)
    assert model.drift() < 1e-9  # margins are of the order of 1
    if loo:
        expected = squeezed(reference_loo(model, X, y, weight))
        close(model.loo_decision_function(), expected, updates=updates)


# -- the solution -------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_solves_the_dual_problem(model, classes):
    X, y = samples(classes=classes)
    assert_solves(model.fit(X, y), X, y)


def test_solves_it_with_weights(model):
    X, y = samples()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 50)
    model.fit(X[:40], y[:40], sample_weight=weight[:40])
    model.partial_fit(X[40:], y[40:], sample_weight=weight[40:])
    assert_solves(model, X, y, weight, updates=10)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 12])
def test_increment_and_decrement(model, k):
    X, y = samples(classes=3)
    model.fit(X[:-k], y[:-k]).partial_fit(X[-k:], y[-k:])
    assert_solves(model, X, y, updates=k, loo=False)
    model.forget(np.arange(k))
    assert_solves(model, X[k:], y[k:], updates=2 * k)


def test_the_solvers_agree():
    X, y = samples(120)
    pivot, iteration = clone(PIVOT).fit(X, y), clone(ITERATION).fit(X, y)
    # the bar, relative to the largest coefficient
    scale = np.abs(pivot.dual_coef_).max()
    np.testing.assert_allclose(iteration.dual_coef_, pivot.dual_coef_, rtol=0, atol=1e-10 * scale)
    np.testing.assert_array_equal(iteration.support_, pivot.support_)
    assert pivot.n_iter_ <= 8 < iteration.n_iter_


def test_search_from_a_part_of_many_samples():
    X, y = samples(450)
    order = np.argsort(y, kind="stable")  # all of one class first
    X, y = X[order], y[order]
    model = clone(PIVOT).fit(X, y)
    Y, z = class_targets(y)[:, 0], model.dual_coef_
    f = KERNELS["rbf"](X, X) @ z
    inside = z != 0
    assert np.all(Y[inside] * z[inside] > 0)  # the conditions of an optimum, one by one
    missing, slack = 1.0 - Y * f, Y * z / C
    np.testing.assert_allclose(missing[inside], slack[inside], rtol=0, atol=1e-10)  # issue's bar
    assert np.all(missing[~inside] <= 0.0)


@pytest.mark.slow
def test_many_edits_one_by_one(model):
    X, y = samples(80, classes=3)
    rng = np.random.default_rng(0)
    model.fit(X[:40], y[:40])
    holdings, unused = list(range(40)), list(range(40, 80))
    for _ in range(30):
        i = unused.pop(int(rng.integers(len(unused))))
        model.partial_fit(X[[i]], y[[i]], ids=[i + 1000])
        out = int(rng.integers(len(holdings)))
        model.forget(model.ids_[out])
        unused.append(holdings.pop(out))
        holdings.append(i)
        unused = [j for j in unused if j + 1000 not in model.ids_]  # an id is never used again
        unused += [j for j in range(40) if j not in holdings and j not in unused][:1]
    np.testing.assert_array_equal(model.X_fit_, X[holdings])
    assert_solves(model, X[holdings], y[holdings], updates=60)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parameters", "dtype"),
    [
        ({"kernel": "poly", "C": 1e10}, np.float64),
        ({"C": 1e10}, np.float64),
        ({"factor": "qr", "C": 1e10}, np.float64),
        ({"C": 1e4}, np.float32),
    ],
)
def test_edits_at_a_large_C_end_where_a_fit_does(parameters, dtype):
    """A slack is λα: at a large C, one within rounding error may be that of a large α."""
    X, y = samples(120)
    X, Xq = X.astype(dtype), samples(50, seed=9)[0].astype(dtype)
    model = LagrangianSVC(gamma=GAMMA, **parameters)
    model.fit(X[:80], y[:80])
    for i in range(40):
        model.partial_fit(X[80 + i : 81 + i], y[80 + i : 81 + i]).forget(i)
    orders = [
        np.arange(40, 120),
        *(np.random.default_rng(s).permutation(80) + 40 for s in (0, 1, 2)),
    ]
    fits = [clone(model).fit(X[order], y[order]).decision_function(Xq) for order in orders]
    rounding = max(np.abs(fit - fits[0]).max() for fit in fits[1:])
    assert rounding < 1e-2 * np.abs(fits[0]).max()  # and fits agree with one another
    assert np.abs(model.decision_function(Xq) - fits[0]).max() <= 100 * rounding


# -- what is not felt ---------------------------------------------------------------------------


def test_forgetting_bystanders_changes_no_bit():
    X, y = samples(classes=3)
    model = clone(PIVOT).fit(X, y)
    Xq = samples(9, seed=9)[0]
    before, support = model.decision_function(Xq), model.support_ids_
    model.forget(np.setdiff1d(model.ids_, support)[::2])
    np.testing.assert_array_equal(model.decision_function(Xq), before)
    np.testing.assert_array_equal(model.support_ids_, support)


def test_learning_what_is_known_solves_nothing(monkeypatch):
    X, y = samples(classes=3)
    model = clone(PIVOT).fit(X, y)
    sure = np.setdiff1d(np.arange(50), model.support_)
    before = model.decision_function(X)
    for name in ("append", "remove", "solution"):
        monkeypatch.setattr(LiveSystem, name, lambda *_: pytest.fail("the support was touched"))
    model.partial_fit(X[sure], y[sure])  # once more
    np.testing.assert_array_equal(model.decision_function(X), before)
    assert len(model.ids_) == 50 + len(sure)


def test_linear_sums_feel_no_bystander_either(monkeypatch):
    X, y = samples()
    model = clone(LINEAR).fit(X, y)
    sure = np.setdiff1d(np.arange(50), model.support_)
    before = model.decision_function(X)
    monkeypatch.setattr(LiveNormal, "solution", lambda *_: pytest.fail("the sums were solved"))
    model.partial_fit(X[sure], y[sure]).forget(sure)
    np.testing.assert_array_equal(model.decision_function(X), before)
    monkeypatch.undo()
    model.forget(model.support_ids_[:2])
    close(
        model.decision_function(X),
        clone(model).fit(model.X_fit_, model.y_fit_).decision_function(X),
    )


def test_predictions_read_the_support_vectors_alone():
    X, y = samples()
    model = clone(PIVOT).fit(X, y)
    assert len(model._reading()[1].centres) == len(model.support_) < 50


def test_forgetting_every_support_vector():
    X, y = samples(80)
    model = clone(PIVOT).fit(X, y)
    gone = model.support_
    stay = np.delete(np.arange(80), gone)
    assert len(np.unique(y[stay])) == 2
    assert_solves(model.forget(gone), X[stay], y[stay], updates=len(gone))


def test_leave_one_out_leaves_the_model_alone(model):
    X, y = samples()
    before = model.fit(X, y).dual_coef_
    model.loo_score()
    np.testing.assert_array_equal(model.dual_coef_, before)
    close(model.forget(0).dual_coef_, references(model, X[1:], y[1:])[:, 0], updates=1)


def test_leave_one_out_outside_the_support_is_the_decision_value():
    X, y = samples()
    model = clone(PIVOT).fit(X, y)
    outside = np.delete(np.arange(50), model.support_)
    close(model.loo_decision_function()[outside], model.decision_function(X)[outside])


# -- the bias -----------------------------------------------------------------------------------


def test_the_linear_kernel_has_a_penalised_bias():
    X, y = samples()
    X = X + 3.0
    for factor in ("primal", "inverse"):
        model = LagrangianSVC(kernel="linear", C=C, factor=factor).fit(X, y)
        w = np.append(model.coef_, model.intercept_)
        Y = class_targets(y)[:, 0]
        close(model.decision_function(X), X @ model.coef_ + model.intercept_)
        # stationary: the gradient of ½(‖w‖² + b²) + C/2 Σ (1 − y f)₊² is zero
        ones = np.column_stack([X, np.ones(50)])
        slack = np.maximum(1.0 - Y * (ones @ w), 0.0)
        close(w, C * ones.T @ (Y * slack), scale=C * 50)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly"])
def test_other_kernels_have_no_bias_beside_the_kernel(kernel):
    X, y = samples()
    model = clone(PIVOT).set_params(kernel=kernel, degree=2, coef0=0.5).fit(X, y)
    assert model.intercept_ == 0.0
    assert_solves(model, X, y, loo=False)
    if kernel != "poly":  # shifting all samples changes nothing
        shifted = clone(model).fit(X + 5.0, y)
        close(shifted.decision_function(X + 5.0), model.decision_function(X))


def test_precomputed_kernels_are_taken_as_they_are():
    X, y = samples()
    K = KERNELS["linear"](X, X)
    own = LagrangianSVC(kernel="precomputed", C=C).fit(K[:40, :40], y[:40])
    own.partial_fit(K[40:], y[40:]).forget([3])
    named = clone(LINEAR).fit(X, y).forget([3])
    stay = np.delete(np.arange(50), 3)
    close(own.decision_function(K[:, stay]), named.decision_function(X), updates=11)
    np.testing.assert_array_equal(own.X_fit_, K[np.ix_(stay, stay)])


# -- the object ---------------------------------------------------------------------------------


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_live_their_own_lives(model, duplicate):
    X, y = samples(classes=3)
    twin = duplicate(model.fit(X, y).forget([1, 2]))
    before = model.dual_coef_
    twin.partial_fit(X[:2], y[:2]).forget(range(10, 20))
    np.testing.assert_array_equal(model.dual_coef_, before)
    stay = np.concatenate([[0], np.arange(3, 10), np.arange(20, 50), [0, 1]])
    assert_solves(twin, X[stay], y[stay], updates=14, loo=False)


def test_state_as_plain_values(model):
    X, y = samples(classes=3)
    twin = clone(model)
    twin._set_state(model.fit(X, y).forget([3])._get_state())
    np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(twin.support_, model.support_)
    close(twin.forget([4]).decision_function(X), model.forget([4]).decision_function(X))


def test_kernels_that_are_not_positive_definite_leave_the_model_alone():
    X, y = samples()
    model = LagrangianSVC(kernel=lambda X, Y: rbf_kernel(X, Y) - 3.0 * (X @ Y.T > 12.0), C=C)
    X[-3:] = 5.0
    with pytest.raises(NotPositiveDefiniteError):
        model.fit(X, y)
    model.fit(X[:-3], y[:-3])
    before = model.decision_function(X)
    with pytest.raises(NotPositiveDefiniteError):
        model.partial_fit(X[-3:], 1 - y[-3:])
    np.testing.assert_array_equal(model.decision_function(X), before)
    np.testing.assert_array_equal(model.ids_, np.arange(47))
    assert model.rebuilds_ == []  # nor was anything rebuilt for that
    model.partial_fit(X[:1], y[:1]).forget([0])
    close(model.decision_function(X), before, updates=2)


def test_refactor_and_its_record(model):
    X, y = samples()
    before = model.fit(X, y).dual_coef_
    assert model.rebuild() is model
    close(model.dual_coef_, before)
    assert model.rebuilds_[-1].reason == "asked for"
    assert model.factor_ in ("inverse", "cholesky", "primal")


@pytest.mark.slow
def test_outliers_leave_the_linear_sums():
    X, y = samples()
    model = clone(LINEAR).fit(X, y)
    before = model.decision_function(X)
    model.partial_fit(np.full((1, 3), 1e8), [0]).loo_score()
    model.forget([50])
    close(model.decision_function(X), before)


def test_a_model_that_grows_changes_to_sums_and_stays_there():
    X, y = samples()
    model = clone(LINEAR).fit(X[:8], y[:8])
    assert model.factor_ == "inverse"
    model.partial_fit(X[8:], y[8:])
    assert model.factor_ == "primal"
    assert model.rebuilds_[-1].reason == "more than 2 (d + 1) samples"
    assert_solves(model, X, y, updates=42)
    model.forget(np.arange(8, 50))
    assert (model.factor_, model.refitted().factor_) == ("primal", "inverse")
    assert_solves(model, X[:8], y[:8], updates=84)


def test_what_was_chosen_on_samples_is_named_and_chosen_anew():
    X, y = samples()
    model = LagrangianSVC(C=C).fit(X, y).forget([1, 2])
    assert model.chosen_on_data_ == ("gamma",)
    fresh = clone(model).fit(X[[0, *range(3, 50)]], y[[0, *range(3, 50)]])
    assert model.reselect(fresh=True).gamma_ == fresh.gamma_
    close(model.decision_function(X), fresh.decision_function(X), updates=2)
    assert clone(PIVOT).fit(X, y).chosen_on_data_ == ()


def test_a_refit_of_what_is_held_is_a_model_of_its_own(model):
    X, y = samples(classes=3)
    twin = model.fit(X, y).forget([1, 2]).refitted()
    before = model.decision_function(X)
    close(twin.decision_function(X), before, updates=2)
    twin.forget(range(10, 20))
    np.testing.assert_array_equal(model.decision_function(X), before)


# -- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"C": 0}, "C must be > 0"),
        ({"C": "scale"}, 'C must be > 0 and finite, or "loo"'),
        ({"gamma": "cv"}, "gamma must be > 0 or one of"),
        ({"solver": "smo"}, "solver must be one of"),
        ({"step": 2.0}, "step must be between 0 and 2, in units of 1/C"),
        ({"step": 0.0}, "step must be between 0 and 2"),
        ({"step": None}, "step must be between 0 and 2"),
        ({"tol": 0.0}, "tol must be > 0"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1"),
        ({"max_iter": 1.5}, "max_iter must be an integer >= 1"),
    ],
)
def test_bad_parameters(parameters, match):
    X, y = samples()
    with pytest.raises(ValueError, match=match):
        LagrangianSVC(**parameters).fit(X, y)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_width_and_strength_are_those_of_least_squares(kernel):
    X, y = samples()
    chosen = LeastSquaresSVC(kernel=kernel).fit(X, y)
    model = LagrangianSVC(kernel=kernel).fit(X, y)
    assert model.gamma_ == chosen.gamma_
    # The kernel of the samples with a constant has the same path, up to rounding.
    np.testing.assert_allclose(model.C_, chosen.C_, rtol=1e-6)
    assert model.selection_.criterion == "log"
    given = LagrangianSVC(kernel=kernel, gamma=model.gamma_ or 1.0, C=model.C_).fit(X, y)
    assert given.selection_ is None
    # The ridge that was chosen is 1 / C_ only up to rounding.
    same = {"rtol": 0.0, "atol": tolerance(len(X))}
    np.testing.assert_allclose(model.decision_function(X), given.decision_function(X), **same)
    chosen_on_data = forget(model, [3], verify=True).chosen_on_data
    assert chosen_on_data == (("gamma", "C") if kernel == "rbf" else ("C",))


def test_iteration_warns_when_it_is_not_done():
    X, y = samples()
    model = clone(ITERATION).set_params(max_iter=3)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter, or take solver"):
        model.fit(X, y)
    assert model.n_iter_ >= 3


def blurred():
    """A model whose slacks an outlier drowns in rounding errors, and its samples."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), np.arange(40) % 2
    X[7, 1] = 1e6
    model = LagrangianSVC(kernel="poly", degree=2, gamma=0.5, C=1e6)
    model.fit(np.delete(X[:30], 7, axis=0), np.delete(y[:30], 7), ids=np.delete(np.arange(30), 7))
    return model.partial_fit(X[7:8], y[7:8], ids=[7]), X, y


@pytest.mark.filterwarnings("ignore::gramian.ScaleWarning")
def test_where_slacks_are_lost_the_past_does_not_matter():
    model, X, y = blurred()
    for i in range(30, 34):
        model.partial_fit(X[i : i + 1], y[i : i + 1], ids=[i]).forget([i - 30])
    assert "slacks are lost in rounding error" in [r.reason for r in model.rebuilds_]
    some = np.abs(X).max(axis=1) < 10
    fresh = model.refitted()
    np.testing.assert_array_equal(
        model.decision_function(X[some]), fresh.decision_function(X[some])
    )
    model.forget([7])  # the outlier
    fresh = model.refitted()
    np.testing.assert_array_equal(
        model.decision_function(X[some]), fresh.decision_function(X[some])
    )


@pytest.mark.filterwarnings("ignore::gramian.ScaleWarning")
def test_where_no_support_is_found_anew_the_last_one_serves(monkeypatch):
    model, X, y = blurred()

    def refuse(*args):
        raise np.linalg.LinAlgError("no support")

    monkeypatch.setattr(type(model._now.engine), "fresh", refuse)
    model.partial_fit(X[30:32], y[30:32])
    assert len(model.ids_) == 32
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gramian.ScaleWarning")
@pytest.mark.parametrize(("dtype", "far", "large"), [(np.float32, 1.0, 120.0), (float, 1e4, 6e4)])
def test_where_slacks_are_lost_a_query_leaves_nothing_behind(dtype, far, large):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((16, 2)), np.arange(16) % 3
    X[:, 0] += 1.5 * y
    X[-1] *= far
    X, queries = X.astype(dtype), rng.standard_normal((3, 2)).astype(dtype)
    model = LagrangianSVC(kernel="poly", gamma=0.3, C=large).fit(X, y)
    together = model.p_values(queries)
    alone = [clone(model).fit(X, y).p_values(query[None])[0] for query in queries]
    np.testing.assert_array_equal(together, alone)


def test_a_query_that_an_update_refuses_is_learned_from_scratch(monkeypatch):
    X, y = np.random.default_rng(0).standard_normal((12, 2)), np.arange(12) % 2
    model = clone(PIVOT).fit(X, y)
    expected = model.p_values(X[:2] + 0.1)

    def refuse(*args):
        raise NotPositiveDefiniteError(0, 0.0, 1.0, new=True)

    monkeypatch.setattr(type(model._now.engine), "append", refuse)
    np.testing.assert_array_equal(model.p_values(X[:2] + 0.1), expected)
    fresh = type(model._now.engine).fresh
    monkeypatch.setattr(
        type(model._now.engine),
        "fresh",
        lambda engine, held, *why: refuse() if len(held) == 13 else fresh(engine, held, *why),
    )
    with pytest.raises(NotPositiveDefiniteError, match="learning a query failed at new sample 0"):
        model.p_values(X[:2] + 0.1)


def without_each(model, at):
    """Values at some places without each sample, as the model knows them."""
    now = model._serving()
    return np.concatenate([F for _, F in now.engine.without_each(now.holdings, at)])


def singular(*args):
    raise np.linalg.LinAlgError("singular")


@pytest.mark.slow
@pytest.mark.parametrize("lost", [(Tableau, "exchanged"), (GramSpace, "tableau")])
@pytest.mark.parametrize("classes", [2, 3])
def test_where_pivoting_without_a_sample_fails_fits_serve(lost, classes, monkeypatch):
    X, y = samples(24, classes=classes)
    model, at = clone(PIVOT).fit(X, y), samples(5, seed=9)[0]
    monkeypatch.setattr(*lost, singular)
    expected = reference_loo(model, X, y)
    close(model.loo_decision_function(), squeezed(expected))
    found = without_each(model, at)
    for i in range(24):
        stay = np.arange(24) != i
        Z = references(model, X[stay], y[stay])
        close(found[:, i], KERNELS["rbf"](at, X[stay]) @ Z)


def test_where_fits_without_a_sample_fail_too_the_error_says_so(monkeypatch):
    X, y = samples(24)
    model = clone(PIVOT).fit(X, y)
    before = model.decision_function(X)
    with monkeypatch.context() as patch:
        patch.setattr(Tableau, "exchanged", singular)
        patch.setattr("gramian.core.engines._doubt.outputs_without", singular)
        with pytest.raises(np.linalg.LinAlgError, match="without some sample no support set"):
            model.loo_decision_function()
    np.testing.assert_array_equal(model.decision_function(X), before)
    close(model.loo_decision_function(), squeezed(reference_loo(model, X, y)))
