"""Arrays as ``.npy`` bytes and back, without pickle and without trust in the header."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from math import prod
from typing import Any

import numpy as np
from scipy import sparse

from gramian.core.arrays import Array
from gramian.core.validation import ModelFileError, check_array, check_index, check_whole, refuse

CSR_PARTS = ("data", "indices", "indptr")

KINDS = "biufU"
"""Booleans, integers, floats and text."""


def array_bytes(array: Array) -> bytes:
    """The array in NumPy's format 1.0; its order in memory is kept, gaps are not.

    Text is as wide as the longest there is: the width tells nothing of one that is gone.
    """
    if array.dtype.kind == "U":
        longest = np.char.str_len(array).max(initial=1)
        array = array.astype(f"{array.dtype.byteorder}U{longest}", copy=False)
    by_columns = array.ndim > 1 and np.all(np.diff(np.abs(array.strides)) > 0)
    packed = np.asarray(array, order="F" if by_columns else "C")
    stream = BytesIO()
    np.lib.format.write_array(stream, packed, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def array_from_bytes(content: bytes) -> Array:
    """The inverse of `array_bytes`; memory is taken only for what is really there.

    Raises
    ------
    ModelFileError
        If the header asks for another type of array, or another size than the content has.
    """
    stream = BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ModelFileError("holds an array in another version of NumPy's format.")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(stream)
    start = stream.tell()
    size = len(content) - start
    if dtype.kind not in KINDS or dtype.itemsize == 0 or dtype.itemsize * prod(shape) != size:
        raise ModelFileError(f"holds {size} bytes for an array of type {dtype}, shape {shape}.")
    flat = np.frombuffer(content, dtype=dtype, offset=start)
    array = flat.reshape(shape[::-1]).T if by_columns else flat.reshape(shape)
    return array.copy(order="K")


def csr_from_parts(content: dict[str, Any], read: Callable[[Any], Array]) -> Any:
    """A CSR matrix of named parts, once they are sure to fit one another.

    Compiled code trusts the indices: with wrong ones it reads foreign memory.
    """
    rows, columns = (check_whole(size, "the shape of a sparse matrix") for size in content["shape"])
    data, indices, indptr = (read(content[part]) for part in CSR_PARTS)
    check_index(indptr, "indptr of a sparse matrix", (rows + 1,), 0, len(data) + 1)
    check_array(data, "data of a sparse matrix", (None,), "biuf", finite=False)
    check_index(indices, "indices of a sparse matrix", (len(data),), 0, columns)
    if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        refuse("indptr of a sparse matrix", "does not ascend from 0 to the number of entries")
    for part in (indices, indptr):
        if part.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
            refuse("the index of a sparse matrix", f"has type {part.dtype}")
    make = sparse.csr_matrix if content["matrix"] is True else sparse.csr_array
    matrix = make((data, indices, indptr), shape=(rows, columns))
    matrix.sort_indices()  # `save` does; others may not
    return matrix
