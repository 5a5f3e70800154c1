"""Values from JSON and arrays, the inverse of `gramian.files._encoding`, without trust.

Decoding calls no code that the file could choose. Memory is taken for what is in the file, once:
each array is used once, types have bounded sizes, and nothing is nested deeply.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from math import prod
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.text import excerpt
from gramian.core.validation import ModelFileError, check_whole, refuse
from gramian.files._archive import TOO_DEEP
from gramian.files._arrays import array_from_bytes, csr_from_parts
from gramian.files._registry import MODELS, RECORDS, has_state, model_class
from gramian.files._validate import check_parameters, check_state

_DEEPEST = 40  # a model of a table has about 15 levels
_FLOATS = ("nan", "inf", "-inf")
_NUMBER_TYPE = re.compile(r"\|b1|[|<>][iu]1|[<>][iuf][248]")
_TEXT_TYPE = re.compile(r"[<>]U(\d{1,9})")
_PLAIN = (str, bool, int, float, type(None), np.generic)


class Decoder:
    """Decodes values, given the members of the archive that they are in."""

    def __init__(self, members: Mapping[str, bytes]) -> None:
        self._members = dict(members)
        self._depth = 0
        self._forms: dict[str, Callable[[Any], Any]] = {
            "array": self._array,
            "csr": lambda content: csr_from_parts(content, self._array),
            "dict": self._dict,
            "float": _float,
            "model": self.model,
            "record": self._record,
            "scalar": self._scalar,
            "timedelta": _timedelta,
            "tuple": lambda items: tuple(map(self.value, items)),
        }

    def fitted_model(self, encoded: dict[str, Any]) -> Any:
        """The model of a file, which has to be fitted, and all of the members are its."""
        model = self.model(encoded)
        if not has_state(model):
            raise ModelFileError("holds a model that is not fitted.")
        if self._members:
            raise ModelFileError(f"has arrays that are of no use: {excerpt(list(self._members))}.")
        return model

    def model(self, encoded: dict[str, Any]) -> Any:
        """A model of the class, parameters and state that the file gives."""
        model = self.unfitted(encoded)
        if encoded["state"] is not None:
            state = self.value(encoded["state"])
            check_state(model, state)
            model._set_state(state)
        return model

    def unfitted(self, encoded: dict[str, Any]) -> Any:
        """A model of the class and parameters that the file gives, without its state."""
        cls = model_class(encoded["class"]) or _registered(MODELS, encoded["class"])
        model = cls(**{key: self.value(value) for key, value in encoded["parameters"].items()})
        check_parameters(model)
        return model

    def value(self, encoded: Any) -> Any:
        """The value that was encoded."""
        if not isinstance(encoded, list | dict):
            return encoded
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ModelFileError(TOO_DEEP)
        try:
            if isinstance(encoded, list):
                return [self.value(item) for item in encoded]
            ((tag, content),) = encoded.items()
            return _registered(self._forms, tag)(content)
        finally:
            self._depth -= 1

    def _array(self, content: Any) -> Array:
        if isinstance(content, str):
            if content not in self._members:
                raise ModelFileError(f"has no array {excerpt(content)}, or names it twice.")
            return array_from_bytes(self._members.pop(content))
        items = [self.value(item) for item in content["items"]]
        if not all(isinstance(item, _PLAIN) for item in items):
            refuse("an array of objects", "has more than texts and numbers")
        shape = [int(size) for size in content["shape"]]
        if len(shape) > 2 or min(shape, default=0) < 0 or prod(shape) != len(items):
            refuse("an array of objects", f"has {len(items)} items for the shape {excerpt(shape)}")
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array.reshape(shape)

    def _dict(self, pairs: Any) -> dict[Any, Any]:
        decoded = [(self.value(key), self.value(item)) for key, item in pairs]
        if not all(isinstance(key, _PLAIN) for key, _ in decoded):
            refuse("a dict", "has keys that are neither texts nor numbers")
        return dict(decoded)

    def _scalar(self, pair: Any) -> Any:
        kind, encoded = pair
        value = self.value(encoded)
        text = _TEXT_TYPE.fullmatch(kind)
        small = text and isinstance(value, str) and int(text[1]) <= max(1, len(value))
        if not small and not (_NUMBER_TYPE.fullmatch(kind) and isinstance(value, int | float)):
            refuse("a number", f"has type {excerpt(kind)}")
        return np.array(value, dtype=kind)[()]

    def _record(self, content: list[Any]) -> Any:
        name, values = content
        return _registered(RECORDS, name)(**{key: self.value(item) for key, item in values.items()})


def _float(text: Any) -> float:
    if text not in _FLOATS:
        refuse("a number", f"is {excerpt(text)}")
    return float(text)


def _timedelta(parts: Any) -> timedelta:
    days, seconds, microseconds = (check_whole(part, "a time", -(10**9)) for part in parts)
    return timedelta(days, seconds, microseconds)


def _registered(registry: dict[str, Any], name: Any) -> Any:
    if not isinstance(name, str) or name not in registry:
        raise ModelFileError(
            f"speaks of {excerpt(name)!r}, which this version does not know. It may come from a "
            f"newer one."
        )
    return registry[name]
