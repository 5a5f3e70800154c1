"""Arrays as tensors of the Open Inference Protocol, in JSON or in bytes behind it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.serve._bodies import Tensor

_NUMBERS: dict[str, np.dtype[Any]] = {
    "FP32": np.dtype("<f4"),
    "FP64": np.dtype("<f8"),
    "BOOL": np.dtype("?"),
    **{f"INT{8 * k}": np.dtype(f"<i{k}") for k in (1, 2, 4, 8)},
    **{f"UINT{8 * k}": np.dtype(f"<u{k}") for k in (1, 2, 4, 8)},
}
_KINDS: dict[str, set[type]] = {
    "FP": {int, float},
    "IN": {int},
    "UI": {int},
    "BO": {bool},
    "BY": {str},
}


def read_tensors(tensors: list[Tensor], tail: bytes) -> dict[str, Array]:
    """The arrays by name; texts have the dtype object. Linear in the size of data and tail.

    Raises
    ------
    ValueError
        If data and shape or datatype do not agree, or two have one name.
    """
    found: dict[str, Array] = {}
    behind, start = memoryview(tail), 0
    for tensor in tensors:
        if tensor.name in found:
            raise ValueError(f"two inputs have the name {tensor.name!r}.")
        size = (tensor.parameters or {}).get("binary_data_size")
        if tensor.data is not None:
            found[tensor.name] = _from_json(tensor)
        elif type(size) is int and 0 <= size <= len(tail) - start:
            found[tensor.name] = _from_bytes(tensor, behind[start : start + size])
            start += size
        else:
            raise ValueError(f"the input {tensor.name!r} has no data.")
    if start < len(tail):
        raise ValueError(f"{len(tail) - start} bytes are left over behind the inputs.")
    return found


def datatype(array: Array) -> str:
    """The name that the protocol has for the type of an array."""
    if array.dtype.kind in "UO":
        return "BYTES"
    return next(name for name, dtype in _NUMBERS.items() if dtype == array.dtype)


def write_tensor(name: str, array: Array, *, binary: bool) -> tuple[dict[str, Any], bytes]:
    """A tensor of a response, and its bytes if they are to stand behind the JSON."""
    tensor = {"name": name, "datatype": datatype(array), "shape": list(array.shape)}
    if not binary:
        return {**tensor, "data": array.ravel().tolist()}, b""
    if array.dtype.kind in "UO":
        texts = [str(text).encode() for text in array.ravel().tolist()]
        data = b"".join(len(text).to_bytes(4, "little") + text for text in texts)
    else:
        data = array.tobytes()
    return {**tensor, "parameters": {"binary_data_size": len(data)}}, data


def _from_json(tensor: Tensor) -> Array:
    """The cells, flat or in lists of one row each; their types are looked at before NumPy is."""
    cells = tensor.data or []
    if cells and set(map(type, cells)) == {list}:
        if len(set(map(len, cells))) > 1:
            raise ValueError(f"the data of {tensor.name!r} are no array.")
        cells = [*chain.from_iterable(cells)]
    if not set(map(type, cells)) <= _KINDS[tensor.datatype[:2]]:
        kind = "strings" if tensor.datatype == "BYTES" else "numbers"
        raise ValueError(f"the data of {tensor.name!r} must be {kind}, as {tensor.datatype}.")
    dtype: np.dtype[Any] = _NUMBERS.get(tensor.datatype, np.dtype(object))
    try:
        if cells and dtype.kind in "iu":
            range_ = np.iinfo(dtype)
            if min(cells) < range_.min or max(cells) > range_.max:
                raise OverflowError
        with np.errstate(over="ignore"):  # the model refuses what is not finite
            return _shaped(tensor, np.array(cells, dtype=dtype))
    except OverflowError as error:
        said = f"{tensor.name!r} has a number that {tensor.datatype} cannot hold."
        raise ValueError(said) from error


def _from_bytes(tensor: Tensor, data: memoryview) -> Array:
    if tensor.datatype == "BYTES":
        return _shaped(tensor, np.array(list(_texts(tensor, data)), dtype=object))
    dtype = _NUMBERS[tensor.datatype]
    if len(data) % dtype.itemsize:
        raise ValueError(f"the bytes of {tensor.name!r} are no whole number of elements.")
    return _shaped(tensor, np.frombuffer(data, dtype=dtype))


def _texts(tensor: Tensor, data: memoryview) -> Iterator[str]:
    """Each text has its length before it, in four bytes; no more than the shape announces."""
    start = 0
    for _ in range(math.prod(tensor.shape)):
        first = start + 4
        start = first + int.from_bytes(data[start:first], "little")
        if start > len(data) or first > len(data):
            raise ValueError(f"the bytes of {tensor.name!r} end within an element.")
        yield str(data[first:start], "utf-8")
    if start < len(data):
        raise ValueError(f"the bytes of {tensor.name!r} are more than its shape announces.")


def _shaped(tensor: Tensor, array: Array) -> Array:
    if array.size != math.prod(tensor.shape):
        raise ValueError(
            f"the input {tensor.name!r} has the shape {tensor.shape} but {array.size} elements."
        )
    return array.reshape(tensor.shape)
