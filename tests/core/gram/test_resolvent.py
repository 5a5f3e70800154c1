"""The live resolvent against NumPy on the complex matrix it should hold, and on the real ones."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.core.arrays import complex_cholesky, symmetric_product
from gramian.core.gram import LiveSystem, NotPositiveDefiniteError
from gramian.core.gram._resolvent import LiveResolvent, sweep
from gramian.core.gram._slots import SlotMatrix
from tests.core.gram.conftest import Edited, assert_same_bits, gram, public_reads, row_block
from tests.tolerance import tolerance

DTYPES = [np.complex128, np.complex64]


def shifted(n, *, sigma=0.5, dtype=complex, seed=0, **shape):
    """``K + iσD`` with weights from ½ to 2."""
    K = gram(n, ridge=0.0, seed=seed, **shape)
    weight = np.random.default_rng(seed + 1).uniform(0.5, 2.0, n)
    return (K + 1j * sigma * np.diag(1.0 / weight)).astype(dtype)


def build(A):
    return LiveResolvent(SlotMatrix(np.diagonal(A).copy(), row_block(A)))


def close(got, expected, A, updates=0):
    """Entries of P or P B, up to rounding."""
    cond = np.linalg.cond(A.astype(complex))
    atol = tolerance(len(A), updates=updates, cond=cond, power=1, dtype=A.dtype)
    assert got.dtype == A.dtype
    np.testing.assert_allclose(got, expected, rtol=0, atol=atol * np.abs(expected).max(initial=1.0))


def check(edited):
    """Every read against NumPy; the true matrix to the bit."""
    factor, A = edited.factor, edited.A
    n, everything = len(A), np.arange(len(A))
    assert factor.n == n
    np.testing.assert_array_equal(factor.rows(everything), A)
    np.testing.assert_array_equal(factor.matrix_diagonal(), np.diagonal(A))
    if n == 0:
        return
    P = np.linalg.inv(A.astype(complex))
    rng = np.random.default_rng(1)
    X = (rng.standard_normal((n, 9)) + 1j * rng.standard_normal((n, 9))).astype(A.dtype)
    for columns in (X[:, :1], X[:, :3], X):  # by triangular and by matrix-matrix products
        close(factor.apply_inverse(columns), P @ columns, A, edited.updates)
        close(factor.multiply(columns), A @ columns, A)
        close(factor.solve(columns)[0], P @ columns, A, edited.updates)
    close(factor.columns(everything[::-2]), P[:, ::-2], A, edited.updates)
    close(factor.diagonal(), np.diagonal(P), A, edited.updates)
    weights = np.linspace(0.5, 2.0, n)
    close(factor.square_diagonal(weights), np.diagonal((P * weights) @ P), A, edited.updates)


# -- small matrices -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [1, 2, 31, 32, 33, 150])
def test_complex_cholesky(k, dtype):
    S = shifted(k, dtype=dtype)
    for symmetric in (S, np.conj(S), np.linalg.inv(S)):
        L = complex_cholesky(symmetric)
        assert L.dtype == dtype
        np.testing.assert_array_equal(np.triu(L, 1), 0.0)
        atol = tolerance(k, dtype=dtype) * np.abs(symmetric).max()
        np.testing.assert_allclose(L @ L.T, symmetric, rtol=0, atol=atol)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("k", [0, 1, 3, 4, 9])
def test_complex_symmetric_product_of_one_triangle(k, lower):
    rng = np.random.default_rng(0)
    buffer = np.asfortranarray(rng.standard_normal((20, 20)) + 1j * rng.standard_normal((20, 20)))
    triangle = np.tril(buffer) if lower else np.triu(buffer)
    S = triangle + triangle.T - np.diag(np.diagonal(buffer))
    X = np.asfortranarray(rng.standard_normal((20, k)) + 1j * rng.standard_normal((20, k)))
    found = symmetric_product(buffer, X, lower=lower)
    np.testing.assert_allclose(found, S @ X, rtol=0, atol=tolerance(20) * 10)  # entries below 10


def test_sweep_exchanges_a_block_and_leaves_the_lower_triangle():
    S = shifted(12)
    other = np.tril(np.random.default_rng(0).standard_normal((12, 12)), -1)
    buffer = np.asfortranarray(np.triu(S) + other)
    J, o = slice(4, 9), np.r_[0:4, 9:12]
    inverse = np.linalg.inv(S[J, J])
    expected = S.copy()
    expected[J, J] = -inverse
    expected[o, J] = S[o, J] @ inverse
    expected[J, o] = expected[o, J].T
    expected[np.ix_(o, o)] -= S[o, J] @ inverse @ S[J, o]
    pivots = sweep(buffer, J)
    close(np.triu(buffer), np.triu(expected), S)
    np.testing.assert_array_equal(np.tril(buffer, -1), other)
    schur = S[5, 5] - S[5, 4] * S[4, 5] / S[4, 4]
    np.testing.assert_allclose(pivots[:2], [S[4, 4], schur], rtol=tolerance(12))


# -- what it is for -----------------------------------------------------------------------------


@pytest.mark.parametrize("mu", [1.0, 1e-2, 1e-4])
def test_real_and_imaginary_parts_are_the_matrices_of_a_regression_on_the_columns_of_K(mu):
    n, weight = 30, np.random.default_rng(1).uniform(0.5, 2.0, 30)
    K, D = gram(n, ridge=0.0, gamma=0.5), np.diag(1.0 / weight)
    sigma = np.sqrt(mu)
    P = build(K + 1j * sigma * D).apply_inverse(np.eye(n, dtype=complex))
    squared = K @ np.diag(weight) @ K + mu * D
    M = np.linalg.inv(squared)
    atol = tolerance(n, cond=np.linalg.cond(squared), power=1) * np.abs(M).max()
    np.testing.assert_allclose(-P.imag / sigma, M, rtol=0, atol=atol)
    np.testing.assert_allclose(P.real, np.diag(weight) @ K @ M, rtol=0, atol=n * atol)


def test_condition_bounds_that_of_the_matrix_and_is_the_root_of_that_of_the_square():
    K = gram(40, ridge=0.0)
    A = K + 1e-3j * np.eye(40)
    exact = np.linalg.cond(A)
    assert exact <= build(A).condition()
    np.testing.assert_allclose(exact, np.sqrt(np.linalg.cond(K @ K + 1e-6 * np.eye(40))), rtol=1e-6)


# -- edits --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 2, 45, 140])
def test_fresh_resolvent(n, dtype):
    check(Edited(build, shifted(n, dtype=dtype), range(n)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "k"), [(1, 1), (20, 1), (20, 7), (3, 40), (60, 40)])
def test_append_equals_a_refit(n, k, dtype):
    edited = Edited(build, shifted(n + k, dtype=dtype), range(n))
    edited.append(range(n, n + k))
    check(edited)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("positions", [[7], [0], [19], [12, 2, 17, 5], range(10), range(4, 18)])
def test_remove_equals_a_refit(positions, dtype):
    edited = Edited(build, shifted(20, dtype=dtype), range(20))
    edited.remove(positions)
    check(edited)


def test_edits_return_the_change_of_the_inverse_not_conjugated():
    edited = Edited(build, shifted(26), range(20))
    before = np.pad(np.linalg.inv(edited.A), (0, 6))
    W = edited.append(range(20, 26))
    after = np.linalg.inv(edited.A)
    close(W @ W.T, after - before, edited.A, 6)
    W = edited.remove([3, 24])
    np.testing.assert_allclose(np.triu(W[[3, 24]], 1), 0.0, atol=tolerance(26))
    rest = np.delete(np.arange(26), [3, 24])
    close((after - W @ W.T)[np.ix_(rest, rest)], np.linalg.inv(edited.A), edited.A, 8)


@settings(max_examples=30)
@given(
    script=st.lists(st.tuples(st.booleans(), st.integers(1, 40)), max_size=20),
    seed=st.integers(0, 2**16),
    dtype=st.sampled_from(DTYPES),
)
def test_any_edit_script_equals_a_refit(script, seed, dtype):
    rng = np.random.default_rng(seed)
    edited = Edited(build, shifted(50, sigma=1.0, dtype=dtype), range(6))
    for appending, k in script:
        if appending and edited.missing:
            edited.append(rng.permutation(edited.missing)[:k])
        elif not appending:
            edited.remove(rng.permutation(len(edited.holdings))[:k])
    check(edited)


def test_an_indefinite_kernel_is_taken():
    A = shifted(30) - 2.0 * np.eye(30)
    edited = Edited(build, A, range(20))
    edited.append(range(20, 30))
    edited.remove([4, 11])
    check(edited)


def test_a_sample_may_repeat_at_a_tiny_sigma():
    order = np.r_[0:20, 3, 3]
    A = gram(20, ridge=0.0, gamma=0.5)[np.ix_(order, order)] + 1e-6j * np.eye(22)
    edited = Edited(build, A, range(20))
    edited.append([20])
    edited.append([21])
    edited.remove([3])
    check(edited)


def test_no_number_of_a_removed_sample_is_written_down():
    edited = Edited(build, shifted(24), range(20))
    edited.append(range(20, 24))
    rest = np.delete(np.arange(24), [3, 9])
    stays = set(edited.A[np.ix_(rest, rest)].ravel())
    markers = {value for value in edited.A[[3, 9]].ravel() if value not in stays}
    edited.remove([3, 9])
    written = pickle.dumps(edited.factor)
    assert not any(value.tobytes() in written for value in markers)


# -- errors -------------------------------------------------------------------------------------


def test_sigma_below_rounding_is_refused():
    order = np.r_[0:12, 0]
    A = gram(12, ridge=0.0, gamma=2.0)[np.ix_(order, order)] + 1e-18j * np.eye(13)
    with pytest.raises(NotPositiveDefiniteError, match=r"raise `ridge`"):
        build(A)
    edited = Edited(build, A, range(12))
    before = public_reads(edited.factor)
    with pytest.raises(NotPositiveDefiniteError, match="failed at new sample 0"):
        edited.append([12])
    assert_same_bits(before, public_reads(edited.factor))


def test_not_a_number_is_refused():
    A = shifted(12)
    edited = Edited(build, A, range(11))
    before = public_reads(edited.factor)
    cross, corner = edited.blocks([11])
    cross[3] = np.nan
    with pytest.raises(NotPositiveDefiniteError):
        edited.factor.append(cross, corner)
    assert_same_bits(before, public_reads(edited.factor))
    A[3, 7] = A[7, 3] = np.nan
    with pytest.raises(NotPositiveDefiniteError):
        build(A)


# -- as a system --------------------------------------------------------------------------------


def follow(system, A, Y, holdings, steps, rng):
    """Random single edits; what is held at the end."""
    for _ in range(steps):
        missing = [i for i in range(len(A)) if i not in holdings]
        if missing and (rng.random() < 0.5 or len(holdings) < 5):
            new = [rng.choice(missing)]
            system.append(A[np.ix_(holdings, new)], A[np.ix_(new, new)], Y[new])
            holdings = holdings + new
        else:
            gone = rng.integers(len(holdings))
            system.remove(np.array([gone]))
            holdings = holdings[:gone] + holdings[gone + 1 :]
    return holdings


@pytest.mark.parametrize("sigma", [1.0, 1e-2, 1e-4, 1e-6])
def test_solutions_after_many_edits(sigma):
    rng = np.random.default_rng(0)
    A = gram(60, ridge=0.0, gamma=0.3, features=4) + 1j * sigma * np.eye(60)
    Y = rng.standard_normal((60, 2))
    holdings = list(range(40))
    start = A[:40, :40]
    system = LiveSystem(np.diagonal(start).copy(), row_block(start), Y[:40], "resolvent")
    holdings = follow(system, A, Y, holdings, 400, rng)
    final = A[np.ix_(holdings, holdings)]
    expected = np.linalg.solve(final, Y[holdings])
    # 2¹² eps is the residual, relative to B, that the system is asked for.
    rtol = 2**12 * np.finfo(float).eps * np.linalg.cond(final)
    np.testing.assert_allclose(
        system.solution(), expected, rtol=0, atol=rtol * np.abs(expected).max()
    )
    assert system.factor.name == "resolvent"
    assert system.drift() < 1e-10  # far below what any prediction could feel


def test_a_damaged_resolvent_is_rebuilt():
    A = shifted(30)
    system = LiveSystem(np.diagonal(A)[:29].copy(), row_block(A), np.ones((29, 1)), "resolvent")
    system.factor._diagonal += 1.0
    system.append(A[:29, 29:], A[29:, 29:], np.ones((1, 1)))
    close(system.solution(), np.linalg.solve(A, np.ones((30, 1))), A, 1)
    (event,) = system.rebuilds
    assert event.factor == "resolvent"
    assert event.reason.startswith("the inverse drifted")


def test_weights_over_many_orders_of_magnitude_are_followed_by_a_rebuild():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    A = X @ X.T + np.diag(1e-3j / 10.0 ** rng.uniform(-6, 6, 40))
    system = LiveSystem(np.diagonal(A), lambda a, b: A[a, b], np.ones((40, 1)), "resolvent")
    system.solution()
    system.remove(np.array([3]))
    stay = np.delete(np.arange(40), 3)
    exact = np.linalg.solve(A[np.ix_(stay, stay)], np.ones((39, 1)))
    assert np.abs(system.solution() - exact).max() < 1e-5 * np.abs(exact).max()
    assert "cannot follow" in system.rebuilds[-1].reason
