"""The Lagrangian support vector machine against nonnegative least squares of its dual problem."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import nnls

from gramian.machines._lagrangian import (
    PATIENCE,
    Tableau,
    lagrangian_iteration,
    left_out_values,
    principal_pivot,
    slack_tolerance,
)
from tests.tolerance import tolerance

RIDGE = 0.1

# With q = −1 the exchange of all wrong samples comes back to where it was: found by search.
CYCLING = np.array(
    [
        [32.05, 4.0, -3.0, -16.0, -22.0],
        [4.0, 6.05, 9.0, -7.0, -3.0],
        [-3.0, 9.0, 19.05, -2.0, 3.0],
        [-16.0, -7.0, -2.0, 27.05, 17.0],
        [-22.0, -3.0, 3.0, 17.0, 18.05],
    ]
)


def problem(n=40, *, seed=0, t=1, weighted=False):
    """A = K + λD, signs and λ_i of samples that overlap a little."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    K = np.exp(-0.3 * np.square(X[:, None] - X[None]).sum(axis=2))
    noise = 0.4 * rng.standard_normal((n, t))
    Y = np.where(X[:, :t] + np.square(X[:, 1:2]) + noise > 0.7, 1.0, -1.0)
    ridges = RIDGE / (rng.uniform(0.5, 2.0, n) if weighted else np.ones(n))
    return K + np.diag(ridges), Y, ridges


def reference(A, y):
    """z of ``min ½ αᵀQα − 1ᵀα, α ≥ 0``: with Q = L Lᵀ, min ‖Lᵀα − L⁻¹1‖ over α ≥ 0."""
    Q = y[:, None] * A * y
    L = np.linalg.cholesky(Q)
    alpha, _ = nnls(L.T, np.linalg.solve(L, np.ones(len(y))))
    return y * alpha


def dense_slacks(A, y, ridges):
    """Slacks for `principal_pivot` by a direct solve on each support."""

    def slacks(support):
        z = np.zeros(len(y))
        z[support] = np.linalg.solve(A[np.ix_(support, support)], y[support])
        rho = y - A @ z
        xi = y * np.where(support, ridges * z, rho)
        return xi, slack_tolerance(z, (np.diagonal(A) - ridges).max())

    return slacks


def close(a, b, A, updates=0):
    scale = max(1.0, np.abs(b).max())
    atol = scale * tolerance(len(A), updates=updates, cond=np.linalg.cond(A), power=1)
    np.testing.assert_allclose(a, b, rtol=0, atol=atol)


# -- the iteration ------------------------------------------------------------------------------


def iterate(A, Y, start=None, *, step=1.9 * RIDGE, tol=1e-13, max_iter=10_000):
    P = np.linalg.inv(A)
    Z = np.zeros_like(Y) if start is None else start
    return lagrangian_iteration(lambda B: P @ B, Y, Z, A @ Z, step=step, tol=tol, max_iter=max_iter)


@pytest.mark.parametrize("fraction", [0.1, 1.0, 1.9, 1.999])
def test_iteration_reaches_the_solution(fraction):
    A, Y, _ = problem(t=3)
    result = iterate(A, Y, step=fraction * RIDGE)
    assert result.unfinished is None
    for j, y in enumerate(Y.T):
        z = reference(A, y)
        np.testing.assert_allclose(result.Z[:, j], z, rtol=0, atol=1e-10)  # the bar
        np.testing.assert_array_equal(result.support[:, j], z != 0)


def test_iteration_takes_a_step_per_weight():
    A, Y, ridges = problem(weighted=True)
    result = iterate(A, Y, step=1.9 * ridges[:, None])
    z = reference(A, Y[:, 0])
    np.testing.assert_allclose(result.Z[:, 0], z, rtol=0, atol=1e-10)  # the bar
    np.testing.assert_array_equal(result.support[:, 0], z != 0)


def test_iteration_ends_in_rounding_error():
    A, Y, _ = problem()
    result = iterate(A.astype(np.float32), Y.astype(np.float32), tol=1e-13)
    assert result.unfinished is None
    np.testing.assert_allclose(
        result.Z[:, 0],
        reference(A, Y[:, 0]),
        atol=tolerance(40, cond=400, power=1, dtype=np.float32),
    )


def test_iteration_is_that_of_the_paper():
    A, Y, _ = problem()
    y, step = Y[:, 0], 1.9 * RIDGE
    Q, alpha = y[:, None] * A * y, np.full(40, 0.3)
    for _ in range(5):  # duan2008, eq. (3), as it stands there
        alpha = np.linalg.solve(Q, 1.0 + np.maximum((Q @ alpha - 1.0) - step * alpha, 0.0))
    result = iterate(A, Y, 0.3 * Y, max_iter=5)
    close(result.Z[:, 0], y * alpha, A)


def test_iteration_starts_from_what_it_knows():
    A, Y, _ = problem()
    cold = iterate(A, Y)
    outside = np.flatnonzero(~cold.support[:, 0])
    stay = np.arange(40) != outside[0]  # nothing changes when it leaves
    warm = iterate(A[np.ix_(stay, stay)], Y[stay], cold.Z[stay], tol=1e-12)
    assert warm.iterations <= 2
    assert cold.iterations > 50
    close(warm.Z, cold.Z[stay], A)


def test_iteration_says_when_it_is_not_done():
    A, Y, _ = problem()
    result = iterate(A, Y, max_iter=3)
    assert result.iterations == 3
    assert result.unfinished > 1e-13


# -- principal pivoting -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_pivoting_reaches_the_solution_from_any_support(seed):
    A, Y, ridges = problem(seed=seed, weighted=True)
    y = Y[:, 0]
    z = reference(A, y)
    slacks = dense_slacks(A, y, ridges)
    guesses = np.random.default_rng(seed).random((3, 40)) < 0.5
    for guess in (np.ones(40, dtype=bool), np.zeros(40, dtype=bool), *guesses):
        support = principal_pivot(slacks, guess)
        np.testing.assert_array_equal(support, z != 0)


def test_pivoting_takes_few_exchanges():
    A, Y, ridges = problem(150)
    slacks, calls = dense_slacks(A, Y[:, 0], ridges), []
    support = principal_pivot(lambda s: calls.append(s) or slacks(s), np.ones(150, dtype=bool))
    assert len(calls) <= 6
    again = principal_pivot(slacks, support)
    np.testing.assert_array_equal(again, support)


def test_pivoting_gets_out_of_a_cycle():
    ridges, y = np.full(5, 0.05), np.ones(5)
    slacks, visited = dense_slacks(CYCLING, y, ridges), []
    support = np.ones(5, dtype=bool)
    seen = set()
    while support.tobytes() not in seen:  # exchanging all wrong samples each time, forever
        seen.add(support.tobytes())
        xi, tol = slacks(support)
        wrong = np.where(support, xi < -tol, xi > tol)
        assert wrong.any()
        support = support ^ wrong
    found = principal_pivot(lambda s: visited.append(s) or slacks(s), np.ones(5, dtype=bool))
    np.testing.assert_array_equal(found, reference(CYCLING, y) > 0)
    changes = [np.sum(a != b) for a, b in pairwise(visited)]
    assert max(changes) > 1  # whole sets first
    assert 1 in changes[PATIENCE:]  # single ones to get out


def test_random_problems_end_whatever_the_exchanges_do():
    rng = np.random.default_rng(0)
    for _ in range(300):
        B = rng.integers(-3, 4, (6, 6))
        Q, y, ridges = B @ B.T + 0.05 * np.eye(6), np.ones(6), np.full(6, 0.05)
        support = principal_pivot(dense_slacks(Q, y, ridges), np.ones(6, dtype=bool))
        alpha = reference(Q, y)
        z = np.zeros(6)
        z[support] = np.linalg.solve(Q[np.ix_(support, support)], np.ones(support.sum()))
        close(z, alpha, Q)


def test_repeated_samples_share_a_margin():
    A, Y, _ = problem(20)
    K = A - RIDGE * np.eye(20)
    twice = np.repeat(np.arange(20), 2)
    A, y = K[np.ix_(twice, twice)] + RIDGE * np.eye(40), Y[twice, 0]
    ridges = np.full(40, RIDGE)
    support = principal_pivot(dense_slacks(A, y, ridges), np.ones(40, dtype=bool))
    np.testing.assert_array_equal(support[::2], support[1::2])
    z = np.zeros(40)
    z[support] = np.linalg.solve(A[np.ix_(support, support)], y[support])
    close(z, reference(A, y), A)


def test_pivoting_gives_up_when_slacks_are_noise():
    rng = np.random.default_rng(0)
    with pytest.raises(np.linalg.LinAlgError, match="Lower `C`, or scale the samples"):
        principal_pivot(lambda support: (rng.standard_normal(8), 0.0), np.ones(8, dtype=bool))


# -- leave-one-out ------------------------------------------------------------------------------


def dense_tableau(A, support):
    P = np.linalg.inv(A[np.ix_(support, support)])
    return Tableau(
        support,
        gram_columns=lambda J: A[:, J],
        solve=lambda B: P @ B,
        multiply=lambda B: A[:, support] @ B,
    )


def basic(A, y, support):
    """z on the support and ρ elsewhere."""
    q = np.zeros(len(y))
    q[support] = np.linalg.solve(A[np.ix_(support, support)], y[support])
    return np.where(support, q, y - A @ q)


@pytest.mark.parametrize("m", [1, 2, 7])
def test_tableau_knows_the_solution_after_an_exchange(m):
    A, Y, _ = problem()
    y, rng = Y[:, 0], np.random.default_rng(m)
    support = rng.random(40) < 0.5
    changed = np.sort(rng.permutation(40)[:m])
    after = support.copy()
    after[changed] ^= True
    exchanged = dense_tableau(A, support).exchanged(basic(A, y, support), changed)
    close(exchanged, basic(A, y, after), A)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_left_out_values_equal_real_fits(seed, weighted):
    A, Y, ridges = problem(60, seed=seed, weighted=weighted)
    y = Y[:, 0]
    support = reference(A, y) != 0
    largest = float((np.diagonal(A) - ridges).max())
    values = left_out_values(dense_tableau(A, support), basic(A, y, support), y, ridges, largest)
    expected, moved = np.empty(60), 0
    for i in range(60):
        stay = np.arange(60) != i
        z = reference(A[np.ix_(stay, stay)], y[stay])
        expected[i] = A[i, stay] @ z
        moved += bool(support[i] and np.any((z != 0) != support[stay]))
    assert moved > 5  # removal alone would not do
    close(values, expected, A)
