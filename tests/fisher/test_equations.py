"""The kernel Fisher discriminant against the systems, quotients and refits that define it."""

import numpy as np
import pytest
from scipy.linalg import eigh

from evidence.shared.paper_algorithms import canonical_form, fisher_loo_rows
from gramian.core.gram import Moments
from gramian.core.gram._spectrum import decompose
from gramian.fisher._equations import KFD, KFD_PENALIZED, Fisher
from tests.tolerance import tolerance

RIDGES = [10.0, 0.1, 1e-3]
PENALTIES = [0.0, 1.0]
both_biases = pytest.mark.parametrize("penalty", PENALTIES, ids=["free", "penalised"])
each_ridge = pytest.mark.parametrize("ridge", RIDGES)


def samples(n=25, t=2, seed=0):
    """Kernel matrix, targets and weights."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    K = np.exp(-0.5 * np.square(X[:, None] - X[None]).sum(axis=2))
    return K, rng.standard_normal((n, t)), rng.uniform(0.5, 2.0, n)


def solve_directly(Z, Y, weight, penalties):
    """``(ZᵀWZ + diag(penalties))⁻¹ ZᵀWY``: eqs. (4) and (5)."""
    return np.linalg.solve(
        Z.T @ (weight[:, None] * Z) + np.diag(penalties), Z.T @ (weight[:, None] * Y)
    )


def discriminant(K, Y, ridge, penalty, weight):
    """Intercepts and coefficients by the normal equations."""
    Z = np.column_stack([K, np.ones(len(K))])
    beta = solve_directly(Z, Y, weight, np.append(ridge / weight, ridge * penalty))
    return beta[-1], beta[:-1]


def resolvent(K, Y, ridge, weight):
    P = np.linalg.inv(K + 1j * np.sqrt(ridge) * np.diag(1.0 / weight))
    return Moments(P @ Y, P.sum(axis=1), np.diagonal(P))


def close(found, expected, K, ridge):
    """The references solve systems of the condition of K² + μ."""
    cond = np.linalg.cond(K @ K + ridge * np.eye(len(K)))
    atol = tolerance(len(K), cond=cond, power=1) * np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


# -- from the resolvent -------------------------------------------------------------------------


@each_ridge
@both_biases
def test_coefficients_solve_the_normal_equations(ridge, penalty):
    K, Y, weight = samples()
    intercept, Z = discriminant(K, Y, ridge, penalty, weight)
    moments = resolvent(K, Y, ridge, weight)
    found = Fisher("", penalty).coefficients(moments.R, moments.s, None, ridge)
    close(found[0], intercept, K, ridge)
    close(found[1], Z, K, ridge)


@both_biases
def test_a_weight_is_so_many_copies(penalty):
    K, Y, _ = samples(12)
    weight = np.random.default_rng(3).integers(1, 4, 12)
    copies = np.repeat(np.arange(12), weight)
    moments = resolvent(K, Y, 0.1, weight.astype(float))
    intercept, Z = Fisher("", penalty).coefficients(moments.R, moments.s, None, 0.1)
    repeated = discriminant(
        K[np.ix_(copies, copies)], Y[copies], 0.1, penalty, np.ones(len(copies))
    )
    close(intercept, repeated[0], K[np.ix_(copies, copies)], 0.1)
    summed = np.array([repeated[1][copies == i].sum(axis=0) for i in range(12)])
    close(Z, summed, K[np.ix_(copies, copies)], 0.1)


@each_ridge
@both_biases
def test_exact_leave_one_out_equals_refits(ridge, penalty):
    K, Y, weight = samples()
    expected = np.empty_like(Y)
    for i in range(len(K)):
        rest = np.arange(len(K)) != i
        intercept, Z = discriminant(K[np.ix_(rest, rest)], Y[rest], ridge, penalty, weight[rest])
        expected[i] = K[i, rest] @ Z + intercept
    moments = resolvent(K, Y, ridge, weight)
    found = Fisher("", penalty).loo(Y, lambda power: moments, ridge)
    close(found, expected, K, ridge)


def rows_left_out(K, Y, ridge, penalty, weight):
    """saadi2004, eq. (7): n fits without a row, each with all columns."""
    Z = np.column_stack([K, np.ones(len(K))])
    penalties = np.append(ridge / weight, ridge * penalty)
    out = np.empty_like(Y)
    for i in range(len(K)):
        rest = np.arange(len(K)) != i
        out[i] = Z[i] @ solve_directly(Z[rest], Y[rest], weight[rest], penalties)
    return out


@each_ridge
@both_biases
def test_leave_one_out_of_the_paper_equals_fits_without_a_row(ridge, penalty):
    K, Y, weight = samples()
    expected = rows_left_out(K, Y, ridge, penalty, weight)
    moments = resolvent(K, Y, ridge, weight)
    found = fisher_loo_rows(Y, moments, sigma=np.sqrt(ridge), penalty=penalty)
    close(found, expected, K, ridge)
    equations = KFD_PENALIZED if penalty else KFD
    path = equations.loo_path(decompose(K.copy(), weight), Y, np.array([ridge]))
    close(path[0], expected, K, ridge)


def test_the_two_differ_where_a_sample_is_far_from_the_others():
    K, Y, weight = samples()
    K[0, 1:] = K[1:, 0] = 0.0
    moments = resolvent(K, Y, 0.1, weight)
    exact = KFD.loo(Y, lambda power: moments, 0.1)
    rows = fisher_loo_rows(Y, moments, sigma=np.sqrt(0.1), penalty=0.0)
    np.testing.assert_allclose(exact[0], rows[0], rtol=tolerance(25))  # nothing but the bias left
    assert np.abs(exact[1:] - rows[1:]).max() > 0.1


# -- Fisher's quotient --------------------------------------------------------------------------


def test_direction_maximises_the_rayleigh_quotient():
    """saadi2004, eq. (3) with N + μI; eq. (4) has the same direction, and its bias."""
    K, _, _ = samples()
    n, ridge = len(K), 0.1
    first = np.arange(n) < 9
    y = np.where(first, n / 9, -n / (n - 9))[:, None]
    means = [K[:, members].mean(axis=1) for members in (first, ~first)]
    M = np.outer(means[0] - means[1], means[0] - means[1])
    N = ridge * np.eye(n)
    for members in (first, ~first):
        size = members.sum()
        N += K[:, members] @ (np.eye(size) - 1.0 / size) @ K[:, members].T
    direction = eigh(M, N)[1][:, -1]
    moments = resolvent(K, y, ridge, np.ones(n))
    intercept, Z = KFD.coefficients(moments.R, moments.s, None, ridge)
    direction *= Z[:, 0] @ direction / (direction @ direction)
    close(Z[:, 0], direction, K, ridge)
    overall = (9 * means[0] + (n - 9) * means[1]) / n
    close(intercept, [-Z[:, 0] @ overall], K, ridge)


# -- canonical form -----------------------------------------------------------------------------


@each_ridge
@both_biases
def test_canonical_form_solves_the_normal_equations_at_every_ridge(ridge, penalty):
    K, Y, _ = samples()
    form = canonical_form(K, Y, penalize_bias=bool(penalty))
    intercept, Z = discriminant(K, Y, ridge, penalty, np.ones(len(K)))
    found = form.coefficients(ridge)
    close(found[0], intercept, K, ridge)
    close(found[1], Z, K, ridge)
    expected = rows_left_out(K, Y, ridge, penalty, np.ones(len(K)))
    close(form.loo(Y, ridge), expected, K, ridge)


def test_canonical_form_is_that_of_the_paper():
    K, Y, _ = samples()
    form = canonical_form(K, Y, penalize_bias=True)
    Z = np.column_stack([K, np.ones(25)])
    U, eigenvalues, V = form.components, form.eigenvalues, form.axes
    size = np.linalg.norm(Z, 2) ** 2
    np.testing.assert_allclose(Z.T @ Z, (V * eigenvalues) @ V.T, rtol=0, atol=tolerance(25) * size)
    np.testing.assert_allclose(U, Z @ V, rtol=0, atol=tolerance(25) * size)
    np.testing.assert_allclose(U.T @ U, np.diag(eigenvalues), rtol=0, atol=tolerance(25) * size)
    # eq. (6)
    alpha = (U.T @ Y) / (eigenvalues + 0.1)[:, None]
    close(form.parameters(0.1), alpha, K, 0.1)


def test_parameters_at_ridge_0_interpolate():
    K, Y, _ = samples(8)
    intercept, Z = canonical_form(K, Y).coefficients(0.0)
    close(K @ Z + intercept, Y, K, 0.0)


def test_a_kernel_of_deficient_rank():
    K, Y, _ = samples(3)
    K, Y = np.kron(np.ones((2, 2)), K), np.vstack([Y, Y**2])
    intercept, Z = discriminant(K, Y, 0.1, 0.0, np.ones(6))
    found = canonical_form(K, Y).coefficients(0.1)
    close(found[0], intercept, K, 0.1)
    close(found[1], Z, K, 0.1)
    np.testing.assert_array_equal(canonical_form(0.0 * K, Y).unregularised, 0.0)
