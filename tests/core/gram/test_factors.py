"""One set of tests for every factor: each edit against NumPy on the matrix that should be held."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gramian.core.gram._memory as memory
from gramian.core.gram import LiveInverse, NotPositiveDefiniteError
from gramian.core.gram._slots import spare_capacity
from tests.core.gram.conftest import (
    BUILD,
    Edited,
    assert_factors,
    assert_same_bits,
    gram,
    inverse,
    inverse_tolerance,
    public_reads,
    slot_matrix,
    without,
)

DTYPES = [np.float64, np.float32]
SIZES = [1, 2, 45]

REMOVALS = {
    "one": [7],
    "the first": [0],
    "the last": [19],
    "a block": [3, 4, 5, 6],
    "unsorted": [12, 2, 17, 5],
    "exactly half": range(10),
    "more than half": range(4, 18),
    "all but one": [i for i in range(20) if i != 11],
    "all": range(20),
}

# -- reads --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_fresh_factor_equals_numpy(build, n, dtype):
    A = gram(n, dtype=dtype)
    assert_factors(build(A), A)


def test_refactor_from_the_held_matrix(build):
    edited = Edited(build, gram(30), range(20))
    edited.append(range(20, 30))
    edited.remove([0, 5, 9])
    edited.factor.rebuild()
    edited.check()


def test_solve_refines_a_given_start(build):
    A = gram(25)
    B = np.random.default_rng(1).standard_normal((25, 2))
    X, _ = build(A).solve(B, start=np.zeros((25, 2)))
    np.testing.assert_allclose(X, np.linalg.solve(A, B), rtol=0, atol=25 * inverse_tolerance(A))


def test_solve_does_not_write_on_its_start(build):
    A = gram(10)
    start = np.zeros((10, 1))
    start.flags.writeable = False
    build(A).solve(np.ones((10, 1)), start=start)


# -- append -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 1), (20, 1), (20, 7), (3, 40), (60, 40), (0, 5)])
def test_append_equals_a_refit(build, n, k, dtype):
    edited = Edited(build, gram(n + k, dtype=dtype), range(n) if n else [0])
    if n == 0:
        edited.remove([0])
    edited.append(range(n, n + k))
    edited.check()


def test_append_returns_the_change_of_the_inverse(build):
    for k in (1, 6, 40):
        edited = Edited(build, gram(60), range(20))
        before = np.pad(inverse(edited.factor), (0, k))
        W = edited.append(range(20, 20 + k))
        if W is None:
            continue
        assert W.shape == (20 + k, k)
        tol = inverse_tolerance(edited.A, k)
        np.testing.assert_allclose(inverse(edited.factor), before + W @ W.T, rtol=0, atol=tol)


# -- remove -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("positions", REMOVALS.values(), ids=REMOVALS.keys())
def test_remove_equals_a_refit(build, positions, dtype):
    edited = Edited(build, gram(20, dtype=dtype), range(20))
    edited.remove(positions)
    edited.check()


@pytest.mark.parametrize("n", SIZES)
def test_remove_one_by_one_to_nothing_and_start_again(build, n):
    edited = Edited(build, gram(n), range(n))
    for _ in range(n):
        edited.remove([edited.factor.n // 2])
        edited.check()
    edited.append(range(n))
    edited.check()


@pytest.mark.parametrize("positions", [[7], [12, 2, 17, 5], range(10)])
def test_remove_returns_the_change_of_the_inverse(build, positions):
    edited = Edited(build, gram(20), range(20))
    positions = np.array(positions)
    before, tol = inverse(edited.factor), inverse_tolerance(edited.A, len(positions))
    W = edited.remove(positions)
    if W is None:
        return
    assert W.shape == (20, len(positions))
    np.testing.assert_allclose(np.triu(W[positions], 1), 0.0, atol=tol)
    after = before - W @ W.T
    np.testing.assert_allclose(after[positions], 0.0, atol=tol)
    np.testing.assert_allclose(inverse(edited.factor), without(after, positions), rtol=0, atol=tol)


# -- both ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [1, 5, 40])
def test_append_then_remove_returns_to_the_start(build, k, dtype):
    edited = Edited(build, gram(60, dtype=dtype), range(20))
    before = inverse(edited.factor)
    edited.append(range(20, 20 + k))
    edited.remove(range(20, 20 + k))
    tol = inverse_tolerance(edited.A, 2 * k)
    np.testing.assert_allclose(inverse(edited.factor), before, rtol=0, atol=tol)
    edited.check()


def test_any_order_of_the_same_edits_gives_the_same_inverse(build):
    pool, found = gram(30), []
    rng = np.random.default_rng(0)
    for _ in range(4):
        edited = Edited(build, pool, range(15))
        for sample in rng.permutation(30):
            if sample < 15:
                edited.remove([edited.holdings.index(sample)])
            else:
                edited.append([sample])
        order = np.argsort(edited.holdings)
        found.append(inverse(edited.factor)[np.ix_(order, order)])
    for other in found[1:]:
        tol = inverse_tolerance(pool[15:, 15:], 30)
        np.testing.assert_allclose(other, found[0], rtol=0, atol=tol)


@settings(max_examples=30)
@given(
    script=st.lists(st.tuples(st.booleans(), st.integers(1, 40)), max_size=20),
    seed=st.integers(0, 2**16),
    dtype=st.sampled_from(DTYPES),
)
def test_any_edit_script_equals_a_refit(build, script, seed, dtype):
    rng = np.random.default_rng(seed)
    edited = Edited(build, gram(50, dtype=dtype, ridge=1.0), range(6))
    for appending, k in script:
        if appending and edited.missing:
            edited.append(rng.permutation(edited.missing)[:k])
        elif not appending:
            edited.remove(rng.permutation(len(edited.holdings))[:k])
    edited.check()


@pytest.mark.parametrize(
    "empty",
    [
        pytest.param(lambda edited: edited.append([]), id="append"),
        pytest.param(lambda edited: edited.remove([]), id="remove"),
    ],
)
def test_an_edit_of_no_samples_changes_nothing(build, empty):
    edited = Edited(build, gram(10), range(10))
    empty(edited)
    edited.check()


def test_factor_of_no_samples(build):
    edited = Edited(build, gram(8), [])
    edited.check()
    assert edited.factor.apply_inverse(np.zeros((0, 3))).shape == (0, 3)
    assert edited.factor.diagonal().shape == (0,)
    edited.append(range(8))
    edited.check()


def test_many_edits_at_a_small_ridge_keep_the_true_matrix_to_the_bit(build):
    edited = Edited(build, gram(40, ridge=0.1, gamma=0.5), range(20))
    rng = np.random.default_rng(0)
    for _ in range(150):
        edited.remove([rng.integers(20)])
        edited.append([rng.choice(edited.missing)])
    edited.check()


# -- storage ------------------------------------------------------------------------------------


def test_capacity_follows_the_number_of_samples(build_in_slots):
    edited = Edited(build_in_slots, gram(90), [0])
    for sample in range(1, 90):
        edited.append([sample])
        assert edited.factor.n <= edited.factor._matrix.capacity <= spare_capacity(edited.factor.n)
    edited.check()
    for _ in range(88):
        edited.remove([0])
        assert edited.factor._matrix.capacity <= 2 * spare_capacity(edited.factor.n)
    edited.check()


def test_edits_within_the_capacity_move_no_data(build_in_slots):
    edited = Edited(build_in_slots, gram(48), range(40))
    buffer = edited.factor._matrix.buffer
    address = buffer.ctypes.data
    for edit in (
        lambda: edited.append([40]),
        lambda: edited.remove([3]),
        lambda: edited.append([41, 42, 43]),
        lambda: edited.remove([1, 30, 7]),
        edited.factor.rebuild,
    ):
        edit()
        assert edited.factor._matrix.buffer is buffer
        assert buffer.ctypes.data == address
    edited.check()


def test_freed_slots_are_wiped_in_both_triangles(build_in_slots):
    edited = Edited(build_in_slots, gram(40), range(40))
    for positions in ([5], [0, 30, 12], range(8)):
        edited.remove(positions)
        matrix = edited.factor._matrix
        if edited.factor.name == "inverse":
            edited.factor.fold()
        expected = np.zeros((matrix.capacity, matrix.capacity))
        np.fill_diagonal(expected, 1.0 if edited.factor.name == "cholesky" else 0.0)
        free = np.flatnonzero(~matrix.used)
        np.testing.assert_array_equal(matrix.buffer[free], expected[free])
        np.testing.assert_array_equal(matrix.buffer[:, free], expected[:, free])
        np.testing.assert_array_equal(matrix.diagonal[free], 0.0)


@pytest.mark.parametrize("removed", [[3], [3, 9, 15], range(2, 18)])
def test_no_number_of_a_removed_sample_is_written_down(build, removed):
    edited = Edited(build, gram(24), range(20))
    edited.append(range(20, 24))
    stays = set(edited.A[np.ix_(*2 * [np.delete(np.arange(24), removed)])].ravel())
    markers = {value for value in edited.A[removed].ravel() if value not in stays}
    written = pickle.dumps(edited.factor)
    assert all(value.tobytes() in written for value in markers)
    edited.remove(removed)
    written = pickle.dumps(edited.factor)
    assert not any(value.tobytes() in written for value in markers)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
def test_a_copy_is_whole_and_independent(build, duplicate):
    edited = Edited(build, gram(30), range(20))
    edited.append(range(20, 25))
    edited.remove([4, 2])
    second = copy.copy(edited)
    second.factor = duplicate(edited.factor)
    second.holdings = list(edited.holdings)
    before = public_reads(edited.factor)
    second.append(range(25, 30))
    second.remove([0, 1, 2])
    second.check()
    assert_same_bits(before, public_reads(edited.factor))


# -- inputs -------------------------------------------------------------------------------------


def test_inputs_are_read_only_and_of_any_layout(build):
    pool = gram(30)
    pool.flags.writeable = False
    reversed_pool = pool[::-1, ::-1]  # neither C nor Fortran order
    edited = Edited(build, reversed_pool, range(20))
    for block in (slice(20, 21), slice(21, 30)):
        holdings = slice(0, block.start)
        edited.factor.append(reversed_pool[holdings, block], reversed_pool[block, block])
        edited.holdings += range(block.start, block.stop)
    edited.check()
    positions = np.array([8, 3])
    positions.flags.writeable = False
    edited.remove(positions)
    edited.check()


def test_what_is_returned_is_not_the_state(build):
    A = gram(12)
    factor = build(A)
    everything, X = np.arange(12), np.ones((12, 1))
    before = public_reads(factor)
    for array in (
        factor.rows(everything),
        factor.columns(everything),
        factor.diagonal(),
        factor.multiply(X),
        factor.apply_inverse(X),
        factor.solve(X)[0],
    ):
        array[:] = np.nan
    assert_same_bits(before, public_reads(factor))


# -- errors -------------------------------------------------------------------------------------


def test_removal_of_most_that_cannot_be_factored_leaves_the_inverse(monkeypatch):
    """What stays is factored anew; rounding may refuse it where the live inverse stood."""
    edited = Edited(BUILD["inverse"], gram(20), range(16))
    edited.append(range(16, 20))
    before = public_reads(edited.factor)

    def refuse(factor):
        raise NotPositiveDefiniteError(3, -1e-17, 0.0)

    with monkeypatch.context() as patched:
        patched.setattr(LiveInverse, "_cholesky", refuse)
        with pytest.raises(NotPositiveDefiniteError):
            edited.factor.remove(np.arange(15))
    assert_same_bits(before, public_reads(edited.factor))
    edited.remove(range(15))
    edited.check()


def with_duplicate(n=20):
    """Samples 0 … n−1 at ridge 0, the last one a repetition of the first."""
    A = gram(n - 1, ridge=0.0, gamma=2.0)
    order = np.append(np.arange(n - 1), 0)
    return A[np.ix_(order, order)]


def test_refused_duplicate_leaves_the_factor_to_the_bit(build):
    edited = Edited(build, with_duplicate(), range(12))
    edited.remove([2])
    before = public_reads(edited.factor)
    message = r"failed at new sample 7: its Schur complement is .*, not above .*it repeats"
    with pytest.raises(NotPositiveDefiniteError, match=message) as caught:
        edited.append(range(12, 20))
    assert caught.value.position == 7
    assert_same_bits(before, public_reads(edited.factor))
    edited.append(range(12, 19))
    edited.check()


def test_refused_duplicate_beyond_the_capacity(build):
    edited = Edited(build, with_duplicate(28), range(10))
    edited.append(range(10, spare_capacity(10)))
    with pytest.raises(NotPositiveDefiniteError, match="failed at new sample 0"):
        edited.append([27])
    edited.check()


def test_indefinite_append_is_refused(build):
    A = gram(12)
    A[:11, 11] *= 5
    A[11] = A[:, 11]
    edited = Edited(build, A, range(11))
    before = public_reads(edited.factor)
    with pytest.raises(NotPositiveDefiniteError, match="failed at new sample 0"):
        edited.append([11])
    assert_same_bits(before, public_reads(edited.factor))


@pytest.mark.parametrize("bad", ["singular", "indefinite"])
def test_matrix_that_is_not_positive_definite_is_refused(build, bad):
    A = with_duplicate() if bad == "singular" else gram(20) - 1.2 * np.eye(20)
    with pytest.raises(NotPositiveDefiniteError, match="its Schur complement is"):
        build(A)


def test_matrix_with_not_a_number_is_refused(build):
    A = gram(12)
    A[3, 7] = A[7, 3] = np.nan
    with pytest.raises((ValueError, NotPositiveDefiniteError)):
        build(A)


def test_not_a_number_is_refused(build):
    edited = Edited(build, gram(12), range(11))
    cross, corner = edited.blocks([11])
    cross[3] = np.nan
    before = public_reads(edited.factor)
    with pytest.raises((ValueError, NotPositiveDefiniteError)):
        edited.factor.append(cross, corner)
    assert_same_bits(before, public_reads(edited.factor))


def test_position_given_twice_is_refused(build):
    edited = Edited(build, gram(12), range(12))
    before = public_reads(edited.factor)
    with pytest.raises(ValueError, match="twice"):
        edited.factor.remove(np.array([3, 8, 3]))
    assert_same_bits(before, public_reads(edited.factor))


@pytest.mark.parametrize("read", ["multiply", "apply_inverse", "solve"])
def test_refused_right_hand_side_leaves_the_factor_to_the_bit(build, read):
    factor = build(gram(12))
    before = public_reads(factor)
    with pytest.raises((ValueError, IndexError)):
        getattr(factor, read)(np.ones((15, 1)))
    assert_same_bits(before, public_reads(factor))


def test_refused_cross_block_leaves_the_factor_to_the_bit(build):
    edited = Edited(build, gram(14), range(10))
    before = public_reads(edited.factor)
    cross, corner = edited.blocks([10, 11])
    for wrong in (cross[:-1], cross[:1]):
        with pytest.raises((ValueError, IndexError)):
            edited.factor.append(wrong, corner)
        assert_same_bits(before, public_reads(edited.factor))


def test_position_out_of_range_leaves_the_factor_to_the_bit(build):
    edited = Edited(build, gram(10), range(10))
    before = public_reads(edited.factor)
    with pytest.raises((ValueError, IndexError)):
        edited.factor.remove(np.array([2, 10]))
    assert_same_bits(before, public_reads(edited.factor))


@pytest.mark.parametrize("removals", [[range(25)], [[0]] * 35], ids=["most at once", "one by one"])
def test_removal_needs_no_memory(build, monkeypatch, removals):
    edited = Edited(build, gram(40), range(40))
    monkeypatch.setattr(memory, "available_memory", lambda: 0)
    for positions in removals:
        edited.remove(positions)
    edited.check()


def test_an_inverse_that_is_spoiled_lets_no_sample_out():
    factor = LiveInverse(slot_matrix(gram(12)))
    factor._diagonal[factor._matrix.slots[5]] = -1.0  # no inverse of a positive definite matrix
    before = public_reads(factor)
    with pytest.raises(NotPositiveDefiniteError, match="failed at sample 5") as caught:
        factor.remove_one(5)
    assert caught.value.position == 5
    assert_same_bits(public_reads(factor), before)
