"""A precomputed kernel: the same model as with the kernel itself, and errors of its own."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.metrics.pairwise import rbf_kernel

from gramian import LeastSquaresSVR
from gramian.core.engines import outputs_without
from gramian.core.estimators._samples import check_kernel_rows
from tests.estimators.conftest import (
    ESTIMATORS,
    PRECOMPUTABLE,
    REPEATABLE,
    assert_unchanged,
    close_values,
    make_samples,
    queries,
    rbf,
    snapshot,
    values,
)


@pytest.fixture(params=PRECOMPUTABLE)
def estimator(request):
    """Each estimator that takes precomputed kernels, unfitted."""
    return clone(ESTIMATORS[request.param])


@pytest.fixture(params=[name for name in PRECOMPUTABLE if name in REPEATABLE])
def repeatable(request):
    """Each of them that takes the same sample twice, unfitted."""
    return clone(ESTIMATORS[request.param])


def pair(estimator, **parameters):
    """The estimator with the RBF kernel and with a precomputed one."""
    estimator = clone(estimator).set_params(kernel="rbf", **parameters)
    return estimator, clone(estimator).set_params(kernel="precomputed")


def kernel_values(by_samples, X):
    """K of samples X to those that the model holds."""
    return rbf(X, by_samples.X_fit_, by_samples.gamma)


def learn(by_samples, by_kernel, X, y):
    """`partial_fit` of both, the kernel block being (k, n + k)."""
    gamma = by_samples.gamma
    block = np.hstack([rbf(X, by_samples.X_fit_, gamma), rbf(X, X, gamma)])
    by_samples.partial_fit(X, y)
    by_kernel.partial_fit(block, y)


def assert_equal_models(by_samples, by_kernel, updates=0):
    np.testing.assert_array_equal(by_kernel.ids_, by_samples.ids_)
    np.testing.assert_array_equal(by_kernel.y_fit_, by_samples.y_fit_)
    holdings = by_samples.X_fit_
    atol = 1e-12  # exp of a distance that is computed by another formula
    np.testing.assert_allclose(by_kernel.X_fit_, kernel_values(by_samples, holdings), atol=atol)
    found = values(by_kernel, kernel_values(by_samples, queries()))
    close_values(found, values(by_samples), updates=updates)


@pytest.mark.parametrize("classes", [2, 3])
def test_equals_the_kernel(estimator, classes):
    X, y = make_samples(estimator, classes=classes)
    by_samples, by_kernel = pair(estimator)
    by_samples.fit(X[:20], y[:20])
    by_kernel.fit(kernel_values(by_samples, X[:20]), y[:20])
    assert_equal_models(by_samples, by_kernel)
    learn(by_samples, by_kernel, X[20:21], y[20:21])
    learn(by_samples, by_kernel, X[21:], y[21:])
    assert_equal_models(by_samples, by_kernel, updates=10)
    by_samples.forget([0, 7, 25])
    by_kernel.forget([0, 7, 25])
    assert_equal_models(by_samples, by_kernel, updates=13)
    learn(by_samples, by_kernel, X[7:9] + 0.5, y[7:9])
    assert_equal_models(by_samples, by_kernel, updates=15)
    close_values(by_kernel.loo_decision_function(), by_samples.loo_decision_function(), updates=15)
    assert by_kernel.n_features_in_ == len(by_kernel.ids_)


def test_partial_fit_first(estimator):
    X, y = make_samples(estimator)
    by_samples, by_kernel = pair(estimator)
    by_samples.partial_fit(X, y)
    by_kernel.partial_fit(kernel_values(by_samples, X), y)
    assert_equal_models(by_samples, by_kernel)


def test_balanced_class_weights(reweighable):
    classifier = reweighable
    X, y = make_samples(classifier)
    by_samples, by_kernel = pair(classifier, class_weight="balanced")
    by_samples.fit(X[:20], y[:20])
    by_kernel.fit(kernel_values(by_samples, X[:20]), y[:20])
    learn(by_samples, by_kernel, X[20:], y[20:])
    by_samples.forget([0, 1, 25])
    by_kernel.forget([0, 1, 25])
    assert_equal_models(by_samples, by_kernel, updates=13)


def test_float32(estimator):
    X, y = make_samples(estimator)
    by_samples, by_kernel = pair(estimator)
    by_samples.fit(X, y)
    K = kernel_values(by_samples, X).astype(np.float32)
    by_kernel.fit(K, y)
    assert by_kernel.X_fit_.dtype == np.float32
    found = values(by_kernel, kernel_values(by_samples, queries()).astype(np.float32))
    close_values(found, values(by_samples), dtype=np.float32)


def test_pickle_and_no_trace(estimator):
    X, y = make_samples(estimator)
    by_samples, by_kernel = pair(estimator)
    by_samples.fit(X, y)
    K = kernel_values(by_samples, X)
    by_kernel.fit(K, y).forget(4)
    stored = pickle.dumps(by_kernel)
    others = np.delete(K[4], 4)
    assert not any(value.tobytes() in stored for value in others)
    assert_equal_models(by_samples.forget(4), pickle.loads(stored), updates=1)


def test_samples_of_weight_zero_leave_with_their_columns(estimator):
    X, y = make_samples(estimator)
    weight = np.ones(30)
    weight[[3, 8]] = 0.0
    by_samples, by_kernel = pair(estimator)
    by_samples.fit(X, y, sample_weight=weight)
    by_kernel.fit(rbf(X, X, estimator.gamma), y, sample_weight=weight)
    assert_equal_models(by_samples, by_kernel)


# -- errors -------------------------------------------------------------------------------------


def gram(n=6):
    X = np.random.default_rng(0).standard_normal((n, 3))
    return rbf(X, X, 0.5)


def changed(K, i, j, value):
    K = K.copy()
    K[i, j] = value
    return K


def indefinite(K):
    K = changed(K, 0, 1, 1.5)
    K[1, 0] = 1.5
    return K


BAD_KERNELS = {
    "wide": (lambda K: K[:-1], r"must be square, got shape \(29, 30\)"),
    "tall": (lambda K: K[:, :-1], r"must be square, got shape \(30, 29\)"),
    "not symmetric": (lambda K: changed(K, 0, 1, 0.9), "must be symmetric.*differ by"),
    "indefinite": (indefinite, r"positive semi-definite.*negative eigenvalue \(-0"),
    "negative": (lambda K: -K, "positive semi-definite"),
    "nan": (lambda K: changed(K, 0, 1, np.nan), "NaN"),
    "complex": (lambda K: K + 1j, "[Cc]omplex"),
}


def test_bad_kernel_matrix(estimator):
    X, y = make_samples(estimator)
    by_samples, by_kernel = pair(estimator)
    K = kernel_values(by_samples.fit(X, y), X)
    before = snapshot(by_kernel.fit(K, y))
    for make, match in BAD_KERNELS.values():
        wrong = make(K)
        for model in (clone(by_kernel), by_kernel):
            with pytest.raises(ValueError, match=match):
                model.fit(wrong, y[: len(wrong)])
        assert_unchanged(by_kernel, before)


BAD_BLOCKS = {
    "held only": (lambda block: block[:, :30], r"of shape \(2, 32\).*got \(2, 30\)"),
    "new only": (lambda block: block[:, 30:], r"of shape \(2, 32\).*got \(2, 2\)"),
    "not symmetric": (lambda block: changed(block, 0, 31, 0.99), "must be symmetric"),
    "negative": (lambda block: changed(block, 0, 30, -1.0), "positive semi-definite"),
    "nan": (lambda block: changed(block, 0, 0, np.nan), "NaN"),
}


def test_bad_kernel_block(estimator):
    X, y = make_samples(estimator, 32)
    by_samples, by_kernel = pair(estimator)
    K = rbf(X, X, estimator.gamma)
    by_samples.fit(X[:30], y[:30])
    before = snapshot(by_kernel.fit(K[:30, :30], y[:30]))
    for make, match in BAD_BLOCKS.values():
        with pytest.raises(ValueError, match=match):
            by_kernel.partial_fit(make(K[30:]), y[30:])
        assert_unchanged(by_kernel, before)
    learn(by_samples, by_kernel, X[30:], y[30:])
    assert_equal_models(by_samples, by_kernel, updates=2)


def test_block_that_no_kernel_gives(repeatable):
    """Two samples of kernel value 1 that are more alike than equal."""
    X, y = make_samples(repeatable)
    _, by_kernel = pair(repeatable)
    K = rbf(X, X, repeatable.gamma)
    before = snapshot(by_kernel.fit(K[:29, :29], y[:29]))
    with pytest.raises((ValueError, np.linalg.LinAlgError), match=r"semi-definite|Schur"):
        by_kernel.partial_fit(changed(K[29:], 0, 3, 5.0), y[29:])
    assert_unchanged(by_kernel, before)


def test_block_that_a_ridge_hides(repeatable):
    """`fit` refuses this matrix; `partial_fit` of its last row should too."""
    X, y = make_samples(repeatable)
    _, by_kernel = pair(repeatable)
    K = 0.05 * rbf(X, X, repeatable.gamma)
    K[29, 3] = K[3, 29] = 0.08
    with pytest.raises(ValueError, match="semi-definite"):
        clone(by_kernel).fit(K, y)
    by_kernel.fit(K[:29, :29], y[:29])
    with pytest.raises((ValueError, np.linalg.LinAlgError), match=r"semi-definite|Schur"):
        by_kernel.partial_fit(K[29:], y[29:])


def test_queries_of_the_wrong_width(estimator):
    X, y = make_samples(estimator)
    by_samples, by_kernel = pair(estimator)
    by_kernel.fit(kernel_values(by_samples.fit(X, y), X), y)
    method = by_kernel.decision_function if is_classifier(by_kernel) else by_kernel.predict
    with pytest.raises(ValueError, match=r"each of the 30 samples of the model.*got 3 columns"):
        method(queries())


@pytest.mark.parametrize("n", [1, 2, 20])
def test_rank_deficient_kernels_pass(n):
    X = np.random.default_rng(0).standard_normal((n, 2))
    for K in (X @ X.T, np.ones((n, n)), 1e6 * X @ X.T, 1e-6 * X @ X.T):
        np.testing.assert_array_equal(check_kernel_rows(K, 0, [np.float64, np.float32]), K)
        single = check_kernel_rows(K.astype(np.float32), 0, [np.float64, np.float32])
        assert single.dtype == np.float32


def test_zero_kernel_passes():
    np.testing.assert_array_equal(
        check_kernel_rows(np.zeros((3, 3)), 0, [np.float64, np.float32]), np.zeros((3, 3))
    )


def test_zero_kernel_passes_in_single_precision():
    check_kernel_rows(np.zeros((3, 3), dtype=np.float32), 0, [np.float64, np.float32])


def test_input_is_left_alone():
    K = gram()
    before = K.copy()
    K.flags.writeable = False
    check_kernel_rows(K, 0, [np.float64, np.float32])
    np.testing.assert_array_equal(K, before)


def test_a_model_of_samples_does_not_become_one_of_kernel_values(estimator):
    X, y = make_samples(estimator)
    estimator.set_params(kernel="rbf").fit(X, y).set_params(kernel="precomputed")
    with pytest.raises(ValueError, match=r"holds samples for another kind of kernel.*Call fit"):
        estimator.reselect()


def test_outputs_elsewhere_without_a_sample():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 2)), rng.standard_normal(10)
    K, rest = rbf_kernel(X, gamma=0.5), np.delete(np.arange(10), 4)
    now = LeastSquaresSVR("precomputed", C=3.0).fit(K[:10, :10], y)._now
    found = outputs_without(now.spec, now.holdings, 4, K[10:, :10])[:, 0]
    alone = LeastSquaresSVR("precomputed", C=3.0).fit(K[np.ix_(rest, rest)], y[rest])
    np.testing.assert_allclose(found, alone.predict(K[10:, rest]), rtol=0, atol=1e-12)
