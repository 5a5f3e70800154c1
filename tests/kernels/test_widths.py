"""Kernels with a width: typical widths, and derivatives by them."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist

from gramian.kernels import KERNELS, RBF, Laplacian, Linear, make_kernel
from tests.tolerance import tolerance

WIDTHS = np.array([0.5, 0.0625, 2.0])
METRICS = {"rbf": "sqeuclidean", "laplacian": "cityblock"}


def samples(m=12):
    return np.random.default_rng(0).standard_normal((m, 3))


def symmetric(n):
    G = np.random.default_rng(1).standard_normal((n, n))
    return G + G.T


@pytest.mark.parametrize("kernel", [RBF(0.3), RBF(WIDTHS), Laplacian(0.3)], ids=str)
def test_gradient_equals_differences(kernel):
    X, step = samples(), 1e-5
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


@pytest.mark.parametrize("far", [1e6, 1e155, 1e300])
def test_gradient_by_feature_widths_beside_far_samples(far):
    X, kernel = samples(), RBF(WIDTHS)
    both = np.vstack([X, [[far, 0, 0], [far, far, -far]]])
    G = symmetric(len(both))
    got = kernel.gamma_gradient(kernel(both, both), G, both)
    alone = kernel.gamma_gradient(kernel(X, X), G[:12, :12], X)
    np.testing.assert_allclose(got, alone, rtol=tolerance(14, factor=256))


def test_far_offsets_leave_the_gradient_by_feature_widths():
    X, kernel, G = samples(), RBF(WIDTHS), symmetric(12)
    moved = X + 2.0**20
    exact = kernel.gamma_gradient(kernel(X, X), G, moved - 2.0**20)
    got = kernel.gamma_gradient(kernel(X, X), G, moved)
    np.testing.assert_allclose(got, exact, rtol=tolerance(12))


@pytest.mark.parametrize("kernel", [RBF(), RBF(WIDTHS), Laplacian()], ids=str)
@pytest.mark.parametrize("layout", [np.asarray, np.float32, sparse.csr_array])
def test_typical_gamma_is_one_over_the_median_distance_of_samples_that_differ(kernel, layout):
    X = samples()
    X[5:8] = X[4]
    distances = pdist(X, METRICS[kernel.name])
    expected = 1 / np.median(distances[distances > 1e-12])  # three samples are equal to a fourth
    got = kernel.typical_gamma(layout(X))
    assert type(got) is float
    np.testing.assert_allclose(got, expected, rtol=1e-5 if layout is np.float32 else 1e-14)


@pytest.mark.parametrize("kernel", [RBF(), Laplacian()], ids=str)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("scale", [0.0, 1.0, 1e-200, 1e300])
def test_typical_gamma_is_always_a_width(kernel, layout, scale):
    for X in (np.ones((4, 3)), scale * samples(), np.ones((1, 3))):
        assert 0 < kernel.typical_gamma(layout(X)) < np.inf
    assert kernel.typical_gamma(layout(np.ones((4, 3)))) == 1.0


def test_which_kernels_have_widths():
    assert {name for name in KERNELS if KERNELS[name].has_width} == set(METRICS)
    assert {name for name in KERNELS if KERNELS[name].has_feature_widths} == {"rbf"}
    assert {name for name in KERNELS if KERNELS[name].takes_gamma} == {*METRICS, "poly"}


@pytest.mark.parametrize("name", ["linear", "poly", "precomputed"])
def test_others_have_none(name):
    kernel, X = make_kernel(name), samples()
    with pytest.raises(TypeError, match=f"the {name} kernel has no width"):
        kernel.typical_gamma(X)
    with pytest.raises(TypeError, match=f"the {name} kernel has no width"):
        kernel.gamma_gradient(Linear()(X, X), symmetric(12), X)


def test_gradient_by_feature_widths_needs_dense_samples():
    X, kernel = samples(), RBF(WIDTHS)
    with pytest.raises(ValueError, match="needs dense samples"):
        kernel.gamma_gradient(kernel(X, X), symmetric(12), sparse.csr_array(X))
