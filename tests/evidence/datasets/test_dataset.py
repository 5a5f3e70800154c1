import dataclasses

import numpy as np
import pytest

from evidence.datasets import Dataset


@pytest.fixture
def dataset():
    train = np.array([[0, 1, 2], [5, 4, 3]])
    test = np.array([[3, 4, 5, 6], [0, 1, 2, 6]])
    X = np.arange(14.0).reshape(7, 2)
    return Dataset("toy", X, np.arange(7), train, test, partition_numbers=(3, None))


def assert_partition(train, test, n):
    assert train.dtype == test.dtype == np.int64
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(n))


def test_sizes_are_those_of_the_official_partitions(dataset):
    assert (dataset.n_official, dataset.n_train, dataset.n_test) == (2, 3, 4)
    bare = Dataset("bare", dataset.X, dataset.y)
    assert (bare.n_official, bare.n_train, bare.n_test) == (0, None, None)


def test_partition_is_the_official_row(dataset):
    train, test = dataset.partition(1)
    assert train.tolist() == [5, 4, 3]
    assert test.tolist() == [0, 1, 2, 6]


@pytest.mark.parametrize("k", [2, -1])
def test_partition_out_of_range(dataset, k):
    with pytest.raises(IndexError, match=rf"'toy' has 2 official partitions, got k={k}"):
        dataset.partition(k)


def test_partition_of_a_set_without_any(dataset):
    with pytest.raises(IndexError, match="'bare' has 0 official partitions"):
        Dataset("bare", dataset.X, dataset.y).partition()


def test_partitions_are_official_first_then_random(dataset):
    partitions = dataset.partitions(5)
    assert [p.official for p in partitions] == [True, True, False, False, False]
    assert [p.number for p in partitions] == [3, None, None, None, None]
    assert partitions[0].train.tolist() == [0, 1, 2]
    for p in partitions:
        assert (len(p.train), len(p.test)) == (3, 4)
        assert_partition(p.train, p.test, 7)


def test_partitions_are_fixed_by_the_seed_and_begin_alike(dataset):
    few, many = dataset.partitions(4), dataset.partitions(9)
    for a, b in zip(few, many, strict=False):
        np.testing.assert_array_equal(a.train, b.train)
    generator = dataset.partitions(4, np.random.default_rng(0))
    np.testing.assert_array_equal(generator[3].train, few[3].train)
    other = dataset.partitions(20, random_state=1)
    assert any((a.train != b.train).any() for a, b in zip(many[2:], other[2:], strict=False))


def test_partitions_of_another_size_are_random_only(dataset):
    (partition,) = dataset.partitions(1, n_train=5)
    assert not partition.official
    assert len(partition.train) == 5


def test_fewer_partitions_than_official_ones(dataset):
    assert len(dataset.partitions(1)) == 1
    assert dataset.partitions(0) == []


def test_partitions_need_a_size(dataset):
    bare = Dataset("bare", dataset.X, dataset.y)
    with pytest.raises(ValueError, match="'bare' has no official partition; give `n_train`"):
        bare.partitions(2)
    with pytest.raises(ValueError, match=r"n_train must be in 1\.\.6, got 7"):
        bare.partitions(2, n_train=7)


def test_dataset_is_frozen(dataset):
    with pytest.raises(dataclasses.FrozenInstanceError):
        dataset.name = "other"
