"""Each kernel against its formula, one pair of samples at a time."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from gramian.core.kernels import KERNELS, make_kernel
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
    "laplacian widths": (
        make_kernel("laplacian", gamma=WIDTHS),
        lambda x, y: np.exp(-np.sum(WIDTHS * np.abs(x - y))),
    ),
    "exponential": (
        make_kernel("exponential", gamma=0.25),
        lambda x, y: np.exp(-0.25 * np.linalg.norm(x - y)),
    ),
    "exponential widths": (
        make_kernel("exponential", gamma=WIDTHS),
        lambda x, y: np.exp(-np.linalg.norm(WIDTHS * (x - y))),
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
    assert set(KERNELS) <= {*FORMULAS, "precomputed"}


@pytest.mark.parametrize(("m", "n"), [(0, 3), (3, 0), (0, 0)])
def test_no_samples_give_an_empty_block(name, layout, m, n):
    kernel, _ = FORMULAS[name]
    got = kernel(layout(samples(m, dtype=np.float32)), layout(samples(n, dtype=np.float32)))
    assert got.shape == (m, n)
    assert got.dtype == np.float32


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "widths", "laplacian", "exponential"])
def test_dense_and_sparse_samples_meet(name):
    kernel, _ = FORMULAS[name]
    X, Y = samples(4), samples(3, seed=1)
    for mixed in (kernel(X, sparse.csr_array(Y)), kernel(sparse.csr_matrix(X), Y)):
        assert type(mixed) is np.ndarray
        np.testing.assert_allclose(mixed, kernel(X, Y), atol=tolerance(5))


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "widths", "laplacian", "exponential"])
def test_entries_stored_twice_are_summed(name):
    kernel, _ = FORMULAS[name]
    twice = sparse.csr_array((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), (1, 5))
    once = np.array([[0.0, 3.0, 0.0, 0.0, 0.0]])
    for Y in (samples(3), np.zeros((1, 5))):
        got = kernel(twice, sparse.csr_array(Y))
        np.testing.assert_allclose(got, kernel(once, Y), atol=tolerance(5) * 300)  # up to 13³ / 8
    np.testing.assert_allclose(kernel.diagonal(twice), kernel.diagonal(once))
    assert twice.nnz == 2


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "laplacian", "exponential"])
def test_whole_numbers_give_real_values(name):
    kernel, pair = FORMULAS[name]
    X = np.array([[1, 0, 2, 0, 0], [0, 1, 0, 1, 0]])
    got = kernel(X, X)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, literal(pair, X, X), rtol=tolerance(5))


@pytest.mark.parametrize("name", ["linear", "poly"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_products_that_overflow_are_an_error(name, layout):
    kernel, _ = FORMULAS[name]
    X = layout(np.array([[1e200, -1e200], [1e200, 1e200]]))
    with pytest.raises(ValueError, match=r"kernel values are not finite: .* scale the samples"):
        kernel(X, X)
    with pytest.raises(ValueError, match=r"kernel values are not finite: .* scale the samples"):
        kernel.diagonal(X)
