"""HTML that needs nothing but itself, piece by piece; `gramian report` is made of it, too.

Texts are escaped here; ``parts`` and ``rows`` are HTML already.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from html import escape

_DOCUMENT = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head>
<body>
{body}
</body>
</html>
"""


def document(title: str, style: str, parts: Iterable[str]) -> str:
    """The whole page."""
    return _DOCUMENT.format(title=escape(title), style=style, body=lines(parts))


def paragraph(text: str) -> str:
    """A paragraph."""
    return f"<p>{escape(text)}</p>"


def table(rows: Iterable[str]) -> str:
    """A table, from its rows."""
    return f"<table>\n{lines(rows)}\n</table>"


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


def lines(parts: Iterable[str]) -> str:
    """One below the other."""
    return "\n".join(parts)
