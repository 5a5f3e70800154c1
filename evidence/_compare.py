"""A published figure and ours side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from evidence._experiment import Cell, Record


class Spread(NamedTuple):
    """A mean and the standard deviation around it; the latter None where none is known."""

    mean: float
    deviation: float | None = None

    def text(self, digits: int = 2) -> str:
        """As papers print it, on one line."""
        numbers = [n for n in self if n is not None]
        return "\N{NBSP}±\N{NBSP}".join(f"{n:.{digits}f}" for n in numbers)


def spread(values: Sequence[float]) -> Spread:
    """Mean and standard deviation; of one value, no deviation."""
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return Spread(float(np.mean(values)), deviation)


def compared(ours: Spread, published: Spread, digits: int = 2) -> Cell:
    """Ours with its distance from the published mean in deviations, flagged beyond one.

    The deviation is the published one, or ours where none was published.
    """
    unit = published.deviation or ours.deviation
    apart = ours.mean - published.mean
    if not unit:
        return Cell(ours.text(digits), signed(apart, digits))
    # The published figures are rounded: what rounds to one deviation is no more than one.
    far = round(abs(apart) / unit, 1) > 1.0
    return Cell(ours.text(digits), f"{signed(apart / unit, 1)} sd", far)


def signed(value: float, digits: int) -> str:
    """With a sign in front, and no minus before a zero."""
    return f"{value:+z.{digits}f}".replace("-", "−")


def few_partitions(n: int) -> str:
    """A remark on a mean that stands on little; none for twenty partitions or more."""
    if n >= 20:
        return ""
    return f"mean of {n} partitions only" if n > 1 else "one partition only"


def grouped(records: Sequence[Record], *names: str) -> dict[Any, list[Record]]:
    """Records by one value, or by a tuple of several, in order of appearance."""
    groups: dict[Any, list[Record]] = {}
    for record in records:
        key = record[names[0]] if len(names) == 1 else tuple(record[name] for name in names)
        groups.setdefault(key, []).append(record)
    return groups


def column(records: Sequence[Record], name: str) -> list[Any]:
    """One value of every record."""
    return [record[name] for record in records]
