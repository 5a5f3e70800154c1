"""Kernels with a width: typical widths, and derivatives by them."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist

from gramian.core.kernels import (
    KERNELS,
    RBF,
    Exponential,
    Laplacian,
    Linear,
    _distance,
    make_kernel,
)
from tests.tolerance import tolerance

WIDTHS = np.array([0.5, 0.0625, 2.0])
METRICS = {"rbf": "sqeuclidean", "laplacian": "cityblock", "exponential": "euclidean"}
ONE = [RBF(0.3), Laplacian(0.3), Exponential(0.3)]
EACH = [RBF(WIDTHS), Laplacian(WIDTHS), Exponential(WIDTHS)]


def samples(m=12):
    return np.random.default_rng(0).standard_normal((m, 3))


def symmetric(n):
    G = np.random.default_rng(1).standard_normal((n, n))
    return G + G.T


@pytest.mark.parametrize("kernel", [*ONE, *EACH], ids=str)
def test_gradient_equals_differences(kernel):
    X, step = samples(), 1e-5
    X[3] = X[4]
    G = symmetric(len(X))
    got = kernel.gamma_gradient(kernel(X, X), G, X)
    gamma = np.atleast_1d(kernel.gamma)
    assert got.shape == gamma.shape

    def value(move):
        moved = gamma * np.exp(move)
        return np.sum(G * kernel.with_gamma(moved if len(gamma) > 1 else moved[0])(X, X))

    steps = step * np.eye(len(gamma))
    expected = [(value(move) - value(-move)) / (2 * step) for move in steps]
    # a central difference: step² and eps / step
    np.testing.assert_allclose(got, expected, atol=1e-8 * np.abs(G).sum())


@pytest.mark.parametrize("kernel", EACH, ids=str)
@pytest.mark.parametrize("far", [1e6, 1e155, 1e300])
def test_gradient_by_feature_widths_beside_far_samples(kernel, far):
    X = samples()
    both = np.vstack([X, [[far, 0, 0], [far, far, -far]]])
    G = symmetric(len(both))
    got = kernel.gamma_gradient(kernel(both, both), G, both)
    alone = kernel.gamma_gradient(kernel(X, X), G[:12, :12], X)
    np.testing.assert_allclose(got, alone, rtol=tolerance(14, factor=256))


@pytest.mark.parametrize("kernel", EACH, ids=str)
def test_far_offsets_leave_the_gradient_by_feature_widths(kernel):
    X, G = samples(), symmetric(12)
    moved = X + 2.0**20
    exact = kernel.gamma_gradient(kernel(X, X), G, moved - 2.0**20)
    got = kernel.gamma_gradient(kernel(X, X), G, moved)
    np.testing.assert_allclose(got, exact, rtol=tolerance(12))


@pytest.mark.parametrize("kernel", [*ONE, RBF(WIDTHS)], ids=str)
@pytest.mark.parametrize("layout", [np.asarray, np.float32, sparse.csr_array])
def test_typical_gamma_is_one_over_the_median_distance_of_samples_that_differ(kernel, layout):
    X = samples()
    X[5:8] = X[4]
    distances = pdist(X, METRICS[kernel.name])
    expected = 1 / np.median(distances[distances > 1e-12])  # three samples are equal to a fourth
    got = kernel.typical_gamma(layout(X))
    assert type(got) is float
    np.testing.assert_allclose(got, expected, rtol=1e-5 if layout is np.float32 else 1e-14)


@pytest.mark.parametrize("kernel", ONE, ids=str)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("scale", [0.0, 1.0, 1e-200, 1e300])
def test_typical_gamma_is_always_a_width(kernel, layout, scale):
    for X in (np.ones((4, 3)), scale * samples(), np.ones((1, 3))):
        assert 0 < kernel.typical_gamma(layout(X)) < np.inf
    assert kernel.typical_gamma(layout(np.ones((4, 3)))) == 1.0


def test_which_kernels_have_widths():
    assert {name for name in KERNELS if KERNELS[name].has_width} == set(METRICS)
    assert {name for name in KERNELS if KERNELS[name].has_feature_widths} == set(METRICS)
    assert {name for name in KERNELS if KERNELS[name].takes_gamma} == {*METRICS, "poly"}


@pytest.mark.parametrize("name", ["linear", "poly", "precomputed"])
def test_others_have_none(name):
    kernel, X = make_kernel(name), samples()
    with pytest.raises(TypeError, match=f"the {name} kernel has no width"):
        kernel.typical_gamma(X)
    with pytest.raises(TypeError, match=f"the {name} kernel has no width"):
        kernel.gamma_gradient(Linear()(X, X), symmetric(12), X)
    with pytest.raises(TypeError, match=f"the {name} kernel has no width"):
        kernel.with_scales(np.ones(3))
    with pytest.raises(TypeError, match=f"the {name} kernel has no width"):
        kernel.slopes(Linear()(X, X), X, np.ones((12, 1)))


@pytest.mark.parametrize("kernel", EACH, ids=str)
@pytest.mark.parametrize("budget", [2**26, 12 * 8 * 2])  # all features at once, or two
def test_gradient_by_feature_widths_of_sparse_samples(kernel, budget, monkeypatch):
    monkeypatch.setattr(_distance, "_DENSE_BYTES", budget)
    X, G = samples(), symmetric(12)
    X[X < 0] = 0.0
    dense, csr = (kernel.gamma_gradient(kernel(X, X), G, Z) for Z in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(csr, dense, rtol=tolerance(12, factor=256))


@pytest.mark.parametrize("kernel", ONE, ids=str)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_scales_multiply_the_features(kernel, layout):
    X, scales = samples(), np.array([0.5, 0.0, 3.0])
    got = kernel.with_scales(scales)(layout(X), layout(X))
    np.testing.assert_allclose(got, kernel(X * scales, X * scales), atol=tolerance(12))


@pytest.mark.parametrize("kernel", ONE, ids=str)
def test_slopes_equal_differences_of_f(kernel):
    """At a sample the kernels of a distance have an edge: the sample itself adds nothing."""
    X, Z, step = samples(), np.random.default_rng(2).standard_normal((12, 2)), 1e-6
    got = kernel.slopes(kernel(X, X), X, Z)
    assert got.shape == (12, 3, 2)
    for i, x in enumerate(X):
        others = np.delete(np.arange(12), i)
        for f, move in enumerate(step * np.eye(3)):
            up, down = (kernel((x + s * move)[None], X[others]) @ Z[others] for s in (1, -1))
            # a central difference: step² and eps / step
            np.testing.assert_allclose(got[i, f], (up - down)[0] / (2 * step), atol=1e-8)


@pytest.mark.parametrize("kernel", ONE, ids=str)
def test_slopes_between_equal_samples_are_zero(kernel):
    X, Z = np.ones((2, 3)), np.ones((2, 1))
    np.testing.assert_array_equal(kernel.slopes(kernel(X, X), X, Z), np.zeros((2, 3, 1)))


@pytest.mark.parametrize("kernel", ONE, ids=str)
def test_slopes_of_some_features_and_beside_far_samples(kernel):
    X, Z = samples(), np.ones((12, 1))
    X[7] = 1e200
    K = kernel(X, X)
    whole = kernel.slopes(K, X, Z)
    assert np.isfinite(whole).all()
    some = kernel.slopes(K, X[:, 1:], Z)
    np.testing.assert_allclose(some, whole[:, 1:], atol=tolerance(12))
