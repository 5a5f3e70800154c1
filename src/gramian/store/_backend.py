"""What a store needs of the place that keeps it: one interface, two backends and a seal.

Rows have places. A backend keeps for each the number of the receipt that changed it last, so that
others can follow. Edits are transactions: on disk as a whole when the block ends, or not at all.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from gramian.store._errors import StoreError

_LOOK = 0.05  # seconds between two looks at a file, which sends no notices

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
    remote = False
    """Whether it may be out of reach for a while, and come back."""

    epoch: int | None = None
    """Of the keyring; None without one."""

    @abstractmethod
    def create(self, contents: Contents) -> None:
        """Write a new store, whole or not at all; StoreError if there is one."""

    @abstractmethod
    def read(self, *, check: bool = False) -> tuple[Contents, list[str]]:
        """Everything, as of one moment; with ``check``, what the database finds wrong in itself."""

    @abstractmethod
    def receipts(self) -> list[bytes]:
        """The receipts alone."""

    @abstractmethod
    def changes(self, since: int) -> Changes:
        """The receipts after this version, and the places that they changed."""

    @abstractmethod
    def begin(self) -> None:
        """Be ready to write, and finish what a process that was killed has left.

        Raises
        ------
        StoreBusyError
            If another process has the store, and only one can.
        """

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
    def backup(self, path: str) -> None:
        """Write a copy as of one moment to a new file, while edits go on."""

    @abstractmethod
    def close(self) -> None:
        """End all connections, and let others write."""

    @abstractmethod
    def twin(self) -> Backend:
        """Another connection to the same store, for another thread; to be closed."""

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

    def release(self, name: str) -> None:  # noqa: B027 - a file has no leases
        """End a lease."""

    def cut_off(self) -> None:  # noqa: B027 - a file answers, or says that it cannot
        """End what other threads wait for; it fails for them, and connections are made anew."""

    def wait(self, seconds: float) -> None:
        """Wait until there may be an edit of another process, and at most so long."""
        time.sleep(min(seconds, _LOOK))
