"""Coefficients against the problems that define them, solved directly."""

import numpy as np
import pytest

from gramian.core.equations import LeastSquares, minimum_norm, minimum_norm_loo
from gramian.discriminant._equations import KDA_RMSE
from tests.tolerance import tolerance


def problem(n=20, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    return X, K, rng.standard_normal((n, 2))


def solve(equations, K, Y, ridge, weight):
    A = K + ridge * np.diag(1 / weight)
    R, s = np.linalg.solve(A, Y), np.linalg.solve(A, np.ones(len(K)))
    return equations.coefficients(R, s, 1 / weight, ridge)


def close(found, expected, cond=300.0):
    atol = tolerance(60, cond=cond, power=1) * max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


@pytest.mark.parametrize("n", [1, 2, 20])
def test_least_norm_is_the_pseudo_inverse(n):
    """kim2006, eqs. (16) and (18)."""
    _, K, Y = problem(n)
    b, Z = solve(KDA_RMSE, K, Y, 0.1, np.ones(n))
    G = np.column_stack([np.ones(n), K + 0.1 * np.eye(n)])
    close(np.vstack([b, Z]), np.linalg.pinv(G) @ Y)


def test_least_norm_with_weights_equals_repetition():
    _, K, Y = problem(8)
    weight = np.array([1, 2, 3, 1, 1, 2, 4, 1])
    copies = np.repeat(np.arange(8), weight)
    b, Z = solve(KDA_RMSE, K, Y, 0.1, weight)
    G = np.column_stack([np.ones(len(copies)), K[np.ix_(copies, copies)] + 0.1 * np.eye(15)])
    solution = np.linalg.pinv(G) @ Y[copies]
    close(b, solution[0])
    for i in range(8):
        close(Z[i], solution[1:][copies == i].sum(axis=0))


def test_least_norm_with_fractional_weights_minimises_its_norm():
    """b² + Σ z²/w, among all (b, z) with b + (K + λD) z = y."""
    _, K, Y = problem(8)
    weight = np.random.default_rng(1).uniform(0.3, 3.0, 8)
    b, Z = solve(KDA_RMSE, K, Y, 0.1, weight)
    root = np.sqrt(weight)
    G = np.column_stack([np.ones(8), (K + 0.1 * np.diag(1 / weight)) * root])
    solution = np.linalg.pinv(G) @ Y
    close(b, solution[0])
    close(Z, root[:, None] * solution[1:])


@pytest.mark.parametrize("penalty", [0.0, 1.0, 5.0, np.inf])
def test_penalised_intercept_solves_the_bordered_system(penalty):
    """duan2008, eq. (6) for no penalty; −c on the corner for a penalty c."""
    n = 20
    _, K, Y = problem(n)
    weight = np.random.default_rng(1).uniform(0.3, 3.0, n)
    b, Z = solve(LeastSquares("", penalty), K, Y, 0.1, weight)
    A = K + 0.1 * np.diag(1 / weight)
    if np.isinf(penalty):
        close(b, 0.0)
        close(Z, np.linalg.solve(A, Y))
        return
    corner = np.full((1, 1), -penalty)
    border = np.block([[corner, np.ones((1, n))], [np.ones((n, 1)), A]])
    close(np.vstack([b, Z]), np.linalg.solve(border, np.vstack([np.zeros((1, 2)), Y])))


def singular_problems():
    X, K, Y = problem()
    return {
        "regular": (K[:8, :8], Y[:8]),
        "linear": (X @ X.T, Y),
        "linear, one sample more than features": (X[:4] @ X[:4].T, Y[:4]),
        "linear, fewer samples than features": (X[:2] @ X[:2].T, Y[:2]),
        "zero": (np.zeros((5, 5)), Y[:5]),
        "one sample": (K[:1, :1], Y[:1]),
    }


@pytest.mark.parametrize("name", singular_problems())
def test_minimum_norm_is_the_pseudo_inverse(name):
    """kim2006, eq. (14), whether K is singular or not."""
    K, Y = singular_problems()[name]
    b, Z = minimum_norm(K, Y)
    G = np.column_stack([np.ones(len(K)), K])
    close(np.vstack([b, Z]), np.linalg.pinv(G, rcond=1e-12) @ Y, cond=1e4)


@pytest.mark.parametrize("name", [name for name in singular_problems() if name != "one sample"])
def test_minimum_norm_left_out_equals_refits(name):
    K, Y = singular_problems()[name]
    n, expected = len(K), []
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        G = np.column_stack([np.ones(n - 1), K[np.ix_(rest, rest)]])
        solution = np.linalg.pinv(G, rcond=1e-12) @ Y[rest]
        expected.append(np.concatenate([[1.0], K[i, rest]]) @ solution)
    close(minimum_norm_loo(K, Y), np.array(expected), cond=1e4)


def test_float32_stays_float32():
    _, K, Y = problem(8)
    b, Z = minimum_norm(K.astype(np.float32), Y.astype(np.float32))
    assert b.dtype == Z.dtype == np.float32
    assert minimum_norm_loo(K.astype(np.float32), Y.astype(np.float32)).dtype == np.float32
