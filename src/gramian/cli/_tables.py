"""Tables in and out: CSV by the standard library, parquet by pyarrow."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import click

from gramian.cli._options import READING
from gramian.core.text import csv_cell
from gramian.files import replacing
from gramian.tables import TableError
from gramian.tables._model_rows import model_rows

DEFAULT = "utf-8"
_MARKS = {  # byte-order marks, the longer ones first
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_BINARY = {  # how files begin that are no text, and what to do with them
    b"PK\x03\x04": "a spreadsheet or an archive. Save the sheet as CSV.",
    b"\xd0\xcf\x11\xe0": "a spreadsheet. Save the sheet as CSV.",
    b"\x1f\x8b": "compressed. Unpack it first (gunzip).",
    b"PAR1": "a parquet file. Give it a name that ends in .parquet.",
    b"%PDF": "a PDF file, which is no table.",
}
_DELIMITERS = ",;\t|"
_QUOTED = re.compile('"[^"]*"')
_LONGEST = 1_000_000  # characters in which the first line is looked for
PARQUET = (".parquet", ".pq")


class Notation(NamedTuple):
    """How a CSV file is written."""

    delimiter: str = ","
    decimal: str = "."
    marked: bool = False
    """Whether it begins with a byte-order mark, without which some spreadsheets read no UTF-8."""


PLAIN = Notation()


class Table(dict[str, list[Any]]):
    """Columns by name, and how the file was written from which they came."""

    notation = PLAIN


class ReadingOptions(NamedTuple):
    """What the options of the present command say of the tables that it reads."""

    encoding: str | None = None
    skip: int = 0


def reading_options() -> ReadingOptions:
    """The options of the present command."""
    context = click.get_current_context(silent=True)
    return ReadingOptions(**({} if context is None else context.meta.get(READING, {})))


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Put the name of the file before what is wrong with its content."""
    try:
        yield
    except ValueError as error:
        raise TableError(f"{_name(path)}: {error}") from error


def read_table(path: str, model: Any = None) -> Table:
    """The columns of a CSV file (texts) or a parquet file (values), by name, for this model.

    Raises
    ------
    TableError
        Naming the file, and the row where it is at fault.
    """
    if path.lower().endswith(PARQUET):
        with naming(path):
            return _read_parquet(path)
    text, marked = read_text(path, model)
    with naming(path):
        table = parse_csv(text, reading_options().skip)
    table.notation = table.notation._replace(decimal=model_rows(model).decimal, marked=marked)
    return table


def read_text(path: str, model: Any) -> tuple[str, bool]:
    """The text of a file for this model, and whether it begins with a byte-order mark."""
    with click.open_file(path, "rb") as stream:  # a line may end within a cell, by any mark
        content = stream.read()
    encoding = reading_options().encoding or model_rows(model).encoding
    return _decoded(content, path, encoding), _mark(content) is not None


def _decoded(content: bytes, path: str, encoding: str | None) -> str:
    """Text in the encoding that its byte-order mark tells, else in the one given, else in UTF-8."""
    kind = next((words for start, words in _BINARY.items() if content.startswith(start)), None)
    if kind is not None:
        raise TableError(f"{_name(path)} is {kind}")
    mark = _mark(content)
    tried = _MARKS[mark] if mark is not None else encoding or DEFAULT
    try:
        found = content.decode(tried).removeprefix("\ufeff")
        if "\x00" in found:
            line = found[: found.index("\x00")].count("\n") + 1
            raise TableError(
                f"{_name(path)} has a zero byte in line {line}, which no text has: "
                f"{_guess(content)}."
            )
        return found
    except LookupError as error:
        raise TableError(f"--encoding: {error}.") from error
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise TableError(
            f"{_name(path)} is not {tried.upper()} text (line {line}). Save it as UTF-8, or name "
            f"its encoding: {_guess(content)}."
        ) from error


def _guess(content: bytes) -> str:
    """What text that is no UTF-8 may be."""
    if 2 * content[:1000].count(0) > 0.5 * len(content[:1000]):
        little = content[1:1000:2].count(0) > content[0:1000:2].count(0)
        return f"it looks like --encoding utf-16-{'le' if little else 'be'}"
    if b"\x00" in content:
        return "it is damaged, or no table"
    return "--encoding cp1252 for most spreadsheets of Western Europe"


def _mark(content: bytes) -> bytes | None:
    return next((mark for mark in _MARKS if content.startswith(mark)), None)


def write_table(path: str, table: dict[str, list[Any]], notation: Notation = PLAIN) -> None:
    """Write CSV, or parquet where the name ends so; readable by its owner only, as models are."""
    if path.lower().endswith(PARQUET):
        content = _parquet(table)
    else:
        content = to_csv(table, notation).encode("utf-8-sig" if notation.marked else "utf-8")
    with replacing(path, private=True) as stream:
        stream.write(content)


def to_csv(table: dict[str, list[Any]], notation: Notation = PLAIN) -> str:
    """The table as CSV text; no cell is a formula to a spreadsheet, or a command to a terminal."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=notation.delimiter, lineterminator="\n")
    writer.writerow(map(csv_cell, table))
    rows = zip(*table.values(), strict=True)
    writer.writerows([_cell(value, notation.decimal) for value in row] for row in rows)
    return stream.getvalue()


def _cell(value: Any, decimal: str) -> Any:
    if isinstance(value, float) and decimal != ".":
        return repr(value).replace(".", decimal)
    return csv_cell(value)


def parse_csv(text: str, skip: int = 0) -> Table:
    """The columns of CSV text, by name; ``skip`` lines before the names are left out."""
    for _ in range(skip):
        text = text.partition("\n")[2]
    unquoted = _QUOTED.sub("", text[:_LONGEST]).splitlines()  # a quoted name may have any mark
    first = next(filter(str.strip, unquoted), "")
    delimiter = max(_DELIMITERS, key=first.count)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows, begun = [], 1
    try:
        for row in lines:
            rows += [row] if row else []
            begun = lines.line_num + 1
    except csv.Error as error:
        raise TableError(
            f"line {skip + begun}: {error}. A cell with a quotation mark in it is written in "
            f'quotes, the mark twice: "5"" pipe".'
        ) from error
    if not rows:
        raise TableError("the file is empty.")
    rows = _without_last(rows)
    _check_title(rows, unquoted, skip)
    names = _check_names([name.strip() for name in rows[0]])
    _check_widths(rows, unquoted, skip)
    columns = zip(*rows[1:], strict=True) if len(rows) > 1 else [()] * len(names)
    table = Table(zip(names, map(list, columns), strict=True))
    table.notation = Notation(delimiter)
    return table


def _without_last(rows: list[list[str]]) -> list[list[str]]:
    """Without a last column that has no name and no content: every line ends in a delimiter."""
    width = max(map(len, rows))
    unnamed = len(rows[0]) == width - 1 or (len(rows[0]) == width and not rows[0][-1].strip())
    if width > 1 and unnamed and not any(row[-1].strip() for row in rows if len(row) == width):
        return [row[: width - 1] for row in rows]
    return rows


def _check_title(rows: list[list[str]], lines: Sequence[str], skipped: int) -> None:
    """Raise TableError if the first line is the title of a table rather than its names."""
    widths = [max(map(line.count, _DELIMITERS)) for line in lines[:50]]
    widest = max(widths[1:], default=0)
    filled = sum(bool(cell.strip()) for cell in rows[0])
    if widest == 0 or filled > 1 or len(rows) == 1:
        return
    raise TableError(
        f"the first line has text in {filled} cell(s), and lines below have {widest + 1} cells. If "
        f"it is a title: --skip-lines {skipped + _place_of_names(lines)}."
    )


def _place_of_names(lines: Sequence[str]) -> int:
    """The number of lines before the first that is as wide as the table and has text throughout."""
    widths = [max(map(line.count, _DELIMITERS)) for line in lines[:50]]
    widest = max(widths[1:], default=0)
    full = (i for i, line in enumerate(lines[:50]) if widths[i] == widest and _is_filled(line))
    return next(full, 1) or 1


def _check_widths(rows: list[list[str]], lines: Sequence[str], skipped: int) -> None:
    """Raise TableError if a row has more or fewer cells than there are names."""
    width = len(rows[0])
    for i, row in enumerate(rows[1:]):
        if len(row) == width:
            continue
        hint = "A cell that has a separator in it is written in quotes."
        if i == 0 and not any(len(other) == width for other in rows[1:]):
            hint = f"If the first line is a title: --skip-lines {skipped + _place_of_names(lines)}."
        raise TableError(f"row {i + 1}: {len(row)} cells, but there are {width} columns. {hint}")


def _is_filled(line: str) -> bool:
    """Whether a line has text in more than one cell."""
    return sum(bool(cell.strip()) for cell in re.split(f"[{re.escape(_DELIMITERS)}]", line)) > 1


def _check_names(names: Sequence[str]) -> Sequence[str]:
    for i, name in enumerate(names):
        if not name:
            raise TableError(
                f"column {i + 1} has no name in the first line. Give it one; if lines stand before "
                f"the names: --skip-lines."
            )
        if name in names[:i]:
            raise TableError(f"two columns have the name {name!r}.")
    return names


def _name(path: str) -> str:
    return "standard input" if path == "-" else path


def _read_parquet(path: str) -> Table:
    pyarrow, parquet = _pyarrow()
    try:
        return Table(parquet.read_table(path).to_pydict())
    except pyarrow.ArrowInvalid as error:
        raise TableError(str(error)) from error


def _parquet(table: dict[str, list[Any]]) -> bytes:
    pyarrow, parquet = _pyarrow()
    stream = io.BytesIO()
    parquet.write_table(pyarrow.table(dict(table)), stream)
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
