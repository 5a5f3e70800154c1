"""The page: title, facts, list of contents and sections. All text is escaped here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from evidence._experiment import Cell, Figure, Part, Table, Text
from gramian.cli._html import document, figure, header, paragraph, table_of

_CODE = re.compile("`([^`]+)`")
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fff; }
h1 { font-size: 1.8rem; } h2 { font-size: 1.3rem; margin-top: 3rem; border-top: 1px solid #ccc;
     padding-top: 1rem; }
nav { columns: 2; font-size: .95rem; } nav a { display: block; } a { color: #0072B2; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums;
        font-size: .92rem; display: block; max-width: 100%; overflow-x: auto; }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
th, td { padding: .25rem .6rem; text-align: left; vertical-align: top; }
th { border-bottom: 1px solid #999; font-weight: 600; vertical-align: bottom; }
td { border-bottom: 1px solid #eee; }
td:first-child { white-space: nowrap; }
td.number, th.number { text-align: right; }
td.flagged { background: #fde9c8; }
td small { display: block; color: #666; white-space: nowrap; }
td.flagged small { color: #8a4b00; font-weight: 600; }
figure { margin: 1.5rem 0; } figcaption { color: #555; font-size: .92rem; max-width: 44rem; }
img { max-width: 100%; height: auto; }
p { max-width: 48rem; }
.small { color: #555; font-size: .88rem; max-width: 56rem; } .warn { color: #8a4b00; }
code { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
summary { cursor: pointer; color: #0072B2; } li { overflow-wrap: anywhere; }
@media (max-width: 40rem) { nav { columns: 1; } h1 { font-size: 1.4rem; }
                            td:first-child { white-space: normal; } }
"""


@dataclass(frozen=True)
class Section:
    """One experiment on the page: what it found, what is not there, what failed, small print.

    Where something is not there, ``published`` has the figures of the paper alone, and ``remedies``
    say how to get the data.
    """

    name: str
    title: str
    parts: Sequence[Part] = ()
    unavailable: Sequence[str] = ()
    failures: Sequence[str] = ()
    notes: Sequence[str] = ()
    published: Sequence[Part] = ()
    remedies: Sequence[str] = ()


def page(
    title: str, words: Sequence[str], facts: Mapping[str, str], sections: Sequence[Section]
) -> str:
    """The whole page: title, words, facts, list of contents, sections."""
    contents = [f'<a href="#{escape(s.name)}">{escape(s.title)}</a>' for s in sections]
    body = [
        f"<h1>{escape(title)}</h1>",
        *map(paragraph, words),
        _facts(facts),
        f"<nav>{_lines(contents)}</nav>",
        *(_section(section) for section in sections),
    ]
    return document(title, _STYLE, body)


def _facts(facts: Mapping[str, str]) -> str:
    return table_of(f"<tr><td>{escape(name)}<td>{escape(value)}" for name, value in facts.items())


def _section(section: Section) -> str:
    head = f'<h2 id="{escape(section.name)}">{escape(section.title)}</h2>'
    lacking = (
        [f"Not computed here: {'; '.join(section.unavailable)}."] if section.unavailable else []
    )
    problems = [f'<p class="warn">{escape(text)}</p>' for text in [*lacking, *section.failures]]
    if section.remedies:
        lines = "".join(f"<li>{escape(line)}" for line in section.remedies)
        problems.append(
            f"<details><summary>How to get the data</summary><ul>{lines}</ul></details>"
        )
    parts = [_part(part) for part in (*section.parts, *section.published)]
    command = f"<code>python -m evidence papers {escape(section.name)}</code>"
    small = "<br>".join([*map(escape, section.notes), command])
    body = [head, *problems, *parts, f'<p class="small">{small}</p>']
    return f"<section>\n{_lines(body)}\n</section>"


def _part(part: Part) -> str:
    if isinstance(part, Text):
        return _CODE.sub(r"<code>\1</code>", paragraph(part.text))
    if isinstance(part, Figure):
        return figure(part.svg, part.caption)
    return _table(part)


def _table(table: Table) -> str:
    right = [all(_is_numeric(row[j]) for row in table.rows) for j in range(len(table.columns))]
    caption = [f"<caption>{escape(table.caption)}</caption>"] if table.caption else []
    rows = ["<tr>" + "".join(map(_cell, row, right)) for row in table.rows]
    return table_of([*caption, header(table.columns, right), *rows])


def _cell(value: Any, right: bool) -> str:
    cell = value if isinstance(value, Cell) else Cell(number(value))
    names = " ".join(["number"] * right + ["flagged"] * cell.flagged)
    opening = f'<td class="{names}">' if names else "<td>"
    mark = " ▲" if cell.flagged else ""
    note = f"<small>{escape(cell.note)}{mark}</small>" if cell.note else mark
    return f"{opening}{escape(cell.text)}{note}"


def _is_numeric(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _lines(parts: Sequence[str]) -> str:
    return "\n".join(parts)


def number(value: Any) -> str:
    """Three digits of a float, thousands of an integer, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        text = f"{value:,}"
    elif value != 0 and abs(value) < 1e-3:
        text = f"{value:.1e}"
    else:
        text = f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"
    return text.replace("-", "−", 1) if value < 0 else text
