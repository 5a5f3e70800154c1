"""What the process that writes knows of the file: where rows are, and what the next edit needs."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from gramian.files import ModelFileError, StrPath
from gramian.files.parts import Held, Parts, canonical_json, read_values
from gramian.store._commitment import Commitment
from gramian.store._database import Contents
from gramian.store._errors import StoreError
from gramian.store._receipts import StoreReceipt
from gramian.store._rows import Row, held_from, is_free, unpack


@dataclass
class Book:
    """Places of rows by id, free places by size, and the last receipt that is on disk.

    An edit changes the book as it goes. If it fails, the book is made anew from the file.
    """

    id_key: bytes
    settings_digest: str
    last: StoreReceipt
    places: dict[int | str, tuple[int, int]] = field(default_factory=dict)
    free: dict[int, list[int]] = field(default_factory=dict)
    end: int = 0
    arrival: int = 0
    commitment: Commitment = field(default_factory=Commitment)

    def take(self, size: int) -> tuple[int, bool]:
        """A place for a row of so many bytes, and whether it is a new one."""
        if self.free.get(size):
            return self.free[size].pop(), False
        self.end += 1
        return self.end - 1, True

    def note(self, place: int, content: bytes, row: Row) -> None:
        """A row has come."""
        self.places[row.id] = place, len(content)
        self.arrival = max(self.arrival, row.arrival + 1)
        self.commitment.add(content)

    def drop(self, name: int | str, content: bytes) -> tuple[int, int]:
        """A row has gone; returns its place and size, which are free."""
        place, size = self.places.pop(name)
        self.free.setdefault(size, []).append(place)
        self.commitment.remove(content)
        return place, size


@dataclass(frozen=True)
class Opened:
    """A store as it was read, checked against its last receipt."""

    book: Book
    receipts: list[StoreReceipt]
    parts: Parts
    holdings: Held
    known: dict[str, Any] | None
    """The snapshot, if there is one of this version."""

    def model(self) -> Any:
        """The model that the rows and settings are."""
        return self.parts.model(self.holdings, self.book.last.next_id, self.known)


def open_contents(contents: Contents, path: StrPath) -> Opened:
    """Everything in its form; raises StoreError at whatever the last receipt does not say."""
    try:
        receipts = [StoreReceipt.read(content) for content in contents.receipts]
        book, rows = read_rows(contents, receipts[-1])
        if book.commitment.digest() != book.last.commitment:
            raise ValueError("its rows are not those of the last receipt")
        if book.settings_digest != book.last.settings:
            raise ValueError("its settings are not those of the last receipt")
        parts = Parts(contents.settings[1])
        holdings = held_from(rows, parts)
        known = read_snapshot(contents, book.last)
    except (ValueError, TypeError, KeyError) as error:
        raise StoreError(
            f"{os.fspath(path)} is damaged: {error}. `gramian audit` says more."
        ) from (error)
    return Opened(book, receipts, parts, holdings, known)


def read_rows(contents: Contents, last: StoreReceipt) -> tuple[Book, list[Row]]:
    """The rows in order of arrival, and where they are."""
    book = Book(contents.id_key, settings_digest(*contents.settings), last)
    rows = []
    for place, content in contents.rows.items():
        book.end = max(book.end, place + 1)
        if is_free(content):
            book.free.setdefault(len(content), []).append(place)
            continue
        row = unpack(content)
        if row.id in book.places:
            raise ValueError("two rows have one id")
        book.note(place, content, row)
        rows.append(row)
    return book, sorted(rows, key=lambda row: row.arrival)


def read_snapshot(contents: Contents, last: StoreReceipt) -> dict[str, Any] | None:
    """What a snapshot of this version holds; None of any other."""
    if contents.snapshot is None:
        return None
    checksum, content = contents.snapshot
    if checksum != snapshot_checksum(content, last):
        return None
    try:
        return read_values(content)
    except ModelFileError:
        return None


def snapshot_checksum(content: bytes, last: StoreReceipt) -> bytes:
    """SHA-256 of a snapshot and of the receipt of its version."""
    return sha256(bytes.fromhex(last.hash) + content).digest()


def settings_digest(salt: bytes, content: bytes) -> str:
    """SHA-256 of the settings with their salt."""
    return sha256(salt + content).hexdigest()


def key_digest(id_key: bytes) -> str:
    """SHA-256 of the key of ids, with a word before it."""
    return sha256(canonical_json("gramian ids") + id_key).hexdigest()
