"""What the process that writes knows of the store: where rows are, and what the next edit needs."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

from gramian.files import ModelFileError, Receipt
from gramian.files._chain import Tree
from gramian.files.parts import Held, Parts, canonical_json, read_values
from gramian.store._backend import Contents
from gramian.store._commitment import Commitment
from gramian.store._errors import StoreError
from gramian.store._rows import Row, held_from, is_free, unpack

Id = int | str


class Place(NamedTuple):
    """Where a row is, and how many bytes it has."""

    number: int
    size: int


@dataclass
class RowIndex:
    """Places of rows by id, free places by size, and the last receipt that is on disk.

    An edit changes the index as it goes. If it fails, the index is made anew from the file.
    """

    id_key: bytes
    settings_digest: str
    last: Receipt
    tree: Tree
    places: dict[Id, Place] = field(default_factory=dict)
    withheld: dict[Id, str] = field(default_factory=dict)
    """Times when rows that are out of the model are due to be erased."""

    ids: dict[int, Id] = field(default_factory=dict)
    """By place."""

    free: dict[int, set[int]] = field(default_factory=dict)
    end: int = 0
    arrival: int = 0
    commitment: Commitment = field(default_factory=Commitment)

    def take(self, size: int) -> tuple[int, bool]:
        """A place for a row of so many bytes, and whether it is a new one."""
        if self.free.get(size):
            return self.free[size].pop(), False
        self.end += 1
        return self.end - 1, True

    def add(self, place: int, content: bytes, row: Row) -> None:
        """A row has come to a place."""
        for places in self.free.values():
            places.discard(place)
        self.places[row.id], self.ids[place] = Place(place, len(content)), row.id
        self.end, self.arrival = max(self.end, place + 1), max(self.arrival, row.arrival + 1)
        if row.due is not None:
            self.withheld[row.id] = row.due

    def drop(self, name: Id) -> Place:
        """A row has gone; its place is free."""
        place = self.places.pop(name)
        self.withheld.pop(name, None)
        del self.ids[place.number]
        self.free.setdefault(place.size, set()).add(place.number)
        return place

    def leave(self, changed: Iterable[int]) -> list[Id]:
        """What was in these places has left; returns the rows that were not withheld.

        All leave before any arrives: a row may have moved to the place of another.
        """
        names = [self.ids[place] for place in changed if place in self.ids]
        held = [name for name in names if name not in self.withheld]
        for name in names:
            self.drop(name)
        return held

    def arrive(self, changed: dict[int, bytes]) -> list[Row]:
        """What others have put into places; returns the rows in order of arrival."""
        rows = []
        for place, content in changed.items():
            self.end = max(self.end, place + 1)
            if not is_free(content):
                rows.append(unpack(content))
                self.add(place, content, rows[-1])
        return sorted(rows, key=lambda row: row.arrival)


@dataclass(frozen=True)
class Opened:
    """A store as it was read, checked against its last receipt."""

    index: RowIndex
    parts: Parts
    held: Held
    known: dict[str, Any] | None
    """The snapshot, if there is one of this version."""

    def model(self) -> Any:
        """The model that the rows and settings are, with what the snapshot has if that fits."""
        next_id = self.index.last.next_id or 0
        if self.known is not None:
            try:
                return self.parts.model(self.held, next_id, self.known)
            except ModelFileError:  # what the rows can rebuild is no reason to refuse them
                pass
        return self.parts.model(self.held, next_id)


def open_contents(contents: Contents, address: str) -> Opened:
    """The contents decoded; StoreError where they are not as the last receipt has them."""
    try:
        receipts = read_receipts(contents)
        index, rows = read_rows(contents, receipts)
        if index.commitment.digest() != index.last.commitment:
            raise ValueError("its rows are not those of the last receipt")
        if index.settings_digest != index.last.settings:
            raise ValueError("its settings are not those of the last receipt")
        parts = Parts(contents.settings[1])
        held = held_from(rows, parts)
        known = read_snapshot(contents, index.last)
    except (ValueError, TypeError, KeyError) as error:
        raise StoreError(f"{address} is damaged: {error}. `gramian audit` says more.") from error
    return Opened(index, parts, held, known)


def read_receipts(contents: Contents) -> list[Receipt]:
    """All receipts; ValueError if one cannot be read."""
    return [Receipt.read(content) for content in contents.receipts]


def read_rows(contents: Contents, receipts: list[Receipt]) -> tuple[RowIndex, list[Row]]:
    """Where rows are, and those of the model in order of arrival."""
    tree = Tree(receipt.hash for receipt in receipts)
    digest = settings_digest(*contents.settings)
    index, rows = RowIndex(contents.id_key, digest, receipts[-1], tree), []
    for place, content in contents.rows.items():
        index.end = max(index.end, place + 1)
        if is_free(content):
            index.free.setdefault(len(content), set()).add(place)
            continue
        row = unpack(content)
        if row.id in index.places:
            raise ValueError("two rows have one id")
        index.add(place, content, row)
        index.commitment.add(content)
        rows.append(row)
    held = (row for row in rows if row.due is None)
    return index, sorted(held, key=lambda row: row.arrival)


def read_snapshot(contents: Contents, last: Receipt) -> dict[str, Any] | None:
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


def snapshot_checksum(content: bytes, last: Receipt) -> bytes:
    """SHA-256 of a snapshot and of the receipt of its version."""
    return sha256(bytes.fromhex(last.hash) + content).digest()


def settings_digest(salt: bytes, content: bytes) -> str:
    """SHA-256 of the settings with their salt."""
    return sha256(salt + content).hexdigest()


def key_digest(id_key: bytes) -> str:
    """SHA-256 of the key of ids, with a word before it."""
    return sha256(canonical_json("gramian ids") + id_key).hexdigest()


def hashed_id(key: bytes, name: Id) -> str:
    """What stands for an id in receipts."""
    return hmac.digest(key, canonical_json(name), "sha256").hex()
