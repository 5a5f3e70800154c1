"""Weighted sums of kernels against a sum over the centres."""

import numpy as np
import pytest
from scipy import sparse

from gramian.core.arrays import row_blocks
from gramian.core.kernels import Precomputed, make_kernel
from gramian.core.kernels import _expansion as module
from gramian.core.kernels._expansion import KernelExpansion
from gramian.core.kernels._precomputed import GramSamples
from tests.tolerance import tolerance

CENTRES = np.random.default_rng(0).standard_normal((9, 3))
Z = np.random.default_rng(1).standard_normal((9, 2))
INTERCEPT = np.array([0.5, -1.0])
QUERIES = np.random.default_rng(2).standard_normal((11, 3))


def summed(kernel, X, centres):
    terms = (kernel(X, centres[i : i + 1]) * Z[i] for i in range(len(Z)))
    return sum(terms) + INTERCEPT


@pytest.fixture(params=["whole", "row by row"], autouse=True)
def blocks(request, monkeypatch):
    """The same results whatever fits into memory at once."""
    if request.param == "row by row":
        monkeypatch.setattr(module, "row_blocks", lambda m, n: row_blocks(m, n, budget=1))


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "laplacian"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_outputs_equal_a_sum(name, layout, dtype):
    kernel = make_kernel(name, gamma=0.5)
    centres, X = layout(CENTRES.astype(dtype)), layout(QUERIES.astype(dtype))
    f = KernelExpansion(kernel, centres, Z.astype(dtype), INTERCEPT.astype(dtype))
    got = f.outputs(X)
    assert got.shape == (11, 2)
    assert got.dtype == dtype
    expected = summed(kernel, QUERIES, CENTRES)
    size = np.abs(kernel(QUERIES, CENTRES)).max()
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance(9, dtype=dtype) * size)


def test_outputs_for_a_precomputed_kernel():
    K, new = CENTRES @ CENTRES.T, QUERIES @ CENTRES.T
    holdings = GramSamples(K)[::2]
    f = KernelExpansion(Precomputed(), holdings, Z[::2], INTERCEPT)
    np.testing.assert_allclose(f.outputs(new), new[:, ::2] @ Z[::2] + INTERCEPT)
    np.testing.assert_allclose(f.outputs(holdings), K[::2, ::2] @ Z[::2] + INTERCEPT)


def test_without_centres_the_intercept_remains():
    f = KernelExpansion(make_kernel("rbf"), CENTRES[:0], Z[:0], INTERCEPT)
    np.testing.assert_array_equal(f.outputs(QUERIES), np.tile(INTERCEPT, (11, 1)))
    assert f.outputs(QUERIES[:0]).shape == (0, 2)
