"""Orthogonal estimators against direct solves on the basis that they chose."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score

from gramian import (
    LeastSquaresSVC,
    LeastSquaresSVR,
    OrthogonalKernelClassifier,
    OrthogonalKernelRegressor,
    forget,
    load,
    save,
)
from gramian.orthogonal import _spec, _trials
from gramian.orthogonal._normal_equations import basis_features
from tests.estimators.conftest import (
    assert_unchanged,
    close_values,
    make_samples,
    queries,
    snapshot,
    values,
)
from tests.tolerance import tolerance

PAPER = {"penalty": "orthogonal", "ridge": "gcv", "selection": "residual", "penalize_bias": True}
MODELS = {
    "shared": OrthogonalKernelClassifier(gamma=0.5, max_basis=12),
    "one-vs-rest": OrthogonalKernelClassifier(
        gamma=0.5, max_basis=8, basis="one-vs-rest", ridge="gcv"
    ),
    "loo": OrthogonalKernelClassifier(gamma=0.5, max_basis=12, ridge="loo", stopping="loo"),
    "paper": OrthogonalKernelClassifier(gamma=0.5, max_basis=12, **PAPER),
    "widths": OrthogonalKernelClassifier(gamma=[0.1, 1.0], max_basis=12, ridge="gcv"),
    "epsilon": OrthogonalKernelClassifier(gamma=0.5, max_basis=12, ridge="gcv", epsilon=0.01),
    "regressor": OrthogonalKernelRegressor(gamma=0.5, max_basis=12),
    "regressor-loo": OrthogonalKernelRegressor(
        gamma=0.5, max_basis=12, penalty="orthogonal", ridge="loo", stopping="loo"
    ),
    "regressor-epsilon": OrthogonalKernelRegressor(
        gamma=0.5, max_basis=12, ridge="gcv", epsilon=0.01
    ),
}
CLASSIFIERS = [name for name, model in MODELS.items() if is_classifier(model)]


@pytest.fixture(params=MODELS)
def estimator(request):
    return clone(MODELS[request.param])


@pytest.fixture(params=CLASSIFIERS)
def classifier(request):
    return clone(MODELS[request.param])


def bases(model):
    return model._now.engine.bases


# -- direct solves ------------------------------------------------------------------------------


def design(model, basis, X, ids=None):
    """The columns of a basis, with epsilon where a sample is its own centre."""
    widths = np.broadcast_to(model.gamma_, len(model.gamma_) if np.ndim(model.gamma_) else 1)
    distances = ((X[:, None] - basis.centres.points[None]) ** 2).sum(axis=2)
    columns = np.exp(-widths[basis.centres.which] * distances)
    if ids is not None:
        columns += model.epsilon * (ids[:, None] == model.ids_[basis.centres.samples])
    return np.column_stack([np.ones(len(X)), columns])


def targets(model, basis, y):
    if is_classifier(model):
        return np.where(y[:, None] == basis.outputs, 1.0, -1.0)
    return y.reshape(len(y), -1)[:, basis.outputs]


def solve(model, basis, weight):
    """Weights by least squares on the samples held, the penalty λ‖U w‖² as further rows."""
    K = design(model, basis, model.X_fit_, model.ids_)
    penalty = np.sqrt(basis.live.ridge) * basis.live.U
    if not model.penalize_bias:
        penalty = penalty[1:]
    roots = np.sqrt(weight)[:, None]
    Y = targets(model, basis, model.y_fit_)
    rows = np.vstack([K * roots, penalty])
    return np.linalg.lstsq(
        rows, np.vstack([Y * roots, np.zeros((len(penalty), Y.shape[1]))]), rcond=None
    )[0]


def combine(model, blocks):
    """Outputs of all bases as the model shows them."""
    found = np.hstack(blocks)
    order = np.argsort(np.concatenate([basis.outputs for basis in bases(model)]))
    found = found[:, order]
    if is_classifier(model) and found.shape[1] == 2:
        return found[:, 1]
    return found[:, 0] if found.shape[1] == 1 else found


def solved_values(model, X, weight=None):
    """What the model should say, by direct solves on its centres and its λ."""
    weight = np.ones(len(model.ids_)) if weight is None else weight
    blocks = [design(model, b, X) @ solve(model, b, weight) for b in bases(model)]
    return combine(model, blocks)


def left_out_values(model, weight):
    """The same for each held sample, its weight next to nothing."""
    found = []
    for i in range(len(model.ids_)):
        rest = np.where(np.arange(len(weight)) == i, 0.0, weight)
        one = slice(i, i + 1)
        blocks = [
            design(model, b, model.X_fit_[one], model.ids_[one]) @ solve(model, b, rest)
            for b in bases(model)
        ]
        found.append(combine(model, blocks)[0])
    return np.array(found)


def assert_solved(model, weight=None, updates=0):
    close_values(values(model), solved_values(model, queries(), weight), updates=updates)


# -- learning and forgetting --------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_fit_is_the_direct_solution(estimator, classes):
    X, y = make_samples(estimator, 60, classes=classes)
    assert estimator.fit(X, y) is estimator
    assert 0 < estimator.n_basis_ <= 12 * (classes if classes > 2 else 1)
    assert_solved(estimator)
    np.testing.assert_array_equal(np.isin(estimator.basis_ids_, estimator.ids_), True)
    np.testing.assert_array_equal(estimator.basis_, X[estimator.basis_ids_])


def test_better_than_guessing(estimator):
    X, y = make_samples(estimator, 90)
    guess = 0.5 if is_classifier(estimator) else 0.0
    assert estimator.fit(X[:60], y[:60]).score(X[60:], y[60:]) > guess + 0.2


@pytest.mark.parametrize("classes", [2, 3])
def test_samples_enter_and_leave(estimator, classes):
    X, y = make_samples(estimator, 80, classes=classes)
    estimator.fit(X[:50], y[:50])
    basis = estimator.basis_
    for part in np.split(np.arange(50, 80), [1, 2, 20]):
        estimator.partial_fit(X[part], y[part])
        np.testing.assert_array_equal(estimator.basis_, basis)
        assert_solved(estimator, updates=30)
    others = np.setdiff1d(estimator.ids_, estimator.basis_ids_)
    for gone in (others[:1], others[1:3], others[3:30]):
        estimator.forget(gone)
        np.testing.assert_array_equal(estimator.basis_, basis)
        assert_solved(estimator, updates=60)
    assert estimator.drift() < 1e-12  # a few eps of sums that held up to 80 samples


@pytest.mark.parametrize("count", [1, 3])
def test_forgotten_centre_leaves_the_basis(estimator, count):
    X, y = make_samples(estimator, 60, classes=3)
    estimator.fit(X, y).partial_fit(X[:5] + 0.1, y[:5])
    gone = np.unique(estimator.basis_ids_)[:count]
    kept = estimator.basis_ids_[~np.isin(estimator.basis_ids_, gone)]
    estimator.forget([*gone, 62])
    np.testing.assert_array_equal(estimator.basis_ids_, kept)
    np.testing.assert_array_equal(estimator.basis_, X[kept])
    assert not (estimator.basis_[:, None] == X[gone]).all(axis=2).any()
    for basis in bases(estimator):
        assert basis.live.U.shape == (len(basis) + 1, len(basis) + 1)
    assert_solved(estimator, updates=10)


def test_penalty_of_the_other_centres_stays():
    """λ‖U w‖² for weights whose forgotten entry is zero."""
    model = clone(MODELS["regressor"])
    X, y = make_samples(model, 60)
    before = bases(model.fit(X, y))[0].live.U.copy()
    model.forget(model.basis_ids_[2])
    after = bases(model)[0].live.U
    w = np.random.default_rng(0).standard_normal(len(after))
    whole = np.insert(w, 3, 0.0)
    assert np.sum((after @ w) ** 2) == pytest.approx(np.sum((before @ whole) ** 2), rel=1e-12)


def test_when_the_last_centre_is_forgotten_others_are_chosen(estimator):
    """Without centres a model would be a constant, however many samples it holds."""
    X, y = make_samples(estimator, 60, classes=3)
    estimator.fit(X, y).forget(np.unique(estimator.basis_ids_))
    fresh = clone(estimator).fit(estimator.X_fit_, estimator.y_fit_)
    np.testing.assert_array_equal(estimator.basis_, fresh.basis_)
    np.testing.assert_allclose(values(estimator), values(fresh), rtol=0, atol=1e-12)
    assert estimator.rebuilds_[-1].reason.endswith("anew: the last centre was forgotten.")


def test_centres_of_samples_that_are_not_held_are_not_chosen_anew():
    model = OrthogonalKernelRegressor(gamma=0.5, max_basis=3)
    X, y = make_samples(model, 30)
    model.fit(X, y).learn_rows(X[:9] + 0.1, y[:9])
    model.forget(model.basis_ids_)
    assert model.n_basis_ == 0
    assert np.ptp(model.predict(queries())) == 0


def test_append_then_forget_returns_to_the_start(estimator):
    X, y = make_samples(estimator, 40)
    before = values(estimator.fit(X[:30], y[:30]))
    estimator.partial_fit(X[30:], y[30:]).forget(range(30, 40))
    close_values(values(estimator), before, updates=20)


def test_weights_enter_the_sums(estimator):
    X, y = make_samples(estimator, 50, classes=3)
    weight = np.random.default_rng(3).uniform(0.3, 3.0, 50)
    estimator.fit(X[:30], y[:30], sample_weight=weight[:30])
    estimator.partial_fit(X[30:], y[30:], sample_weight=weight[30:]).forget([1, 35])
    assert_solved(estimator, weight=weight[estimator.ids_], updates=22)


def test_weights_equal_repetition_on_the_same_basis():
    model = clone(MODELS["regressor"])
    X, y = make_samples(model, 40)
    weight = np.r_[np.ones(30, dtype=int), np.random.default_rng(3).integers(1, 4, 10)]
    twin = clone(model).fit(X[:30], y[:30])
    model.fit(X[:30], y[:30]).partial_fit(X[30:], y[30:], sample_weight=weight[30:])
    rest = np.repeat(np.arange(30, 40), weight[30:])
    twin.partial_fit(X[rest], y[rest])
    close_values(values(model), values(twin), updates=40)


def test_grow_goes_on(estimator):
    X, y = make_samples(estimator, 80)
    estimator.set_params(max_basis=4).fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    before = estimator.basis_ids_
    assert estimator.grow(3) is estimator
    np.testing.assert_array_equal(estimator.basis_ids_[: len(before)], before)
    assert len(before) <= estimator.n_basis_ <= len(before) + 3
    assert_solved(estimator)
    assert estimator.rebuilds_[-1].reason == "grown"


def test_grow_in_two_steps_is_one_selection():
    model = OrthogonalKernelRegressor(gamma=0.5, max_basis=3, selection="residual", ridge=0.1)
    model.set_params(patience=50)
    X, y = make_samples(model, 80)
    whole = clone(model).set_params(max_basis=6).fit(X, y)
    model.fit(X, y).grow()
    np.testing.assert_array_equal(model.basis_ids_, whole.basis_ids_)
    close_values(values(model), values(whole))


def test_reselect_is_a_fit_on_what_is_held(estimator):
    X, y = make_samples(estimator, 60)
    estimator.fit(X[:40], y[:40]).partial_fit(X[40:], y[40:]).forget([2, 50]).reselect()
    fresh = clone(estimator).fit(estimator.X_fit_, estimator.y_fit_, ids=estimator.ids_)
    np.testing.assert_array_equal(estimator.basis_ids_, fresh.basis_ids_)
    np.testing.assert_array_equal(values(estimator), values(fresh))


# -- leave-one-out ------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_leave_one_out_equals_direct_solves(estimator, classes):
    X, y = make_samples(estimator, 40, classes=classes)
    weight = np.random.default_rng(3).uniform(0.3, 3.0, 40)
    estimator.fit(X[:25], y[:25], sample_weight=weight[:25])
    estimator.partial_fit(X[25:], y[25:], sample_weight=weight[25:]).forget([1, 30])
    expected = left_out_values(estimator, weight[estimator.ids_])
    close_values(estimator.loo_decision_function(), expected, updates=20)


def test_leave_one_out_scores():
    model = clone(MODELS["shared"])
    X, y = make_samples(model, 40, classes=3)
    best = model.fit(X, y).loo_decision_function().argmax(axis=1)
    np.testing.assert_array_equal(model.loo_predict(), best)
    assert model.loo_score() == pytest.approx(np.mean(best == y))
    model = clone(MODELS["regressor"])
    X, y = make_samples(model, 40)
    assert model.fit(X, y).loo_score() == pytest.approx(r2_score(y, model.loo_predict()))


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_follow_the_decision(classifier, classes):
    X, y = make_samples(classifier, 60, classes=classes)
    probability = classifier.fit(X, y).predict_proba(queries())
    assert probability.shape == (7, classes)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-12)  # a few eps of rounding
    np.testing.assert_array_equal(probability.argmax(axis=1), classifier.predict(queries()))


# -- classes ------------------------------------------------------------------------------------


def test_classes_come_and_go(classifier):
    X, y = make_samples(classifier, 60, classes=4)
    label = np.array(["b", "d", "a", "c"])[y]
    first = np.isin(label, ["b", "d"])
    classifier.fit(X[first], label[first])
    assert classifier.decision_function(X).shape == (60,)
    classifier.partial_fit(X[~first], label[~first])
    np.testing.assert_array_equal(classifier.classes_, ["a", "b", "c", "d"])
    assert classifier.decision_function(X).shape == (60, 4)
    assert_solved(classifier, updates=30)
    classifier.forget(classifier.ids_[classifier.y_fit_ == "b"])
    np.testing.assert_array_equal(classifier.classes_, ["a", "c", "d"])
    assert_solved(classifier, updates=45)
    classifier.forget(classifier.ids_[classifier.y_fit_ == "c"])
    np.testing.assert_array_equal(classifier.classes_, ["a", "d"])
    assert classifier.decision_function(X).shape == (60,)
    assert_solved(classifier, updates=60)
    with pytest.raises(ValueError, match="fewer than two classes"):
        classifier.forget(classifier.ids_[classifier.y_fit_ == "a"])


def test_declared_classes_stay_without_samples(classifier):
    X, y = make_samples(classifier, 60, classes=3)
    some = y != 1
    classifier.partial_fit(X[some], y[some], classes=[0, 1, 2])
    np.testing.assert_array_equal(classifier.classes_, [0, 1, 2])
    assert set(classifier.predict(X)) <= {0, 2}
    classifier.partial_fit(X[~some], y[~some])
    assert_solved(classifier, updates=20)
    assert classifier.score(X, y) > 0.6


def test_new_class_of_one_vs_rest_has_its_own_basis():
    model = clone(MODELS["one-vs-rest"])
    X, y = make_samples(model, 60, classes=3)
    some = y != 1
    model.fit(X[some], y[some])
    assert len(bases(model)) == 1
    model.partial_fit(X[~some], y[~some])
    assert [basis.outputs.tolist() for basis in bases(model)] == [[0, 2], [1]]
    assert model.dual_coef_.shape == (model.n_basis_, 3)
    assert np.count_nonzero(model.dual_coef_[: len(bases(model)[0]), 1]) == 0


# -- what a model shows -------------------------------------------------------------------------


def test_coefficients_are_the_machine(estimator):
    X, y = make_samples(estimator, 60, classes=3)
    estimator.fit(X, y)
    widths = np.atleast_1d(estimator.gamma_)[estimator.basis_kernels_]
    K = np.exp(-widths * ((queries()[:, None] - estimator.basis_) ** 2).sum(axis=2))
    close_values(K @ estimator.dual_coef_ + estimator.intercept_, values(estimator))


def test_path_of_the_selection():
    model = OrthogonalKernelRegressor(gamma=0.5, patience=5, penalty="orthogonal", ridge="gcv")
    X, y = make_samples(model, 60)
    model.fit(X, y)
    assert model.stop_reason_ == "gcv"
    assert model.n_basis_ == model.path_["size"][np.argmin(model.gcv_path_)]
    assert model.ridge_ == model.path_["ridge"][np.argmin(model.gcv_path_)]
    assert clone(model).set_params(max_basis=2).fit(X, y).stop_reason_ == "max_basis"


@pytest.mark.parametrize("stopping", ["loo", "gcv", "bic", "lambda"])
def test_every_stopping_rule(stopping):
    ridge = "gcv" if stopping == "lambda" else "loo"
    model = OrthogonalKernelRegressor(stopping=stopping, ridge=ridge, gamma=0.1)
    X, y = make_samples(model, 100)
    assert model.fit(X[:70], y[:70]).score(X[70:], y[70:]) > 0.3
    assert model.stop_reason_ == stopping


# -- the penalty and its λ ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["shared", "one-vs-rest", "widths", "epsilon", "regressor"])
def test_kernel_penalty_is_the_norm_of_the_function(name):
    model = clone(MODELS[name])
    X, y = make_samples(model, 60, classes=3)
    model.fit(X, y).forget(np.unique(model.basis_ids_)[:2])
    for basis in bases(model):
        K = design(model, basis, basis.centres.points, model.ids_[basis.centres.samples])[:, 1:]
        K *= (
            basis.centres.which[:, None] == basis.centres.which
        )  # each width has a space of its own
        U = basis.live.U
        np.testing.assert_allclose(U[1:, 1:].T @ U[1:, 1:], K, atol=tolerance(60, factor=100.0))
        np.testing.assert_allclose(U[0], np.eye(len(U))[0])


@pytest.mark.slow
@pytest.mark.parametrize("penalty", ["kernel", "orthogonal"])
@pytest.mark.parametrize("name", ["shared", "regressor"])
def test_ridge_by_cross_validation(name, penalty):
    """No λ of a grid is better, on the same parts by fits with that λ, than by the tolerance."""
    model = clone(MODELS[name]).set_params(penalty=penalty, stopping="gcv")
    X, y = make_samples(model, 60)
    model.fit(X, y)
    some = np.random.RandomState(0).permutation(60)
    T = targets(model, bases(model)[0], y)

    def error(ridge):
        total = 0.0
        for part in np.array_split(some, 5):
            rest = np.setdiff1d(some, part)
            twin = clone(model).set_params(ridge="gcv").fit(X[rest], y[rest])
            basis = bases(twin)[0]
            basis = basis.with_sums(basis.live.sums, ridge)
            total += np.square(basis.centres.outputs(X[part], basis.live.weights) - T[part]).sum()
        return total

    found = error(model.ridge_)
    grid = [error(model.ridge_ * factor) for factor in 2.0 ** np.arange(-8, 9, 2)]
    assert found <= 1.002 * min(grid)
    assert error(2.5 * model.ridge_) > found  # it is the largest that is as good


@pytest.mark.parametrize("penalty", ["kernel", "orthogonal"])
@pytest.mark.parametrize("ridge", ["loo", "gcv"])
def test_ridge_by_closed_forms(ridge, penalty):
    model = OrthogonalKernelRegressor(gamma=0.5, max_basis=12, penalty=penalty, ridge=ridge)
    X, y = make_samples(model, 60)
    basis = bases(model.fit(X, y))[0]

    def error(factor):
        twin = basis.with_sums(basis.live.sums, factor * model.ridge_)
        if ridge == "gcv":
            psi = basis_features(twin.live.U, twin.centres.rows(X, np.arange(60)))
            penalty = np.diag(twin.live.ridge * (np.arange(psi.shape[1]) >= twin.live.free))
            H = psi @ np.linalg.solve(psi.T @ psi + penalty, psi.T)
            return np.square(y - H @ y).sum() / np.trace(np.eye(60) - H) ** 2
        left = twin.loo_outputs(X, y[:, None], np.ones(60), np.arange(60))
        return np.square(left[:, 0] - y).mean()

    assert error(1.0) <= 1.002 * min(error(factor) for factor in 2.0 ** np.arange(-8, 9, 2))


@pytest.mark.parametrize("penalty", ["kernel", "orthogonal"])
def test_ridge_of_many_samples_is_that_of_leave_one_out(penalty, monkeypatch):
    """Cross-validation on a part of the samples would take it too large."""
    monkeypatch.setattr(_trials, "TRIED_ON", 50)
    monkeypatch.setattr(_spec, "TRIED_ON", 50)
    model = OrthogonalKernelRegressor(gamma=0.5, max_basis=12, penalty=penalty)
    X, y = make_samples(model, 60)
    basis = bases(model.fit(X, y))[0]

    def error(factor):
        twin = basis.with_sums(basis.live.sums, factor * model.ridge_)
        left = twin.loo_outputs(X, y[:, None], np.ones(60), np.arange(60))
        return np.square(left[:, 0] - y).mean()

    assert error(1.0) <= 1.002 * min(error(factor) for factor in 2.0 ** np.arange(-8, 9, 2))
    assert model.set_params(gamma="cv").fit(X, y).ridge_ > 0


def test_nearly_dependent_centres_are_dropped():
    """A kernel so wide that samples are next to equal in its space: what is left stays exact."""
    model = OrthogonalKernelRegressor(gamma=1e-4, ridge=1e-6)
    X, y = make_samples(model, 60)
    model.fit(X[:50], y[:50]).partial_fit(X[50:], y[50:]).forget([0, 1])
    assert model.n_basis_ < 50
    assert np.isfinite(values(model)).all()
    assert model.drift() < 1e-8


def test_cross_validation_needs_two_samples():
    with pytest.raises(ValueError, match="needs two or more, got n_samples=1"):
        OrthogonalKernelRegressor().fit([[1.0]], [2.0])


def test_width_by_cross_validation():
    """Wide where the targets are smooth, narrow where they are not."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (200, 1))
    noise = 0.1 * rng.standard_normal(200)
    smooth, rough = (
        OrthogonalKernelRegressor().fit(X, np.sin(k * X[:, 0]) + noise) for k in (0.5, 5.0)
    )
    assert smooth.gamma_ < rough.gamma_ / 4
    for model, k in ((smooth, 0.5), (rough, 5.0)):
        truth = np.sin(k * X[:, 0])
        assert np.sqrt(np.mean((model.predict(X) - truth) ** 2)) < 0.05


def test_several_targets_share_the_basis():
    model = clone(MODELS["regressor"])
    X, y = make_samples(model, 60)
    Y = np.column_stack([y, X[:, 0] ** 2])
    model.fit(X[:40], Y[:40]).partial_fit(X[40:], Y[40:]).forget(3)
    assert model.predict(X).shape == (60, 2)
    assert_solved(model, updates=21)
    with pytest.raises(ValueError, match="y must have 2 columns"):
        model.partial_fit(X[:2], y[:2])


def test_float32_and_csr(estimator):
    X, y = make_samples(estimator, 60)
    X[np.abs(X) < 0.4] = 0.0
    dense = clone(estimator).fit(X[:40], y[:40]).partial_fit(X[40:], y[40:]).forget([1, 41])
    rows = sparse.csr_array(X)
    thin = clone(estimator).fit(rows[:40], y[:40]).partial_fit(rows[40:], y[40:]).forget([1, 41])
    np.testing.assert_array_equal(thin.basis_ids_, dense.basis_ids_)
    close_values(values(thin, sparse.csr_array(queries())), values(dense), updates=22)
    single = estimator.fit(X.astype(np.float32), y)
    assert values(single).dtype == np.float32
    close = tolerance(60, cond=1e3, power=1, dtype=np.float32)
    np.testing.assert_allclose(values(single), solved_values(single, queries()), atol=close)


def test_model_file_goes_on_learning(estimator, tmp_path):
    X, y = make_samples(estimator, 60)
    estimator.fit(X[:40], y[:40]).partial_fit(X[40:50], y[40:50]).forget([3])
    save(estimator, tmp_path / "model")
    twin = load(tmp_path / "model")
    np.testing.assert_array_equal(values(twin), values(estimator))
    np.testing.assert_array_equal(twin.basis_ids_, estimator.basis_ids_)
    for model in (twin, estimator):
        model.partial_fit(X[50:], y[50:]).forget(np.unique(model.basis_ids_)[:2])
    close_values(values(twin), values(estimator), updates=12)


def test_nothing_of_a_forgotten_centre_remains(estimator):
    X, y = make_samples(estimator, 40)
    secret = np.array([[0.7071234567891, -1.414987654321, 1.732246813579]])
    X, ids = np.vstack([X, secret]), np.array([f"s{i}" for i in range(40)] + ["patient 8128"])
    y = np.append(y, y[0])
    estimator.set_params(max_basis=None, patience=50).fit(X, y, ids=ids)
    estimator.grow()
    values(estimator)
    estimator.loo_decision_function()
    traces = [*(x.tobytes() for x in secret[0]), "patient".encode("utf-32-le")]
    assert any(trace in pickle.dumps(estimator) for trace in traces)
    after = pickle.dumps(estimator.forget("patient 8128"))
    assert not any(trace in after for trace in traces)


def test_what_has_seen_forgotten_samples_is_named():
    model = OrthogonalKernelRegressor(max_basis=5, ridge=0.1)
    X, y = make_samples(model, 40)
    assert model.fit(X, y).chosen_on_data_ == ("gamma", "basis")
    assert model.set_params(gamma=0.5).fit(X, y).chosen_on_data_ == ("basis",)
    assert model.set_params(ridge="loo").fit(X, y).chosen_on_data_ == ("ridge", "basis")


def test_forgetting_is_verified_on_the_same_basis(estimator):
    X, y = make_samples(estimator, 40)
    estimator.fit(X, y)
    gone = [*np.unique(estimator.basis_ids_)[:2], 39]
    receipt = forget(estimator, gone, verify=True)
    assert receipt.count == 3
    assert receipt.difference < tolerance(40, updates=3, cond=1e4, power=1)
    assert receipt.drift < 1e-12  # a few eps


def test_sums_that_many_samples_have_passed_are_taken_anew():
    model = OrthogonalKernelRegressor(gamma=0.5, ridge=0.1, max_basis=5)
    X, y = make_samples(model, 40)
    model.fit(X, y).partial_fit(X[:1] + 0.1, [1e4]).forget(40)
    assert model.rebuilds_[-1].reason == "most of what the sums held has left"
    assert model.drift() < tolerance(40)
    assert_solved(model)


# -- errors -------------------------------------------------------------------------------------


def test_failed_calls_leave_the_model(estimator):
    X, y = make_samples(estimator, 40)
    before = snapshot(estimator.fit(X, y))
    for call, match in [
        (lambda: estimator.partial_fit(X[:, :2], y), "2 features"),
        (lambda: estimator.partial_fit(X[:2], y[:2], ids=[0, 90]), "id 0 is already held"),
        (lambda: estimator.forget([1, 77]), "forget got id 77"),
        (lambda: estimator.forget(estimator.ids_), "forget would leave"),
        (lambda: clone(estimator).grow(), "not fitted"),
        (lambda: estimator.grow(-50), "max_basis must be >= 1"),
    ]:
        with pytest.raises((ValueError, NotFittedError), match=match):
            call()
        assert_unchanged(estimator, before)


def test_a_basis_that_could_not_be_built_is_chosen_when_it_is_used(estimator, monkeypatch):
    X, y = make_samples(estimator, 30)
    estimator.set_params(ridge=0.1).fit(X, y)  # else λ stays as it was chosen

    def refuse(*args):
        raise np.linalg.LinAlgError("singular")

    with monkeypatch.context() as patch:
        patch.setattr(type(estimator._now.engine), "remove", refuse)
        patch.setattr(type(estimator._now.engine), "fresh", refuse)
        estimator.forget([0])
    fresh = clone(estimator).fit(X[1:], y[1:], ids=np.arange(1, 30))
    np.testing.assert_array_equal(estimator.basis_, fresh.basis_)
    np.testing.assert_array_equal(values(estimator), values(fresh))


def test_an_edit_that_fails_half_way_changes_nothing(monkeypatch):
    model = clone(MODELS["one-vs-rest"])
    X, y = make_samples(model, 60, classes=3)
    before = snapshot(model.fit(X, y))
    last = bases(model)[-1]

    def fail(*args, **kwargs):
        raise MemoryError("no room")

    monkeypatch.setattr(type(last.live), "remove_centre", fail)
    with pytest.raises(MemoryError):
        model.forget([5, last.centres.samples[0]])
    with pytest.raises(MemoryError):
        model.forget(np.unique(model.basis_ids_))
    monkeypatch.undo()
    assert_unchanged(model, before)


BAD_PARAMETERS = [
    ({"gamma": []}, "a list of gammas needs one width or more"),
    ({"gamma": [0.5, "scale"]}, "gamma must be > 0"),
    ({"gamma": [0.5, -1.0]}, "gamma must be > 0"),
    ({"gamma": "wide"}, "gamma must be > 0"),
    ({"gamma": None}, "gamma must be > 0"),
    ({"gamma": np.ones(4)}, "got 4 for 3 features"),
    ({"gamma": [0.5], "kernel": "linear"}, "a kernel with gamma"),
    ({"kernel": "precomputed"}, 'kernel="precomputed" is not for Orthogonal'),
    ({"kernel": "cosine"}, 'kernel must be "linear"'),
    ({"ridge": -1.0}, "ridge must be >= 0"),
    ({"ridge": None}, "ridge must be >= 0"),
    ({"ridge": np.inf}, "ridge must be >= 0"),
    ({"max_basis": 0}, "max_basis must be >= 1"),
    ({"stopping": "aic"}, "stopping must be"),
    ({"selection": "best"}, "selection must be"),
    ({"tol": "small"}, "tol must be a number"),
    ({"patience": 0}, "patience must be >= 1"),
    ({"penalty": "l1"}, "penalty must be one of"),
    ({"ridge": "auto"}, 'or "cv", or "loo", or "gcv"'),
]


@pytest.mark.parametrize("name", ["shared", "regressor"])
def test_bad_parameters(name):
    model = clone(MODELS[name])
    X, y = make_samples(model)
    before = snapshot(model.fit(X, y))
    for parameters, match in BAD_PARAMETERS:
        for one in (clone(model), model):
            with pytest.raises(ValueError, match=match):
                one.set_params(**parameters).fit(X, y)
        assert_unchanged(model.set_params(**clone(MODELS[name]).get_params()), before)


def test_unknown_basis():
    with pytest.raises(ValueError, match="basis must be one of"):
        OrthogonalKernelClassifier(basis="own").fit(*make_samples(OrthogonalKernelClassifier()))


def test_deep_copy_is_independent(estimator):
    X, y = make_samples(estimator, 40)
    twin = copy.deepcopy(estimator.fit(X, y))
    before = snapshot(estimator)
    twin.forget([0, 1, 2]).partial_fit(X[:3] + 2, y[:3])
    assert_unchanged(estimator, before)


def test_refactor_is_recorded(estimator):
    X, y = make_samples(estimator, 40)
    estimator.fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    before = values(estimator)
    assert estimator.rebuild() is estimator
    assert [event.reason for event in estimator.rebuilds_] == ["asked for"]
    close_values(values(estimator), before, updates=10)


def test_a_basis_is_built_anew_for_its_own_holdings_alone(estimator):
    """Where the centres stand among other samples is not known."""
    X, y = make_samples(estimator, 20)
    now = estimator.fit(X, y)._now
    with pytest.raises(np.linalg.LinAlgError, match="another reason"):
        now.engine.fresh(now.holdings.without(np.array([0])), "another reason")


@pytest.mark.filterwarnings("ignore::gramian.ScaleWarning")
def test_outliers_in_an_unbounded_kernel_enter_and_leave():
    """A basis that outliers have left undetermined is chosen anew, and the record says so."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = X[:, 0] + 0.1 * rng.standard_normal(60)
    X[:2, 1], X[2, 0] = 2**31 - 1, 1e6
    model = OrthogonalKernelRegressor("poly", gamma=0.4, degree=2, ridge=1e-9, max_basis=12)
    model.fit(X, y)
    for leaving in ([0], [1], [2]):
        model.forget(leaving)
    outlier = np.array([[0.0, -1e6, 2**31 - 1]])
    model.partial_fit(outlier, [1.0], ids=[100]).forget(100)
    assert set(model.ids_) == set(range(3, 60))
    np.testing.assert_allclose(
        model.predict(X[3:]), model.refitted().predict(X[3:]), rtol=0, atol=1e-6
    )


def test_a_basis_that_does_not_determine_its_weights_is_chosen_anew(estimator, monkeypatch):
    X, y = make_samples(estimator, 24)
    estimator.fit(X[:20], y[:20])

    def undetermined(*_):
        raise np.linalg.LinAlgError("undetermined")

    engine = type(estimator._now.engine)
    monkeypatch.setattr(engine, "_with", undetermined)
    estimator.partial_fit(X[20:22], y[20:22])
    assert estimator.rebuilds_[-1].reason == "the bases were chosen anew: undetermined"
    before = values(estimator)
    monkeypatch.setattr(engine, "_without", undetermined)
    monkeypatch.setattr(engine, "_chosen_anew", undetermined)
    with pytest.raises(np.linalg.LinAlgError, match="undetermined"):  # nor on other centres
        estimator.partial_fit(X[22:], y[22:])
    monkeypatch.setattr(engine, "holds_all", lambda *_: False)
    for call in (lambda: estimator.partial_fit(X[22:], y[22:]), lambda: estimator.forget([3])):
        with pytest.raises(np.linalg.LinAlgError, match="undetermined"):  # rows that are not held
            call()
    np.testing.assert_array_equal(values(estimator), before)


def test_a_kernel_without_a_width_tries_multiples_of_scale():
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (40, 2))
    model = OrthogonalKernelRegressor("poly", degree=2, max_basis=10).fit(X, X[:, 0] * X[:, 1])
    times = np.log(model.gamma_ * 2 * X.var()) / np.log(4.0)  # "scale" is 1 / (d · variance)
    assert times == pytest.approx(round(times))
    assert model.score(X, X[:, 0] * X[:, 1]) > 0.99


@pytest.mark.parametrize("cls", [OrthogonalKernelClassifier, OrthogonalKernelRegressor])
def test_the_width_is_that_of_least_squares_or_its_neighbour(cls):
    X = np.random.default_rng(0).uniform(-2.0, 2.0, (60, 2))
    wave = np.sin(2.0 * X[:, 0]) + X[:, 1]
    classes = cls is OrthogonalKernelClassifier
    y, peer = (wave > 0, LeastSquaresSVC()) if classes else (wave, LeastSquaresSVR())
    ratio = cls(max_basis=20).fit(X, y).gamma_ / peer.fit(X, y).gamma_
    assert min(abs(np.log(ratio / factor)) for factor in (0.5, 1.0, 2.0)) < 1e-12


@pytest.mark.parametrize("given", [{}, {"gamma": 1.0}, {"selection": "random", "max_basis": 20}])
def test_a_callback_hears_of_every_trial(given):
    """Those of the search for widths, if there is one, and those that choose among them."""
    X, y = make_samples(OrthogonalKernelClassifier(), 40)
    heard = []
    model = OrthogonalKernelClassifier(callback=heard.append, **given).fit(X, y)
    trials = [trial for trial in heard if trial.stage == "left out"]
    searched = [trial for trial in heard if trial.stage != "left out"]
    assert bool(searched) == ("gamma" not in given)
    if given.get("selection") != "random":  # else leave-one-out has nothing to compare
        best = min(trials, key=lambda trial: trial.value)
        assert (best.gamma, best.ridge) == (model.gamma_, model.ridge_)
    quiet = OrthogonalKernelClassifier(**given).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), quiet.decision_function(X))


def test_the_criterion_is_that_of_the_search_for_widths():
    X, y = make_samples(OrthogonalKernelClassifier(), 40)
    heard = {}
    for criterion in ("log", "hinge"):
        trials = heard[criterion] = []
        OrthogonalKernelClassifier(criterion=criterion, callback=trials.append).fit(X, y)
    log, hinge = (trials[0] for trials in heard.values())
    assert log.gamma == hinge.gamma
    assert log.value != hinge.value
    with pytest.raises(ValueError, match="criterion must be one of"):
        OrthogonalKernelRegressor(criterion="log").fit(X, X[:, 0])
