"""Data files: the NumPy archive, and the check that it holds what it should."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from evidence.datasets._dataset import Dataset
from evidence.datasets._registry import FileSet
from gramian.files import replacing

Arrays = Mapping[str, np.ndarray]


def content_sha256(X: Any, y: np.ndarray) -> str:
    """SHA-256 of the samples and targets, whatever file and integer type they were kept in.

    Over the shape and the little-endian row-major bytes of X, then of y, both as float32; a sparse
    X gives shape, indptr, indices (sorted, int64) and values.
    """
    digest = hashlib.sha256()
    for array in [*_canonical(X), np.asarray(y, "<f4")]:
        digest.update(repr(array.shape).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _canonical(X: Any) -> list[np.ndarray]:
    if not sparse.issparse(X):
        return [np.asarray(X, "<f4")]
    X = X.tocsr().sorted_indices()
    integers = [np.asarray(part, "<i8") for part in (X.shape, X.indptr, X.indices)]
    return [*integers, np.asarray(X.data, "<f4")]


def read_archive(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an ``.npz`` file; no pickles."""
    try:
        if not zipfile.is_zipfile(path):
            raise zipfile.BadZipFile("not a zip archive")
        with np.load(path, allow_pickle=False) as archive:
            return dict(archive)
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{path} is corrupt ({error}); get another copy.") from error


def write_archive(path: Path, arrays: Arrays) -> None:
    """Write an ``.npz`` file that appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]


def make_dataset(name: str, entry: FileSet, arrays: Arrays, source: str) -> Dataset:
    """The data set that ``arrays`` hold, once their content has been checked.

    Raises ValueError, naming ``source``, where it is not the content that the registry states.
    """
    try:
        X = _samples(arrays)
        y = np.asarray(arrays["y"], dtype=float if entry.regression else np.int64)
        train, test = _partitions(arrays, len(y))
    except (KeyError, ValueError) as error:
        raise ValueError(f"{source} does not hold {name!r}: {error}; get another copy.") from error
    seen = content_sha256(X, y)
    if seen != entry.sha256:
        raise ValueError(
            f"{source} does not hold {name!r} as it should: the SHA-256 of its samples and targets "
            f"is {seen[:16]}…, expected {entry.sha256[:16]}…; get another copy."
        )
    return Dataset(
        name,
        X,
        y,
        train,
        test,
        partition_numbers=_numbers(arrays, train),
        n_partitions=_n_partitions(arrays, train),
        feature_names=entry.feature_names,
        target_names=entry.target_names,
        description=entry.description,
    )


def _samples(arrays: Arrays) -> Any:
    """X in any of its three forms: dense with an optional scale, CSR of ones, packed bits."""
    if "X" in arrays:
        return arrays["X"].astype(float) * arrays.get("x_scale", 1.0)
    if "Xbits" in arrays:
        bits = np.unpackbits(arrays["Xbits"], axis=1, count=int(arrays["n_features"]))
        return sparse.csr_matrix(bits, dtype=float)
    indices, indptr = arrays["indices"], arrays["indptr"]
    shape = tuple(int(size) for size in arrays["shape"])
    return sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape=shape)


def _partitions(arrays: Arrays, n: int) -> tuple[np.ndarray | None, np.ndarray | None]:
    if "train" not in arrays:
        return None, None
    train, test = (np.atleast_2d(arrays[part]).astype(np.int64) for part in ("train", "test"))
    rows = np.sort(np.hstack([train, test]), axis=1)
    if not np.array_equal(rows, np.broadcast_to(np.arange(n), (len(train), n))):
        raise ValueError("a row of `train` and `test` is not a partition of the samples")
    return train, test


def _numbers(arrays: Arrays, train: np.ndarray | None) -> tuple[int | None, ...]:
    if train is None:
        return ()
    numbers = arrays.get("partition_id", np.arange(1, len(train) + 1))
    return tuple(int(k) if k > 0 else None for k in numbers)


def _n_partitions(arrays: Arrays, train: np.ndarray | None) -> int | None:
    if train is None:
        return None
    return int(arrays.get("n_partitions_in_benchmark", len(train)))
