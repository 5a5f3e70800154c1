"""What a store reads and writes: one interface, of the databases and of the seal over them.

Rows have places. A backend keeps for each the number of the receipt that changed it last, so that
others can follow. Edits are transactions: on disk as a whole when the block ends, or not at all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gramian.store._database import Database

Settings = tuple[bytes, bytes]
"""Salt and content."""

Snapshot = tuple[bytes, bytes]
"""Checksum and content."""


@dataclass(frozen=True)
class Contents:
    """All of a store, as bytes, as of one moment."""

    id_key: bytes
    settings: Settings
    rows: dict[int, bytes]
    """By place; zeros or nothing where a place is free."""

    receipts: list[bytes]
    snapshot: Snapshot | None
    sums: bytes
    """Of the commitment to the rows."""

    keys: dict[int, bytes] = field(default_factory=dict)
    """Pages of wrapped row keys; none in a store without a keyring."""

    erased: int | None = None
    """In a copy from before an erasure: how many of its rows have no key any more."""


@dataclass(frozen=True)
class Changes:
    """What has changed in a store since a version."""

    receipts: list[bytes]
    rows: dict[int, bytes]
    sums: bytes


@dataclass(frozen=True)
class Lease:
    """A process that answers for a store, and how far it has come."""

    name: str
    version: int
    seconds: float
    """Until the lease ends; negative if it has."""


class Backend(ABC):
    """Keeps the contents of a store. One thread at a time may use it."""

    address: str
    epoch: int | None = None
    """Of the keyring; None without one."""

    @property
    @abstractmethod
    def database(self) -> Database:
        """The tables: those of this backend, or of the one that it encrypts for."""

    @abstractmethod
    def create(self, contents: Contents) -> None:
        """Write a new store, whole or not at all; StoreError if there is one."""

    @abstractmethod
    def read(self, *, check: bool = False) -> tuple[Contents, list[str]]:
        """Everything, as of one moment; with ``check``, what the database finds wrong in itself."""

    @abstractmethod
    def changes(self, since: int) -> Changes:
        """The receipts after this version, and the places that they changed."""

    @abstractmethod
    def transaction(self, *, erases: bool = False) -> AbstractContextManager[int]:
        """Context manager of an edit; it gives the version that the edit goes on from.

        Parameters
        ----------
        erases : bool
            Whether what the block overwrites must be gone from the disk at the end, too.
        """

    @abstractmethod
    def row(self, place: int) -> bytes:
        """The bytes at a place."""

    @abstractmethod
    def put(self, place: int, content: bytes, *, new: bool) -> None:
        """Write a row to a new place after all others, or to a free one of its size."""

    @abstractmethod
    def wipe(self, place: int, size: int) -> None:
        """Overwrite a row."""

    @abstractmethod
    def add_receipt(self, number: int, content: bytes, sums: bytes) -> None:
        """Write a receipt, and the sums that it commits to; the snapshot is older and goes."""

    @abstractmethod
    def set_settings(self, salt: bytes, content: bytes) -> None:
        """Replace the settings."""

    @abstractmethod
    def set_snapshot(self, checksum: bytes, content: bytes) -> None:
        """Replace the snapshot, in a transaction."""

    @abstractmethod
    def close(self) -> None:
        """End all connections, and let others write."""

    @abstractmethod
    def twin(self) -> Backend:
        """Another connection to the same store, for another thread; to be closed."""
