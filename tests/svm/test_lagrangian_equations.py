"""The Lagrangian support vector machine against nonnegative least squares of its dual problem."""

import numpy as np
import pytest
from scipy.optimize import nnls

from gramian.svm._lagrangian_equations import (
    Solved,
    Tableau,
    lagrangian_iteration,
    left_out_solutions,
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


def direct(A, y, ridges):
    """``solve`` for `principal_pivot`, by a direct solve on each support."""

    def solve(support):
        z = np.zeros(len(y))
        z[support] = np.linalg.solve(A[np.ix_(support, support)], y[support])
        xi = 1.0 - y * (A @ z - ridges * z)
        return Solved(z, xi, slack_tolerance(z, (np.diagonal(A) - ridges).max()))

    return solve


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


def pivoted(A, y, ridges, guess):
    """Support, z, and the supports that were visited."""
    solve, visited = direct(A, y, ridges), []
    support, z = principal_pivot(lambda s: visited.append(s) or solve(s), guess, y, ridges)
    return support, z, visited


@pytest.mark.parametrize("seed", range(6))
def test_pivoting_reaches_the_solution_from_any_support(seed):
    A, Y, ridges = problem(seed=seed, weighted=True)
    y = Y[:, 0]
    expected = reference(A, y)
    guesses = np.random.default_rng(seed).random((3, 40)) < 0.5
    for guess in (np.ones(40, dtype=bool), np.zeros(40, dtype=bool), *guesses):
        support, z, _ = pivoted(A, y, ridges, guess)
        np.testing.assert_array_equal(support, expected != 0)
        close(z, expected, A)


def test_pivoting_takes_few_exchanges():
    A, Y, ridges = problem(150)
    support, _, visited = pivoted(A, Y[:, 0], ridges, np.ones(150, dtype=bool))
    assert len(visited) <= 6
    again, _, visited = pivoted(A, Y[:, 0], ridges, support)
    assert len(visited) == 1
    np.testing.assert_array_equal(again, support)


def test_pivoting_gets_out_of_a_cycle():
    ridges, y = np.full(5, 0.05), np.ones(5)
    solve, support, seen = direct(CYCLING, y, ridges), np.ones(5, dtype=bool), set()
    while support.tobytes() not in seen:  # exchanging all wrong samples each time, forever
        seen.add(support.tobytes())
        solved = solve(support)
        wrong = np.where(support, solved.xi < 0.0, solved.xi > 0.0)
        assert wrong.any()
        support = support ^ wrong
    found, z, visited = pivoted(CYCLING, y, ridges, np.ones(5, dtype=bool))
    np.testing.assert_array_equal(found, reference(CYCLING, y) > 0)
    close(z, reference(CYCLING, y), CYCLING)
    assert len({s.tobytes() for s in visited}) == len(visited)  # none comes twice


def test_random_problems_end_whatever_the_exchanges_do():
    rng = np.random.default_rng(0)
    for _ in range(300):
        B = rng.integers(-3, 4, (6, 6))
        Q, y, ridges = B @ B.T + 0.05 * np.eye(6), np.ones(6), np.full(6, 0.05)
        _, z, visited = pivoted(Q, y, ridges, np.ones(6, dtype=bool))
        close(z, reference(Q, y), Q)
        assert len({s.tobytes() for s in visited}) == len(visited)


@pytest.mark.parametrize("seed", range(4))
def test_a_large_C_takes_more_exchanges_but_ends(seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((60, 1)), 1)  # repeated samples, of both classes
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(60) > 0, 1.0, -1.0)
    ridges = np.full(60, 1e-6)
    A = np.exp(-np.square(X - X.T)) + np.diag(ridges)
    _, z, visited = pivoted(A, y, ridges, np.ones(60, dtype=bool))
    assert len(visited) < 60
    alpha, rho = y * z, y * (y - A @ z)
    assert np.all(alpha >= -1e-9 * alpha.max())  # slacks of 1e-9 are rounding error here
    assert np.all(rho <= 1e-7)
    assert np.all(np.abs(rho[z != 0]) <= 1e-7)


def test_signs_are_put_right_also_within_rounding_error():
    A, Y, ridges = problem()
    y, solve = Y[:, 0], direct(A, Y[:, 0], ridges)

    def doubtful(support):
        return solve(support)._replace(rounding=1e6)  # nothing proves a support wrong

    support, z = principal_pivot(doubtful, np.ones(40, dtype=bool), y, ridges)
    np.testing.assert_array_equal(support, reference(A, y) != 0)
    close(z, reference(A, y), A)


def test_signs_that_are_noise_end_within_a_few_exchanges():
    rng, visited = np.random.default_rng(0), []

    def solve(support):
        visited.append(support)
        return Solved(np.where(support, 1.0, 0.0), 1e-9 * rng.standard_normal(40), 1.0)

    support, z = principal_pivot(solve, np.ones(40, dtype=bool), np.ones(40), np.ones(40))
    assert len(visited) < 12
    np.testing.assert_array_equal(z > 0, support)
    np.testing.assert_array_equal(visited[-1], support)  # what was solved last is what is returned


def test_repeated_samples_share_a_margin():
    A, Y, _ = problem(20)
    K = A - RIDGE * np.eye(20)
    twice = np.repeat(np.arange(20), 2)
    A, y = K[np.ix_(twice, twice)] + RIDGE * np.eye(40), Y[twice, 0]
    support, z, _ = pivoted(A, y, np.full(40, RIDGE), np.ones(40, dtype=bool))
    np.testing.assert_array_equal(support[::2], support[1::2])
    close(z, reference(A, y), A)


def test_pivoting_gives_up_when_slacks_are_noise():
    rng = np.random.default_rng(0)
    y, ridges = np.ones(40), np.ones(40)
    with pytest.raises(np.linalg.LinAlgError, match="Lower `C`, or scale the samples"):
        principal_pivot(
            lambda support: Solved(np.zeros(40), rng.standard_normal(40), 0.0),
            np.ones(40, dtype=bool),
            y,
            ridges,
        )


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
    tableau, q = dense_tableau(A, support), basic(A, y, support)
    values = y - q
    for i, z in left_out_solutions(tableau, q, y, ridges, largest):
        assert z[i] == 0.0
        values[i] = A[i] @ z
    expected, moved = np.empty(60), 0
    for i in range(60):
        stay = np.arange(60) != i
        z = reference(A[np.ix_(stay, stay)], y[stay])
        expected[i] = A[i, stay] @ z
        moved += bool(support[i] and np.any((z != 0) != support[stay]))
    assert moved > 5  # removal alone would not do
    close(values, expected, A)


def test_left_out_solutions_that_pivoting_does_not_find_are_unknown(monkeypatch):
    A, Y, ridges = problem(30)
    y = Y[:, 0]
    support = reference(A, y) != 0
    monkeypatch.setattr("gramian.svm._lagrangian_equations.EXCHANGES", 0)
    found = list(left_out_solutions(dense_tableau(A, support), basic(A, y, support), y, ridges, 1))
    assert [i for i, _ in found] == np.flatnonzero(support).tolist()
    assert all(np.isnan(z).all() for _, z in found)
