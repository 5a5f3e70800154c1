"""Arrays as tensors of the Open Inference Protocol, in JSON or in bytes behind it."""

from __future__ import annotations

import math
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
_KINDS = {"FP": "iuf", "BO": "b", "IN": "iu", "UI": "iu"}


def read_tensors(tensors: list[Tensor], tail: bytes) -> dict[str, Array]:
    """The arrays by name; texts have the dtype object.

    Raises
    ------
    ValueError
        If data and shape or datatype do not agree, or two have one name.
    """
    found: dict[str, Array] = {}
    for tensor in tensors:
        if tensor.name in found:
            raise ValueError(f"two inputs have the name {tensor.name!r}.")
        size = (tensor.parameters or {}).get("binary_data_size")
        if tensor.data is not None:
            found[tensor.name] = _from_json(tensor)
        elif isinstance(size, int) and 0 <= size <= len(tail):
            found[tensor.name] = _from_bytes(tensor, tail[:size])
            tail = tail[size:]
        else:
            raise ValueError(f"the input {tensor.name!r} has no data.")
    if tail:
        raise ValueError(f"{len(tail)} bytes are left over behind the inputs.")
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
    try:
        array = np.array(tensor.data, dtype=object if tensor.datatype == "BYTES" else None)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"the data of {tensor.name!r} are no array.") from error
    if tensor.datatype == "BYTES":
        if not all(isinstance(cell, str) for cell in array.ravel()):
            raise ValueError(f"the data of {tensor.name!r} must be strings, as BYTES.")
        return _shaped(tensor, array)
    if array.size and array.dtype.kind not in _KINDS[tensor.datatype[:2]]:
        raise ValueError(f"the data of {tensor.name!r} must be numbers, as {tensor.datatype}.")
    return _shaped(tensor, _cast(tensor, array))


def _cast(tensor: Tensor, array: Array) -> Array:
    dtype = _NUMBERS[tensor.datatype]
    if array.size and dtype.kind in "iu":
        most = np.iinfo(dtype)
        if array.min() < most.min or array.max() > most.max:
            raise ValueError(f"{tensor.name!r} has a number that {tensor.datatype} cannot hold.")
    with np.errstate(over="ignore"):  # the model refuses what is not finite
        return array.astype(dtype)


def _from_bytes(tensor: Tensor, data: bytes) -> Array:
    if tensor.datatype == "BYTES":
        return _shaped(tensor, np.array(list(_texts(tensor, data)), dtype=object))
    dtype = _NUMBERS[tensor.datatype]
    if len(data) % dtype.itemsize:
        raise ValueError(f"the bytes of {tensor.name!r} are no whole number of elements.")
    return _shaped(tensor, np.frombuffer(data, dtype=dtype))


def _texts(tensor: Tensor, data: bytes) -> Any:
    """Each text has its length before it, in four bytes."""
    while data:
        size = int.from_bytes(data[:4], "little")
        if len(data) < 4 + size:
            raise ValueError(f"the bytes of {tensor.name!r} end within an element.")
        yield data[4 : 4 + size].decode()
        data = data[4 + size :]


def _shaped(tensor: Tensor, array: Array) -> Array:
    if array.size != math.prod(tensor.shape):
        raise ValueError(
            f"the input {tensor.name!r} has the shape {tensor.shape} but {array.size} elements."
        )
    return array.reshape(tensor.shape)
