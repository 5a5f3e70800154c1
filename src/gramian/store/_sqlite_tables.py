"""The tables of a store in an SQLite file: how they are opened, checked, read and written."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from gramian.files import StrPath
from gramian.store._backend import Contents
from gramian.store._errors import StoreBusyError, StoreError

APPLICATION = 0x4752414D  # "GRAM"
FORMAT = 2
MAGIC = b"SQLite format 3\0"
WAIT = 10.0
"""Seconds to wait for processes that are reading."""

_SCHEMA = (
    "CREATE TABLE meta (one INTEGER PRIMARY KEY, id_key BLOB, sums BLOB)",
    "CREATE TABLE settings (one INTEGER PRIMARY KEY, salt BLOB, content BLOB)",
    "CREATE TABLE rows (place INTEGER PRIMARY KEY, version BLOB, content BLOB)",
    "CREATE TABLE receipts (number INTEGER PRIMARY KEY, content BLOB)",
    "CREATE TABLE snapshot (one INTEGER PRIMARY KEY, checksum BLOB, content BLOB)",
    "CREATE TABLE keys (page INTEGER PRIMARY KEY, content BLOB)",
)
_PRAGMAS = (
    "secure_delete=ON",
    "synchronous=FULL",
    "temp_store=MEMORY",
    "trusted_schema=OFF",
    "cell_size_check=ON",
)


def is_database(path: StrPath) -> bool:
    """Whether the file begins as those of SQLite do."""
    with open(path, "rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


@contextmanager
def translated(path: StrPath) -> Iterator[None]:
    """Turns errors of SQLite into those of a store; who catches them says what became of it."""
    try:
        yield
    except sqlite3.Error as error:
        text = str(error)
        if "locked" in text or "busy" in text:
            raise StoreBusyError(
                f"{path} is being read by another process, for more than {WAIT:g} s."
            ) from error
        if isinstance(error, sqlite3.OperationalError):
            raise StoreError(
                f"{path} cannot be read or written: {text}. See that the disk has room "
                f"and that its folder can be written to."
            ) from error
        raise StoreError(f"{path} is damaged or no store: {text}.") from error
    except (UnicodeDecodeError, OverflowError) as error:  # in names that SQLite reads or reports
        raise StoreError(f"{path} is damaged: {error}.") from error


def connect(path: StrPath, mode: str, *, threads: bool = False) -> sqlite3.Connection:
    where = f"{Path(os.path.realpath(path)).as_uri()}?mode={mode}"
    connection = sqlite3.connect(
        where, timeout=WAIT, isolation_level=None, uri=True, check_same_thread=not threads
    )
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    return connection


def reader(path: StrPath) -> sqlite3.Connection:
    """May undo what a killed process left unfinished, where the file can be written to."""
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
    writable = os.access(path, os.W_OK) and os.access(Path(path).absolute().parent, os.W_OK)
    connection = connect(path, "rw" if writable else "ro")
    connection.execute("PRAGMA query_only=ON")
    return connection


def check_kind(connection: sqlite3.Connection, path: StrPath) -> None:
    """Raise StoreError unless the file has our tables and nothing else that could run."""
    ((application,),) = connection.execute("PRAGMA application_id")
    ((format_,),) = connection.execute("PRAGMA user_version")
    if application != APPLICATION:
        raise StoreError(f"{path} is a database, but no store of gramian.")
    if format_ != FORMAT:
        raise StoreError(
            f"{path} has format {format_}; this gramian reads format {FORMAT}. Install a newer one."
        )
    found = tuple(sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema"))
    if found != _SCHEMA:
        raise StoreError(f"{path} is damaged: its tables are not those of a store.")


def write_new(path: StrPath, contents: Contents, mode: int) -> None:
    """Write a new file; what a crash leaves is for the caller to remove."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    version = as_blob(len(contents.receipts) - 1)
    with translated(path), closing(connect(path, "rw")) as connection:
        connection.execute("PRAGMA journal_mode=MEMORY")
        connection.execute(f"PRAGMA application_id={APPLICATION}")
        connection.execute(f"PRAGMA user_version={FORMAT}")
        connection.execute("BEGIN")
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute("INSERT INTO meta VALUES (1, ?, ?)", (contents.id_key, contents.sums))
        connection.execute("INSERT INTO settings VALUES (1, ?, ?)", contents.settings)
        rows = ((place, version, content) for place, content in sorted(contents.rows.items()))
        connection.executemany("INSERT INTO rows VALUES (?, ?, ?)", rows)
        numbered = enumerate(contents.receipts)
        connection.executemany("INSERT INTO receipts VALUES (?, ?)", numbered)
        connection.executemany("INSERT INTO keys VALUES (?, ?)", sorted(contents.keys.items()))
        if contents.snapshot is not None:
            connection.execute("INSERT INTO snapshot VALUES (1, ?, ?)", contents.snapshot)
        connection.execute("COMMIT")


def read_contents(connection: sqlite3.Connection, path: StrPath) -> Contents:
    try:
        ((id_key, sums),) = connection.execute("SELECT id_key, sums FROM meta")
        (settings,) = connection.execute("SELECT salt, content FROM settings")
        rows = dict(connection.execute("SELECT place, content FROM rows"))
        numbered = connection.execute("SELECT number, content FROM receipts").fetchall()
        snapshot = connection.execute("SELECT checksum, content FROM snapshot").fetchone()
        keys = dict(connection.execute("SELECT page, content FROM keys"))
    except ValueError as error:
        raise StoreError(f"{path} is damaged: {error}.") from error
    values = (*rows.values(), *keys.values(), *(content for _, content in numbered))
    check_bytes(path, (id_key, sums, *settings, *values, *(snapshot or ())))
    if [number for number, _ in numbered] != list(range(len(numbered))) or not numbered:
        raise StoreError(f"{path} is damaged: receipts are missing.")
    receipts = [content for _, content in numbered]
    return Contents(id_key, settings, rows, receipts, snapshot, sums, keys)


def check_bytes(path: StrPath, values: Iterable[Any]) -> None:
    if not all(isinstance(value, bytes) for value in values):
        raise StoreError(f"{path} is damaged: it has another type of value.")


def as_blob(version: int) -> bytes:
    """A version as eight bytes: a row keeps its size, and so its place on the page."""
    return version.to_bytes(8, "big")
