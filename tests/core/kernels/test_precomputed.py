"""Samples that are known by their kernel values."""

import pickle

import numpy as np
import pytest

from gramian.core.kernels import Precomputed
from gramian.core.kernels._precomputed import GramSamples, _as_slice

K = np.arange(49.0).reshape(7, 7)
K = K + K.T
INDEXES = {
    "slice": slice(2, 6),
    "steps": slice(None, None, 2),
    "backwards": slice(None, None, -1),
    "numbers": np.array([4, 0, 0, 3]),
    "mask": np.arange(7) % 3 == 0,
    "none": np.zeros(7, dtype=bool),
    "empty": slice(3, 3),
}


@pytest.fixture(params=INDEXES)
def rows(request):
    return INDEXES[request.param]


@pytest.fixture(params=INDEXES)
def columns(request):
    return INDEXES[request.param]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blocks_are_those_of_the_matrix(rows, columns, dtype):
    holdings = GramSamples(K.astype(dtype))
    got = Precomputed()(holdings[rows], holdings[columns])
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, K[rows][:, columns])


def test_new_samples_are_rows_of_kernel_values(columns):
    new = np.random.default_rng(0).standard_normal((5, 7))
    got = Precomputed()(new, GramSamples(K)[columns])
    np.testing.assert_array_equal(got, new[:, columns])


def test_samples_behave_as_rows_of_an_array(rows):
    holdings = GramSamples(K)
    some = holdings[rows]
    assert some.shape == K[rows].shape
    assert some.dtype == K.dtype
    assert len(some) == len(K[rows])
    assert some.ndim == 2
    np.testing.assert_array_equal(Precomputed().diagonal(some), np.diagonal(K)[rows])
    np.testing.assert_array_equal(Precomputed()(some[:2], holdings), K[rows][:2])
    assert some.K is K


@pytest.mark.parametrize(("first", "second"), [(slice(0, 7), slice(0, 7)), ([2, 3], [4, 5, 6])])
def test_neighbours_are_a_view_that_cannot_be_written(first, second):
    holdings = GramSamples(K)
    block = Precomputed()(holdings[first], holdings[second])
    assert np.shares_memory(block, K)
    assert K.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        block[0, 0] = 1.0


def test_samples_survive_a_pickle():
    some = pickle.loads(pickle.dumps(GramSamples(K)[1:4]))
    np.testing.assert_array_equal(Precomputed()(some, some), K[1:4, 1:4])
    assert repr(some) == "GramSamples(3 of 7)"


# -- errors -------------------------------------------------------------------------------------


def test_diagonal_of_new_samples_is_not_known():
    with pytest.raises(ValueError, match=r"k\(x, x\) of new samples is not among"):
        Precomputed().diagonal(K)


def test_values_for_another_number_of_samples():
    with pytest.raises(ValueError, match="each of the 7 samples it was computed for, got 6"):
        Precomputed()(K[:, :6], GramSamples(K))


def test_second_set_must_be_held():
    with pytest.raises(TypeError, match="needs GramSamples, got ndarray"):
        Precomputed()(GramSamples(K), K)


def test_matrix_must_be_square():
    with pytest.raises(ValueError, match=r"must be a square matrix, got shape \(7, 6\)"):
        GramSamples(K[:, :6])


@pytest.mark.parametrize("index", [[-1], [0, 7]])
def test_index_out_of_range(index):
    with pytest.raises(IndexError, match="index must lie between 0 and 6"):
        GramSamples(K, index)


@pytest.mark.parametrize("index", [3, [0.5], [[1]], [True]])
def test_index_must_be_whole_numbers(index):
    with pytest.raises(ValueError, match="index must be a list of whole numbers"):
        GramSamples(K, index)


@pytest.mark.parametrize("positions", [[], [3], [2, 3, 4], [4, 2], [1, 3]])
def test_positions_that_follow_one_another_are_a_slice(positions):
    values, index = np.arange(6), np.array(positions, dtype=int)
    found = _as_slice(index)
    np.testing.assert_array_equal(values[found], values[index])
    assert isinstance(found, slice) == (positions not in ([4, 2], [1, 3]))
