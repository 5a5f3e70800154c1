"""Tables in and out: CSV by the standard library, parquet by pyarrow."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from gramian.core.text import csv_cell
from gramian.files import replacing
from gramian.tables import TableError

Table = dict[str, list[Any]]

DEFAULT = "utf-8-sig"
_DELIMITERS = ",;\t|"
_QUOTED = re.compile('"[^"]*"')
_LONGEST = 1_000_000  # characters in which the first line is looked for
_PARQUET = (".parquet", ".pq")


@contextmanager
def naming(path: str, model: Any = None) -> Iterator[None]:
    """Put the name of the file before what is wrong with its content."""
    name = "standard input" if path == "-" else path
    try:
        yield
    except UnicodeDecodeError as error:
        tried = encoding(model).removesuffix("-sig").upper()
        raise TableError(
            f"{name} is not {tried} text. Save it as UTF-8, or name its encoding: "
            f"--encoding cp1252 for most spreadsheets of Western Europe."
        ) from error
    except LookupError as error:
        raise TableError(f"--encoding: {error}.") from error
    except ValueError as error:
        raise TableError(f"{name}: {error}") from error


def encoding(model: Any = None) -> str:
    """The encoding that the present command was given, else that of the table of the fit."""
    return asked_encoding() or getattr(model, "encoding", None) or DEFAULT


def asked_encoding() -> str | None:
    """The encoding that the present command was given, if any."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get("gramian.encoding")


def read_table(path: str, model: Any = None) -> Table:
    """The columns of a CSV file (texts) or a parquet file (values), by name, for this model.

    Raises
    ------
    TableError
        Naming the file, and the row where it is at fault.
    """
    with naming(path, model):
        if path.lower().endswith(_PARQUET):
            return _read_parquet(path)
        with click.open_file(path, "rb") as stream:  # a line may end within a cell, by any mark
            return parse_csv(stream.read().decode(encoding(model)))


def write_table(path: str, table: Table) -> None:
    """Write CSV, or parquet where the name ends so; readable by its owner only, as models are."""
    content = _parquet(table) if path.lower().endswith(_PARQUET) else to_csv(table).encode()
    with replacing(path, private=True) as stream:
        stream.write(content)


def to_csv(table: Table) -> str:
    """The table as CSV text; no cell is a formula to a spreadsheet, or a command to a terminal."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(csv_cell, table))
    writer.writerows(map(csv_cell, row) for row in zip(*table.values(), strict=True))
    return stream.getvalue()


def parse_csv(text: str) -> Table:
    """The columns of CSV text, by name."""
    names_alone = _QUOTED.sub("", text[:_LONGEST]).splitlines()  # a quoted name may have any mark
    delimiter = max(_DELIMITERS, key=names_alone[0].count) if names_alone else ","
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        rows = [line for line in lines if line]
    except csv.Error as error:
        raise TableError(f"line {lines.line_num}: {error}.") from error
    if not rows:
        raise TableError("the file is empty.")
    names = _check_names([name.strip() for name in rows[0]])
    for i, row in enumerate(rows[1:]):
        if len(row) != len(names):
            raise TableError(f"row {i + 1}: {len(row)} cells, but there are {len(names)} columns.")
    columns = zip(*rows[1:], strict=True) if len(rows) > 1 else [()] * len(names)
    return dict(zip(names, map(list, columns), strict=True))


def _check_names(names: Sequence[str]) -> Sequence[str]:
    for i, name in enumerate(names):
        if not name:
            raise TableError(f"column {i + 1} has no name in the first line.")
        if name in names[:i]:
            raise TableError(f"two columns have the name {name!r}.")
    return names


def _read_parquet(path: str) -> Table:
    pyarrow, parquet = _pyarrow()
    try:
        return parquet.read_table(path).to_pydict()
    except pyarrow.ArrowInvalid as error:
        raise TableError(str(error)) from error


def _parquet(table: Table) -> bytes:
    pyarrow, parquet = _pyarrow()
    stream = io.BytesIO()
    parquet.write_table(pyarrow.table(table), stream)
    return stream.getvalue()


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'reading and writing parquet needs pyarrow: pip install "gramian[parquet]".'
        ) from error
    return pyarrow, parquet
