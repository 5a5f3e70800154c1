"""Leave-one-out where a closed form divides by next to nothing, against 50 digits and refits."""

import numpy as np
import pytest
from sklearn.base import is_classifier

from gramian import LagrangianSVC, LeastSquaresSVR
from gramian.core.estimators import outputs_without_each
from tests.torture.digits import NAMES, OFF, exact_left_out, make_model


@pytest.mark.parametrize("ridge", [1e-2, 1e-6, 1e-8])
@pytest.mark.parametrize("n", [5, 6])
@pytest.mark.parametrize("name", NAMES)
def test_few_samples_that_a_linear_kernel_can_fit_exactly(name, n, ridge):
    X = np.random.default_rng(8).standard_normal((n, 4))
    model = make_model(name, "linear", ridge)
    y = np.arange(n) % 2 if is_classifier(model) else X[:, 0] ** 2
    found = model.fit(X, y).loo_decision_function()
    exact = exact_left_out(model, X, y)
    atol = OFF * max(1.0, np.abs(exact).max())
    np.testing.assert_allclose(found, exact, rtol=0, atol=atol)
    (_, F), *_ = outputs_without_each(model, X)
    np.testing.assert_allclose(np.einsum("iit->i", F), exact, rtol=0, atol=atol)


@pytest.mark.parametrize(("name", "ridge"), [(name, 1e-7) for name in NAMES] + [("kda", 1e-4)])
def test_groups_that_a_linear_kernel_can_fit_exactly(name, ridge):
    X = np.random.default_rng(8).standard_normal((6, 4))
    model, groups = make_model(name, "linear", ridge), np.array([0, 0, 1, 1, 2, 2])
    y = np.arange(6) % 2 if is_classifier(model) else X[:, 0] ** 2
    found = model.fit(X, y, groups=groups).loo_decision_function()
    exact = exact_left_out(model, X, y, groups)
    atol = OFF * max(1.0, np.abs(exact).max())
    np.testing.assert_allclose(found, exact, rtol=0, atol=atol)
    (_, F), *_ = outputs_without_each(model, X)
    np.testing.assert_allclose(np.einsum("iit->i", F), exact, rtol=0, atol=atol)


def test_a_precomputed_kernel_that_can_be_fitted_exactly():
    """A fit without a sample is one without its row and its column."""
    X = np.random.default_rng(8).standard_normal((5, 4))
    y = X[:, 0] ** 2
    model = LeastSquaresSVR("precomputed", C=1e8).fit(X @ X.T, y)
    exact = exact_left_out(LeastSquaresSVR("linear", C=1e8).fit(X, y), X, y)
    atol = OFF * max(1.0, np.abs(exact).max())
    np.testing.assert_allclose(model.loo_decision_function(), exact, rtol=0, atol=atol)


@pytest.mark.parametrize(("seed", "edits"), [(11, 24), (0, 5), (17, 5)])
def test_after_near_duplicates_came_and_went(seed, edits):
    """Drift of P is largest in a pair of them, which a few rows of P may not show.

    Few edits are enough, though A was well-conditioned before them.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 4))
    model = LeastSquaresSVR(gamma=2.4, C=4.5e6).fit(X, np.sin(X[:, 0]))
    model.predict(X[:1])
    for _ in range(edits):
        x = model.X_fit_[[int(rng.integers(60))]] * (1 + 1e-8 * rng.standard_normal((1, 4)))
        model.partial_fit(x, [np.sin(x[0, 0]) + 0.1 * rng.standard_normal()])
        model.forget(model.ids_[int(rng.integers(61))])
    fresh = model.refitted().loo_predict()  # two fresh models agree to 3e-10 of the largest
    np.testing.assert_allclose(model.loo_predict(), fresh, rtol=0, atol=1e-7 * np.abs(fresh).max())


@pytest.mark.parametrize("seed", [13, 2])
def test_linear_lagrangian_at_a_large_C(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((16, 2)), np.r_[0, 1, 2, rng.integers(0, 3, 13)]
    X[:, 0] += 1.5 * y
    model = LagrangianSVC(kernel="linear", C=1e6).fit(X, y)
    found = model.loo_decision_function()
    for i in np.flatnonzero(np.bincount(y)[y] > 1):
        rest = np.arange(16) != i
        exact = LagrangianSVC(kernel="linear", C=1e6).fit(X[rest], y[rest])
        off = np.abs(found[i] - exact.decision_function(X[[i]])[0]).max()
        assert off <= 1e-6 * np.abs(found).max()  # two fits from other starts differ by 5e-8


@pytest.mark.parametrize(("query", "label"), [(3, 0), (4, 1), (5, 0)])
def test_sets_at_a_ridge_that_closed_forms_do_not_bear(query, label):
    """A query that repeats a held sample, against all n + 1 refits."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((14, 2)), np.arange(14) % 2
    model = make_model("kda", "rbf", 1e-8).fit(X, y)
    found = model.p_values(X[query : query + 1])[0, label]
    X, y = np.vstack([X, X[query]]), np.append(y, label)
    score = np.empty(15)
    for i in range(15):
        rest = np.arange(15) != i
        value = make_model("kda", "rbf", 1e-8).fit(X[rest], y[rest]).decision_function(X[[i]])[0]
        score[i] = -value if y[i] else value
    tie = 1e-6 * (1 + abs(score[-1]))
    least, most = (1 + np.sum(score[:-1] > score[-1] + side) for side in (tie, -tie))
    assert least / 15 <= found <= most / 15
