"""The state: what a file stores of an engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from gramian.core.arrays import Array


@dataclass(frozen=True, eq=False)
class Stored:
    """The holdings in a file that the rest of it must agree with.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
    y : ndarray of shape (n,) or (n, t)
    outputs : int
        One for two classes or one target.
    classes : ndarray, optional
        The labels of a classifier.
    """

    X: Any
    y: Array
    outputs: int
    classes: Array | None = None

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])


@dataclass(frozen=True, eq=False)
class State:
    """What a file stores of an engine besides the holdings: fields of plain values and arrays."""

    follows_from_rows: ClassVar[bool] = False
    """Whether the engine can be built again from the holdings and what the spec has chosen."""
    holds_all_rows: ClassVar[bool] = True
    """Whether a model holds every sample that its engine has learned."""

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """Return the state that has these values; names that it does not know are left out."""
        return cls(**{f.name: values[f.name] for f in fields(cls) if f.name in values})

    def values(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def validate(cls, values: Mapping[str, Any], stored: Stored) -> None:
        """Raise `ModelFileError` unless an engine for these holdings can have these values."""

    @classmethod
    def without_derived(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values without those that follow from the rows and what was chosen."""
        own = {field.name for field in fields(cls)}
        return {k: v for k, v in values.items() if not (cls.follows_from_rows and k in own)}
