"""The published figures of each section of the page, for a page that lacks ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidence._compare import Spread
from evidence._experiment import Part, Table, Text
from evidence.published import andelic2007, duan2008, kaieda2004, kim2006, saadi2004

_DUAN = [("duan2008, Tables 1 and 2: seconds", "set, samples, removed", duan2008.TABLES_1_AND_2)]
_TABLES: dict[str, list[tuple[str, str, Mapping[str, Mapping[str, Any]]]]] = {
    "kim2006-table-1": [("kim2006, Table 1: test errors in %", "set", kim2006.TABLE_1)],
    "saadi2004-table-1": [("saadi2004, Table 1: test errors in %", "set", saadi2004.TABLE_1)],
    "kaieda2004-tables-5-to-7": [
        ("kaieda2004, Table 5: recognition in %, slopes tuned", "type", kaieda2004.TABLE_5),
        ("kaieda2004, Table 6: the same, slopes not tuned", "type", kaieda2004.TABLE_6),
        ("kaieda2004, Table 7: vectors selected", "type", kaieda2004.TABLE_7),
    ],
    "kaieda2004-table-8": [("kaieda2004, Table 8: seconds", "type", kaieda2004.TABLE_8)],
    "kaieda2004-table-10": [("kaieda2004, Table 10: test errors in %", "set", kaieda2004.TABLE_10)],
    "duan2008-tables-1-and-2-lssvm": _DUAN,
    "duan2008-tables-1-and-2-lsvm": _DUAN,
}
_WORDS = {
    "kim2006-figure-1": "Published, with γ = 2⁻³⁶: no gain for λ < 1e-12, largest gain "
    f"{kim2006.FIGURE_1_LARGEST_GAIN:g} points at λ = "
    f"{kim2006.FIGURE_1_RIDGE_OF_LARGEST_GAIN:g}.",
    "andelic2007-classification": andelic2007.WHY_NONE,
    "andelic2007-regression": andelic2007.WHY_NONE,
}


def published_parts(name: str) -> list[Part]:
    """What the paper has in this section, as far as it is numbers; nothing for sections of ours."""
    words: list[Part] = [Text(_WORDS[name])] if name in _WORDS else []
    tables = _TABLES.get(name, [])
    return [*words, *(_table(*each) for each in tables)]


def _table(caption: str, first: str, table: Mapping[str, Mapping[str, Any]]) -> Table:
    columns = list(next(iter(table.values())))
    spreads = [c for cells in table.values() for c in cells.values() if isinstance(c, Spread)]
    digits = 1 if all(c == Spread(*(round(n, 1) for n in c)) for c in spreads) else 2  # as printed
    rows = [
        [_name(name), *(_cell(cells[column], digits) for column in columns)]
        for name, cells in table.items()
    ]
    return Table([first, *map(_name, columns)], rows, f"As published: {caption}")


def _name(text: str) -> str:
    return text.removeprefix("ida_")


def _cell(value: Any, digits: int) -> Any:
    return value.text(digits) if isinstance(value, Spread) else value
