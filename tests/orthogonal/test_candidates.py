"""Candidates of forward selection, against trying every one of them."""

import numpy as np
import pytest

from gramian.orthogonal._candidates import POOL, SELECTION, CandidatePool, ColumnSource
from gramian.orthogonal._equations import OrthogonalRegression
from tests.tolerance import tolerance

GAMMAS = (0.3, 3.0)
LIMIT = 1e-7


def grams(n=40, seed=0):
    X = np.random.default_rng(seed).uniform(-2, 2, (n, 2))
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return [np.exp(-gamma * squared) for gamma in GAMMAS]


def source_of(Ks, epsilon=0.0, roots=None):
    roots = np.ones(len(Ks[0])) if roots is None else roots
    return ColumnSource(lambda samples, kernel: Ks[kernel][samples], len(Ks), epsilon, roots)


def regression_of(Y, columns=(), ridge=0.1):
    """A regression on the bias and some columns."""
    regression = OrthogonalRegression(Y, total=float(len(Y)))
    for column in (np.ones(len(Y)), *columns):
        z = column.copy()[None]
        regression.append(z[0], regression.basis.project(z)[0])
    regression.set_ridge(ridge)
    return regression


def regularised_error(columns, Y, ridge):
    """``min ‖Y − Q a‖² + λ‖a‖²`` over the orthogonal columns, by QR of all of them at once."""
    Q, R = np.linalg.qr(np.column_stack(columns))
    Q = Q * np.diagonal(R)
    a = np.linalg.solve(Q.T @ Q + ridge * np.eye(len(R)), Q.T @ Y)
    return np.square(Y - Q @ a).sum() + ridge * np.square(a).sum()


def test_column_source_adds_epsilon_then_weights_and_leaves_its_block_alone():
    K = grams()[0]
    given, roots = K.copy(), np.sqrt(np.arange(1.0, 41.0))
    columns = source_of([K], epsilon=0.5, roots=roots)(np.array([3, 7]), 0)
    np.testing.assert_array_equal(columns, (given + 0.5 * np.eye(40))[[3, 7]] * roots)
    np.testing.assert_array_equal(K, given)


@pytest.mark.parametrize("t", [1, 3])
def test_gain_is_the_decrease_of_the_regularised_error(t):
    Ks, Y = grams(), np.random.default_rng(1).standard_normal((40, t))
    chosen = [np.ones(40), Ks[0][4], Ks[1][9]]
    regression = regression_of(Y, chosen[1:], ridge=0.2)
    pool = CandidatePool(Y[:, 0])
    pool.offer(regression.basis, source_of(Ks), np.array([0, 11]))
    before = regularised_error(chosen, Y, 0.2)
    expected = [
        before - regularised_error([*chosen, Ks[kernel][sample]], Y, 0.2)
        for sample, kernel in zip(pool.samples, pool.kernels, strict=True)
    ]
    rtol = tolerance(40, cond=1e3, power=1)
    np.testing.assert_allclose(pool.gains(regression), expected, rtol=rtol)


def test_gain_rule_finds_the_best_of_all_candidates_that_fit_into_the_pool():
    Ks = grams(n=POOL // 2)
    Y = np.random.default_rng(1).standard_normal((POOL // 2, 2))
    regression = regression_of(Y)
    selector = SELECTION["gain"](source_of(Ks), LIMIT, np.random.default_rng(0))
    columns, free = [np.ones(len(Y))], set(range(len(Y)))
    for _ in range(16):
        errors = {
            (sample, kernel): regularised_error([*columns, Ks[kernel][sample]], Y, 0.1)
            for sample in free
            for kernel in range(2)
        }
        candidate = selector.next(regression)
        assert (candidate.sample, candidate.kernel) == min(errors, key=errors.get)
        columns.append(Ks[candidate.kernel][candidate.sample])
        free.remove(candidate.sample)
        regression.append(candidate.z, candidate.coefficients)
        selector.appended(regression.basis)


def test_pool_stays_orthogonal_to_a_growing_basis():
    Ks, Y = grams(n=300), np.random.default_rng(1).standard_normal((300, 1))
    regression = regression_of(Y)
    selector = SELECTION["gain"](source_of(Ks[1:]), LIMIT, np.random.default_rng(0))
    chosen = []
    for _ in range(60):
        candidate = selector.next(regression)
        regression.append(candidate.z, candidate.coefficients)
        selector.appended(regression.basis)
        chosen.append(candidate.sample)
    K = np.column_stack([np.ones(300), Ks[1][:, chosen]])
    np.testing.assert_allclose(
        regression.basis.Q.T @ regression.basis.U, K, atol=tolerance(300, updates=60)
    )
    assert len(set(chosen)) == 60


def test_residual_rule_takes_the_largest_residual_and_its_best_kernel():
    Ks, Y = grams(), np.random.default_rng(1).standard_normal((40, 2))
    weight = np.random.default_rng(2).uniform(0.5, 2.0, 40)
    roots = np.sqrt(weight)
    regression = OrthogonalRegression(Y * roots[:, None], total=weight.sum())
    regression.append(roots.copy(), np.empty(0))
    regression.set_ridge(0.1)
    selector = SELECTION["residual"](source_of(Ks, roots=roots), LIMIT, np.random.default_rng(0))
    mean = weight @ Y / (weight.sum() + 0.1)
    worst = np.argmax(np.linalg.norm(Y - mean, axis=1))
    candidate = selector.next(regression)
    assert candidate.sample == worst
    errors = [regularised_error([roots, K[worst] * roots], Y * roots[:, None], 0.1) for K in Ks]
    assert candidate.kernel == np.argmin(errors)


@pytest.mark.parametrize("selection", ["gain", "residual"])
def test_duplicates_are_passed_over_until_no_sample_is_left(selection):
    K = np.tile(grams(n=5)[1], (4, 4))
    regression = regression_of(np.random.default_rng(1).standard_normal((20, 1)))
    selector = SELECTION[selection](source_of([K]), LIMIT, np.random.default_rng(0))
    chosen = []
    while (candidate := selector.next(regression)) is not None:
        regression.append(candidate.z, candidate.coefficients)
        selector.appended(regression.basis)
        chosen.append(candidate.sample % 5)
    assert len(chosen) == len(set(chosen))
    assert len(chosen) == 4  # five distinct rows, one of whose directions is the bias
    assert selector.exhausted


@pytest.mark.parametrize("selection", ["gain", "residual"])
def test_search_ends_after_a_poolful_of_dependent_candidates(selection):
    K = np.ones((500, 500))
    regression = regression_of(np.random.default_rng(1).standard_normal((500, 1)))
    asked = []

    def block(samples, kernel):
        asked.extend(samples)
        return K[samples]

    source = ColumnSource(block, 1, 0.0, np.ones(500))
    selector = SELECTION[selection](source, LIMIT, np.random.default_rng(0))
    assert selector.next(regression) is None
    assert not selector.exhausted
    assert len(asked) == POOL


def test_a_draw_prefers_large_residuals():
    n, Y = 1000, np.zeros((1000, 1))
    Y[:100] = 1.0
    Y[:100:2] = -1.0
    K = np.eye(n)
    selector = SELECTION["gain"](source_of([K]), LIMIT, np.random.default_rng(0))
    candidate = selector.next(regression_of(Y, ridge=0.0))
    assert candidate.sample < 100


def test_asking_for_a_dependent_column_is_an_error():
    K, Y = grams()[0], np.ones((40, 1))
    regression = regression_of(Y, [K[3]])
    selector = SELECTION["gain"](source_of([K]), LIMIT, np.random.default_rng(0))
    with pytest.raises(np.linalg.LinAlgError, match="sample 3 and kernel 0: it depends"):
        selector.get(regression.basis, 3, 0)
