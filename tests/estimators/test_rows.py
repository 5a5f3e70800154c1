"""Storage of samples against lists of rows, and what it leaves behind."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gramian.estimators.live._rows import DenseRows, SparseRows, make_rows

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
            rows.append(make(new))
            expected = np.vstack([expected, new])
        else:
            k = min(k, len(expected) - 1)
            gone = np.sort(np.random.default_rng(seed).permutation(len(expected))[:k])
            rows.remove(gone)
            expected = np.delete(expected, gone, axis=0)
        some = np.random.default_rng(seed).integers(0, len(expected), 3)
        np.testing.assert_array_equal(dense(rows.take(some)), expected[some])
        if seed % 3:  # gaps are closed by reading; leave some of them open
            np.testing.assert_array_equal(dense(rows.rows), expected)
    np.testing.assert_array_equal(dense(rows.rows), expected)
    assert rows.dtype == rows.rows.dtype == dtype


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gone", [[0], [9], [0, 9], [3, 4, 5], list(range(9))])
def test_removed_rows_leave_nothing(kind, gone):
    X = samples(12)
    rows = make_rows(KINDS[kind](X[:10]))
    rows.append(KINDS[kind](X[10:]))
    rows.remove(np.array(gone))
    stored = pickle.dumps(rows)
    assert not any(value.tobytes() in stored for value in X[gone].ravel())
    stay = np.delete(X, gone, axis=0)
    assert all(value.tobytes() in stored for value in stay.ravel())


@pytest.mark.parametrize("kind", KINDS)
def test_samples_are_copied(kind):
    X = KINDS[kind](samples(5))
    rows = make_rows(X)
    X[0, 0] = 99.0
    assert dense(rows.rows)[0, 0] != 99.0


def test_dense_rows_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        make_rows(samples(5)).rows[0, 0] = 1.0


def test_taken_rows_are_a_copy():
    rows = make_rows(samples(5))
    rows.take(np.array([0]))[:] = 99.0
    np.testing.assert_array_equal(rows.rows, samples(5))


def test_buffer_grows_by_doubling():
    rows = make_rows(samples(1))
    sizes = set()
    for x in samples(300):
        rows.append(x[None])
        sizes.add(len(rows._buffer))
    assert len(sizes) <= 10
