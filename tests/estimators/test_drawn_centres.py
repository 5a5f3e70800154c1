"""Orthogonal estimators whose centres are drawn, and those that choose kernel and metric."""

import numpy as np
import pytest
from scipy import sparse

import gramian
from gramian import (
    LeastSquaresSVC,
    LeastSquaresSVR,
    OrthogonalKernelClassifier,
    OrthogonalKernelRegressor,
)
from gramian.core.kernels import make_kernel
from tests.tolerance import tolerance

DRAWN = {"selection": "random", "max_basis": 12}


def numbers(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(n)


def solved(K, K_mm, Y, ridge):
    """Bias and weights of min ‖Y − b − K w‖² + λ wᵀK_mm w, by the normal equations."""
    D = np.column_stack([np.ones(len(K)), K])
    penalty = np.zeros((D.shape[1], D.shape[1]))
    penalty[1:, 1:] = ridge * K_mm
    return np.linalg.solve(D.T @ D + penalty, D.T @ Y)


def values(model, X):
    """Kernel values of the samples with the centres, and among the centres."""
    return model.kernel_(X, model.basis_), model.kernel_(model.basis_, model.basis_)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_drawn_centres_solve_their_normal_equations(kernel):
    X, y = numbers()
    model = OrthogonalKernelRegressor(kernel, gamma=0.5, ridge=0.1, **DRAWN).fit(X, y)
    assert (model.n_basis_, model.stop_reason_) == (12, "max_basis")
    K, K_mm = values(model, X)
    w = solved(K, K_mm, y, 0.1)
    limit = tolerance(n=len(X), cond=np.linalg.cond(K_mm), power=1)
    np.testing.assert_allclose(model.dual_coef_, w[1:], rtol=limit, atol=limit)
    np.testing.assert_allclose(model.intercept_, w[0], rtol=limit, atol=limit)


def test_left_out_values_are_those_of_refits_at_the_same_centres():
    X, y = numbers(40)
    model = OrthogonalKernelRegressor(gamma=0.5, ridge=0.1, **DRAWN).fit(X, y)
    K, K_mm = values(model, X)
    expected = []
    for i in range(len(X)):
        rest = np.delete(np.arange(len(X)), i)
        w = solved(K[rest], K_mm, y[rest], 0.1)
        expected.append(w[0] + K[i] @ w[1:])
    limit = tolerance(n=len(X), cond=np.linalg.cond(K_mm), power=1)
    np.testing.assert_allclose(model.loo_predict(), expected, rtol=limit, atol=limit)


def test_the_draw_depends_on_the_seed_and_not_on_the_targets():
    X, y = numbers()
    first, second, other = (
        OrthogonalKernelRegressor(gamma=0.5, ridge=0.1, random_state=seed, **DRAWN).fit(X, target)
        for seed, target in ((0, y), (0, -y[::-1]), (1, y))
    )
    np.testing.assert_array_equal(first.basis_ids_, second.basis_ids_)
    assert first.basis_ids_.tolist() != other.basis_ids_.tolist()


def test_ridge_has_nearly_the_least_left_out_error():
    X, y = numbers()
    model = OrthogonalKernelRegressor(gamma=0.5, **DRAWN).fit(X, y)
    errors = [
        np.square(model.set_params(ridge=ridge).fit(X, y).loo_predict() - y).sum()
        for ridge in model.ridge_ * 4.0 ** np.arange(-3, 4)
    ]
    assert errors[3] <= 1.002 * min(errors)  # λ is the largest within 0.1 % of the best of a grid


def test_of_many_samples_some_are_left_out_to_find_the_ridge(monkeypatch):
    X, y = numbers(400)
    model = OrthogonalKernelRegressor(gamma=0.5, **DRAWN)
    monkeypatch.setattr("gramian.orthogonal._fixed_basis._JUDGED_ON", 100)
    some = model.fit(X, y).ridge_
    K, K_mm = values(model, X)

    def error(ridge):
        left = []
        for i in range(0, 400, 4):
            rest = np.delete(np.arange(400), i)
            w = solved(K[rest], K_mm, y[rest], ridge)
            left.append(y[i] - w[0] - K[i] @ w[1:])
        return np.square(left).sum()

    assert error(some) <= 1.002 * min(error(some * step) for step in 4.0 ** np.arange(-3, 4))


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_kernel_and_widths_are_those_of_least_squares(kind):
    """On so few samples the search has all of them, so that its choices can be told apart."""
    X, y = numbers(80)
    y = y if kind == "numbers" else (y > 0).astype(int)
    cls, dense = (
        (OrthogonalKernelRegressor, LeastSquaresSVR)
        if kind == "numbers"
        else (OrthogonalKernelClassifier, LeastSquaresSVC)
    )
    model = cls("loo", metric="ard", **DRAWN).fit(X, y)
    errors, gammas = {}, {}
    signs = y if kind == "numbers" else np.where(y == 1, 1.0, -1.0)
    for name in ("rbf", "laplacian", "exponential"):
        gammas[name] = dense(name, metric="ard").fit(X, y).gamma_
        one = cls(name, gamma=gammas[name], **DRAWN).fit(X, y)
        left = one.loo_predict() if kind == "numbers" else one.loo_decision_function()
        errors[name] = np.square(left - signs).sum()
    best = min(errors, key=errors.get)
    assert model.kernel_.name == best
    np.testing.assert_allclose(model.gamma_, gammas[best], rtol=1e-10)
    assert model.chosen_on_data_ == ("kernel", "gamma", "ridge", "basis")


def test_trials_choose_the_kernel_of_centres_that_are_selected():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (150, 2))
    y = (X[:, 0] > 0).astype(float)  # a step, which a smooth kernel has to go around
    model = OrthogonalKernelRegressor("loo", max_basis=15).fit(X, y)
    assert model.kernel_.name != "rbf"
    tried = LeastSquaresSVR(model.kernel_.name).fit(X, y).gamma_ * np.array([0.5, 1.0, 2.0])
    assert np.isclose(tried, model.gamma_, rtol=1e-10).sum() == 1


@pytest.mark.parametrize("metric", ["ard", "diagonal"])
@pytest.mark.parametrize("selection", ["gain", "random"])
def test_files_keep_kernel_and_metric(metric, selection, tmp_path):
    X, y = numbers(120, d=6)
    model = OrthogonalKernelRegressor("loo", metric=metric, selection=selection, max_basis=12)
    model.fit(X, y)
    assert (model.metric_ is not None) == (metric == "diagonal")
    gramian.save(model, tmp_path / "model")
    loaded = gramian.load(tmp_path / "model")
    assert loaded.kernel_ == model.kernel_
    assert loaded.chosen_on_data_ == model.chosen_on_data_
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    for each in (loaded, model):
        each.forget(each.basis_ids_[:2]).partial_fit(X[:1] + 0.1, y[:1])
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    again = loaded.reselect()
    assert again.n_basis_ == 12 or selection == "gain"


@pytest.mark.parametrize("gamma", ["cv", 0.3])
def test_factors_of_features_enter_the_kernel(gamma):
    X, y = numbers(120, d=6)
    model = OrthogonalKernelRegressor(gamma=gamma, metric="diagonal", **DRAWN).fit(X, y)
    assert ("gamma" in model.chosen_on_data_) == (gamma == "cv")
    assert gamma in ("cv", model.gamma_)
    expected = make_kernel("rbf", gamma=model.gamma_)(X * model.metric_, X * model.metric_)
    np.testing.assert_allclose(model.kernel_(X, X), expected, atol=1e-12)
    assert "metric" in model.chosen_on_data_


def test_grow_draws_more_centres():
    X, y = numbers()
    model = OrthogonalKernelRegressor(gamma=0.5, ridge=0.1, **DRAWN).fit(X, y)
    before = model.basis_ids_.tolist()
    model.grow(5)
    assert model.n_basis_ == 17
    assert model.basis_ids_[:12].tolist() == before
    K, K_mm = values(model, X)
    w = solved(K, K_mm, y, 0.1)
    limit = tolerance(n=len(X), cond=np.linalg.cond(K_mm), power=1)
    np.testing.assert_allclose(model.dual_coef_, w[1:], rtol=limit, atol=limit)


def test_widths_of_a_list_take_turns():
    X, y = numbers()
    model = OrthogonalKernelRegressor(gamma=[0.1, 2.0], ridge=0.1, **DRAWN).fit(X, y)
    assert model.basis_kernels_.tolist() == [0, 1] * 6


def test_repeated_samples_are_one_centre():
    X, y = numbers(10)
    twice = OrthogonalKernelRegressor(gamma=0.5, ridge=0.1, selection="random", max_basis=None)
    twice.fit(np.tile(X, (2, 1)), np.tile(y, 2))
    assert (twice.n_basis_, twice.stop_reason_) == (10, "exhausted")


def test_sparse_samples_have_the_same_model():
    X, y = numbers(80)
    dense, thin = (
        OrthogonalKernelRegressor("loo", metric="ard", **DRAWN).fit(samples, y)
        for samples in (X, sparse.csr_matrix(X))
    )
    np.testing.assert_allclose(thin.predict(X), dense.predict(X), rtol=1e-5, atol=1e-5)


def test_chunks_are_summed_at_drawn_centres():
    da = pytest.importorskip("dask.array")
    X, y = numbers(200)
    model = OrthogonalKernelRegressor(gamma=0.5, ridge=0.1, **DRAWN)
    model.fit(da.from_array(X, chunks=(50, 3)), da.from_array(y, chunks=50))
    K, K_mm = values(model, X)
    w = solved(K, K_mm, y, 0.1)
    limit = tolerance(n=len(X), cond=np.linalg.cond(K_mm), power=1)
    np.testing.assert_allclose(model.dual_coef_, w[1:], rtol=limit, atol=limit)


def test_what_does_not_fit_is_refused():
    X, y = numbers(20)

    def fit(**given):
        OrthogonalKernelRegressor(**given).fit(X, y)

    with pytest.raises(ValueError, match="needs penalty=\"kernel\", got penalty='orthogonal'"):
        fit(selection="random", penalty="orthogonal")
    with pytest.raises(ValueError, match=r"gamma must be .cv., .* got 0\.5 with kernel='loo'"):
        fit(kernel="loo", gamma=0.5)
    with pytest.raises(ValueError, match=r"gamma must be .cv., .* got 0\.5 .* metric='ard'"):
        fit(metric="ard", gamma=0.5)
    with pytest.raises(ValueError, match=r"got 0\.5 with kernel='loo' and metric='diagonal'"):
        fit(kernel="loo", metric="diagonal", gamma=0.5)
    with pytest.raises(ValueError, match="needs one of the kernels"):
        fit(kernel="poly", metric="ard")
    with pytest.raises(ValueError, match="metric must be one of"):
        fit(metric="full")
    with pytest.raises(ValueError, match="selection must be"):
        fit(selection="best")
