"""How numbers are written: decimal marks, marks between thousands, units; and guesses at it.

A column is read by one format. Where its cells are numbers by another one, they are not taken as
such: `suspicion` says what they look like, and how to ask for it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from shlex import quote
from typing import Any

from gramian.tables._cells import MISSING, TableError, number, text

DECIMALS = (".", ",")
THOUSANDS = ("", ",", ".", " ", "'")

_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "’": "'"})
_MONEY = "$€£¥₹"
_DIGITS = r"[+-]?[\d.,' ]*\d[.,]?(?:[eE][+-]?\d+)?"
_WITH_UNIT = re.compile(rf"([{_MONEY}]?)\s*({_DIGITS})\s*((?:[^\W\d_]|[%‰°{_MONEY}]).{{0,15}}|)")
_ENOUGH = 0.5  # share of the cells that make a format worth a word
_LOOKED_AT = 2000  # cells, spread over the column


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a column are written.

    Parameters
    ----------
    decimal : {".", ","}
    thousands : {"", ",", ".", " ", "'"}
        Between groups of three digits; "" for none.
    unit : str
        Before or after each number, or left out: "kg", "%", "€".
    missing : tuple of str
        Further texts that stand for a missing number.

    Examples
    --------
    >>> NumberFormat(decimal=",", thousands=".", unit="€").number("1.234,50 €")
    1234.5
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, known in (("decimal", DECIMALS), ("thousands", THOUSANDS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {known}, got {getattr(self, name)!r}.")
        if self.decimal == self.thousands:
            raise ValueError(f"decimal and thousands must differ, got {self.decimal!r} for both.")

    def number(self, cell: Any) -> float | None:
        """The cell as a number, NaN where missing; None if it is something else."""
        if not isinstance(cell, str):
            return number(cell)
        body = cell.strip()
        if body in self.missing or body.casefold() in MISSING:
            return math.nan
        if self.unit:
            body, unit = split_unit(body)
            if unit not in ("", self.unit):
                return None
        return self._plain(body)

    def _plain(self, body: str) -> float | None:
        if self.decimal == "." and not self.thousands:
            return number(body)
        body = body.translate(_SPACES)
        if not _pattern(self.decimal, self.thousands).fullmatch(body):
            return None
        return number(body.replace(self.thousands, "").replace(self.decimal, "."))


PLAIN = NumberFormat()


def split_unit(body: str) -> tuple[str, str]:
    """A number and its unit, both as text; the text itself and "" where that is not what it is."""
    match = _WITH_UNIT.fullmatch(body.translate(_SPACES))
    if match is None or (match[1] and match[3]):
        return body, ""
    return match[2].strip(), match[1] or match[3]


def unit_of(cells: Sequence[Any], column: str) -> str:
    """The unit of a column's numbers; "" if they have none.

    Raises
    ------
    TableError
        If there are two.
    """
    found = Counter(split_unit(cell.strip())[1] for cell in cells if isinstance(cell, str))
    units = sorted(found.keys() - {""}, key=lambda unit: -found[unit])
    if len(units) > 1:
        raise TableError(
            f"column {column!r} has numbers in {units[0]!r} and in {units[1]!r}. Convert them to "
            f"one unit."
        )
    return units[0] if units else ""


def suspicion(cells: Sequence[Any], column: str, notation: NumberFormat) -> str | None:
    """What cells that are no numbers by the format asked for look like, and what to do; or None."""
    step = max(1, len(cells) // _LOOKED_AT)
    there = [text(cell) for cell in cells[::step]]
    there = [cell for cell in there if not math.isnan(notation.number(cell) or 0.0)]
    if all(notation.number(cell) is not None for cell in there):  # codes such as 007
        return None
    shares = {
        other: _share(there, other)
        for other in (notation, *_other_formats(notation, _common_unit(there)))
    }
    best = max(shares.values(), default=0.0)
    if best < _ENOUGH:
        return None
    alike = [other for other, share in shares.items() if share == best]
    alike = [other for other in alike if _is_between_digits(other.thousands, there)] or alike
    if notation in alike:
        return _odd_ones(there, column, notation, best)
    found = [_differences(other, notation, column) for other in alike]
    simple = [differences for differences in found if len(differences) == min(map(len, found))]
    what = " or ".join(" and ".join(words for words, _ in differences) for differences in simple)
    remedy = " or ".join(", ".join(how for _, how in differences) for differences in simple)
    example = next(cell for cell in there if notation.number(cell) is None)
    return (
        f"{100 * best:.0f} % of the cells of {column!r} are numbers with {what} (such as "
        f"{example!r}). They are taken as text; to read them as numbers: {remedy}."
    )


def _is_between_digits(mark: str, cells: Sequence[str]) -> bool:
    """Whether a mark stands between digits of a cell; no mark always does."""
    between = re.compile(rf"\d{re.escape(mark)}\d")
    return not mark or any(between.search(cell) for cell in cells)


def _odd_ones(cells: Sequence[str], column: str, notation: NumberFormat, share: float) -> str:
    odd = [
        cell for cell, _ in Counter(c for c in cells if notation.number(c) is None).most_common(3)
    ]
    names = ", ".join(map(repr, odd))
    return (
        f"{math.floor(100 * share)} % of the cells of {column!r} are numbers, and others are not "
        f"(such as {names}). All are taken as text; if those stand for missing numbers: "
        f"missing={odd!r} (--missing)."
    )


def _other_formats(notation: NumberFormat, unit: str) -> Iterator[NumberFormat]:
    """Every other way to write numbers, the simplest first."""
    units = ("", unit) if unit and not notation.unit else (notation.unit,)
    for written, thousands, decimal in product(units, THOUSANDS, DECIMALS):
        if thousands != decimal:
            other = replace(notation, decimal=decimal, thousands=thousands, unit=written)
            if other != notation:
                yield other


def _common_unit(cells: Sequence[str]) -> str:
    """The unit of almost all of the cells."""
    found = Counter(split_unit(cell)[1] for cell in cells)
    unit, count = max(found.items(), key=lambda pair: pair[1], default=("", 0))
    return unit if count > 0.9 * len(cells) else ""


def _share(cells: Sequence[str], other: NumberFormat) -> float:
    return sum(other.number(cell) is not None for cell in cells) / max(1, len(cells))


def _differences(other: NumberFormat, notation: NumberFormat, column: str) -> list[tuple[str, str]]:
    """What is different, each with the way to ask for it."""
    found = []
    if other.decimal != notation.decimal:
        mark = {",": "a decimal comma", ".": "a decimal point"}[other.decimal]
        found.append((mark, f"decimal={other.decimal!r} (--decimal {other.decimal})"))
    if other.thousands != notation.thousands:
        if other.thousands:
            how = f"thousands={other.thousands!r} (--thousands {quote(other.thousands)})"
            found.append((f"{other.thousands!r} between thousands", how))
        else:
            found.append(("no mark between thousands", "thousands=None (no --thousands)"))
    if other.unit != notation.unit:
        found.append((f"the unit {other.unit!r}", f"units=[{column!r}] (--unit {quote(column)})"))
    return found


@lru_cache
def _pattern(decimal: str, thousands: str) -> re.Pattern[str]:
    groups = rf"|[1-9]\d{{0,2}}(?:{re.escape(thousands)}\d{{3}})+" if thousands else ""
    return re.compile(rf"[+-]?(?:\d+{groups}|)(?:{re.escape(decimal)}\d*)?(?:[eE][+-]?\d+)?")
