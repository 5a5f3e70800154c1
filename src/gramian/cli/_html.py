"""The page of `gramian report`: its style and what it is made of. All text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from gramian.cli._show import number
from gramian.reproduce import _html
from gramian.reproduce._html import figure, paragraph

__all__ = ["figure", "heading", "page", "pairs", "paragraph", "table"]

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fff; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .8rem .25rem 0; text-align: left; vertical-align: top; }
th { border-bottom: 1px solid #999; font-weight: 600; } td { border-bottom: 1px solid #eee; }
td.number, th.number { text-align: right; }
.code { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
figure { margin: 1rem 0; } figcaption { color: #555; } img { max-width: 100%; height: auto; }
"""


def page(title: str, parts: Iterable[str]) -> str:
    """The whole page."""
    return _html.document(title, _STYLE, parts)


def heading(text: str, level: int = 2) -> str:
    """A heading."""
    return f"<h{level}>{escape(text)}</h{level}>"


def table(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; numbers to the right."""
    rows = [list(row) for row in rows]
    numeric = [all(isinstance(row[j], int | float) for row in rows) for j in range(len(names))]
    lines = [
        "<tr>" + "".join(_cell(cell, right) for cell, right in zip(row, numeric, strict=True))
        for row in rows
    ]
    return _html.table([_html.header(names, numeric), *lines])


def pairs(facts: dict[str, Any]) -> str:
    """Names and values."""
    rows = [(name.replace("_", " "), number(value)) for name, value in facts.items()]
    return _html.table(
        f'<tr><td>{escape(name)}<td class="code">{escape(value)}' for name, value in rows
    )


def _cell(value: Any, right: bool) -> str:
    return f"<td{' class=number' if right else ''}>{escape(number(value))}"
