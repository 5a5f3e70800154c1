"""Which rows of a model a command means: by ids, by a file of ids, by a condition."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import click
import numpy as np

from gramian.cli._models import held_texts
from gramian.cli._tables import decoded, parse_csv, read_table, reading_options
from gramian.cli._where import ids_where, parse_condition
from gramian.tables import column_names
from gramian.tables._model_rows import model_rows

_PARQUET = (".parquet", ".pq")


class RowSelection(NamedTuple):
    """Rows as the options name them."""

    ids: tuple[str, ...]
    ids_from: str | None
    where: str | None
    missing_ok: bool
    subjects: tuple[str, ...] = ()

    def of(self, model: Any, path: str) -> tuple[list[Any], list[str]]:
        """The ids of the rows, each once, and those named that the model does not hold."""
        named = [*self.ids, *(_read_ids(self.ids_from, model) if self.ids_from else [])]
        chosen, unknown = _held_ids(model, named, self.missing_ok)
        if self.where:
            chosen += _where(model, path, self.where)
        if self.subjects:
            chosen += _of_subjects(model, path, self.subjects)
        return list(dict.fromkeys(chosen)), unknown


def _read_ids(path: str, model: Any) -> list[str]:
    """One id per line; or the column of a table that is called id, or as the model's ids are."""
    names = {"id", getattr(model, "id_column", None) or "id"}
    if path.lower().endswith(_PARQUET):
        return _from_table(read_table(path, model), names, path, model)
    with click.open_file(path, "rb") as stream:
        encoding = reading_options().encoding or getattr(model, "encoding", None)
        text = decoded(stream.read(), path, encoding).removeprefix("\ufeff")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise ValueError(f"{path} has no ids. Write one in each line.")
    held = set(map(str, model.ids_.tolist()))
    table = parse_csv(text, reading_options().skip) if lines[0] not in held else None
    if table is not None and names & set(table):
        return _from_table(table, names, path, model)
    return lines


def _from_table(table: Any, names: set[str], path: str, model: Any) -> list[str]:
    there = [name for name in column_names(table) if name in names]
    if not there:
        wanted = " or ".join(repr(name) for name in sorted(names))
        raise ValueError(f"{path} has no column {wanted}. It has: {', '.join(table)}.")
    own = getattr(model, "id_column", None)
    return held_texts(table[own if own in there else there[0]], model.ids_)


def _held_ids(model: Any, named: list[str], missing_ok: bool) -> tuple[list[Any], list[str]]:
    """Ids as the model holds them, and those that it does not hold.

    Raises
    ------
    ValueError
        Naming all that it does not hold, unless that is all right.
    """
    held = {str(name): name for name in model.ids_.tolist()}
    unknown = [name for name in dict.fromkeys(named) if name not in held]
    if unknown and not missing_ok:
        ids = "id" if len(unknown) == 1 else "ids"
        raise ValueError(
            f"forget got {ids} {', '.join(unknown)}, which the model does not hold (its ids are "
            f"such as {next(iter(held))}).{_suggestion(unknown, held)} Nothing was forgotten; "
            f"--missing-ok passes over them."
        )
    if len(unknown) == len(named) and unknown:
        raise ValueError("the model holds none of these ids; nothing to forget.")
    return [held[name] for name in named if name in held], unknown


def _suggestion(unknown: list[str], held: Iterable[str], most: int = 5) -> str:
    """A question after held ids that differ from unknown ones by case, spaces or leading zeros."""
    plain = {_plain(name) for name in unknown}
    alike = [name for name in held if _plain(name) in plain]
    return f" Did you mean {', '.join(alike[:most])}?" if alike else ""


def _plain(name: str) -> str:
    """An id without what people leave out when they type it."""
    return re.sub(r"0*(\d+)", r"\1", "".join(name.split())).casefold()


def _of_subjects(model: Any, path: str, subjects: tuple[str, ...]) -> list[Any]:
    """Ids of all rows of these subjects."""
    groups = model.groups_
    if groups is None:
        raise ValueError(
            f"the rows of {path} have no subjects; `gramian fit --subject COLUMN` gives them some."
        )
    names = groups.astype(str)
    unknown = [name for name in subjects if name not in names]
    if unknown:
        raise ValueError(
            f"forget got subject {', '.join(unknown)}, of which the model holds no row (its "
            f"subjects are such as {names[0]})."
            f"{_suggestion(unknown, dict.fromkeys(names.tolist()))} Nothing was forgotten."
        )
    return list(model.ids_[np.isin(names, subjects)].tolist())


def _where(model: Any, path: str, text: str) -> list[int | str]:
    if model_rows(model).columns is None:
        raise ValueError(f"{path} was saved from Python and has no columns; use --id.")
    ids = ids_where(model, parse_condition(text))
    if not ids:
        raise ValueError(f"no row that the model holds has {text}.")
    return ids
