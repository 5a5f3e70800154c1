"""Columns of a table as features.

======== ============================================================ ==========================
column   features                                                     a missing cell
======== ============================================================ ==========================
numbers  (x − mean) / deviation; a second one, 0 or 1, that says      the mean, marked where the
         "missing", where cells were missing at fit                   second feature exists
dates    the year, scaled like a number; sine and cosine of season,   zeros, marked where the
         weekday and, where it is given, time of day; a mark likewise last feature exists
text     one for each level, 0 or 1; a last one for every other text  a level of its own, if it
                                                                      was there at fit
======== ============================================================ ==========================

Two rows that differ in one text are √2 apart, as two rows whose numbers are typical strangers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from gramian.core.arrays import Array
from gramian.tables._cells import fault, is_code, number, numbers, text, texts
from gramian.tables._dates import DateColumn
from gramian.tables._formats import PLAIN, NumberFormat

FEW_LEVELS = 50
"""Texts up to which each has a feature of its own; of more, those that occur at least twice."""


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers, centred and scaled."""

    name: str
    mean: float
    deviation: float
    marks_missing: bool
    format: NumberFormat = PLAIN

    @classmethod
    def fit(cls, name: str, values: Array, written: NumberFormat = PLAIN) -> NumberColumn:
        """From values with NaN where missing."""
        missing = np.isnan(values)
        known = values[~missing]
        deviation = float(known.std()) or 1.0
        return cls(name, float(known.mean()), deviation, bool(missing.any()), written)

    def read(self, cells: Sequence[Any]) -> Array:
        """The cells as they are held."""
        return numbers(cells, self.name, self.format.number)

    def encode(self, values: Array) -> Array:
        """Features of shape (n, 1) or (n, 2)."""
        missing = np.isnan(values)
        scaled = np.where(missing, 0.0, (values - self.mean) / self.deviation)
        return np.column_stack([scaled, missing] if self.marks_missing else [scaled])

    def forget(self, holdings: Array) -> NumberColumn:
        """Mean and deviation stay as they were fitted."""
        return self


@dataclass(frozen=True)
class CategoryColumn:
    """A column of texts: "" is a missing cell, a level None one that was forgotten."""

    name: str
    levels: tuple[str | None, ...]

    @classmethod
    def fit(cls, name: str, values: Array, most: int | None = None) -> CategoryColumn:
        """From texts: the ``most`` frequent ones, or as many as there are rows enough for."""
        counts = Counter(values.tolist())
        ranked = sorted(counts, key=lambda level: (-counts[level], level))
        if most is None:
            most = max(FEW_LEVELS, sum(count > 1 for count in counts.values()))
        return cls(name, tuple(sorted(ranked[:most])))

    def read(self, cells: Sequence[Any]) -> Array:
        """The cells as they are held."""
        return texts(cells)

    def encode(self, values: Array) -> Array:
        """Features of shape (n, number of levels + 1)."""
        features = np.zeros((len(values), len(self.levels) + 1))
        features[np.arange(len(values)), self._feature_positions(values)] = 1.0
        return features

    def encode_sparse(self, values: Array) -> Any:
        """The same as a CSR array."""
        n, places = len(values), self._feature_positions(values)
        shape = (n, len(self.levels) + 1)
        return sparse.csr_array((np.ones(n), (np.arange(n), places)), shape=shape)

    def _feature_positions(self, values: Array) -> list[int]:
        """Which feature of each row is 1."""
        place = {level: j for j, level in enumerate(self.levels)}
        return [place.get(value, len(self.levels)) for value in values.tolist()]

    def others(self, values: Array) -> list[str]:
        """The texts that have no feature of their own."""
        return sorted(set(values.tolist()) - set(self.levels))

    def forget(self, holdings: Array) -> CategoryColumn:
        """Without the names of levels that no held row has.

        Their features stay, and are 0 for every row: no prediction for held texts changes.
        """
        there = set(holdings.tolist())
        return replace(
            self, levels=tuple(level if level in there else None for level in self.levels)
        )


@dataclass(frozen=True)
class TargetColumn:
    """The column to be predicted: ``kind`` is "number", or for classes "integer" or "text"."""

    name: str
    kind: str
    format: NumberFormat = PLAIN

    @classmethod
    def fit(
        cls, name: str, cells: Sequence[Any], *, classes: bool, written: NumberFormat = PLAIN
    ) -> TargetColumn:
        """Whole numbers as classes stay numbers; everything else is text."""
        if not classes:
            return cls(name, "number", written)
        return cls(name, "integer" if all(_whole(cell) for cell in cells) else "text", written)

    def read(self, cells: Sequence[Any]) -> Array:
        """Targets as an array of floats, integers or text.

        Raises
        ------
        TableError
            At the first cell that is missing or of another kind.
        """
        for row, cell in enumerate(cells):
            if not text(cell):
                raise fault(self.name, row, "the target is missing. Leave the row out.")
            if self.kind == "integer" and not _whole(cell):
                raise fault(self.name, row, f"{cell!r} is not a whole number, as the classes are.")
        if self.kind == "text":
            return texts(cells).astype(str)
        values = numbers(cells, self.name, self.format.number)
        if np.isnan(values).any():
            row = int(np.argmax(np.isnan(values)))
            raise fault(self.name, row, "the target is missing. Leave the row out.")
        return values if self.kind == "number" else values.astype(np.int64)


Column = NumberColumn | DateColumn | CategoryColumn


def _whole(cell: Any) -> bool:
    value = number(cell)
    return value is not None and value.is_integer() and not is_code(cell)
