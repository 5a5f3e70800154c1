"""The SQLite file of a store: places for rows that are overwritten, never moved or deleted.

Deleting from a B-tree moves other entries between pages, and leaves copies of them in the unused
part of the pages that they come from, also with ``secure_delete``. So a row that is forgotten is
overwritten by zeros where it is, and the place is used again by a row of the same size. New places
come after the last. Pages that are freed are overwritten (``secure_delete``).

New pages go to a write-ahead log, which is forced to disk by each commit (``synchronous=FULL``).
An edit that erases then forces log and file and empties the log, so that no older page is left.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from gramian.files import StrPath
from gramian.store._errors import StoreBusyError, StoreError

APPLICATION = 0x4752414D  # "GRAM"
FORMAT = 1
MAGIC = b"SQLite format 3\0"
WAIT = 10.0
"""Seconds to wait for processes that are reading."""

_SCHEMA = (
    "CREATE TABLE meta (one INTEGER PRIMARY KEY, id_key BLOB)",
    "CREATE TABLE settings (one INTEGER PRIMARY KEY, salt BLOB, content BLOB)",
    "CREATE TABLE rows (place INTEGER PRIMARY KEY, content BLOB)",
    "CREATE TABLE receipts (number INTEGER PRIMARY KEY, content BLOB)",
    "CREATE TABLE snapshot (one INTEGER PRIMARY KEY, checksum BLOB, content BLOB)",
)
_PRAGMAS = (
    "secure_delete=ON",
    "synchronous=FULL",
    "temp_store=MEMORY",
    "trusted_schema=OFF",
    "cell_size_check=ON",
)

on_reaching: Callable[[str], None] | None = None
"""Called with the name of each step of an edit; for tests that stop the process there."""


def reach(step: str) -> None:
    """A step of an edit is reached."""
    if on_reaching is not None:
        on_reaching(step)


class Contents(NamedTuple):
    """All of a store, as bytes."""

    id_key: bytes
    settings: tuple[bytes, bytes]
    """Salt and content."""

    rows: dict[int, bytes]
    """By place; zeros where a place is free."""

    receipts: list[bytes]
    snapshot: tuple[bytes, bytes] | None
    """Checksum and content."""


def is_database(path: StrPath) -> bool:
    """Whether the file begins as those of SQLite do."""
    with open(path, "rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


@contextmanager
def told(path: StrPath) -> Iterator[None]:
    """Turns errors of SQLite into those of a store."""
    try:
        yield
    except sqlite3.Error as error:
        text = str(error)
        if "locked" in text or "busy" in text:
            raise StoreBusyError(
                f"{os.fspath(path)} is being read by another process, for more than {WAIT:g} s. "
                f"Nothing was changed. Try again when that is done."
            ) from error
        if isinstance(error, sqlite3.OperationalError):
            raise StoreError(
                f"{os.fspath(path)} cannot be read or written: {text}. Nothing was changed. See "
                f"that the disk has room and that its folder can be written to."
            ) from error
        raise StoreError(f"{os.fspath(path)} is damaged or no store: {text}.") from error
    except (UnicodeDecodeError, OverflowError) as error:  # in names that SQLite reads or reports
        raise StoreError(f"{os.fspath(path)} is damaged: {error}.") from error


def write_new(path: StrPath, contents: Contents, mode: int = 0o600) -> None:
    """Write a new file; what a crash leaves is for the caller to remove."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    os.close(descriptor)
    with told(path), closing(_connect(path, "rw")) as connection:
        connection.execute("PRAGMA journal_mode=MEMORY")
        connection.execute(f"PRAGMA application_id={APPLICATION}")
        connection.execute(f"PRAGMA user_version={FORMAT}")
        connection.execute("BEGIN")
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute("INSERT INTO meta VALUES (1, ?)", (contents.id_key,))
        connection.execute("INSERT INTO settings VALUES (1, ?, ?)", contents.settings)
        connection.executemany("INSERT INTO rows VALUES (?, ?)", sorted(contents.rows.items()))
        numbered = enumerate(contents.receipts)
        connection.executemany("INSERT INTO receipts VALUES (?, ?)", numbered)
        if contents.snapshot is not None:
            connection.execute("INSERT INTO snapshot VALUES (1, ?, ?)", contents.snapshot)
        connection.execute("COMMIT")


def read_all(path: StrPath, *, check: bool = False) -> tuple[Contents, list[str]]:
    """Everything, as of one moment; with ``check``, what SQLite finds wrong with the file."""
    with told(path), closing(_reader(path)) as connection:
        connection.execute("BEGIN")
        _check_kind(connection, path)
        wrong = [row[0] for row in connection.execute("PRAGMA integrity_check")] if check else []
        contents = _read(connection, path)
        connection.execute("COMMIT")
    return contents, [text for text in wrong if text != "ok"]


class Database:
    """A connection that writes; one at a time, by one thread at a time."""

    def __init__(self, path: StrPath) -> None:
        self.path = path
        if not os.access(path, os.W_OK):
            raise StoreError(
                f"{os.fspath(path)} cannot be written to: {os.strerror(errno.EACCES)}. Open it "
                f"with readonly=True."
            )
        with told(path):
            self._connection = _connect(path, "rw", threads=True)
            self._run("PRAGMA journal_mode=WAL")
            self._empty_log()  # what a killed process left

    @contextmanager
    def transaction(self, *, erases: bool = False) -> Iterator[None]:
        """On disk at the end of the block, or undone if it raises.

        Parameters
        ----------
        erases : bool
            Whether what the block overwrites must be gone from the disk, too. If another process
            reads for too long, it is not yet; the edit is on disk, and StoreBusyError is raised.
        """
        with told(self.path):
            # Emptying the log forces it to disk first: a commit need not do that, too.
            self._run(f"PRAGMA synchronous={'NORMAL' if erases else 'FULL'}")
            self._run("BEGIN IMMEDIATE")
            try:
                yield
                reach("commit")
                self._run("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._run("ROLLBACK")
                raise
            reach("committed")
            if erases:
                self._empty_log()
                reach("erased")

    def row(self, place: int) -> bytes:
        """The bytes at a place."""
        with told(self.path):
            found = self._run("SELECT content FROM rows WHERE place = ?", place).fetchone()
        if found is None:
            raise StoreError(f"{os.fspath(self.path)} is damaged: it has no row {place}.")
        return bytes(found[0])

    def put(self, place: int, content: bytes, *, new: bool) -> None:
        """Write a row to a new place after all others, or to a free one of its size."""
        if new:
            self._run("INSERT INTO rows VALUES (?, ?)", place, content)
        else:
            self._run("UPDATE rows SET content = ? WHERE place = ?", content, place)
        reach("row")

    def wipe(self, place: int, size: int) -> None:
        """Overwrite a row by zeros."""
        self._run("UPDATE rows SET content = zeroblob(?) WHERE place = ?", size, place)
        reach("row")

    def add_receipt(self, number: int, content: bytes) -> None:
        """Write a receipt; the snapshot is older than this edit and goes."""
        self._run("INSERT INTO receipts VALUES (?, ?)", number, content)
        reach("receipt")
        self._run("DELETE FROM snapshot")

    def set_settings(self, salt: bytes, content: bytes) -> None:
        """Replace the settings."""
        self._run("UPDATE settings SET salt = ?, content = ?", salt, content)
        reach("settings")

    def set_snapshot(self, checksum: bytes, content: bytes) -> None:
        """Replace the snapshot."""
        self._run("DELETE FROM snapshot")
        self._run("INSERT INTO snapshot VALUES (1, ?, ?)", checksum, content)

    def close(self) -> None:
        """End the connection; the log goes, unless another process has the file open."""
        with told(self.path), closing(self._connection):
            self._empty_log()
            with suppress(sqlite3.OperationalError):  # then the log stays, and is empty
                self._run("PRAGMA busy_timeout=0")
                self._run("PRAGMA journal_mode=DELETE")

    def _empty_log(self) -> None:
        """Bring everything into the file itself, and leave nothing in the log."""
        busy, *_ = self._run("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            self._sync_log()
            raise StoreBusyError(
                f"{os.fspath(self.path)} is being read by another process, for more than "
                f"{WAIT:g} s. The last edit is made and on disk, but what it erases is still in "
                f"{os.fspath(self.path)}-wal: the next edit, or closing the store, removes it."
            )

    def _sync_log(self) -> None:
        descriptor = os.open(f"{os.fspath(self.path)}-wal", os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _run(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return self._connection.execute(statement, values)


def file_mode(path: StrPath) -> int:
    """Permissions of a file."""
    return stat.S_IMODE(os.stat(path).st_mode)


def _connect(path: StrPath, mode: str, *, threads: bool = False) -> sqlite3.Connection:
    where = f"{Path(os.path.realpath(path)).as_uri()}?mode={mode}"
    connection = sqlite3.connect(
        where, timeout=WAIT, isolation_level=None, uri=True, check_same_thread=not threads
    )
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _reader(path: StrPath) -> sqlite3.Connection:
    """May undo what a killed process left unfinished, where the file can be written to."""
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
    writable = os.access(path, os.W_OK) and os.access(Path(path).absolute().parent, os.W_OK)
    connection = _connect(path, "rw" if writable else "ro")
    connection.execute("PRAGMA query_only=ON")
    return connection


def _check_kind(connection: sqlite3.Connection, path: StrPath) -> None:
    """Raise StoreError unless the file has our tables and nothing else that could run."""
    ((application,),) = connection.execute("PRAGMA application_id")
    ((format_,),) = connection.execute("PRAGMA user_version")
    if application != APPLICATION:
        raise StoreError(f"{os.fspath(path)} is a database, but no store of gramian.")
    if format_ != FORMAT:
        raise StoreError(
            f"{os.fspath(path)} has format {format_}; this gramian reads format {FORMAT}. Install "
            f"a newer one."
        )
    found = tuple(sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema"))
    if found != _SCHEMA:
        raise StoreError(f"{os.fspath(path)} is damaged: its tables are not those of a store.")


def _read(connection: sqlite3.Connection, path: StrPath) -> Contents:
    try:
        ((id_key,),) = connection.execute("SELECT id_key FROM meta")
        (settings,) = connection.execute("SELECT salt, content FROM settings")
        rows = dict(connection.execute("SELECT place, content FROM rows"))
        numbered = connection.execute("SELECT number, content FROM receipts").fetchall()
        snapshot = connection.execute("SELECT checksum, content FROM snapshot").fetchone()
    except ValueError as error:
        raise StoreError(f"{os.fspath(path)} is damaged: {error}.") from error
    values = (*rows.values(), *(content for _, content in numbered), *(snapshot or ()))
    _check_bytes(path, (id_key, *settings, *values))
    if [number for number, _ in numbered] != list(range(len(numbered))) or not numbered:
        raise StoreError(f"{os.fspath(path)} is damaged: receipts are missing.")
    receipts = [content for _, content in numbered]
    return Contents(id_key, settings, rows, receipts, snapshot)


def _check_bytes(path: StrPath, values: Iterable[Any]) -> None:
    if not all(isinstance(value, bytes) for value in values):
        raise StoreError(f"{os.fspath(path)} is damaged: it has another type of value.")
