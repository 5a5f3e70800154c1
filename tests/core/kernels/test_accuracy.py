"""A kernel value depends on its two samples alone, whoever else is in the block."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from gramian.core.kernels import RBF, Exponential, Laplacian, Linear, Polynomial

WIDTHS = np.array([0.5, 0.0625, 2.0, 0.3, 1.0])
KERNELS = {
    "rbf": RBF(0.3),
    "wide": RBF(0.001),
    "narrow": RBF(40.0),
    "widths": RBF(WIDTHS),
    "laplacian": Laplacian(0.3),
    "laplacian widths": Laplacian(WIDTHS),
    "exponential": Exponential(0.3),
    "exponential widths": Exponential(WIDTHS),
}
DENSE = {"float64": np.float64, "float32": np.float32}
LAYOUTS = {
    **{name: lambda X, dtype=dtype: X.astype(dtype) for name, dtype in DENSE.items()},
    **{
        f"csr {name}": lambda X, dtype=dtype: sparse.csr_array(X.astype(dtype))
        for name, dtype in DENSE.items()
    },
}
SIZES = {"few": (9, 7), "many": (130, 128)}  # on both sides of where the products of matrices begin
FAR = {"float64": (1e6, 2.0**31 - 1, 1e155, 1e300), "float32": (1e6, 2.0**31 - 1, 1e19, 1e38)}

COMPANY = [("nowhere", 0), *product(["X", "Y", "both"], range(4))]


def samples(m, n, seed=0):
    """Ordinary samples with some zeros. Some of Y equal one of X, or nearly."""
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((m, 5)), rng.standard_normal((n, 5))
    X[rng.random(X.shape) < 0.3] = 0.0
    Y[rng.random(Y.shape) < 0.3] = 0.0
    Y[:2] = X[:2]
    Y[2:4] = X[2:4] + 1e-3
    return X, Y


def with_far_rows(X, far, seed=1):
    """The samples with a few rows far away among them: in one feature, in all, twice the same."""
    rng = np.random.default_rng(seed)
    rows = far * np.array([[0, 1, 0, 0, 0], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [-1, 0.5, 0, 0, 1]])
    return np.insert(X, rng.integers(0, len(X), len(rows)), rows, axis=0)


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def exact(kernel, X, Y):
    """Exponents and kernel values by differences in extended precision."""
    X, Y = (dense(Z).astype(np.longdouble) for Z in (X, Y))
    differences = X[:, None] - Y
    gamma = np.asarray(kernel.gamma, dtype=np.longdouble)
    if kernel.name == "exponential":
        exponents = np.sqrt(np.sum((gamma * differences) ** 2, axis=2))
    else:
        distances = np.abs(differences) if kernel.name == "laplacian" else differences**2
        exponents = np.sum(gamma * distances, axis=2)
    return exponents, np.exp(-exponents)


def assert_exact(kernel, X, Y):
    """Each value as good as the rounding of its own exponent allows, and 0 where it underflows."""
    got = kernel(X, Y)
    assert got.dtype == X.dtype
    with np.errstate(all="ignore"):
        exponents, expected = exact(kernel, X, Y)
        limits = np.finfo(X.dtype)
        bound = 32 * limits.eps * np.where(expected > 0, (1 + exponents) * expected, 0)
        bound += limits.tiny  # below it numbers lose digits
        assert np.all(np.abs(got - expected) <= bound)
    return got


@pytest.fixture(params=KERNELS)
def kernel(request):
    return KERNELS[request.param]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("place", "far"), COMPANY)
def test_far_samples_do_no_harm_to_others(kernel, size, layout, place, far):
    X, Y = samples(*SIZES[size])
    far = FAR["float32" if "float32" in layout else "float64"][far]
    if place in ("X", "both"):
        X = with_far_rows(X, far)
    if place in ("Y", "both"):
        Y = with_far_rows(Y, far, seed=2)
    X, Y = (LAYOUTS[layout](Z) for Z in (X, Y))
    assert_exact(kernel, X, Y)
    assert_exact_square(kernel, X)


@pytest.mark.parametrize("kernel", [RBF, Laplacian, Exponential])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_feature_of_width_0_is_not_there(kernel, layout):
    X, Y = samples(*SIZES["many"])
    widths = WIDTHS * [1, 1, 0, 1, 1]
    expected = assert_exact(kernel(widths), LAYOUTS[layout](X), LAYOUTS[layout](Y))
    X[3, 2] = Y[:, 2] = FAR["float32"][-1]
    got = kernel(widths)(LAYOUTS[layout](X), LAYOUTS[layout](Y))
    np.testing.assert_array_equal(got, expected)


def assert_exact_square(kernel, X):
    """k(X, X) is also exactly symmetric with a diagonal of ones."""
    K = assert_exact(kernel, X, X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(np.diagonal(K), np.ones(X.shape[0]))
    np.testing.assert_array_equal(kernel.diagonal(X), np.ones(X.shape[0]))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("size", SIZES)
def test_far_from_the_origin(kernel, layout, size):
    X, Y = (LAYOUTS[layout](1e6 + Z) for Z in samples(*SIZES[size]))
    assert_exact(kernel, X, Y)
    assert_exact_square(kernel, X)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_two_groups_far_apart(kernel, layout):
    X, Y = samples(*SIZES["many"])
    X[::2] += 1e5
    Y[::3] -= 1e5
    assert_exact(kernel, LAYOUTS[layout](X), LAYOUTS[layout](Y))


@pytest.mark.parametrize("layout", ["float64", "csr float64"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scale", [1e-153, 1e-120, 1e150, 1e153])
@pytest.mark.parametrize("gamma", [0.3, WIDTHS], ids=["one", "widths"])
def test_gamma_may_be_as_extreme_as_the_samples(layout, size, scale, gamma):
    X, Y = (LAYOUTS[layout](scale * Z) for Z in samples(*SIZES[size]))
    assert_exact(RBF(gamma / scale**2), X, Y)
    assert_exact_square(RBF(gamma / scale**2), X)
    assert_exact(Exponential(gamma / scale), X, Y)
    assert_exact_square(Exponential(gamma / scale), X)


@given(
    st.integers(0, 2**16),
    st.sampled_from(sorted(LAYOUTS)),
    st.sampled_from(sorted(KERNELS)),
    st.lists(st.sampled_from([-1e37, -3e5, 0.0, 1e-7, 1e3, 1e15]), max_size=6),
)
def test_any_company(seed, layout, name, offsets):
    X, Y = samples(140, 125, seed)
    for i, offset in enumerate(offsets):
        X[i::17] += offset
        Y[i::13, i % 5] += offset
    assert_exact(KERNELS[name], LAYOUTS[layout](X), LAYOUTS[layout](Y))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("far", [1e6, 2.0**31 - 1])
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(0.3, 2, 0.5)], ids=["linear", "poly"])
def test_products_are_as_good_as_their_two_samples_allow(kernel, layout, far):
    X, Y = (LAYOUTS[layout](with_far_rows(Z, far)) for Z in samples(*SIZES["many"]))
    x, y = (dense(Z).astype(np.longdouble) for Z in (X, Y))
    values, size = x @ y.T, np.abs(x) @ np.abs(y).T
    if kernel.name == "poly":
        values, size = (0.3 * values + 0.5) ** 2, (0.3 * size + 0.5) ** 2
    bound = 32 * np.finfo(X.dtype).eps * size
    assert np.all(np.abs(kernel(X, Y) - values) <= bound)


@pytest.mark.slow
def test_many_features_and_several_blocks_of_rows():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 64))
    X[7], X[290] = X[4] + 1e-6, 1e200
    assert_exact(RBF(1 / 64), X, X[::-1].copy())
    assert_exact_square(RBF(1 / 64), X)
    assert_exact_square(RBF(10.0), X)
