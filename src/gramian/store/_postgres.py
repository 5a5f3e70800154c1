"""A store on a PostgreSQL server: one schema, one transaction for rows, version and receipt.

Any number of processes may write: a transaction takes the store's advisory lock first, so that one
edits at a time, and it goes on from the version that it finds then. The number of its receipt is a
primary key: an edit that went on from an older version cannot be written.

What the server gets is ciphertext (`Sealed`), keyed hashes and receipts; values are sent apart from
the statements, so that no log of statements and no list of activities has them.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from socket import SHUT_RDWR, socket
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import errors

from gramian.store._backend import Changes, Contents, Lease
from gramian.store._database import Database
from gramian.store._errors import StoreBusyError, StoreError
from gramian.store._sqlite import SQLiteFile

FORMAT = 1
"""Version of the schema."""

WAIT = 10.0
"""Seconds to wait for a connection, and for others who edit."""

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,47}")
_LOCK = 0x4752414D << 32  # "GRAM": to which the number of the schema is added
_SCHEMA = """
CREATE TABLE {0}.meta (one int PRIMARY KEY, format int NOT NULL, id_key bytea NOT NULL,
                       sums bytea NOT NULL);
CREATE TABLE {0}.settings (one int PRIMARY KEY, salt bytea NOT NULL, content bytea NOT NULL);
CREATE TABLE {0}.rows (place bigint PRIMARY KEY, version bigint NOT NULL, content bytea NOT NULL);
CREATE INDEX rows_version ON {0}.rows (version);
CREATE TABLE {0}.receipts (number bigint PRIMARY KEY, content bytea NOT NULL);
CREATE TABLE {0}.snapshot (one int PRIMARY KEY, checksum bytea NOT NULL, content bytea NOT NULL);
CREATE TABLE {0}.keys (page bigint PRIMARY KEY, content bytea NOT NULL);
CREATE TABLE {0}.leases (name text PRIMARY KEY, version bigint NOT NULL,
                         ends timestamptz NOT NULL);
ALTER TABLE {0}.rows ALTER content SET STORAGE EXTERNAL;
ALTER TABLE {0}.keys ALTER content SET STORAGE EXTERNAL;
"""  # ciphertext cannot be compressed
_TABLES = {"meta", "settings", "rows", "receipts", "snapshot", "keys", "leases"}


class Postgres(Database):
    """A store in a schema of a database; ``postgresql://…#NAME``, by default ``gramian``."""

    remote = True

    def __init__(self, address: str, *, wait: float | None = None) -> None:
        parts = urlsplit(address)
        self._schema = parts.fragment or "gramian"
        if not _NAME.fullmatch(self._schema):
            raise StoreError(
                f"the name of a store's schema must be of small letters, digits and _, got "
                f"{self._schema!r}."
            )
        self._full, self._where = address, urlunsplit(parts._replace(fragment=""))
        shown = parts.netloc.rpartition("@")
        name = shown[0].partition(":")[0]
        netloc = f"{name}@{shown[2]}" if name else shown[2]
        self.address = urlunsplit(parts._replace(netloc=netloc, query=""))  # without a password
        self._wait = WAIT if wait is None else wait
        self._connection: psycopg.Connection[Any] | None = None
        self._listener: psycopg.Connection[Any] | None = None
        self._made: psycopg.Connection[Any] | None = None  # the last one, in use or not yet
        self._inside = False
        self._version = 0  # outside of an edit

    # -- life -----------------------------------------------------------------------------------

    def create(self, contents: Contents) -> None:
        with self._transacted():
            try:
                self._run("CREATE SCHEMA {0}")
            except errors.DuplicateSchema:
                raise StoreError(
                    f"{self.address} has a schema {self._schema} already; a new store needs one "
                    f"of its own: add #NAME to the address."
                ) from None
            for statement in filter(str.strip, _SCHEMA.split(";")):
                self._run(statement)
            self._fill(contents)

    def begin(self) -> None:
        self._check_kind()

    def close(self) -> None:
        for connection in (self._connection, self._listener):
            if connection is not None:
                connection.close()
        self._connection = self._listener = None

    def twin(self) -> Postgres:
        return Postgres(self._full, wait=self._wait)

    def settle(self) -> None:
        """Wait until the transaction that failed has ended at the server, one way or the other."""
        self._reconnect()
        with self._transacted():
            self._lock()

    def check_identity(self) -> None:
        """The server holds one database of a name."""

    def check_turn(self) -> None:
        self._run("SELECT 1")

    def backup(self, path: str) -> None:
        """A file like that of a store with a keyring, which it needs, too."""
        contents, _ = self.read()
        with closing(SQLiteFile(path)) as copy:
            copy.create(contents)

    # -- reading --------------------------------------------------------------------------------

    def read(self, *, check: bool = False) -> tuple[Contents, list[str]]:
        with self._transacted("ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            self._check_kind()
            meta = self._run("SELECT id_key, sums FROM {0}.meta").fetchone()
            settings = self._run("SELECT salt, content FROM {0}.settings").fetchone()
            rows = self._pairs("SELECT place, content FROM {0}.rows ORDER BY place")
            receipts = self._pairs("SELECT number, content FROM {0}.receipts ORDER BY number")
            snapshot = self._run("SELECT checksum, content FROM {0}.snapshot").fetchone()
            keys = self._pairs("SELECT page, content FROM {0}.keys ORDER BY page")
        if meta is None or settings is None or list(receipts) != list(range(len(receipts))):
            raise StoreError(f"{self.address} is damaged: a table lacks entries.")
        if not receipts:
            raise StoreError(f"{self.address} is damaged: receipts are missing.")
        contents = list(receipts.values())
        return Contents(meta[0], settings, rows, contents, snapshot, meta[1], keys), []

    def receipts(self) -> list[bytes]:
        return list(
            self._pairs("SELECT number, content FROM {0}.receipts ORDER BY number").values()
        )

    def changes(self, since: int) -> Changes:
        """One statement sees one moment, and costs one answer of the server."""
        statement = """
            SELECT 'receipt', number, content FROM {0}.receipts WHERE number > %s
            UNION ALL SELECT 'row', place, content FROM {0}.rows WHERE version > %s
            UNION ALL SELECT 'sums', one, sums FROM {0}.meta
        """
        found: dict[str, dict[int, bytes]] = {"receipt": {}, "row": {}, "sums": {}}
        for kind, number, content in self._run(statement, since, since):
            found[kind][number] = content
        if not found["sums"]:
            raise StoreError(f"{self.address} is damaged: a table lacks entries.")
        receipts = [content for _, content in sorted(found["receipt"].items())]
        return Changes(receipts, found["row"], *found["sums"].values())

    def keys(self, pages: Iterable[int] | None = None) -> dict[int, bytes]:
        if pages is None:
            return self._pairs("SELECT page, content FROM {0}.keys")
        return self._pairs("SELECT page, content FROM {0}.keys WHERE page = ANY(%s)", list(pages))

    # -- writing --------------------------------------------------------------------------------

    @contextmanager
    def transaction(self, *, erases: bool = False) -> Iterator[int]:
        try:
            with self._transacted():
                self._lock()
                version = self._newest()
                self._version = version + 1
                yield version
                self._run("SELECT pg_notify(%s, %s)", self._channel, str(self._version))
        finally:
            self._version = 0

    # -- others ---------------------------------------------------------------------------------

    def leases(self) -> list[Lease]:
        found = self._run(
            "SELECT name, version, extract(epoch FROM ends - clock_timestamp())::float8 "
            "FROM {0}.leases ORDER BY name"
        )
        return [Lease(name, version, seconds) for name, version, seconds in found]

    def lease(self, name: str, version: int, seconds: float) -> int:
        statement = """
            INSERT INTO {0}.leases VALUES (%s, %s, clock_timestamp() + make_interval(secs => %s))
            ON CONFLICT (name) DO UPDATE SET version = excluded.version, ends = excluded.ends
        """
        self._run(statement, name, version, float(seconds))
        return self._newest()  # read after the lease was written: a later edit sees it

    def release(self, name: str) -> None:
        self._run("DELETE FROM {0}.leases WHERE name = %s OR ends < clock_timestamp()", name)

    def wait(self, seconds: float) -> None:
        """Until there is a notice of an edit; if the connection is lost, a short time."""
        try:
            if self._listener is None or self._listener.closed:
                self._listener = self._connect()
                self._listener.execute(f'LISTEN "{self._channel}"'.encode())
                return  # something may have happened before
            for _ in self._listener.notifies(timeout=seconds, stop_after=1):
                pass
        except (psycopg.Error, StoreError):
            self._listener = None
            time.sleep(min(seconds, 0.1))

    def cut_off(self) -> None:
        """Shut the sockets: who reads from one sees its end, and a call that waits fails."""
        for connection in (self._connection, self._listener, self._made):
            if connection is not None and not connection.closed:
                with suppress(OSError), socket(fileno=os.dup(connection.fileno())) as line:
                    line.shutdown(SHUT_RDWR)

    # -- inside ---------------------------------------------------------------------------------

    @property
    def _channel(self) -> str:
        return f"gramian_{self._schema}"

    def _newest(self) -> int:
        """The last version that is on the server."""
        found = self._run("SELECT max(number) FROM {0}.receipts").fetchone()
        if found is None or found[0] is None:
            raise StoreError(f"{self.address} is damaged: receipts are missing.")
        return int(found[0])

    def _lock(self) -> None:
        self._run(f"SET LOCAL lock_timeout = {int(1000 * self._wait) or 1}")
        self._run(
            "SELECT pg_advisory_xact_lock(%s::bigint + to_regnamespace(%s)::oid::bigint)",
            _LOCK, self._schema,
        )  # fmt: skip
        self._run("SET LOCAL lock_timeout = 0")

    def _fill(self, contents: Contents) -> None:
        """Write everything to new tables."""
        version = len(contents.receipts) - 1
        meta = "INSERT INTO {0}.meta VALUES (1, %s, %s, %s)"
        self._run(meta, FORMAT, contents.id_key, contents.sums)
        self._run("INSERT INTO {0}.settings VALUES (1, %s, %s)", *contents.settings)
        rows = [(place, version, content) for place, content in sorted(contents.rows.items())]
        self._many("INSERT INTO {0}.rows VALUES (%s, %s, %s)", rows)
        self._many("INSERT INTO {0}.receipts VALUES (%s, %s)", list(enumerate(contents.receipts)))
        self._many("INSERT INTO {0}.keys VALUES (%s, %s)", sorted(contents.keys.items()))
        if contents.snapshot is not None:
            self._run("INSERT INTO {0}.snapshot VALUES (1, %s, %s)", *contents.snapshot)

    def _check_kind(self) -> None:
        """Raise StoreError unless the schema has our tables, in our version."""
        listed = self._run("SELECT tablename FROM pg_tables WHERE schemaname = %s", self._schema)
        found = {name for (name,) in listed}
        if not found:
            raise StoreError(f"there is no store at {self.address}: no schema {self._schema}.")
        if not found >= _TABLES:
            raise StoreError(
                f"{self.address} is no store of gramian, or damaged: its schema {self._schema} "
                f"lacks {', '.join(sorted(_TABLES - found))}."
            )
        seen = self._run("SELECT format FROM {0}.meta").fetchone()
        if seen is None or seen[0] != FORMAT:
            raise StoreError(
                f"{self.address} has format {seen and seen[0]}; this gramian reads format "
                f"{FORMAT}. Install a newer one."
            )

    @contextmanager
    def _transacted(self, mode: str = "") -> Iterator[None]:
        """A transaction of the server, or a part of the one that is open."""
        if self._inside:
            yield
            return
        self._run(f"BEGIN {mode}")
        self._inside = True
        try:
            yield
            self._commit()
        except BaseException:
            self._undo()
            raise
        finally:
            self._inside = False

    def _commit(self) -> None:
        self._run("COMMIT")

    def _undo(self) -> None:
        """End a transaction; the server does it when the connection is gone."""
        connection = self._connection
        if connection is None or connection.closed:
            return
        try:
            connection.execute(b"ROLLBACK")
        except psycopg.Error:
            connection.close()

    def _reconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = self._connect()

    def _connect(self) -> psycopg.Connection[Any]:
        with self._translated():
            connection = psycopg.connect(
                self._where,
                autocommit=True,
                connect_timeout=max(1, int(self._wait)),
                application_name="gramian",
                keepalives_idle=5,
                keepalives_interval=2,
                keepalives_count=3,
                tcp_user_timeout=10_000,
            )
            self._made = connection
            found = connection.execute(b"SHOW synchronous_commit").fetchone()
            if found is not None and found[0] in ("off", "local"):
                connection.execute(b"SET synchronous_commit = on")  # acknowledged means durable
            return connection

    def _run(self, statement: str, *values: Any) -> psycopg.Cursor[Any]:
        """The answer of the server; a connection that was lost since is made anew."""
        query = statement.replace("{0}", self._schema).encode()
        with self._translated():
            if not self._inside:
                try:
                    return self._connected().execute(query, values or None, binary=True)
                except psycopg.OperationalError:
                    if not self._connected().closed:
                        raise
                    self._reconnect()  # outside of a transaction, all statements may be repeated
            return self._connected().execute(query, values or None, binary=True)

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            self._reconnect()
        assert self._connection is not None
        return self._connection

    def _many(self, statement: str, rows: list[Any]) -> None:
        with self._translated(), self._connected().cursor() as cursor:
            cursor.executemany(statement.replace("{0}", self._schema).encode(), rows)

    def _pairs(self, statement: str, *values: Any) -> dict[int, bytes]:
        return dict(self._run(statement, *values).fetchall())

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turns errors of the server into those of a store."""
        try:
            yield
        except (errors.LockNotAvailable, errors.QueryCanceled) as error:
            raise StoreBusyError(
                f"{self.address} is being edited by another process, for more than "
                f"{self._wait:g} s."
            ) from error
        except (errors.UndefinedTable, errors.InvalidSchemaName) as error:
            raise StoreError(
                f"there is no store at {self.address}: no schema {self._schema}, or damaged."
            ) from error
        except errors.DuplicateSchema:
            raise
        except psycopg.OperationalError as error:
            raise StoreError(
                f"the server of {self.address} does not answer, or refuses: {_first_line(error)}."
            ) from error
        except psycopg.Error as error:
            raise StoreError(f"{self.address} refuses: {_first_line(error)}.") from error


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
