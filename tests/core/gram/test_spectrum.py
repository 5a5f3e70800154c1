import numpy as np
import pytest

from gramian.core.gram._spectrum import decompose
from tests.tolerance import tolerance

RIDGES = np.array([1e-3, 0.1, 10.0])


def positive_matrix(n, rng):
    B = rng.standard_normal((n, n))
    return B @ B.T / n


@pytest.mark.parametrize("n", [1, 2, 30])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("power", [1, 2])
def test_moments_equal_the_explicit_inverse(n, weighted, power):
    rng = np.random.default_rng(0)
    K, Y = positive_matrix(n, rng), rng.standard_normal((n, 3))
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    D = np.diag(1.0 / (weight if weighted else np.ones(n)))

    moments = decompose(K.copy(), weight).moments(Y, RIDGES, power=power)

    assert moments.R.shape == (3, n, 3)
    assert moments.s.shape == moments.p.shape == (3, n)
    for index, ridge in enumerate(RIDGES):
        P = np.linalg.inv(K + ridge * D)
        M = P if power == 1 else P @ D @ P
        tol = tolerance(n, cond=np.linalg.cond(K + ridge * D), power=power) * np.abs(M).max()
        np.testing.assert_allclose(moments.R[index], M @ Y, rtol=0, atol=tol)
        np.testing.assert_allclose(moments.s[index], M.sum(axis=1), rtol=0, atol=tol)
        np.testing.assert_allclose(moments.p[index], np.diag(M), rtol=0, atol=tol)


def test_squared_is_the_spectrum_of_the_squared_matrix():
    rng = np.random.default_rng(0)
    n = 20
    K, Y, weight = positive_matrix(n, rng), rng.standard_normal((n, 1)), rng.uniform(1, 2, n)
    squared = decompose(K.copy(), weight).squared()
    A = K @ (weight[:, None] * K) + 0.1 * np.diag(1.0 / weight)
    tol = tolerance(n, cond=np.linalg.cond(A), power=1)
    np.testing.assert_allclose(
        squared.moments(Y, np.array([0.1])).R[0], np.linalg.solve(A, Y), atol=tol
    )


def test_a_ridge_too_small_for_an_indefinite_matrix_is_refused():
    spectrum = decompose(np.diag([-0.5, 1.0]))
    with pytest.raises(ValueError, match=r"ridge must exceed 0\.5 here, got 0\.1"):
        spectrum.moments(np.ones((2, 1)), np.array([0.1, 1.0]))


def test_decompose_works_in_place():
    K = positive_matrix(40, np.random.default_rng(0))
    spectrum = decompose(K)
    assert np.shares_memory(spectrum.vectors, K)


def test_single_precision_is_kept():
    K = positive_matrix(10, np.random.default_rng(0)).astype(np.float32)
    moments = decompose(K).moments(np.ones((10, 1), np.float32), np.float32([0.1]))
    assert {part.dtype for part in moments} == {np.dtype(np.float32)}
