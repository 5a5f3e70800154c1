"""Arrays as ``.npy`` bytes and back, without pickle and without trust in the header."""

from __future__ import annotations

from io import BytesIO
from math import prod

import numpy as np

from gramian.arrays import Array
from gramian.io._errors import ModelFileError

KINDS = "biufU"
"""Booleans, integers, floats and text."""


def array_bytes(array: Array) -> bytes:
    """The array in NumPy's format 1.0; its order in memory is kept, gaps are not."""
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
