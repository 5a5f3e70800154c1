"""Python values as JSON; `gramian.files._decoding` has the way back.

What JSON has no word for becomes an object with one key, its tag: ``{"tuple": [1, 2]}``. Arrays
become members of the archive. There is a tag for what the states and parameters of our models are
made of, and for nothing else.
"""

from __future__ import annotations

import math
from dataclasses import fields
from datetime import timedelta
from typing import Any

import numpy as np
from scipy import sparse

from gramian.core.arrays import Array
from gramian.core.estimators import LiveEstimator
from gramian.core.validation import ModelFileError
from gramian.files._arrays import CSR_PARTS, KINDS, array_bytes
from gramian.files._registry import MODELS, RECORDS, RIVER, has_state, is_saved
from gramian.files._validate import check_parameters, check_state

READ = "without folds"
"""What a read may add to a state: the choices without each fold."""


class Encoder:
    """Encodes values; collects their arrays in `members`.

    Parameters
    ----------
    derived : bool
        Whether to encode what follows from rows and choices, too, such as coefficients. A read may
        compute that anew, with other rounding.
    """

    def __init__(self, *, derived: bool = True) -> None:
        self.members: dict[str, bytes] = {}
        self._derived = derived

    def model(self, model: Any) -> dict[str, Any]:
        """Class, parameters and state; the state of a model that is not fitted is null."""
        name = type(model).__name__
        if not is_saved(type(model)):
            raise ModelFileError(
                f"cannot save a {name}: a model file holds one of "
                f"{', '.join(sorted([*MODELS, *RIVER]))}."
            )
        state = model._get_state() if has_state(model) else None
        described = self.described(model, state if self._derived else without_derived(model, state))
        if state is not None:
            check_state(model, state)
        return described

    def described(self, model: Any, state: Any) -> dict[str, Any]:
        """Class and parameters of a model with this state."""
        name = type(model).__name__
        parameters = {
            key: self.value(value, f"the parameter `{key}` of {name}")
            for key, value in model.get_params(deep=False).items()
            if key != "device"  # a file has no device: it can be loaded on any computer
        }
        check_parameters(model)
        state = self.value(state, f"the state of {name}")
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
            case timedelta():
                return {"timedelta": [value.days, value.seconds, value.microseconds]}
            case _ if is_saved(type(value)):
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
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()  # sorts, too
        parts = {part: self._array(getattr(matrix, part), where) for part in CSR_PARTS}
        return {"shape": list(matrix.shape), "matrix": sparse.isspmatrix(matrix), **parts}

    def _record(self, record: Any, where: str) -> list[Any]:
        content = {
            field.name: self.value(getattr(record, field.name), f"`{field.name}` of {where}")
            for field in fields(record)
        }
        return [type(record).__name__, content]


def without_derived(model: Any, state: Any) -> Any:
    """The state of a model without what follows from its rows and choices."""
    if not isinstance(state, dict) or not isinstance(model, LiveEstimator):
        return state
    kept: dict[str, Any] = model._spec().state_type.without_derived(state)
    return {name: value for name, value in kept.items() if name != READ}


def _check_type(dtype: np.dtype, where: str) -> None:
    if dtype.kind not in KINDS or dtype.char == "g":  # long doubles differ between computers
        raise ModelFileError(f"cannot save {where}: it is of type {dtype}.")


def _not_saved(value: Any, where: str) -> str:
    if callable(value):
        remedy = "a model file holds no code. Set it to None or to a name before saving"
        return f"cannot save {where}: it is a function ({value!r}), and {remedy}."
    return f"cannot save {where}: it is a {type(value).__name__}, for which a file has no form."
