"""A page of HTML that needs nothing but itself. All text is escaped here."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from gramian.cli._show import number

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

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title><style>{style}</style></head>
<body>
{body}
</body>
</html>
"""


def page(title: str, parts: Iterable[str]) -> str:
    """The whole page."""
    return _PAGE.format(title=escape(title), style=_STYLE, body=_lines(parts))


def heading(text: str, level: int = 2) -> str:
    """A heading."""
    return f"<h{level}>{escape(text)}</h{level}>"


def paragraph(text: str) -> str:
    """A paragraph."""
    return f"<p>{escape(text)}</p>"


def table(names: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """A table; numbers to the right."""
    rows = [list(row) for row in rows]
    numeric = [all(isinstance(row[j], int | float) for row in rows) for j in range(len(names))]
    head = "".join(_cell("th", name, right) for name, right in zip(names, numeric, strict=True))
    lines = [
        "<tr>" + "".join(_cell("td", cell, right) for cell, right in zip(row, numeric, strict=True))
        for row in rows
    ]
    return f"<table>\n<tr>{head}\n{_lines(lines)}\n</table>"


def pairs(facts: dict[str, Any]) -> str:
    """Names and values."""
    rows = [(name.replace("_", " "), number(value)) for name, value in facts.items()]
    lines = [f'<tr><td>{escape(name)}<td class="code">{escape(value)}' for name, value in rows]
    return f"<table>\n{_lines(lines)}\n</table>"


def figure(svg: bytes, caption: str) -> str:
    """A drawing within the page."""
    source = f"data:image/svg+xml;base64,{b64encode(svg).decode()}"
    text = escape(caption)
    return f'<figure><img src="{source}" alt="{text}"><figcaption>{text}</figcaption></figure>'


def _cell(tag: str, value: Any, right: bool) -> str:
    return f"<{tag}{' class=number' if right else ''}>{escape(number(value))}"


def _lines(parts: Iterable[str]) -> str:
    return "\n".join(parts)
