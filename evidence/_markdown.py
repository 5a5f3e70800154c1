"""A report as files of docs/benchmarks: Markdown, its tables in JSON, and its drawing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evidence._experiment import Cell, Figure, Part, Table, Text
from evidence._page import number
from gramian.files import replacing


def write(
    folder: Path, file: str, title: str, parts: Sequence[Part], facts: Mapping[str, str]
) -> list[str]:
    """Write ``file.md``, ``.json`` and ``.svg``, over those of an earlier run; their names."""
    folder.mkdir(parents=True, exist_ok=True)
    drawings = [part.svg for part in parts if isinstance(part, Figure)]
    content = {
        f"{file}.md": markdown(file, title, parts, facts).encode(),
        f"{file}.json": (json.dumps(plain(title, parts, facts), **_JSON) + "\n").encode(),
        **{_drawing(file, k): svg for k, svg in enumerate(drawings)},
    }
    for name, data in content.items():
        with replacing(folder / name) as stream:
            stream.write(data)
    return [*content]


def markdown(file: str, title: str, parts: Sequence[Part], facts: Mapping[str, str]) -> str:
    """The page: title, parts, how to make it again, and what it was measured on."""
    drawings = iter(range(len(parts)))
    body = []
    for part in parts:
        if isinstance(part, Text):
            body.append(part.text)
        elif isinstance(part, Table):
            body.append(_table(part))
        else:
            body.append(f"![{part.caption}]({_drawing(file, next(drawings))})")
    made_on = "; ".join(f"{key} {value}" for key, value in facts.items())
    last = f"`python -m evidence bench {file}`, measured on: {made_on}."
    return "\n\n".join([f"# {title}", *body, last]) + "\n"


_JSON: dict[str, Any] = {"indent": 1, "ensure_ascii": False, "allow_nan": False}


def plain(title: str, parts: Sequence[Part], facts: Mapping[str, str]) -> dict[str, Any]:
    """Tables with all digits, for programs."""
    tables = [
        {
            "caption": part.caption,
            "columns": list(part.columns),
            "rows": [[_text(v) if isinstance(v, Cell) else v for v in row] for row in part.rows],
        }
        for part in parts
        if isinstance(part, Table)
    ]
    return {"title": title, "tables": tables, "machine": dict(facts)}


def _drawing(file: str, k: int) -> str:
    return f"{file}.svg" if k == 0 else f"{file}_{k + 1}.svg"


def _table(table: Table) -> str:
    rows = [table.columns, ("---",) * len(table.columns), *table.rows]
    lines = ["| " + " | ".join(map(_text, row)) + " |" for row in rows]
    return "\n".join([f"**{table.caption}**\n", *lines] if table.caption else lines)


def _text(value: Any) -> str:
    if isinstance(value, Cell):
        marks = " ".join([value.note] * bool(value.note) + ["▲"] * value.flagged)
        value = f"{value.text} ({marks})" if marks else value.text
    return number(value).replace("|", "\\|")
