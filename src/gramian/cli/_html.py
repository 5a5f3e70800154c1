"""Pages of HTML that need nothing but themselves, and what that of `gramian report` is made of.

Texts are escaped here; ``parts`` and ``rows`` are HTML already.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape as _escape
from typing import Any

from gramian.cli._show import number
from gramian.core.text import without_controls

_NUMERIC = re.compile(r"–|[+−]?\d[\d.,]*(e[-+]\d+)?( %)?")  # what is set to the right
_DOCUMENT = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head>
<body>
{body}
</body>
</html>
"""
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 84rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fff; }
h1 { font-size: 1.7rem; margin-bottom: 0; } h2 { font-size: 1.2rem; margin: 0 0 .5rem; }
.date { color: #555; margin-top: .2rem; } .warn { color: #8a4b00; font-weight: 600; }
.facts { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1.5rem 0; }
.facts div { border: 1px solid #ccc; border-radius: .4rem; padding: .6rem 1.2rem; }
.facts strong { display: block; font-size: 1.6rem; font-weight: 600; } .facts span { color: #555; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr));
        gap: 2rem 3rem; align-items: start; margin: 2rem 0; }
.columns { columns: 30rem 2; column-gap: 3rem; }
.columns section { break-inside: avoid; padding-bottom: 2rem; }
section { min-width: 0; } summary { cursor: pointer; color: #555; }
@media print { section { break-inside: avoid; } }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums;
        display: block; max-width: 100%; overflow-x: auto; }
th, td { padding: .25rem .8rem .25rem 0; text-align: left; vertical-align: top; }
th { border-bottom: 1px solid #999; font-weight: 600; } td { border-bottom: 1px solid #eee; }
td.number, th.number { text-align: right; }
.code { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
figure { margin: 1rem 0; } figcaption { color: #555; } img { max-width: 100%; height: auto; }
"""


def escape(text: str) -> str:
    """The text as HTML, with its control characters and marks of direction written out."""
    return _escape(without_controls(text, "\n"))


def document(title: str, style: str, parts: Iterable[str]) -> str:
    """A whole page."""
    return _DOCUMENT.format(title=escape(title), style=style, body=_lines(parts))


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph, of a class that the style knows."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def table_of(rows: Iterable[str]) -> str:
    """A table, from its rows."""
    return f"<table>\n{_lines(rows)}\n</table>"


def header(names: Iterable[str], right: Iterable[bool]) -> str:
    """The row of a table with the names of its columns; those of numbers are set to the right."""
    cells = (
        f"<th{' class=number' if r else ''}>{escape(name)}"
        for name, r in zip(names, right, strict=True)
    )
    return "<tr>" + "".join(cells)


def figure(svg: bytes, caption: str) -> str:
    """A drawing within the page."""
    # An image, so that the names within one drawing cannot clash with those of another.
    source = f"data:image/svg+xml;base64,{b64encode(svg).decode()}"
    text = escape(caption)
    return f'<figure><img src="{source}" alt="{text}"><figcaption>{text}</figcaption></figure>'


def page(title: str, parts: Iterable[str]) -> str:
    """The page of `gramian report`."""
    return document(title, _STYLE, parts)


def section(title: str, parts: Iterable[str]) -> str:
    """A part of the page under a heading of its own."""
    return f"<section>\n{heading(title)}\n{_lines(parts)}\n</section>"


def grid(sections: Iterable[str]) -> str:
    """Sections next to one another, as many as the window is wide for."""
    return f'<div class="grid">\n{_lines(sections)}\n</div>'


def columns(sections: Iterable[str]) -> str:
    """Sections below one another, in two columns where the window is wide enough."""
    return f'<div class="columns">\n{_lines(sections)}\n</div>'


def cards(facts: dict[str, str]) -> str:
    """The few numbers that matter most."""
    each = (f"<div><strong>{escape(value)}</strong><span>{escape(name)}</span></div>"
            for name, value in facts.items())  # fmt: skip
    return f'<div class="facts">\n{_lines(each)}\n</div>'


def folded(summary: str, parts: Iterable[str]) -> str:
    """What is shown on a click."""
    return f"<details><summary>{escape(summary)}</summary>\n{_lines(parts)}\n</details>"


def heading(text: str, level: int = 2) -> str:
    return f"<h{level}>{escape(text)}</h{level}>"


def table(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; numbers to the right."""
    rows = [list(row) for row in rows]
    numeric = [all(_is_number(row[j]) for row in rows) for j in range(len(names))]
    lines = [
        "<tr>" + "".join(_cell(cell, right) for cell, right in zip(row, numeric, strict=True))
        for row in rows
    ]
    return table_of([header(names, numeric), *lines])


def pairs(facts: dict[str, Any]) -> str:
    """Names and values."""
    rows = [(name.replace("_", " "), number(value)) for name, value in facts.items()]
    return table_of(
        f'<tr><td>{escape(name)}<td class="code">{escape(value)}' for name, value in rows
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) or _NUMERIC.fullmatch(value) is not None


def _cell(value: Any, right: bool) -> str:
    return f"<td{' class=number' if right else ''}>{escape(number(value))}"


def _lines(parts: Iterable[str]) -> str:
    """One below the other."""
    return "\n".join(parts)
