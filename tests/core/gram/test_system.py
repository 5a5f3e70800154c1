"""Solutions against a direct solve of the same system, after edits, damage and errors."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.core.gram import FACTORS, LiveSystem, NotPositiveDefiniteError, factorize
from tests.core.gram.conftest import gram, row_block
from tests.tolerance import tolerance

EPS = np.finfo(float).eps


class Following:
    """A live system over some samples of a pool, and which samples they are."""

    def __init__(self, pool, Y, holdings, factor="auto"):
        self.pool, self.Y, self.holdings = pool, Y, list(holdings)
        self.system = LiveSystem(np.diagonal(self.A).copy(), row_block(self.A), self.B, factor)

    @property
    def A(self):
        return self.pool[np.ix_(self.holdings, self.holdings)]

    @property
    def B(self):
        return self.Y[self.holdings]

    def append(self, samples):
        samples = list(samples)
        cross = self.pool[np.ix_(self.holdings, samples)]
        corner = self.pool[np.ix_(samples, samples)]
        self.system.append(cross, corner, self.Y[samples])
        self.holdings += samples

    def remove(self, positions):
        self.system.remove(np.asarray(positions, dtype=int))
        self.holdings = list(np.delete(self.holdings, positions))

    def edit(self, rng, k=1):
        """Append k that are out, or remove k that are in, as the coin says and as is possible."""
        missing = [i for i in range(len(self.pool)) if i not in self.holdings]
        if (rng.random() < 0.5 and missing) or len(self.holdings) <= k:
            self.append(rng.permutation(missing)[:k])
        else:
            self.remove(rng.permutation(len(self.holdings))[:k])

    def check(self):
        A, B, dtype = self.A.astype(float), self.B, self.pool.dtype
        X = self.system.solution()
        assert X.shape == B.shape
        assert X.dtype == dtype
        expected = np.linalg.solve(A, B)
        cond = np.linalg.cond(A)
        # 2¹² eps is the residual, relative to B, that the system is asked for.
        tol = tolerance(len(A), cond=cond, power=1, dtype=dtype, factor=64.0)
        tol += 2**12 * np.finfo(dtype).eps * cond
        np.testing.assert_allclose(X, expected, rtol=0, atol=tol * np.abs(expected).max())

    def decision_error(self, ridge):
        """Largest error of K X against a direct solve, relative to the largest decision value."""
        K = self.A - ridge * np.eye(len(self.holdings))
        expected = K @ np.linalg.solve(self.A, self.B)
        return np.abs(K @ self.system.solution() - expected).max() / np.abs(expected).max()


def pool_of(n, *, ridge=0.1, outputs=2, dtype=float, **shape):
    Y = np.random.default_rng(7).standard_normal((n, outputs)).astype(dtype)
    return gram(n, ridge=ridge, dtype=dtype, **shape), Y


@pytest.fixture(params=FACTORS, scope="session")
def factor(request):
    return request.param


# -- exact after edits --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 2, 40])
def test_fresh_system(factor, n, dtype):
    following = Following(*pool_of(n, dtype=dtype, ridge=1.0), range(n), factor)
    following.check()
    assert following.system.n == n
    assert following.system.edits == 0
    assert following.system.rebuilds == []


@settings(max_examples=15)
@given(
    script=st.lists(st.tuples(st.integers(1, 15), st.booleans()), min_size=1, max_size=20),
    ridge=st.sampled_from([1e-1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10]),
    seed=st.integers(0, 2**16),
)
def test_any_edit_script_equals_a_direct_solve(factor, script, ridge, seed):
    rng = np.random.default_rng(seed)
    following = Following(*pool_of(40, ridge=ridge, gamma=0.3, features=4), range(10), factor)
    for k, read in script:
        following.edit(rng, k)
        if read:
            following.check()
    following.check()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_single_edits_with_reads_between(factor, dtype):
    rng = np.random.default_rng(0)
    following = Following(*pool_of(30, ridge=1.0, dtype=dtype), range(15), factor)
    for _ in range(40):
        following.edit(rng)
        following.check()


# Decision values, relative to the largest, that the project promises after any number of edits.
@pytest.mark.slow
@pytest.mark.parametrize(("ridge", "promised"), [(1e-2, 1e-10), (1e-6, 1e-7)])
@pytest.mark.parametrize("read_every", [1, 200])
def test_hundreds_of_edits_meet_the_promise(factor, ridge, promised, read_every):
    if factor == "qr" and read_every == 1:
        pytest.skip("the yardstick: its reads differ in nothing from those of the Cholesky factor")
    rng = np.random.default_rng(0)
    following = Following(*pool_of(90, ridge=ridge, gamma=0.3, features=4), range(60), factor)
    for step in range(1, 601):
        following.edit(rng)
        if step % read_every == 0:
            following.system.solution()
        if step % 200 == 0:
            assert following.decision_error(ridge) <= promised
    assert following.system.edits == 600


@pytest.mark.parametrize("ridge", [1e-1, 1e-4, 1e-8])
def test_drift_is_small_after_a_read(factor, ridge):
    rng = np.random.default_rng(0)
    following = Following(*pool_of(40, ridge=ridge, gamma=0.3, features=4), range(30), factor)
    for _ in range(50):
        following.edit(rng)
    X = following.system.solution()
    A, B = following.A, following.B
    allowed = max(2**12 * np.abs(B).max(), 4 * np.abs(A).sum(axis=0).max() * np.abs(X).max())
    # Only a few rows are measured at each read; on the others it may be some times larger.
    assert following.system.drift() <= 16 * EPS * allowed / np.abs(B).max()


def test_other_reads_equal_numpy(factor):
    rng = np.random.default_rng(0)
    following = Following(*pool_of(40, ridge=0.5), range(30), factor)
    for _ in range(20):
        following.edit(rng)
    A = following.A
    n, P = len(A), np.linalg.inv(A)
    tol = tolerance(n, updates=20, cond=np.linalg.cond(A), power=1) * np.abs(P).max()
    weights, other = rng.uniform(0.5, 2.0, n), rng.standard_normal((n, 3))
    square = np.diagonal(P @ np.diag(weights) @ P)
    system = following.system
    np.testing.assert_allclose(system.inverse_diagonal(), np.diagonal(P), rtol=0, atol=tol)
    np.testing.assert_allclose(
        system.inverse_square_diagonal(weights), square, rtol=0, atol=4 * n * np.abs(P).max() * tol
    )
    np.testing.assert_allclose(
        system.solve(other), P @ other, rtol=0, atol=n * np.abs(other).max() * tol
    )


# -- the right-hand side ------------------------------------------------------------------------


def test_append_brings_new_columns_of_B(factor):
    A, Y = pool_of(20, outputs=3)
    system = LiveSystem(np.diagonal(A)[:18].copy(), row_block(A), Y[:18, :1], factor)
    system.append(A[:18, 18:], A[18:, 18:], Y[18:])
    B = Y.copy()
    B[:18, 1:] = 0.0
    np.testing.assert_array_equal(system.B, B)
    tol = tolerance(20, updates=2, cond=np.linalg.cond(A), power=1) * np.abs(system.B).max()
    np.testing.assert_allclose(
        system.solution(), np.linalg.solve(A, B), rtol=0, atol=tol / np.linalg.eigvalsh(A)[0]
    )


def test_select_columns(factor):
    following = Following(*pool_of(20, outputs=4), range(20), factor)
    following.system.select_columns(np.array([3, 1]))
    following.Y = following.Y[:, [3, 1]]
    following.check()
    following.remove([4])
    following.check()


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (1,)])
def test_refused_rows_of_B_leave_the_system_as_it_was(factor, shape):
    following = Following(*pool_of(20), range(19), factor)
    A = following.pool
    with pytest.raises(ValueError, match="B"):
        following.system.append(A[:19, 19:], A[19:, 19:], np.ones(shape))
    assert following.system.n == 19
    following.check()


def test_inputs_stay_as_they_are(factor):
    A, Y = pool_of(20)
    A.flags.writeable = Y.flags.writeable = False
    following = Following(A, Y, range(15), factor)
    following.append(range(15, 20))
    following.remove([2, 9])
    following.check()


def test_system_does_not_share_B_with_its_caller(factor):
    A, Y = pool_of(20)
    system = LiveSystem(np.diagonal(A).copy(), row_block(A), Y, factor)
    assert not np.shares_memory(system.B, Y)


def test_drift_of_an_all_zero_right_hand_side(factor):
    A, _ = pool_of(20)
    assert LiveSystem(np.diagonal(A).copy(), row_block(A), np.zeros((20, 2)), factor).drift() == 0.0


def test_drift_that_is_measured_after_every_edit(factor):
    """The solution that it finds follows the edits, and the next read checks it."""
    rng, following = np.random.default_rng(3), Following(*pool_of(40), range(20), factor)
    for _ in range(30):
        following.edit(rng)
        measured, cond = following.system.drift(), np.linalg.cond(following.A)
        assert measured < tolerance(40, updates=30, cond=cond, power=1)
    following.check()


def test_all_samples_may_leave(factor):
    following = Following(*pool_of(12), range(12), factor)
    following.remove(range(12))
    assert following.system.solution().shape == (0, 2)
    following.append(range(12))
    following.check()


# -- rebuilding ---------------------------------------------------------------------------------


def upper(system):
    """A writable view of the factored form, and a mask of the part of it that is in use."""
    if system.factor.name == "qr":
        return system.factor._R, np.triu(np.ones_like(system.factor._R, dtype=bool))
    matrix = system.factor._matrix
    used = np.outer(matrix.used, matrix.used)
    return matrix.buffer, np.triu(used)


def damage(system, size):
    """Multiply every number of the factored form by 1 + size · noise."""
    array, used = upper(system)
    noise = np.random.default_rng(0).uniform(-1, 1, int(used.sum()))
    array[used] *= 1.0 + size * noise


def test_a_little_damage_is_refined_away(factor):
    following = Following(*pool_of(40, ridge=0.5), range(30), factor)
    damage(following.system, 1e-12)
    following.append([30])
    following.check()
    assert following.system.rebuilds == []


def test_great_damage_is_measured_and_repaired(factor):
    following = Following(*pool_of(40, ridge=0.5), range(30), factor)
    following.append([30])
    damage(following.system, 0.5)
    following.remove([30])
    following.check()
    (event,) = following.system.rebuilds
    assert "drifted" in event.reason or "stalled" in event.reason
    assert (event.n_samples, event.edits) == (30, 2)
    assert event.factor == following.system.factor.name


def test_refactor_is_recorded_with_its_reason(factor):
    following = Following(*pool_of(30), range(20), factor)
    following.append(range(20, 25))
    following.system.rebuild("because")
    following.system.rebuild()
    reasons = [event.reason for event in following.system.rebuilds]
    assert reasons == ["because", "asked for"]
    event = following.system.rebuilds[0]
    assert (event.n_samples, event.edits, event.factor) == (25, 5, following.system.factor.name)
    following.check()


def test_condition_is_that_of_the_last_factorisation(factor):
    following = Following(*pool_of(40), range(3), factor)
    following.append(range(3, 40))
    following.system.rebuild()
    exact = np.linalg.cond(following.A, 1)
    # LAPACK's estimate is a lower bound, and rarely off by more than a factor of three.
    assert exact / 3 <= following.system.condition <= exact * (1 + tolerance(40))


def test_growing_does_not_refactor_at_every_step():
    following = Following(*pool_of(150, ridge=1e-4, gamma=0.5, features=3), [0], "auto")
    for sample in range(1, 150):
        following.append([sample])
        following.system.solution()
    assert len(following.system.rebuilds) <= 10


# -- factor="auto" ------------------------------------------------------------------------------


@pytest.mark.parametrize(("ridge", "name"), [(1.0, "inverse"), (1e-9, "cholesky")])
def test_auto_picks_by_the_condition(ridge, name):
    A = gram(60, ridge=ridge, gamma=0.3, features=2)
    chosen, condition = factorize(np.diagonal(A).copy(), row_block(A))
    assert chosen.name == name
    exact = np.linalg.cond(A, 1)
    assert exact / 3 <= condition <= 2 * exact  # an estimate of LAPACK


@pytest.mark.parametrize("name", ["inverse", "cholesky", "qr"])
def test_factor_asked_for_is_the_factor_built(name):
    for ridge in (1.0, 1e-9):
        A = gram(40, ridge=ridge, gamma=0.3, features=2)
        assert factorize(np.diagonal(A).copy(), row_block(A), name)[0].name == name


def test_auto_switches_at_a_refactorisation():
    pool, Y = pool_of(60, ridge=1e-9, gamma=0.3, features=2)
    following = Following(pool, Y, range(2))
    assert following.system.factor.name == "inverse"
    following.append(range(2, 60))
    following.system.rebuild("grown")
    assert following.system.factor.name == "cholesky"
    following.check()
    following.remove(range(2, 60))
    following.system.rebuild("shrunk")
    assert following.system.factor.name == "inverse"
    following.check()
    assert [event.factor for event in following.system.rebuilds][-1] == "inverse"


# -- errors -------------------------------------------------------------------------------------


def test_refused_duplicate_leaves_the_system_as_it_was(factor):
    A = gram(20, ridge=0.0, gamma=2.0)
    order = [*range(20), 3]
    pool, Y = A[np.ix_(order, order)], np.ones((21, 1))
    following = Following(pool, Y, range(19), factor)
    X, B = following.system.solution().copy(), following.system.B.copy()
    with pytest.raises(NotPositiveDefiniteError, match=r"failed at new sample 1: .*drop it"):
        following.append([19, 20])
    np.testing.assert_array_equal(following.system.solution(), X)
    np.testing.assert_array_equal(following.system.B, B)
    assert following.system.edits == 0
    following.append([19])
    following.check()
    with pytest.raises(NotPositiveDefiniteError, match="failed at new sample 0"):
        following.append([20])
    following.check()


def test_a_duplicate_is_refused_without_a_rebuild(factor):
    A = gram(20, ridge=0.0, gamma=2.0)
    order = [*range(20), 3]
    following = Following(A[np.ix_(order, order)], np.ones((21, 1)), range(19), factor)
    following.append([19])
    with pytest.raises(NotPositiveDefiniteError, match="failed at new sample 0"):
        following.append([20])
    assert following.system.rebuilds == []
    following.check()


def test_an_edit_that_a_damaged_factor_refuses_is_tried_again_after_a_rebuild():
    following = Following(*pool_of(20), range(19), "inverse")
    following.system.factor._diagonal += 1e3  # every Schur complement is far below zero now
    following.append([19])
    (event,) = following.system.rebuilds
    assert event.reason.startswith("an edit failed: factoring failed at new sample 0")
    following.check()


# -- copies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_a_copy_is_whole_and_independent(factor, duplicate):
    rng = np.random.default_rng(0)
    following = Following(*pool_of(30), range(20), factor)
    for _ in range(10):
        following.edit(rng)
    second = copy.copy(following)
    second.system, second.holdings = duplicate(following.system), list(following.holdings)
    for _ in range(10):
        second.edit(rng)
    second.check()
    following.check()


# -- what spoils a factor -----------------------------------------------------------------------


def test_a_sample_that_dominated_the_others_is_rebuilt_around():
    A = gram(20)
    A[5, :] *= 1e6
    A[:, 5] *= 1e6
    system = LiveSystem(np.diagonal(A).copy(), row_block(A), np.ones((20, 1)), "inverse")
    system.solution()
    system.remove(np.array([5]))
    rest = np.delete(np.delete(A, 5, axis=0), 5, axis=1)
    np.testing.assert_allclose(rest @ system.solution(), 1.0, atol=1e-12)  # a fresh solve's
    (event,) = system.rebuilds
    assert event.reason == "a sample that dominated the others has left"


def test_refinement_that_stalls_rebuilds_the_factor():
    A = gram(20)
    system = LiveSystem(np.diagonal(A).copy(), row_block(A), np.ones((20, 1)), "inverse")
    system.factor.apply_inverse = np.zeros_like
    np.testing.assert_allclose(A @ system.solution(), 1.0, atol=1e-12)
    (event,) = system.rebuilds
    assert event.reason.startswith("refinement stalled at a residual of 1")


def test_an_inverse_without_a_positive_diagonal_cannot_let_a_sample_go():
    A = gram(6)
    factor, _ = factorize(np.diagonal(A).copy(), row_block(A), "inverse")
    factor._diagonal[:] = -1.0
    with pytest.raises(NotPositiveDefiniteError, match="failed at sample 2"):
        factor.remove(np.array([2]))


def test_a_sample_that_almost_repeats_another_needs_the_cholesky_factor():
    """A is well-conditioned until it comes, and then as ill-conditioned as the ridge is small."""
    points = np.append(10.0 * np.arange(12), 30.0)
    pool = np.exp(-np.square(points[:, None] - points)) + 1e-9 * np.eye(13)
    following = Following(pool, np.eye(13)[:, [3, 12]], range(12))
    assert following.system.factor.name == "inverse"
    following.append([12])
    following.check()
    assert following.system.factor.name == "cholesky"
    assert following.system.rebuilds[-1].reason == "a new sample almost repeats a held one"
    following.remove([3])
    following.check()


# -- what is looked at --------------------------------------------------------------------------


def counted(owner, names, seen):
    """Record each call of these methods of an object."""

    def counting(name, method):
        def count(*args, **kwargs):
            seen.append(name)
            return method(*args, **kwargs)

        return count

    for name in names:
        setattr(owner, name, counting(name, getattr(owner, name)))


def test_few_edits_of_a_well_conditioned_matrix_spare_a_read_its_checks():
    following = Following(*pool_of(60), range(50))
    system, seen = following.system, []
    following.append([50])
    following.check()  # from here on X is known to be good
    counted(system.factor, ["rows", "multiply"], seen)
    for k in range(51, 56):
        following.append([k])
        following.remove([3])
        following.check()
        p = np.diagonal(np.linalg.inv(following.A))
        tol = tolerance(50, cond=np.linalg.cond(following.A), power=2)
        np.testing.assert_allclose(system.inverse_diagonal(), p, rtol=tol)
    assert seen == []
    for k in range(56, 60):
        following.append([k])
        following.remove([3])
    following.check()
    assert seen == ["rows"]  # of so many edits, not all were followed by a look


def test_edits_whose_result_is_checked_anyway_read_no_row_that_leaves():
    following = Following(*pool_of(90), range(80))
    following.append([80])
    following.check()
    seen = []
    counted(following.system.factor.matrix, ["row"], seen)
    for _ in range(40):
        following.remove([0])
    assert len(seen) == 16
    following.check()
    following.remove([0])
    assert len(seen) == 17
