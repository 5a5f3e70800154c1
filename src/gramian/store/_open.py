"""The backend of an address: an SQLite file or a PostgreSQL server, with a keyring or without."""

from __future__ import annotations

import os
from typing import Any

from gramian.files import StrPath
from gramian.store._backend import Backend
from gramian.store._errors import StoreError
from gramian.store._keyring import FileKeyring, Keyring
from gramian.store._seal import Sealed
from gramian.store._sqlite import SQLiteFile
from gramian.store._sqlite_tables import is_database

SERVERS = ("postgresql://", "postgres://")


def is_address(address: StrPath) -> bool:
    """Whether this is the address of a server, and no path."""
    return os.fspath(address).startswith(SERVERS)


def is_store(address: StrPath) -> bool:
    """Whether this is the address of a server, or a file of the kind that stores are."""
    return is_address(address) or is_database(address)


def backend_of(address: StrPath, keyring: Any = None, wait: float | None = None) -> Backend:
    """The backend of an address; nothing is opened yet."""
    if is_address(address):
        try:
            from gramian.store._postgres import Postgres
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                'a store on a server needs psycopg: pip install "gramian[postgres]".'
            ) from error
        if keyring is None:
            raise StoreError(
                "a store on a server needs a keyring, so that rows, ids and labels reach the "
                "server encrypted: give keyring=FILE (on the command line --keyring FILE)."
            )
        return Sealed(Postgres(os.fspath(address), wait=wait), as_keyring(keyring))
    inner = SQLiteFile(address, wait=wait)
    return inner if keyring is None else Sealed(inner, as_keyring(keyring))


def as_keyring(keyring: Keyring | StrPath) -> Keyring:
    """A keyring as it is, or the one of a file."""
    return keyring if isinstance(keyring, Keyring) else FileKeyring(keyring)


def new_keyring(keyring: Keyring | StrPath | None) -> Keyring | None:
    """A keyring for a new store: as it is, or a new file."""
    if keyring is None or isinstance(keyring, Keyring):
        return keyring
    return FileKeyring.create(keyring)
