"""What the commands on a model file or a store share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import gramian
from gramian.core.text import csv_cell
from gramian.files import file_facts
from gramian.store import Store, is_store
from gramian.tables import CategoryColumn, TableModel, read_cells


def load_table_model(path: str) -> TableModel:
    """A model that `gramian fit` made.

    Raises
    ------
    ValueError
        If the file holds another model, which does not know what the columns of a table mean.
    """
    return check_table_model(load_model(path), path)


def check_table_model(model: Any, path: str) -> TableModel:
    """The model itself; raises ValueError if it knows no columns."""
    if not isinstance(model, TableModel):
        raise ValueError(
            f"{path} holds a {type(model).__name__} that was saved from Python and knows no "
            f"columns. Use it from Python, or make a model with `gramian fit`."
        )
    return model


def load_model(path: str) -> Any:
    """The model of a file, or the present one of a store."""
    if not is_store(path):
        return gramian.load(path)
    with Store.open(path, readonly=True) as store:
        return store.model


def facts_of(path: str) -> dict[str, Any]:
    """Versions, fingerprint and size of a model file; of a store, how far it is."""
    if not is_store(path):
        return file_facts(path)
    with Store.open(path, readonly=True) as store:
        last = store.receipts()[-1]
    return {
        "class": "store",
        "version": last.number,
        "last_edit": f"{last.action}, {last.time}",
        "receipts": "not signed" if last.public_key is None else f"signed by {last.public_key}",
        "last_receipt": last.hash,
        "bytes": os.stat(path).st_size,
    }


def check_options(path: str, **options: Any) -> None:
    """Raise ValueError if an option was given that a store has no use for."""
    given = [f"--{name}" for name, value in options.items() if value]
    if given:
        raise ValueError(
            f"{path} is a store, which writes its own receipts and changes in place: it does not "
            f"take {' and '.join(given)}. For another file, `gramian store export` it first."
        )


def as_held(model: Any, name: str) -> int | str:
    """The id in the type that the model's ids have."""
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


def unknown_texts(model: TableModel, table: Any) -> dict[str, list[str]]:
    """Texts that have no feature of their own, by column."""
    found = {
        column.name: column.others(column.read(read_cells(table, column.name)))
        for column in model.columns_
        if isinstance(column, CategoryColumn)
    }
    return {name: texts for name, texts in found.items() if texts}


def describe_unknown(unknown: dict[str, list[str]]) -> list[str]:
    """One line for each column."""
    return [
        f"column {name!r}: the model does not know {_some(texts)}; counted as another text."
        for name, texts in unknown.items()
    ]


def _some(texts: list[str], few: int = 3) -> str:
    names = ", ".join(repr(text) for text in texts[:few])
    return names if len(texts) <= few else f"{names} and {len(texts) - few} more"
