"""Checks of the parameters that several estimators share."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np


def is_number(value: Any) -> bool:
    """Whether a parameter is a real number and not a bool."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def check_positive(name: str, value: Any, *words: str, zero: bool = False) -> Any:
    """Return a finite number > 0 (>= 0 with ``zero``) or one of the words; else ValueError."""
    if isinstance(value, str) and value in words:
        return value
    if is_number(value) and (0 < value < np.inf or (zero and value == 0)):
        return value
    named = "".join(f', or "{word}"' for word in words)
    sign = ">=" if zero else ">"
    raise ValueError(f"{name} must be {sign} 0 and finite{named}, got {value!r}.")


def check_choice(name: str, value: Any, known: tuple[str | None, ...]) -> Any:
    """Return the value if it is one of ``known``; else raise ValueError."""
    if not (value is None or isinstance(value, str)) or value not in known:
        raise ValueError(f"{name} must be one of {known}, got {value!r}.")
    return value


def check_class_weight(weights: Any, kind: str = "signs") -> None:
    """Raise ValueError unless class weights are "balanced" or a dict from labels to numbers > 0."""
    balanced = isinstance(weights, str) and weights == "balanced"
    numbers = isinstance(weights, dict) and all(0 < w < np.inf for w in weights.values())
    if not (balanced or numbers):
        raise ValueError(
            f'class_weight must be None, "balanced" or a dict of numbers > 0, got {weights!r}.'
        )
    if kind == "fisher":
        raise ValueError(
            'class_weight has no effect with targets="fisher", whose levels give every class the '
            'same sum of weight times target. Set class_weight=None, or targets="signs".'
        )
