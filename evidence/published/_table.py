"""Tables as text, so that they can be compared with the paper."""

from __future__ import annotations

import re
from typing import Any

from evidence._compare import Spread

_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?")


def read_table(text: str) -> dict[str, dict[str, Any]]:
    """Rows by name, cells by the name of the column.

    The first line names the columns, and the first column the rows; ``|`` is between cells.
    ``1.5±0.2`` is a `Spread`, a number a float, an empty cell None, and the rest text.

    Examples
    --------
    >>> read_table("set | ours\\nheart | 16.1±3.5")
    {'heart': {'ours': Spread(mean=16.1, deviation=3.5)}}
    """
    head, *rows = (_cells(line) for line in text.strip().splitlines())
    table: dict[str, dict[str, Any]] = {}
    for name, *values in rows:
        if len(values) != len(head) - 1 or name in table:
            raise ValueError(f"row {name!r} is there twice, or has not {len(head) - 1} cells.")
        table[name] = dict(zip(head[1:], map(_value, values), strict=True))
    return table


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")]


def _value(text: str) -> Any:
    if "±" in text:
        mean, deviation = text.split("±")
        return Spread(float(mean), float(deviation))
    return float(text) if _NUMBER.fullmatch(text) else text or None
