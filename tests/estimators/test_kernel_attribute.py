"""`kernel_` is the kernel that predicts: an object with name and width that can be called."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import pairwise_kernels

from gramian import (
    EllipsoidalFuzzyClassifier,
    KernelDiscriminant,
    LeastSquaresSVC,
    OrthogonalKernelRegressor,
)
from tests.estimators.conftest import ESTIMATORS, clone

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
y = (X[:, 0] + 0.3 * rng.normal(size=30) > 0).astype(int)
QUERIES = rng.normal(size=(5, 3))


def gram_by_scikit_learn(kernel):
    if kernel.name == "linear":
        return pairwise_kernels(QUERIES, X, metric="linear")
    if kernel.name == "exponential":
        return np.exp(-kernel.gamma * np.linalg.norm(QUERIES[:, None] - X, axis=2))
    own = {name: getattr(kernel, name) for name in kernel.parameters}
    return pairwise_kernels(QUERIES, X, metric=kernel.name, **own)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_has_its_kernel(name):
    model = clone(ESTIMATORS[name]).fit(X, y)
    found = model.kernel_ if isinstance(model.kernel_, list) else [model.kernel_]
    for kernel in found:
        assert_allclose(kernel(QUERIES, X), gram_by_scikit_learn(kernel), rtol=1e-12)
    if getattr(model, "gamma_", None) is not None:
        assert found[0].gamma == model.gamma_


def test_it_predicts():
    model = LeastSquaresSVC(gamma=0.5, C=2.0).fit(X, y)
    by_hand = model.kernel_(QUERIES, X) @ model.dual_coef_ + model.intercept_
    assert_allclose(model.decision_function(QUERIES), by_hand, rtol=1e-10)


def test_factors_of_features_are_in_it():
    model = KernelDiscriminant(metric="diagonal", gamma="scale", ridge=0.1).fit(X, y)
    scaled = pairwise_kernels(
        QUERIES * model.metric_, X * model.metric_, metric="rbf", gamma=model.gamma_
    )
    assert_allclose(model.kernel_(QUERIES, X), scaled, rtol=1e-10)


def test_a_list_of_widths_has_a_list_of_kernels():
    model = OrthogonalKernelRegressor(gamma=[0.1, 1.0], ridge=0.1, max_basis=5).fit(X, X[:, 0])
    assert [kernel.gamma for kernel in model.kernel_] == [0.1, 1.0]


def test_fuzzy_classifier_normalises_it_or_has_none():
    model = EllipsoidalFuzzyClassifier(gamma=0.6, normalize=True, tau=1e-3).fit(X, y)
    assert_allclose(model.kernel_.gamma, 0.2)
    assert EllipsoidalFuzzyClassifier(distance="input").fit(X, y).kernel_ is None
