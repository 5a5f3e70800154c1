"""What a report is made of: words, tables and drawings, before they become HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Cell:
    """A cell of a table with a remark under it, and a flag where a reader should stop."""

    text: str
    note: str = ""
    flagged: bool = False


@dataclass(frozen=True)
class Table:
    """Rows under the names of their columns; a cell is a `Cell`, a number, a text or None."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row of {len(row)} cells for the columns {list(self.columns)}.")


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG, with its caption."""

    svg: bytes
    caption: str


Part = Text | Table | Figure
