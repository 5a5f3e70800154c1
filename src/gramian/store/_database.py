"""What SQLite and PostgreSQL have in common: one set of tables, and the statements that write them.

Tables are written ``{0}.NAME`` and values ``%s``; each database reads that in its own way.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Self

from gramian.store._backend import Backend, Lease
from gramian.store._errors import StoreError

_LOOK = 0.05  # seconds between two looks at a file, which sends no notices


class Database(Backend):
    """A store in tables, and what can be done with these whether or not they are encrypted."""

    remote = False
    """Whether it may be out of reach for a while, and come back."""

    _version: int | bytes
    """The version that the open transaction makes, as the table of rows has it."""

    @abstractmethod
    def _run(self, statement: str, *values: Any) -> Any:
        """Run a statement; returns its cursor."""

    @property
    def database(self) -> Self:
        return self

    @abstractmethod
    def twin(self) -> Database: ...

    @abstractmethod
    def receipts(self) -> list[bytes]:
        """The receipts alone."""

    @abstractmethod
    def begin(self) -> None:
        """Be ready to write, and finish what a process that was killed has left.

        Raises
        ------
        StoreBusyError
            If another process has the store, and only one can.
        """

    @abstractmethod
    def backup(self, path: str) -> None:
        """Write a copy as of one moment to a new file, while edits go on."""

    @abstractmethod
    def settle(self) -> None:
        """Make sure of what is on disk after a transaction failed; StoreError if that fails."""

    @abstractmethod
    def check_identity(self) -> None:
        """Raise StoreError if what is at the address is no longer what is being written to."""

    def compact(self) -> None:
        """Write everything anew, without free places."""
        raise StoreError(f"{self.address} needs no compacting: its database does that by itself.")

    def leases(self) -> list[Lease]:
        """The processes that answer for this store; none where there can be none."""
        return []

    def lease(self, name: str, version: int, seconds: float) -> int:
        """Take or renew a lease with the version that one answers with; returns the newest one."""
        raise StoreError(f"{self.address} is a file: processes that answer for it hold no leases.")

    def release(self, name: str) -> None:
        """End a lease; a file has none."""

    def cut_off(self) -> None:
        """End what other threads wait for; it fails for them, and connections are made anew.

        A file keeps nobody waiting.
        """

    def wait(self, seconds: float) -> None:
        """Wait until there may be an edit of another process, and at most so long."""
        time.sleep(min(seconds, _LOOK))

    @abstractmethod
    def keys(self, pages: Iterable[int] | None = None) -> dict[int, bytes]:
        """These pages of wrapped row keys, or all, as of now or as a transaction has them."""

    def check_turn(self) -> None:
        """Raise StoreError if the transaction that is open has ended without our doing.

        That of a file cannot: it has one writer.
        """

    def row(self, place: int) -> bytes:
        found = self._run("SELECT content FROM {0}.rows WHERE place = %s", place).fetchone()
        if found is None:
            raise StoreError(f"{self.address} is damaged: it has no row {place}.")
        return bytes(found[0])

    def put(self, place: int, content: bytes, *, new: bool) -> None:
        if new:
            statement = "INSERT INTO {0}.rows (version, content, place) VALUES (%s, %s, %s)"
        else:
            statement = "UPDATE {0}.rows SET version = %s, content = %s WHERE place = %s"
        self._run(statement, self._version, content, place)

    def wipe(self, place: int, size: int) -> None:
        self.put(place, bytes(size), new=False)

    def add_receipt(self, number: int, content: bytes, sums: bytes) -> None:
        self._run("INSERT INTO {0}.receipts VALUES (%s, %s)", number, content)
        self._run("UPDATE {0}.meta SET sums = %s", sums)
        self._delete_snapshot()

    def set_settings(self, salt: bytes, content: bytes) -> None:
        self._run("UPDATE {0}.settings SET salt = %s, content = %s", salt, content)

    def set_snapshot(self, checksum: bytes, content: bytes) -> None:
        self._delete_snapshot()
        self._run("INSERT INTO {0}.snapshot VALUES (1, %s, %s)", checksum, content)

    def _delete_snapshot(self) -> None:
        # Without WHERE, SQLite writes a page also where there is none.
        self._run("DELETE FROM {0}.snapshot WHERE one = 1")

    def set_keys(self, page: int, content: bytes) -> None:
        """Replace a page of wrapped row keys; without content, it goes."""
        if not content:
            self._run("DELETE FROM {0}.keys WHERE page = %s", page)
            return
        statement = """
            INSERT INTO {0}.keys VALUES (%s, %s)
            ON CONFLICT (page) DO UPDATE SET content = excluded.content
        """
        self._run(statement, page, content)
