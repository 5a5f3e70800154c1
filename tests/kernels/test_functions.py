"""Each kernel against its formula, one pair of samples at a time."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from gramian.kernels import KERNELS, Kernel, make_kernel
from tests.tolerance import tolerance

WIDTHS = np.array([0.5, 0.0625, 2.0, 0.25, 1.0])


def scaled_product(X, Y, *, scale):
    """A kernel function as a user would write it, for dense and CSR samples."""
    product = X @ Y.T
    return scale * (product.toarray() if sparse.issparse(product) else product)


# name: (the kernel, its value for one pair of samples)
FORMULAS = {
    "linear": (make_kernel("linear"), lambda x, y: x @ y),
    "poly": (
        make_kernel("poly", gamma=0.25, degree=3, coef0=0.5),
        lambda x, y: (0.25 * (x @ y) + 0.5) ** 3,
    ),
    "rbf": (
        make_kernel("rbf", gamma=0.25),
        lambda x, y: np.exp(-0.25 * np.sum((x - y) ** 2)),
    ),
    "widths": (
        make_kernel("rbf", gamma=WIDTHS),
        lambda x, y: np.exp(-np.sum(WIDTHS * (x - y) ** 2)),
    ),
    "laplacian": (
        make_kernel("laplacian", gamma=0.25),
        lambda x, y: np.exp(-0.25 * np.sum(np.abs(x - y))),
    ),
    "callable": (
        make_kernel(scaled_product, params={"scale": 2.0}),
        lambda x, y: 2.0 * (x @ y),
    ),
}
LAYOUTS = {"dense": np.asarray, "csr matrix": sparse.csr_matrix, "csr array": sparse.csr_array}


@pytest.fixture(params=FORMULAS)
def name(request):
    return request.param


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return LAYOUTS[request.param]


def samples(m, seed=0, dtype=float):
    """m × 5 numbers, a third of them zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, 5))
    X[rng.random((m, 5)) < 0.3] = 0.0
    return X.astype(dtype)


def literal(pair, X, Y):
    X, Y = X.astype(float), Y.astype(float)
    return np.array([[pair(x, y) for y in Y] for x in X])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 6), (7, 4)])
def test_kernel_equals_its_formula(name, layout, m, n, dtype):
    kernel, pair = FORMULAS[name]
    X, Y = samples(m, 0, dtype), samples(n, 1, dtype)
    expected = literal(pair, X, Y)
    got = kernel(layout(X), layout(Y))
    assert type(got) is np.ndarray
    assert got.dtype == dtype
    assert got.shape == (m, n)
    tol = tolerance(5, dtype=dtype) * np.abs(expected).max()
    np.testing.assert_allclose(got, expected, rtol=0, atol=tol)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_diagonal_is_that_of_the_square_block(name, layout, dtype):
    kernel, _ = FORMULAS[name]
    X = layout(samples(9, dtype=dtype))
    K, diagonal = kernel(X, X), kernel.diagonal(X)
    assert diagonal.dtype == dtype
    assert diagonal.shape == (9,)
    tol = tolerance(5, dtype=dtype) * np.abs(K).max()
    np.testing.assert_allclose(diagonal, np.diagonal(K), rtol=0, atol=tol)
    np.testing.assert_allclose(K, K.T, rtol=0, atol=tol)


@pytest.mark.parametrize(
    "parameters",
    [
        {"gamma": np.float64(0.5)},
        {"degree": np.int64(2)},
        {"coef0": np.float64(0.5)},
    ],
    ids=str,
)
def test_parameters_from_a_numpy_grid_keep_single_precision(parameters):
    kernel, X = make_kernel("poly", **parameters), samples(4, dtype=np.float32)
    assert kernel(X, X).dtype == np.float32
    assert kernel.diagonal(X).dtype == np.float32


def test_inputs_stay_as_they_are(name):
    kernel, _ = FORMULAS[name]
    X = samples(6)
    X.flags.writeable = False
    kernel(X, X)
    kernel(X[::-1], X[:, ::1])
    kernel.diagonal(X)


def test_laplacian_leaves_unsorted_sparse_samples_alone():
    X = sparse.csr_matrix((np.ones(3), np.array([2, 0, 1]), np.array([0, 3])), shape=(1, 3))
    make_kernel("laplacian")(X, X)
    np.testing.assert_array_equal(X.indices, [2, 0, 1])


def test_kernel_survives_a_pickle(name):
    kernel, X = FORMULAS[name][0], samples(5)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(kernel))(X, X), kernel(X, X))


def test_every_name_has_a_formula_here():
    assert set(KERNELS) <= set(FORMULAS)


# -- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [np.ones((2, 3)), np.ones(3), 1.0], ids=["block", "row", "0-d"])
def test_callable_of_the_wrong_shape(values):
    kernel = make_kernel(lambda X, Y: values)
    message = r"kernel must return an array of shape \(3, 2\) for these samples, got \("
    with pytest.raises(ValueError, match=message):
        kernel(samples(3), samples(2))


def test_diagonal_of_a_callable_of_the_wrong_shape():
    kernel = make_kernel(lambda X, Y: np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"an array of shape \(1, 1\)"):
        kernel.diagonal(samples(3))


@pytest.mark.parametrize("bad", ["gaussian", "precomputed", None, 3])
def test_unknown_kernel(bad):
    with pytest.raises(ValueError, match=r'kernel must be "linear", "poly", "rbf", "laplacian", '):
        make_kernel(bad)


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan, [0.5, -0.5], np.array([1.0, np.nan])])
def test_gamma_must_be_positive(gamma):
    with pytest.raises(ValueError, match="gamma must be > 0, got"):
        make_kernel("rbf", gamma=gamma)


@pytest.mark.parametrize("gamma", [np.inf, "scale", None])
def test_gamma_must_be_a_finite_number(gamma):
    with pytest.raises(ValueError, match="gamma must be"):
        make_kernel("rbf", gamma=gamma)


@pytest.mark.parametrize("kernel", ["poly", "laplacian"])
def test_a_width_per_feature_is_for_the_rbf_kernel_only(kernel):
    with pytest.raises(ValueError, match="gamma"):
        make_kernel(kernel, gamma=WIDTHS)


@pytest.mark.parametrize(("degree", "coef0"), [(0, 1.0), (-2, 1.0), (3, -1.0)])
def test_polynomial_needs_a_degree_and_no_negative_constant(degree, coef0):
    with pytest.raises(ValueError, match=r"needs degree >= 1 and coef0 >= 0, got "):
        make_kernel("poly", degree=degree, coef0=coef0)


@pytest.mark.parametrize(("degree", "coef0"), [(2.5, 1.0), (np.nan, 1.0), (3, np.nan)])
def test_polynomial_needs_a_whole_degree(degree, coef0):
    with pytest.raises(ValueError, match="polynomial kernel needs"):
        make_kernel("poly", degree=degree, coef0=coef0)


def test_parameters_of_the_polynomial_are_not_asked_of_others():
    assert make_kernel("rbf", degree=-1, coef0=-1.0).name == "rbf"


def test_kernel_cannot_be_changed():
    with pytest.raises(AttributeError):
        Kernel("rbf").gamma = 2.0
