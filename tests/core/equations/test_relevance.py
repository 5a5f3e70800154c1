"""Factors of features by mean squared slopes, against differences of f."""

import numpy as np
import pytest
from scipy import sparse

from gramian.core.equations import _relevance, feature_scales
from gramian.core.kernels import RBF, Exponential, Laplacian

KERNELS = [RBF(0.3), Laplacian(0.3), Exponential(0.3)]


def samples(n=15):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, 4)), rng.standard_normal((n, 2)), rng.uniform(0.5, 2.0, n)


def by_differences(kernel, X, Z, weight):
    """Means of squared central differences; a sample adds nothing to the slope at itself."""
    n, d = X.shape
    v, step = np.zeros(d), 1e-6
    for i in range(n):
        others = np.arange(n) != i
        for f, move in enumerate(step * np.eye(d)):
            ends = [kernel((X[i] + s * move)[None], X[others]) @ Z[others] for s in (1, -1)]
            v[f] += weight[i] * np.sum(((ends[0] - ends[1]) / (2 * step)) ** 2)
    return np.sqrt(v * d / v.sum())


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_scales_equal_differences_of_f(kernel, layout, monkeypatch):
    monkeypatch.setattr(_relevance, "_BYTES", 2**9)  # some features at a time
    X, Z, weight = samples()
    got = feature_scales(kernel, layout(X), Z, weight)
    # a central difference: step² and eps / step
    np.testing.assert_allclose(got, by_differences(kernel, X, Z, weight), rtol=1e-7)
    np.testing.assert_allclose(np.mean(got**2), 1.0)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_weight_counts_as_copies(kernel):
    X, Z, _ = samples()
    some = np.arange(15) % 3 == 0
    twice = np.concatenate([np.arange(15), np.flatnonzero(some)])
    halves = np.where(some, 0.5, 1.0)[:, None] * Z  # the same f
    weighted = feature_scales(kernel, X, Z, np.where(some, 2.0, 1.0))
    copied = feature_scales(kernel, X[twice], halves[twice], np.ones(len(twice)))
    np.testing.assert_allclose(copied, weighted, rtol=1e-10)


def test_a_feature_that_never_changes_has_no_scale():
    X, Z, weight = samples()
    X[:, 2] = 7.0
    got = feature_scales(RBF(0.3), X, Z, weight)
    assert got[2] == 0
    assert np.all(got[[0, 1, 3]] > 0)


def test_a_constant_f_has_all_scales_alike():
    X, Z, weight = samples()
    np.testing.assert_array_equal(feature_scales(RBF(0.3), X, 0 * Z, weight), np.ones(4))
