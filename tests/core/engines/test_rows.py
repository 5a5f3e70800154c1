"""Storage of samples against lists of rows, and what it leaves behind."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gramian.core.engines import DenseRows, GramRows, SparseRows, make_rows

KINDS = {"dense": np.asarray, "csr": sparse.csr_array}


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else np.asarray(rows)


def samples(n, dtype=float):
    return np.random.default_rng(0).standard_normal((n, 4)).astype(dtype)


def test_kind_follows_the_samples():
    assert isinstance(make_rows(samples(3)), DenseRows)
    assert isinstance(make_rows(sparse.csr_array(samples(3))), SparseRows)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=30)
@given(
    script=st.lists(st.tuples(st.booleans(), st.integers(1, 9), st.integers(0, 999)), max_size=12)
)
def test_random_edits(kind, dtype, script):
    make, pool = KINDS[kind], samples(200, dtype)
    rows, expected, used = make_rows(make(pool[:5])), pool[:5], 5
    for appends, k, seed in script:
        if appends:
            new, used = pool[used : used + k], used + k
            rows = rows.appended(make(new))
            expected = np.vstack([expected, new])
        else:
            k = min(k, len(expected) - 1)
            gone = np.sort(np.random.default_rng(seed).permutation(len(expected))[:k])
            rows = rows.without(gone)
            rows.scrub()
            expected = np.delete(expected, gone, axis=0)
        some = np.random.default_rng(seed).integers(0, len(expected), 3)
        np.testing.assert_array_equal(dense(rows.take(some)), expected[some])
        if seed % 3:  # gaps are closed by reading; leave some of them open
            np.testing.assert_array_equal(dense(rows.samples()), expected)
    np.testing.assert_array_equal(dense(rows.samples()), expected)
    assert rows.dtype == rows.samples().dtype == dtype


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gone", [[0], [9], [0, 9], [3, 4, 5], list(range(9))])
def test_removed_rows_leave_nothing(kind, gone):
    X = samples(12)
    rows = make_rows(KINDS[kind](X[:10]))
    rows = rows.appended(KINDS[kind](X[10:])).without(np.array(gone))
    rows.scrub()
    stored = pickle.dumps(rows)
    assert not any(value.tobytes() in stored for value in X[gone].ravel())
    stay = np.delete(X, gone, axis=0)
    assert all(value.tobytes() in stored for value in stay.ravel())


@pytest.mark.parametrize("kind", KINDS)
def test_samples_are_copied(kind):
    X = KINDS[kind](samples(5))
    rows = make_rows(X)
    X[0, 0] = 99.0
    assert dense(rows.samples())[0, 0] != 99.0


def test_dense_rows_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        make_rows(samples(5)).samples()[0, 0] = 1.0


def test_taken_rows_are_a_copy():
    rows = make_rows(samples(5))
    rows.take(np.array([0]))[:] = 99.0
    np.testing.assert_array_equal(rows.samples(), samples(5))


def test_buffer_grows_by_doubling():
    rows = make_rows(samples(1))
    sizes = set()
    for x in samples(300):
        rows = rows.appended(x[None])
        sizes.add(len(rows._store[0]))
    assert len(sizes) <= 10


# -- what makes an edit safe --------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_stays_readable_after_edits(kind):
    X = samples(30)
    rows = make_rows(KINDS[kind](X[:10]))
    longer, shorter = rows.appended(KINDS[kind](X[10:])), rows.without(np.array([2, 3]))
    np.testing.assert_array_equal(dense(rows.samples()), X[:10])
    np.testing.assert_array_equal(dense(longer.samples()), X)
    np.testing.assert_array_equal(dense(shorter.samples()), np.delete(X[:10], [2, 3], axis=0))


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_lent_is_never_changed(kind):
    X = samples(30)
    rows = make_rows(KINDS[kind](X[:10]))
    lent = rows.samples(lend=True)
    later = rows.appended(KINDS[kind](X[10:])).without(np.array([0, 5, 20]))
    later.scrub()
    np.testing.assert_array_equal(dense(lent), X[:10])
    np.testing.assert_array_equal(dense(later.samples()), np.delete(X, [0, 5, 20], axis=0))


@pytest.mark.parametrize("gone", [0, 4, 9])
def test_a_removed_row_is_overwritten_where_it_stood(gone):
    X = samples(10)
    rows = make_rows(X)
    later = rows.without(np.array([gone]))
    buffer = later._store[0]
    np.testing.assert_array_equal(buffer[gone], X[gone])  # for whoever needs the old store
    later.scrub()
    np.testing.assert_array_equal(buffer[gone], 0.0)
    np.testing.assert_array_equal(later.samples_copy(), np.delete(X, gone, axis=0))


def test_the_room_of_the_last_sample_is_taken_again_when_it_is_overwritten():
    X = samples(12)
    rows = make_rows(X[:8]).appended(X[8:9])  # with spare room
    shorter = rows.without(np.array([8]))
    early = shorter.appended(X[9:10])  # the old store may still be in use
    np.testing.assert_array_equal(rows.samples_copy(), X[:9])
    shorter.scrub()
    later, last = shorter.appended(X[10:11]), shorter.appended(X[11:12])
    assert later._store[0] is shorter._store[0]
    for store, new in ((early, 9), (later, 10), (last, 11)):
        np.testing.assert_array_equal(store.samples_copy(), X[[*range(8), new]])
    copied = rows.appended(X[11:12])  # an old store writes into no room that was taken
    np.testing.assert_array_equal(later.samples_copy(), X[[*range(8), 10]])
    assert copied._store[0] is not shorter._store[0]


@pytest.mark.parametrize("precomputed", [False, True])
def test_two_stores_that_follow_one_do_not_share_its_spare_room(precomputed):
    K = samples(12) @ samples(12).T
    rows = make_rows(K[:4, :4] if precomputed else K[:4], precomputed=precomputed)
    rows = rows.appended(K[[4]][:, :5] if precomputed else K[[4]])  # with spare room
    stores = {}
    for new in (5, 6):
        holdings = np.array([0, 1, 2, 3, 4, new])
        stores[new] = rows.appended(K[[new]][:, holdings] if precomputed else K[[new]])
    for new, store in stores.items():
        holdings = np.array([0, 1, 2, 3, 4, new])
        np.testing.assert_array_equal(
            store.samples_copy(), K[np.ix_(holdings, holdings)] if precomputed else K[holdings]
        )


# -- kernel matrices ----------------------------------------------------------------------------


def matrix(rows):
    return np.array(rows.samples_copy())


@settings(max_examples=30)
@given(
    script=st.lists(st.tuples(st.booleans(), st.integers(1, 9), st.integers(0, 999)), max_size=12)
)
def test_random_edits_of_a_kernel_matrix(script):
    K = samples(200) @ samples(200).T
    rows, holdings, used = make_rows(K[:5, :5], precomputed=True), np.arange(5), 5
    assert isinstance(rows, GramRows)
    assert rows.adopt(K) is K
    for appends, k, seed in script:
        if appends:
            new, used = np.arange(used, min(used + k, 200)), min(used + k, 200)
            holdings = np.concatenate([holdings, new])
            rows = rows.appended(K[np.ix_(new, holdings)])
        else:
            k = min(k, len(holdings) - 1)
            gone = np.sort(np.random.default_rng(seed).permutation(len(holdings))[:k])
            lent = rows.samples(lend=bool(seed % 2))
            before = matrix(rows)
            rows = rows.without(gone)
            rows.scrub()
            if seed % 2:
                np.testing.assert_array_equal(lent.K[np.ix_(lent.index, lent.index)], before)
            holdings = np.delete(holdings, gone)
        np.testing.assert_array_equal(matrix(rows), K[np.ix_(holdings, holdings)])
        assert rows.width == len(rows) == len(holdings)
    part = rows.samples()
    np.testing.assert_array_equal(
        part.K[np.ix_(part.index, part.index)], K[np.ix_(holdings, holdings)]
    )


def test_a_removed_sample_leaves_the_kernel_matrix():
    K = samples(12) @ samples(12).T
    rows = make_rows(K, precomputed=True).without(np.array([3]))
    rows.scrub()
    stored = pickle.dumps(rows)
    assert not any(value.tobytes() in stored for value in K[3])
