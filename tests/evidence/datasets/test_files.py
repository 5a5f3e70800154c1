import hashlib

import numpy as np
import pytest
from scipy import sparse

from evidence.datasets._files import content_sha256, make_dataset, read_archive, write_archive
from evidence.datasets._registry import FileSet

X = np.array([[1.0, -2.0, 0.0], [0.0, 3.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
Y = np.array([0, 1, 1, 0])


def entry(X=X, y=Y, **fields):
    return FileSet("toy", content_sha256(X, y), "four samples", **fields)


def assert_samples(dataset, X=X):
    found = dataset.X.toarray() if sparse.issparse(dataset.X) else dataset.X
    np.testing.assert_array_equal(found, X)
    assert found.dtype == float


def test_content_sha256_is_what_its_docstring_says():
    parts = [b"(4, 3)", X.astype("<f4").tobytes(), b"(4,)", Y.astype("<f4").tobytes()]
    assert content_sha256(X, Y) == hashlib.sha256(b"".join(parts)).hexdigest()


@pytest.mark.parametrize("dtype", [np.int16, np.float32, ">f8"])
def test_content_sha256_looks_at_values_not_at_types(dtype):
    assert content_sha256(np.asfortranarray(X, dtype), Y.astype(float)) == content_sha256(X, Y)


def test_content_sha256_sees_order_and_shape():
    sums = {
        content_sha256(X, Y),
        content_sha256(X[::-1], Y),
        content_sha256(X, Y[::-1] + 1),
        content_sha256(X.reshape(3, 4), Y),
        content_sha256(sparse.csr_matrix(X), Y),
    }
    assert len(sums) == 5


def test_content_sha256_of_sparse_samples_ignores_the_order_within_a_row():
    indptr = [0, 2, 3]
    one = sparse.csr_matrix(([1.0, 2.0, 3.0], [0, 2, 1], indptr), shape=(2, 3))
    two = sparse.csr_matrix(([2.0, 1.0, 3.0], [2, 0, 1], indptr), shape=(2, 3))
    assert content_sha256(one, Y) == content_sha256(two, Y)
    assert two.indices.tolist() == [2, 0, 1]  # the input is left as it was


def test_dense_samples_with_a_scale():
    arrays = {"X": (X * 4).astype(np.int16), "y": Y.astype(np.int8), "x_scale": np.array(0.25)}
    dataset = make_dataset("toy", entry(), arrays, "here")
    assert_samples(dataset)
    assert dataset.y.dtype == np.int64
    assert dataset.partition_numbers == ()
    assert dataset.n_partitions is None


def test_sparse_samples():
    binary = (X != 0).astype(float)
    csr = sparse.csr_matrix(binary)
    stored = {"indices": csr.indices, "indptr": csr.indptr, "shape": np.array(csr.shape), "y": Y}
    packed = {"Xbits": np.packbits(binary.astype(bool), axis=1), "n_features": np.array(3), "y": Y}
    for arrays in (stored, packed):
        dataset = make_dataset("toy", entry(csr), arrays, "here")
        assert sparse.issparse(dataset.X)
        assert_samples(dataset, binary)


def test_regression_targets_are_floats():
    dataset = make_dataset("toy", entry(regression=True), {"X": X, "y": Y}, "here")
    assert dataset.y.dtype == float


def test_partitions_are_read_as_int64():
    arrays = {
        "X": X,
        "y": Y,
        "train": np.array([[0, 1], [3, 2]], np.uint16),
        "test": np.array([[2, 3], [0, 1]], np.uint16),
        "partition_id": np.array([7, -1], np.int16),
        "n_partitions_in_benchmark": np.array(100),
    }
    dataset = make_dataset("toy", entry(), arrays, "here")
    assert dataset.train.dtype == dataset.test.dtype == np.int64
    assert dataset.partition_numbers == (7, None)
    assert dataset.n_partitions == 100


def test_a_single_partition_may_be_one_row():
    arrays = {"X": X, "y": Y, "train": np.array([0, 1]), "test": np.array([2, 3])}
    dataset = make_dataset("toy", entry(), arrays, "here")
    assert dataset.train.shape == (1, 2)
    assert (dataset.partition_numbers, dataset.n_partitions) == ((1,), 1)


@pytest.mark.parametrize("test", [[[1, 3]], [[2, 4]], [[2]], [[2, 3], [2, 3]]])
def test_rows_that_are_no_partition_are_refused(test):
    arrays = {"X": X, "y": Y, "train": np.array([[0, 1]]), "test": np.array(test)}
    with pytest.raises(ValueError, match=r"here does not hold 'toy': .*; get another copy"):
        make_dataset("toy", entry(), arrays, "here")


@pytest.mark.parametrize("arrays", [{"X": X}, {"y": Y}, {}])
def test_missing_arrays_are_named(arrays):
    with pytest.raises(ValueError, match="here does not hold 'toy': '"):
        make_dataset("toy", entry(), arrays, "here")


def test_other_content_is_refused():
    with pytest.raises(ValueError, match=r"here does not hold 'toy' as it should: the SHA-256"):
        make_dataset("toy", entry(), {"X": X + 1, "y": Y}, "here")


def test_archive_comes_back(tmp_path):
    path = tmp_path / "new" / "toy.npz"
    write_archive(path, {"X": X, "y": Y})
    write_archive(path, {"X": X, "y": Y + 1})  # over the first
    np.testing.assert_array_equal(read_archive(path)["y"], Y + 1)
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(file, **arrays):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk full"):
        write_archive(tmp_path / "toy.npz", {"X": X})
    assert list(tmp_path.iterdir()) == []


def test_unreadable_archives_are_called_corrupt(tmp_path):
    whole = tmp_path / "whole.npz"
    write_archive(whole, {"X": X})
    content = whole.read_bytes()
    bodies = {
        "empty": b"",
        "text": b"not an archive",
        "cut": content[: len(content) // 2],
        "flipped": content[:60] + bytes([content[60] ^ 0xFF]) + content[61:],
    }
    for name, body in bodies.items():
        path = tmp_path / f"{name}.npz"
        path.write_bytes(body)
        with pytest.raises(ValueError, match=rf"{name}\.npz is corrupt"):
            read_archive(path)


def test_pickles_are_not_loaded(tmp_path):
    path = tmp_path / "toy.npz"
    np.savez(path, X=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="corrupt"):
        read_archive(path)
