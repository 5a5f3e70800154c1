"""Orthogonal columns and ridge regression on them, against dense direct solves."""

import numpy as np
import pytest

from gramian.orthogonal._equations import OrthogonalBasis, OrthogonalRegression, resized
from tests.tolerance import tolerance


def enter(target, column):
    """Project once and append, as forward selection does."""
    basis = getattr(target, "basis", target)
    z = column.copy()[None]
    coefficients = basis.project(z)
    target.append(z[0], coefficients[0])


def orthogonality(Q):
    """Largest cosine between two rows."""
    rows = Q / np.linalg.norm(Q, axis=1, keepdims=True)
    return np.abs(rows @ rows.T - np.eye(len(Q))).max()


def dense_fit(Q, Y, ridge, free):
    """Residual and hat matrix by the normal equations of ``‖Y − Q a‖² + λ‖a‖²``."""
    penalty = ridge * np.diag(np.arange(len(Q)) >= free)
    H = Q.T @ np.linalg.solve(Q @ Q.T + penalty, Q)
    return Y - H @ Y, H


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_are_orthogonal_and_multiply_back(dtype):
    rng = np.random.default_rng(0)
    K = rng.standard_normal((80, 40)).astype(dtype)
    K[:, 20:] = K[:, :20] + dtype(1e-3) * K[:, 20:]
    given = K.copy()
    basis = OrthogonalBasis(80, K.dtype)
    for column in K.T:
        enter(basis, column)
    assert basis.Q.dtype == basis.U.dtype == dtype
    assert orthogonality(basis.Q) < tolerance(80, dtype=dtype)
    np.testing.assert_allclose(basis.Q.T @ basis.U, K, atol=tolerance(80, dtype=dtype))
    np.testing.assert_array_equal(np.tril(basis.U, -1), 0.0)
    np.testing.assert_array_equal(np.diagonal(basis.U), 1.0)
    np.testing.assert_array_equal(K, given)


def test_nearly_dependent_columns_are_orthogonal_too():
    rng = np.random.default_rng(0)
    K = rng.standard_normal((60, 1)) + 1e-9 * rng.standard_normal((60, 12))
    basis = OrthogonalBasis(60, K.dtype)
    for column in K.T:
        enter(basis, column)
    assert orthogonality(basis.Q) < tolerance(60)


def test_truncated_basis_is_that_of_the_first_columns():
    rng = np.random.default_rng(0)
    K = rng.standard_normal((50, 35))
    short, long = OrthogonalBasis(50, K.dtype), OrthogonalBasis(50, K.dtype)
    for j, column in enumerate(K.T):
        enter(long, column)
        if j < 9:
            enter(short, column)
    long.truncate(9)
    np.testing.assert_array_equal(long.Q, short.Q)
    np.testing.assert_array_equal(long.U, short.U)
    enter(long, K[:, 20])
    np.testing.assert_allclose(long.Q.T @ long.U, K[:, [*range(9), 20]], atol=tolerance(50))


@pytest.mark.parametrize("free", [0, 1])
@pytest.mark.parametrize("t", [1, 3])
def test_regression_equals_a_direct_solve_while_ridge_and_columns_change(free, t):
    rng = np.random.default_rng(0)
    K, Y = rng.standard_normal((40, 38)), rng.standard_normal((40, t))
    regression = OrthogonalRegression(Y, total=40.0, free=free)
    atol = tolerance(40, updates=38, cond=100.0, power=1)
    for j, column in enumerate(K.T):
        enter(regression, column)
        if j % 5 == 0:
            regression.set_ridge(0.1 * j)
        residual, H = dense_fit(regression.basis.Q, Y, regression.ridge, free)
        np.testing.assert_allclose(regression.residual.T, residual, atol=atol)
        np.testing.assert_allclose(regression.hat, np.diagonal(H), atol=atol)
        np.testing.assert_allclose(
            regression.basis.Q.T @ regression.weights, Y - residual, atol=atol
        )
    regression.truncate(7, ridge=2.0)
    residual, H = dense_fit(regression.basis.Q, Y, 2.0, free)
    np.testing.assert_allclose(regression.residual.T, residual, atol=atol)
    np.testing.assert_allclose(regression.hat, np.diagonal(H), atol=atol)
    np.testing.assert_allclose(regression.shrinkage.rss(2.0), np.square(residual).sum(), rtol=atol)
    np.testing.assert_allclose(regression.shrinkage.df(2.0), np.trace(H), rtol=atol)


@pytest.mark.parametrize("free", [0, 1])
def test_leave_one_out_equals_fits_without_the_row(free):
    rng = np.random.default_rng(0)
    K, Y = rng.standard_normal((25, 8)), rng.standard_normal((25, 2))
    regression = OrthogonalRegression(Y, total=25.0, free=free)
    for column in K.T:
        enter(regression, column)
    regression.set_ridge(0.3)
    Q, penalty = regression.basis.Q.T, 0.3 * np.diag(np.arange(8) >= free)
    for i in range(25):
        keep = np.arange(25) != i
        a = np.linalg.solve(Q[keep].T @ Q[keep] + penalty, Q[keep].T @ Y[keep])
        expected = Y[i] - Q[i] @ a
        rtol = tolerance(25, cond=1e3, power=1)
        np.testing.assert_allclose(regression.loo()[:, i], expected, rtol=rtol)


def test_row_that_is_fitted_whatever_its_target_has_no_leave_one_out_residual():
    regression = OrthogonalRegression(np.arange(3.0)[:, None], total=3.0)
    enter(regression, np.array([0.0, 2.0, 0.0]))
    np.testing.assert_array_equal(regression.loo(), [[0.0, np.inf, 2.0]])


def test_resized_begins_with_the_old_rows():
    old = np.arange(6.0).reshape(3, 2)
    new = resized(old, 7)
    assert new.shape == (7, 2)
    np.testing.assert_array_equal(new[:3], old)
