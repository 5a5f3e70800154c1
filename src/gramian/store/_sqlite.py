"""A store in an SQLite file: places for rows that are overwritten, never moved or deleted.

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
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from gramian.files import FileInUseError, StrPath, locked, remove_leftovers, sync_folder
from gramian.store._backend import Changes, Contents
from gramian.store._database import Database
from gramian.store._errors import StoreBusyError, StoreError, StoreReplacedError
from gramian.store._sqlite_tables import (
    WAIT,
    as_blob,
    check_bytes,
    check_kind,
    connect,
    read_contents,
    reader,
    translated,
    write_new,
)

_writers: set[str] = set()  # files that this process writes to


class SQLiteFile(Database):
    """A store in a file. One process at a time can write to it; any number can read."""

    def __init__(self, path: StrPath, *, wait: float | None = None) -> None:
        self.address = self.path = os.path.abspath(path)
        self._wait, self._lock = wait, ExitStack()
        self._connection: sqlite3.Connection | None = None
        self._inode: os.stat_result | None = None
        self._uncleared = False  # whether the log may hold what was erased
        self._doubtful = False  # whether it may hold a commit that failed
        self._version = b""

    # -- files ----------------------------------------------------------------------------------

    def create(self, contents: Contents) -> None:
        self._lock_for_writing()
        if os.path.lexists(self.path):
            raise StoreError(f"{self.path} is there already; a new store needs a name.")
        self._write_whole(contents)

    def begin(self) -> None:
        if self._connection is not None:
            return
        self._lock_for_writing()
        if not os.access(self.path, os.W_OK):
            raise StoreError(
                f"{self.path} cannot be written to: {os.strerror(errno.EACCES)}. Open it with "
                f"readonly=True."
            )
        self._inode = os.stat(self.path)
        self.check_identity()
        with translated(self.path):
            self._connection = connect(self.path, "rw", threads=True)
            self._run("PRAGMA journal_mode=WAL")
            self._empty_log()  # what a killed process left

    def compact(self) -> None:
        """Replace the file; a process that reads the old one at that moment finishes with it."""
        self.check_identity()
        contents, _ = self.read()
        taken = [content for content in contents.rows.values() if any(content)]
        self._disconnect()
        if os.path.exists(f"{self.path}-wal"):
            raise StoreBusyError(
                f"{self.path} is open in another process, which would lose sight of a new file. "
                f"Nothing was changed. Try again when that is done."
            )
        self._write_whole(replace(contents, rows=dict(enumerate(taken))))

    def backup(self, path: str) -> None:
        if os.path.lexists(path):
            raise StoreError(f"{path} is there already; a backup needs a name of its own.")
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            with (
                translated(self.path),
                closing(reader(self.path)) as source,
                closing(connect(path, "rw")) as target,
            ):
                target.execute("PRAGMA journal_mode=MEMORY")
                source.backup(target)
                target.execute("PRAGMA journal_mode=DELETE")
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(path)
            raise
        _sync(path)
        sync_folder(Path(os.path.abspath(path)).parent)

    def close(self) -> None:
        try:
            self._disconnect()
        finally:
            self._lock.close()

    def check_identity(self) -> None:
        """One name and one file: edits of another would be lost, or go to a file without a name."""
        if self._inode is None:
            return
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            raise StoreReplacedError(
                f"{self.path} was deleted while the store was open. Nothing is written to it any "
                f"more; bring the file back, and open it anew."
            ) from None
        if not os.path.samestat(found, self._inode):
            raise StoreReplacedError(
                f"{self.path} was replaced by another file while the store was open. Nothing is "
                f"written to either; open it anew, and look at its version."
            )
        if found.st_nlink > 1:
            raise StoreReplacedError(
                f"{self.path} has {found.st_nlink} names (hard links): what is edited or compacted "
                f"by one would be lost or kept by another. Remove all but one."
            )

    # -- reading --------------------------------------------------------------------------------

    def read(self, *, check: bool = False) -> tuple[Contents, list[str]]:
        with self._reading() as connection:
            wrong: list[str] = []
            if check:
                wrong = [row[0] for row in connection.execute("PRAGMA integrity_check")]
            contents = read_contents(connection, self.path)
        return contents, [text for text in wrong if text != "ok"]

    def receipts(self) -> list[bytes]:
        with self._reading() as connection:
            found = connection.execute("SELECT content FROM receipts ORDER BY number")
            return [content for (content,) in found]

    def changes(self, since: int) -> Changes:
        with self._reading() as connection:
            query = "SELECT content FROM receipts WHERE number > ? ORDER BY number"
            receipts = [content for (content,) in connection.execute(query, (since,))]
            moved = "SELECT place, content FROM rows WHERE version > ?"
            rows = dict(connection.execute(moved, (as_blob(since),)))
            ((sums,),) = connection.execute("SELECT sums FROM meta")
        check_bytes(self.path, (*receipts, *rows.values(), sums))
        return Changes(receipts, rows, sums)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one moment of the file."""
        with translated(self.path), closing(reader(self.path)) as connection:
            connection.execute("BEGIN")
            check_kind(connection, self.path)
            yield connection

    # -- writing --------------------------------------------------------------------------------

    @contextmanager
    def transaction(self, *, erases: bool = False) -> Iterator[int]:
        """See `Backend`.

        If another process reads for too long, nothing is erased yet: the edit is on disk, and
        StoreBusyError is raised. The next edit of any kind erases, or closing the store.
        """
        with translated(self.path):
            # Emptying the log forces it to disk first: a commit need not do that, too.
            self._run(f"PRAGMA synchronous={'NORMAL' if erases else 'FULL'}")
            try:
                self._run("BEGIN IMMEDIATE")
                ((version,),) = self._run("SELECT max(number) FROM receipts")
                self._version = as_blob(version + 1)
                yield version
                self.check_identity()
                self._uncleared |= erases
                self._commit()
            except BaseException:
                if self._connection is not None and self._connection.in_transaction:
                    self._run("ROLLBACK")
                raise
            self.check_identity()
            if self._uncleared:
                self._empty_log()

    def twin(self) -> SQLiteFile:
        return SQLiteFile(self.path)

    def settle(self) -> None:
        """Empty the log, in which a commit that failed may have left its pages."""
        if self._doubtful and self._connection is not None:
            with translated(self.path):
                self._empty_log()

    def keys(self, pages: Iterable[int] | None = None) -> dict[int, bytes]:
        statement = "SELECT page, content FROM keys"
        if self._connection is not None:
            found = dict(self._run(statement))
        else:
            with self._reading() as connection:
                found = dict(connection.execute(statement))
        return found if pages is None else {page: found[page] for page in pages if page in found}

    # -- inside ---------------------------------------------------------------------------------

    def _lock_for_writing(self) -> None:
        """Be the only one who writes, and remove copies that a killed process left unfinished."""
        target = os.path.realpath(self.path)
        if target in _writers:
            if self._inode is not None:
                return
            raise StoreBusyError(f"{self.path} is open for writing in this process already.")
        try:
            self._lock.enter_context(locked(target, wait=self._wait))
        except FileInUseError as error:
            raise StoreBusyError(str(error)) from error
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be written to: its folder takes no lock ({error}). Open it "
                f"with readonly=True."
            ) from error
        _writers.add(target)
        self._lock.callback(_writers.discard, target)
        folder, name = os.path.split(target)
        for left in Path(folder).glob(f"{_unfinished(name)}*"):
            left.unlink()
        remove_leftovers(Path(folder))
        self._inode = os.stat(target) if os.path.exists(target) else None

    def _write_whole(self, contents: Contents) -> None:
        """Write a file, and give it its name when it is on disk; replaces one that is there."""
        target = Path(os.path.realpath(self.path))
        temporary = target.with_name(f"{_unfinished(target.name)}{os.urandom(8).hex()}")
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
        try:
            write_new(temporary, contents, mode)
            os.replace(temporary, target)
        except BaseException:
            with suppress(FileNotFoundError):
                temporary.unlink()
            raise
        sync_folder(target.parent)
        self._inode = os.stat(target)

    def _disconnect(self) -> None:
        """End the connection; the log goes, unless another process has the file open."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        with translated(self.path), closing(connection):
            self._empty_log(connection)
            with suppress(sqlite3.OperationalError):  # then the log stays, and is empty
                connection.execute("PRAGMA busy_timeout=0")
                connection.execute("PRAGMA journal_mode=DELETE")

    def _commit(self) -> None:
        try:
            self._run("COMMIT")
        except BaseException:
            self._doubtful = self._uncleared = True
            raise

    def _empty_log(self, connection: sqlite3.Connection | None = None) -> None:
        """Bring everything into the file itself, and leave nothing in the log."""
        self._uncleared = True
        run = (connection or self._connected()).execute
        busy, *_ = run("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            _sync(f"{self.path}-wal")
            raise StoreBusyError(
                f"{self.path} is being read by another process, for more than {WAIT:g} s, so that "
                f"what was erased is still in {self.path}-wal: the next edit, or closing the "
                f"store, removes it."
            )
        self._uncleared = self._doubtful = False

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"the store {self.path} could not be opened again; open it anew.")
        return self._connection

    def _run(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return self._connected().execute(_in_sqlite(statement), values)


@cache
def _in_sqlite(statement: str) -> str:
    """A statement of `Database` as SQLite reads it."""
    return statement.replace("{0}.", "").replace("%s", "?")


def _unfinished(name: str) -> str:
    """How the names of files begin that are to replace the one of this name."""
    return f".{name}.gramian-"


def _sync(path: StrPath) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
