"""Rows of a table that have no target."""

from __future__ import annotations

import math
from typing import Any

from gramian.cli._tables import Table
from gramian.tables import NumberFormat, TableError, are_numbers, read_cells, text

_NAMED = 5  # rows that an error names


def with_target(
    columns: Table, target: str, written: NumberFormat, *, drop: bool
) -> tuple[Table, int]:
    """The rows of a table that have a target, and how many have none.

    Raises
    ------
    TableError
        If there are some and they are not to be dropped, naming the first of them.
    """
    cells = read_cells(columns, target)
    known = [cell for cell in cells if text(cell)]
    numbers = are_numbers(known, written.number)
    missing = [row for row, cell in enumerate(cells) if _is_missing(cell, written, numbers)]
    if not missing:
        return columns, 0
    if not drop:
        rows = ", ".join(str(row + 1) for row in missing[:_NAMED])
        rest = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        which, have, them = ("row", "has", "it") if len(missing) == 1 else ("rows", "have", "them")
        raise TableError(
            f"{which} {rows}{rest}, column {target!r}: the target is missing. {len(missing)} of "
            f"{len(cells)} rows {have} none; --drop-missing-target leaves {them} out."
        )
    gone = set(missing)
    kept = Table(
        {
            name: [cell for row, cell in enumerate(column) if row not in gone]
            for name, column in columns.items()
        }
    )
    kept.notation = columns.notation
    return kept, len(missing)


def _is_missing(cell: Any, written: NumberFormat, numbers: bool) -> bool:
    if not text(cell):
        return True
    value = written.number(cell) if numbers else None
    return value is not None and math.isnan(value)
