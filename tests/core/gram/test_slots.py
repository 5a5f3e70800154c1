import numpy as np
import pytest

from gramian.core.gram._slots import SlotMatrix, spare_capacity
from tests.core.gram.conftest import gram, slot_matrix, without
from tests.tolerance import tolerance


def everything(matrix):
    return matrix.rows(np.arange(matrix.n))


def with_gaps():
    """Samples 0, 2, 3, 5 of six, then 6 and 7 in the slots that were freed, and the matrix."""
    A = gram(8)
    matrix = slot_matrix(A[:6, :6])
    matrix.wipe(np.array([1, 4]))
    order = [0, 2, 3, 5, 6, 7]
    cross = matrix.scatter(A[np.ix_(order[:4], [6, 7])])
    matrix.write(np.array([4, 1]), cross, A[6:, 6:])
    return matrix, A[np.ix_(order, order)]


@pytest.mark.parametrize("n", [0, 1, 2, 50])
def test_matrix_is_held_to_the_bit(n):
    A = gram(n)
    matrix = slot_matrix(A)
    assert (matrix.n, matrix.capacity) == (n, spare_capacity(n))
    np.testing.assert_array_equal(everything(matrix), A)


def test_each_pair_of_samples_is_asked_for_once(monkeypatch):
    monkeypatch.setattr(
        "gramian.core.gram._slots.row_blocks",
        lambda n, *_, **__: (slice(i, i + 10) for i in range(0, n, 10)),
    )
    A, asked = gram(30), []
    A[np.tril_indices(30, -1)] = np.nan

    def row_block(rows, columns):
        asked.append((rows.start, rows.stop, columns.start, columns.stop))
        return A[rows, columns]

    matrix = SlotMatrix(np.diagonal(A).copy(), row_block)
    assert asked == [(0, 10, 0, 30), (10, 20, 10, 30), (20, 30, 20, 30)]
    np.testing.assert_array_equal(everything(matrix), gram(30))
    matrix.copy_to_upper()
    np.testing.assert_array_equal(matrix.buffer[:30, :30], gram(30))
    assert matrix.norm() == pytest.approx(np.abs(gram(30)).sum(axis=0).max(), rel=tolerance(30))


def test_slots_are_taken_in_any_order():
    matrix, A = with_gaps()
    np.testing.assert_array_equal(everything(matrix), A)
    np.testing.assert_array_equal(matrix.slots, [0, 2, 3, 5, 4, 1])
    np.testing.assert_array_equal(np.flatnonzero(matrix.used), range(6))


@pytest.mark.parametrize("columns", [0, 1, 3, 20])
def test_multiply_lends_the_diagonal_and_takes_it_back(columns):
    matrix, A = with_gaps()
    upper = np.triu_indices(matrix.capacity)
    matrix.buffer[upper] = np.random.default_rng(0).standard_normal(len(upper[0]))
    before = matrix.buffer.copy()
    X = np.random.default_rng(1).standard_normal((6, columns))
    tol = tolerance(6) * np.abs(A).sum(axis=0).max()
    np.testing.assert_allclose(matrix.multiply(X), A @ X, rtol=0, atol=3 * tol)
    np.testing.assert_array_equal(matrix.buffer, before)


@pytest.mark.parametrize("capacity", [6, 7, 40])
def test_resize_keeps_both_triangles(capacity):
    matrix, A = with_gaps()
    matrix.wipe(np.array([2]))
    matrix.copy_to_upper()
    order = np.argsort(matrix.slots)
    A = without(A, [2])
    matrix.resize(capacity)
    assert matrix.buffer.shape == (capacity, capacity)
    assert matrix.buffer.flags.f_contiguous
    np.testing.assert_array_equal(everything(matrix), A)
    in_slots = A[np.ix_(order, order)]
    np.testing.assert_array_equal(matrix.buffer[:5, :5], in_slots)
    np.testing.assert_array_equal(matrix.buffer[5:], 0.0)
    np.testing.assert_array_equal(matrix.buffer[:, 5:], 0.0)


def test_wipe_leaves_zeros():
    matrix, A = with_gaps()
    matrix.copy_to_upper()
    slots = matrix.slots[[5, 0]]
    matrix.wipe(np.array([5, 0]))
    for part in (matrix.buffer[slots], matrix.buffer[:, slots], matrix.diagonal[slots]):
        np.testing.assert_array_equal(part, 0.0)
    np.testing.assert_array_equal(everything(matrix), without(A, [5, 0]))


def test_upper_triangle_has_unit_rows_in_free_slots():
    matrix, A = with_gaps()
    matrix.wipe(np.array([1, 3]))
    matrix.copy_to_upper()
    expected = np.eye(matrix.capacity)
    expected[np.ix_(matrix.slots, matrix.slots)] = without(A, [1, 3])
    np.testing.assert_array_equal(np.triu(matrix.buffer), np.triu(expected))


def test_norm_ignores_the_upper_triangle():
    matrix, A = with_gaps()
    matrix.buffer[np.triu_indices(matrix.capacity)] = 1e6
    assert matrix.norm() == pytest.approx(np.abs(A).sum(axis=0).max(), rel=tolerance(6))


def test_spare_capacity_is_a_sixteenth():
    assert [spare_capacity(n) for n in (0, 1, 100, 128, 160, 1600)] == [8, 9, 108, 136, 170, 1700]
