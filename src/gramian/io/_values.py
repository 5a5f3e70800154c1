"""Python values as JSON and back.

What JSON has no word for becomes an object with one key, its tag: ``{"tuple": [1, 2]}``. Arrays
become members of the archive. There is a tag for what the states and parameters of our models are
made of, and for nothing else: decoding calls no code that the file could choose.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from scipy import sparse

from gramian.arrays import Array
from gramian.io._arrays import KINDS, array_bytes, array_from_bytes
from gramian.io._errors import ModelFileError
from gramian.io._registry import MODELS, RECORDS

_CSR_PARTS = ("data", "indices", "indptr")


class Encoder:
    """Encodes values; collects their arrays in `members`."""

    def __init__(self) -> None:
        self.members: dict[str, bytes] = {}

    def model(self, model: Any) -> dict[str, Any]:
        """Class, parameters and state; the state of a model that is not fitted is null."""
        name = type(model).__name__
        if MODELS.get(name) is not type(model):
            raise ModelFileError(
                f"cannot save a {name}: a model file holds one of {', '.join(sorted(MODELS))}."
            )
        parameters = {
            key: self.value(value, f"the parameter `{key}` of {name}")
            for key, value in model.get_params(deep=False).items()
        }
        state = (
            self.value(model._get_state(), f"the state of {name}")
            if model.__sklearn_is_fitted__()
            else None
        )
        return {"class": name, "parameters": parameters, "state": state}

    def value(self, value: Any, where: str) -> Any:
        """Any value that a state may hold; ``where`` names it in errors."""
        match value:
            case np.generic():
                return {"scalar": self._scalar(value, where)}
            case float():
                return value if math.isfinite(value) else {"float": repr(value)}
            case None | bool() | int() | str():
                return value
            case list():
                return self._items(value, where)
            case dict():
                return {"dict": self._pairs(value, where)}
            case np.ndarray():
                return {"array": self._array(value, where)}
            case _ if sparse.issparse(value) and value.format == "csr":
                return {"csr": self._csr(value, where)}
            case _ if type(value) in RECORDS.values():
                return {"record": self._record(value, where)}
            case tuple():
                return {"tuple": self._items(value, where)}
            case _ if type(value) in MODELS.values():
                return {"model": self.model(value)}
        raise ModelFileError(_not_saved(value, where))

    def _scalar(self, value: np.generic, where: str) -> list[Any]:
        _check_type(value.dtype, where)
        return [value.dtype.str, self.value(value.item(), where)]

    def _items(self, values: Any, where: str) -> list[Any]:
        return [self.value(item, f"item {i} of {where}") for i, item in enumerate(values)]

    def _pairs(self, values: dict[Any, Any], where: str) -> list[Any]:
        """Sorted, so that equal dictionaries are equal in the file."""
        pairs = sorted(values.items(), key=lambda pair: (type(pair[0]).__name__, str(pair[0])))
        return [
            [self.value(key, f"a key of {where}"), self.value(item, f"{where} at {key!r}")]
            for key, item in pairs
        ]

    def _array(self, array: Array, where: str) -> Any:
        """The name of the member that holds it; an array of objects is written out."""
        if array.dtype == object:
            items = [self.value(item, where) for item in array.ravel().tolist()]
            return {"shape": list(array.shape), "items": items}
        _check_type(array.dtype, where)
        name = f"arrays/{len(self.members)}.npy"
        self.members[name] = array_bytes(array)
        return name

    def _csr(self, matrix: Any, where: str) -> dict[str, Any]:
        parts = {
            part: self._array(getattr(matrix, part), where)
            for part in ("data", "indices", "indptr")
        }
        return {"shape": list(matrix.shape), "matrix": sparse.isspmatrix(matrix), **parts}

    def _record(self, record: Any, where: str) -> list[Any]:
        content = {
            field.name: self.value(getattr(record, field.name), f"`{field.name}` of {where}")
            for field in fields(record)
        }
        return [type(record).__name__, content]


class Decoder:
    """The inverse of `Encoder`, given its members."""

    def __init__(self, members: Mapping[str, bytes]) -> None:
        self.members = members
        self._forms: dict[str, Callable[[Any], Any]] = {
            "array": self._array,
            "csr": self._csr,
            "dict": lambda pairs: {self.value(key): self.value(item) for key, item in pairs},
            "float": float,
            "model": self.model,
            "record": self._record,
            "scalar": lambda pair: np.array(self.value(pair[1]), dtype=pair[0])[()],
            "tuple": lambda items: tuple(map(self.value, items)),
        }

    def model(self, encoded: dict[str, Any]) -> Any:
        """A model of the class, parameters and state that the file gives."""
        cls = _known(MODELS, encoded["class"])
        model = cls(**{key: self.value(value) for key, value in encoded["parameters"].items()})
        if encoded["state"] is not None:
            model._set_state(self.value(encoded["state"]))
        return model

    def value(self, encoded: Any) -> Any:
        """The value that was encoded."""
        if isinstance(encoded, list):
            return [self.value(item) for item in encoded]
        if not isinstance(encoded, dict):
            return encoded
        ((tag, content),) = encoded.items()
        return _known(self._forms, tag)(content)

    def _array(self, content: Any) -> Array:
        if isinstance(content, str):
            return array_from_bytes(self.members[content])
        array = np.empty(len(content["items"]), dtype=object)
        array[:] = [self.value(item) for item in content["items"]]
        return array.reshape(content["shape"])

    def _csr(self, content: dict[str, Any]) -> Any:
        make = sparse.csr_matrix if content["matrix"] else sparse.csr_array
        parts = tuple(self._array(content[part]) for part in _CSR_PARTS)
        matrix = make(parts, shape=tuple(content["shape"]))
        matrix.check_format(full_check=True)  # indices out of range would read foreign memory
        return matrix

    def _record(self, content: list[Any]) -> Any:
        name, values = content
        return _known(RECORDS, name)(**{key: self.value(item) for key, item in values.items()})


def _check_type(dtype: np.dtype, where: str) -> None:
    if dtype.kind not in KINDS or dtype.char == "g":  # long doubles differ between machines
        raise ModelFileError(f"cannot save {where}: it is of type {dtype}.")


def _known(registry: dict[str, Any], name: str) -> Any:
    if name not in registry:
        raise ModelFileError(
            f"speaks of {name!r}, which this version does not know. It may come from a newer one."
        )
    return registry[name]


def _not_saved(value: Any, where: str) -> str:
    if callable(value):
        remedy = "a model file holds no code. Set it to None or to a name before saving"
        return f"cannot save {where}: it is a function ({value!r}), and {remedy}."
    return f"cannot save {where}: it is a {type(value).__name__}, for which a file has no form."
