"""Columns of dates: read in a few notations, held as ISO text, seen as position and cycles.

A date becomes the year with its fraction, scaled like a number; the angle of the season, as sine
and cosine; the angle of the weekday; and that of the time of day, where times are given. So 31
December is close to 1 January, and Sunday to Monday. Times are taken as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.tables._cells import MISSING, fault, text

_TIME = (
    r"(?:[T ]+(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_DATES = {
    "year-month-day": r"(?P<Y>\d{4})([-/.])(?P<m>\d{1,2})\2(?P<d>\d{1,2})",
    "day.month.year": r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<Y>\d{4})",
    "day/month/year": r"(?P<d>\d{1,2})([/-])(?P<m>\d{1,2})\2(?P<Y>\d{4})",
    "month/day/year": r"(?P<m>\d{1,2})([/-])(?P<d>\d{1,2})\2(?P<Y>\d{4})",
}
NOTATIONS = {name: re.compile(pattern + _TIME) for name, pattern in _DATES.items()}
"""Orders in which dates are written; the first one is always read."""

_ISO = "year-month-day"


@dataclass(frozen=True)
class DateColumn:
    """A column of dates, perhaps with times of day."""

    name: str
    mean: float
    deviation: float
    marks_missing: bool
    has_times: bool
    format: str = _ISO

    @classmethod
    def fit(cls, name: str, values: Array, notation: str = _ISO) -> DateColumn:
        """From ISO texts, empty where missing."""
        known = values[values != ""]
        years = _years(known.astype("datetime64[s]"))
        times = any("T" in value for value in known.tolist())
        mean, deviation = float(years.mean()), float(years.std()) or 1.0
        return cls(name, mean, deviation, len(known) < len(values), times, notation)

    @property
    def parts(self) -> tuple[str, ...]:
        """What the features say of a date."""
        return ("year", "season", "weekday", *(("time of day",) if self.has_times else ()))

    def read(self, cells: Sequence[Any]) -> Array:
        """The cells as they are held: ISO texts.

        Raises
        ------
        TableError
            At the first cell that is neither missing nor a date.
        """
        values = np.empty(len(cells), dtype=object)
        for row, cell in enumerate(cells):
            value = iso_date(cell, self.format)
            if value is None:
                raise fault(self.name, row, f"{cell!r} is not a date ({self.format}).")
            values[row] = value
        return values

    def encode(self, values: Array) -> Array:
        """Features of shape (n, 5), with times (n, 7); one more that marks missing cells."""
        missing = values == ""
        known = values[~missing].astype("datetime64[s]")
        years, days = _years(known), known.astype("datetime64[D]").astype(np.int64)
        cycles = [years % 1.0, (days + 3) % 7 / 7.0]  # 1 January 1970 was a Thursday
        if self.has_times:
            cycles.append((known - known.astype("datetime64[D]")).astype(float) / 86_400)
        angles = 2.0 * np.pi * np.column_stack(cycles)
        features = np.zeros((len(values), 1 + 2 * len(cycles)))
        features[~missing] = np.column_stack(
            [(years - self.mean) / self.deviation, np.sin(angles), np.cos(angles)]
        )
        return np.column_stack([features, missing]) if self.marks_missing else features

    def forget(self, holdings: Array) -> DateColumn:
        """Mean and deviation stay as they were fitted."""
        return self


def notations_of(cells: Sequence[Any]) -> list[str]:
    """The notations by which every cell is a date or missing, and one is a date."""
    dated = [cell for cell in cells if not _is_missing(cell)]
    return [
        name
        for name in NOTATIONS
        if dated and all(iso_date(cell, name) is not None for cell in dated)
    ]


def iso_date(cell: Any, notation: str) -> str | None:
    """The date as ISO text, "" where it is missing; None if it is something else."""
    if isinstance(cell, date):
        return _iso(cell)
    if _is_missing(cell):
        return ""
    body = cell.strip() if isinstance(cell, str) else ""
    match = NOTATIONS[notation].fullmatch(body) or NOTATIONS[_ISO].fullmatch(body)
    if match is None:
        return None
    try:
        Y, m, d, H, M, S = (int(match[part] or 0) for part in "YmdHMS")
        return _iso(datetime(Y, m, d, H, M, S))
    except ValueError:  # 31 February
        return None


def _iso(found: date) -> str:
    """Without a time at midnight: dates and datetimes of the same day are the same text."""
    if isinstance(found, datetime) and (found.hour or found.minute or found.second):
        return found.replace(tzinfo=None).isoformat(timespec="seconds")
    return f"{found.year:04}-{found.month:02}-{found.day:02}"


def _is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and text(cell).casefold() in MISSING)


def _years(times: Array) -> Array:
    """Years with their fractions, such as 2024.5."""
    first = times.astype("datetime64[Y]")
    start, end = (year.astype("datetime64[s]") for year in (first, first + np.timedelta64(1, "Y")))
    result: Array = first.astype(np.int64) + 1970 + (times - start) / (end - start)
    return result
