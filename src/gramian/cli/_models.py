"""What several commands do with a model: its ids, the texts that it knows, its notation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gramian.cli._tables import Notation
from gramian.core.text import csv_cell
from gramian.tables import CategoryColumn, TableModel, read_cells
from gramian.tables._model_rows import model_rows


def as_held(model: Any, name: str) -> int | str:
    """The id in the type that the model's ids have, whether the model holds it or not."""
    if model.ids_.dtype.kind == "U":
        return name
    try:
        return int(name)
    except ValueError as error:
        raise ValueError(
            f"{name!r} is not an id of this model: its ids are numbers, such as {model.ids_[0]}."
        ) from error


def held_texts(cells: Sequence[Any], known: Any) -> list[str]:
    """Texts as the model has them, from cells of a table that a command wrote.

    Undoes what `csv_cell` does to a text that looks like a formula.
    """
    written = {str(csv_cell(text)): text for text in map(str, known.tolist())}
    return [written.get(str(cell), str(cell)) for cell in cells]


def notation_of(model: Any) -> Notation:
    """How tables are written that the model can read."""
    decimal = model_rows(model).decimal
    return Notation(";" if decimal == "," else ",", decimal)


def unknown_texts(model: TableModel, table: Any) -> dict[str, list[str]]:
    """Texts that no row of the model has, by column."""
    held = model.table_
    found = {
        column.name: set(column.others(column.read(read_cells(table, column.name))))
        for column in model.columns_
        if isinstance(column, CategoryColumn)
    }
    unknown = {name: sorted(texts - set(held[name].tolist())) for name, texts in found.items()}
    return {name: texts for name, texts in unknown.items() if texts}


def describe_unknown(unknown: dict[str, list[str]]) -> list[str]:
    """One line for each column."""
    return [
        f"column {name!r}: the model does not know {_some(texts)}; counted as another text."
        for name, texts in unknown.items()
    ]


def _some(texts: list[str], few: int = 3) -> str:
    names = ", ".join(repr(text) for text in texts[:few])
    return names if len(texts) <= few else f"{names} and {len(texts) - few} more"
