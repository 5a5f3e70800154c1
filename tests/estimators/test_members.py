"""Members known by samples and by kernel values alone."""

import numpy as np
import pytest
from scipy import sparse

from gramian.estimators.ellipsoidal._members import GramMembers, GramRows, Members
from gramian.kernels import make_kernel
from tests.tolerance import tolerance

KERNEL = make_kernel("poly", gamma=0.5, degree=2)


def samples(n=8, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


def gram(X, Y):
    return (0.5 * X @ Y.T + 1.0) ** 2


def close(actual, expected):
    scale = np.abs(expected).max(initial=1.0)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=scale * tolerance(8))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_kernel_values_after_edits(form):
    X = samples()
    members = Members(form(X[:0]), KERNEL).append(form(X[:5])).append(form(X[5:]))
    members = members.remove(np.array([1, 6]))
    X = np.delete(X, [1, 6], axis=0)
    Q = samples(4, seed=1)
    assert len(members) == 6
    close(members.diagonal(), gram(X, X).diagonal())
    close(members.diagonal(form(Q)), gram(Q, Q).diagonal())
    close(members.column(2), gram(X, X)[:, 2])
    close(members.cross(form(Q)), gram(Q, X))
    close(members.cross(form(Q), np.array([3, 0])), gram(Q, X)[:, [3, 0]])
    units = members.unit_vectors()
    assert sparse.issparse(units) == sparse.issparse(members.X)
    close(members.cross(units), gram(np.eye(3), X))


def test_a_kernel_matrix_stands_for_the_samples():
    X, Q = samples(), samples(4, seed=1)
    K = gram(X, X)
    members = GramMembers(K[:0, :0]).append(K[:5, :5]).append(K[5:]).remove(np.array([1, 6]))
    rest = np.delete(np.arange(8), [1, 6])
    assert len(members) == 6
    np.testing.assert_array_equal(members.X, K[np.ix_(rest, rest)])
    np.testing.assert_array_equal(members.diagonal(), K.diagonal()[rest])
    np.testing.assert_array_equal(members.column(2), K[rest, rest[2]])
    cross = gram(Q, X[rest])
    np.testing.assert_array_equal(members.cross(cross, np.array([3, 0])), cross[:, [3, 0]])


def test_edits_leave_the_old_members_alone():
    X = samples()
    members = Members(X.copy(), KERNEL)
    members.append(X[:2])
    members.remove(np.array([0]))
    np.testing.assert_array_equal(members.X, X)


def test_rows_are_wiped_and_cannot_be_written():
    K = gram(samples(), samples())
    rows = GramRows(K[:6, :6])
    rows.append(K[6:])
    np.testing.assert_array_equal(rows.rows, K)
    rows.remove(np.array([3]))
    rest = np.delete(np.arange(8), 3)
    np.testing.assert_array_equal(rows.rows, K[np.ix_(rest, rest)])
    with pytest.raises(ValueError, match="read-only"):
        rows.rows[0, 0] = 1.0
