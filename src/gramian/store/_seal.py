"""Encryption between a store and its database, under keys that are destroyed with what is erased.

Every row is encrypted under a key of its own (AES-256-GCM); so are the settings, the snapshot and
the key of the ids. These keys are kept with them in pages, each encrypted under the epoch key,
which is in the keyring. An edit that erases drops the keys of what it erases, encrypts all pages
under a new epoch key, commits, and has the old key destroyed.

The keyring has the pages as of the start of its epoch, for copies that are older. Settings of such
a copy may hold something of what was erased since, and may have lost their key with it. So the
keyring has the settings, too, as of the start of its epoch, in a page of their own. They are
encrypted a second time by a key that follows from the key of the ids: a keyring alone opens
nothing, it takes a copy of the store besides.

    sealed:  serial number (8 bytes) | ciphertext and tag
    page:    epoch (8 bytes) | nonce (12) | ciphertext and tag of [serial number (8) | key (32)]*
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from gramian.store._backend import Backend, Changes, Contents
from gramian.store._database import Database
from gramian.store._errors import StoreError
from gramian.store._keyring import KEY, Keyring, Pages, read_keys

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

OVERHEAD = 8 + 16
"""Bytes that a sealed content has more."""

_PER_PAGE = 256
_SETTINGS = 2**63 - 1  # the page of the settings, in the keyring alone
_ATTEMPTS = 5
_ONCE = bytes(12)  # a row key encrypts one message: any nonce will do
_SNAPSHOT = 0  # serial number of every snapshot: who erases it need not know who wrote it


@dataclass
class _Edit:
    """What a transaction has changed so far."""

    pages: set[int] = field(default_factory=set)
    settings: bool = False
    receipts: int = 0


class Sealed(Backend):
    """A backend whose contents are encrypted under the keys of a keyring."""

    epoch: int

    def __init__(self, inner: Database, keyring: Keyring) -> None:
        self._inner, self._keyring, self.address = inner, keyring, inner.address
        self._aead, self._invalid = _cipher()
        self.epoch = 0
        self._keys: dict[int, bytes] = {}
        self._next = 1
        self._version = -1  # of the store when the keys were read
        self._settings = 0  # serial number of the present settings
        self._plain = self._id_key = b""  # the settings, and the key of the ids
        self._spare: bytes | None = None  # the settings that the keyring has for an old copy
        self._kept: set[int] = set()  # serial numbers of older settings, which backups may have
        self._edit = _Edit()

    @property
    def database(self) -> Database:
        return self._inner

    # -- life -----------------------------------------------------------------------------------

    def create(self, contents: Contents) -> None:
        self.epoch, self._keys, self._edit = max(self._keyring.keys()), {}, _Edit()
        rows = {place: self._seal(content) for place, content in contents.rows.items()}
        settings = b"", self._seal(b"".join(contents.settings))
        snapshot = contents.snapshot and (b"", self._seal(b"".join(contents.snapshot), _SNAPSHOT))
        id_key = self._seal(contents.id_key)
        pages = self._pages(self.epoch, self._keyring.keys()[self.epoch])
        receipts, sums = contents.receipts, contents.sums
        self._inner.create(Contents(id_key, settings, rows, receipts, snapshot, sums, pages))

    def close(self) -> None:
        self._inner.close()

    def twin(self) -> Sealed:
        return Sealed(self._inner.twin(), self._keyring)

    # -- reading --------------------------------------------------------------------------------

    def read(self, *, check: bool = False) -> tuple[Contents, list[str]]:
        """The contents in plain; StoreError if a page, the settings or the key of ids is closed.

        Of a copy from before an erasure, it returns what may still be opened; ``erased`` counts
        the rows that may not. Where its settings may not either, they are those of the keyring.
        """
        seen = -1
        for _ in range(_ATTEMPTS):
            stored, wrong = self._inner.read(check=check)
            old, before = self._load(stored.keys, len(stored.receipts) - 1), seen
            seen = epoch_of(stored.keys)
            if not old or seen == before:
                break  # else another process may have started a new epoch between the two reads
        opened = {place: self._opened(content) for place, content in stored.rows.items()}
        closed = [place for place, content in opened.items() if content is None]
        if closed and not old:
            self._must(None, f"row {closed[0]}")
        rows = {
            place: bytes(len(stored.rows[place]) - OVERHEAD) if content is None else content
            for place, content in opened.items()
        }
        id_key = self._must(self._opened(stored.id_key), "the key of its ids")
        opened_settings = self._opened(stored.settings[1])
        if opened_settings is None and old:
            opened_settings = self._spare_settings(id_key)
        settings = self._must(opened_settings, "its settings")
        self._plain, self._id_key = settings, id_key
        known = None if stored.snapshot is None else self._opened(stored.snapshot[1]) or b""
        snapshot = None if known is None else (known[:32], known[32:])  # of no use if it is closed
        self._remember(stored)
        parts = settings[:32], settings[32:]
        erased = len(closed) if old else None
        plain = Contents(id_key, parts, rows, stored.receipts, snapshot, stored.sums, erased=erased)
        return plain, wrong

    def changes(self, since: int) -> Changes:
        for _ in range(_ATTEMPTS):
            found = self._inner.changes(since)
            taken = {place: content for place, content in found.rows.items() if any(content)}
            rows = {place: self._opened(content) for place, content in taken.items()}
            if None in rows.values():  # a serial number may have got another key since
                self._look_up(taken, since + len(found.receipts))
                rows = {place: self._opened(content) for place, content in taken.items()}
            if None not in rows.values():
                break  # else one was erased between the two reads
        moved = {place: self._must(rows.get(place, b""), "a row") for place in found.rows}
        return Changes(found.receipts, moved, found.sums)

    def row(self, place: int) -> bytes:
        return self._must(self._opened(self._inner.row(place)), f"row {place}")

    # -- writing --------------------------------------------------------------------------------

    @contextmanager
    def transaction(self, *, erases: bool = False) -> Iterator[int]:
        """See `Backend`.

        The keyring is held from the start of a new epoch to its end, and the database is asked
        after it was taken whether it is still our turn: a process that slept while another one
        edited cannot overwrite the key of that edit.
        """
        self._edit = edit = _Edit()
        with ExitStack() as turn:
            try:
                with self._inner.transaction(erases=erases) as version:
                    if version != self._version and self._load(self._inner.keys(), version):
                        raise StoreError(f"{self.address} is a copy from before an erasure.")
                    yield version
                    if erases:
                        turn.enter_context(self._keyring.turn())
                        self._inner.check_turn()
                    self._write_keys(new_epoch=erases)
            except BaseException:
                self._version = -1  # the keys are read again
                raise
            self._version = version + edit.receipts
            if erases:
                self._keyring.finish(self.epoch)

    def put(self, place: int, content: bytes, *, new: bool) -> None:
        self._inner.put(place, self._seal(content), new=new)

    def wipe(self, place: int, size: int) -> None:
        self._forget_key(_serial(self._inner.row(place)))
        self._inner.wipe(place, size + OVERHEAD)

    def add_receipt(self, number: int, content: bytes, sums: bytes) -> None:
        self._inner.add_receipt(number, content, sums)
        self._edit.receipts += 1
        if _SNAPSHOT in self._keys:
            self._forget_key(_SNAPSHOT)

    def set_settings(self, salt: bytes, content: bytes) -> None:
        sealed = self._seal(salt + content)
        self._kept.add(self._settings)
        self._settings, self._edit.settings = _serial(sealed), True
        self._plain = salt + content
        self._inner.set_settings(b"", sealed)

    def set_snapshot(self, checksum: bytes, content: bytes) -> None:
        self._inner.set_snapshot(b"", self._seal(checksum + content, _SNAPSHOT))

    # -- inside ---------------------------------------------------------------------------------

    def _seal(self, content: bytes, serial: int | None = None) -> bytes:
        """Encrypt under a new key, of the next serial number if none is given."""
        if serial is None:
            serial, self._next = self._next, self._next + 1
        key = self._keys[serial] = os.urandom(KEY)
        self._edit.pages.add(serial // _PER_PAGE)
        head = serial.to_bytes(8, "big")
        return head + self._aead(key).encrypt(_ONCE, content, self._context(head))

    def _opened(self, sealed: bytes) -> bytes | None:
        """The content, zeros of a free place, or None if it has no key or was altered."""
        if not any(sealed):
            return bytes(max(0, len(sealed) - OVERHEAD))
        key, head = self._keys.get(_serial(sealed)), sealed[:8]
        if key is None:
            return None
        try:
            return self._aead(key).decrypt(_ONCE, sealed[8:], self._context(head))
        except self._invalid:
            return None

    def _must(self, content: bytes | None, what: str) -> bytes:
        if content is None:
            raise StoreError(
                f"{self.address} is damaged, or from before an erasure: {what} cannot be opened "
                f"with this keyring."
            )
        return content

    def _context(self, head: bytes) -> bytes:
        return b"gramian row" + self._keyring.store_id + head

    def _forget_key(self, serial: int) -> None:
        self._keys.pop(serial, None)
        self._edit.pages.add(serial // _PER_PAGE)

    def _remember(self, stored: Contents) -> None:
        """Which keys are for what: those of no use but for old settings are kept for backups."""
        self._settings = _serial(stored.settings[1])
        used = {_serial(content) for content in stored.rows.values() if any(content)}
        used |= {self._settings, _SNAPSHOT, _serial(stored.id_key)}
        self._kept = set(self._keys) - used

    def _load(self, pages: Pages, version: int) -> bool:
        """Read the row keys; whether the pages are of an epoch whose key is destroyed.

        Then the row keys come from the keyring: they open what has not been erased since.
        """
        epoch_keys, epoch = self._keyring.keys(), epoch_of(pages)
        old = epoch not in epoch_keys
        if old and epoch > max(epoch_keys):
            raise StoreError(
                f"{self.address} is of epoch {epoch}, and its keyring of {max(epoch_keys)}: that "
                f"is an old copy of the keyring. Nothing can be opened without the present one."
            )
        if old:
            epoch, pages = max(epoch_keys), self._keyring.table()
            spare = pages.pop(_SETTINGS, None)
            self._spare = spare and self._decrypted(_SETTINGS, spare, epoch_keys[epoch])
        elif epoch > min(epoch_keys):
            self._keyring.finish(epoch)  # a process was killed before it did
        keys: dict[int, bytes] = {}
        for page, content in pages.items():
            keys |= self._open_page(page, content, epoch_keys[epoch])
        self._keys, self.epoch, self._version = keys, epoch, version
        self._next = max(keys, default=0) + 1
        return old

    def _look_up(self, rows: dict[int, bytes], version: int) -> None:
        """Read the keys of these rows; those of all others as well, if some were erased."""
        wanted = {_serial(content) // _PER_PAGE for content in rows.values()}
        pages, epoch_key = self._inner.keys(wanted), self._keyring.keys().get(self.epoch)
        if epoch_key is None or epoch_of(pages) != self.epoch:
            self._load(self._inner.keys(), version)
            return
        for page, content in pages.items():
            self._keys |= self._open_page(page, content, epoch_key)

    def _open_page(self, page: int, content: bytes, epoch_key: bytes) -> dict[int, bytes]:
        return dict(read_keys(self._decrypted(page, content, epoch_key)))

    def _decrypted(self, page: int, content: bytes, epoch_key: bytes) -> bytes:
        head, nonce, sealed = content[:8], content[8:20], content[20:]
        context = self._page_context(page, head)
        try:
            return self._aead(epoch_key).decrypt(nonce, sealed, context)
        except self._invalid:
            raise StoreError(
                f"{self.address} is damaged, or this is not its keyring: its row keys cannot be "
                f"opened."
            ) from None

    def _encrypted(self, page: int, plain: bytes, epoch: int, epoch_key: bytes) -> bytes:
        head, nonce = epoch.to_bytes(8, "big"), os.urandom(12)
        context = self._page_context(page, head)
        return head + nonce + self._aead(epoch_key).encrypt(nonce, plain, context)

    def _settings_page(self, epoch: int, epoch_key: bytes) -> bytes:
        """The present settings, for the keyring."""
        nonce = os.urandom(12)
        sealed = self._aead(_settings_key(self._id_key)).encrypt(nonce, self._plain, b"")
        return self._encrypted(_SETTINGS, nonce + sealed, epoch, epoch_key)

    def _spare_settings(self, id_key: bytes) -> bytes | None:
        """The settings that the keyring has; None if it has none, or not for this store."""
        if self._spare is None:
            return None
        nonce, sealed = self._spare[:12], self._spare[12:]
        try:
            return self._aead(_settings_key(id_key)).decrypt(nonce, sealed, b"")
        except self._invalid:
            return None

    def _write_keys(self, *, new_epoch: bool) -> None:
        """The pages that have changed; or, in a new epoch, all of them under its key."""
        if not new_epoch:
            pages = self._pages(self.epoch, self._keyring.keys()[self.epoch], self._edit.pages)
        else:
            if self._edit.settings:  # the old ones may hold something of what is erased
                for serial in self._kept:
                    self._forget_key(serial)
                self._kept = set()
            self.epoch, key = self.epoch + 1, os.urandom(KEY)
            pages = self._pages(self.epoch, key)
            spare = self._settings_page(self.epoch, key)
            self._keyring.start(self.epoch, key, {**pages, _SETTINGS: spare})
            pages = {**dict.fromkeys(self._edit.pages, b""), **pages}
        for page, content in pages.items():
            self._inner.set_keys(page, content)

    def _pages(self, epoch: int, key: bytes, which: set[int] | None = None) -> Pages:
        """These pages of the row keys, or all, encrypted under an epoch key."""
        plain: dict[int, list[bytes]] = {}
        for serial, row_key in self._keys.items():
            page = serial // _PER_PAGE
            if which is None or page in which:
                plain.setdefault(page, []).append(serial.to_bytes(8, "big") + row_key)
        pages = dict.fromkeys(which or (), b"")
        for page, parts in plain.items():
            pages[page] = self._encrypted(page, b"".join(parts), epoch, key)
        return pages

    def _page_context(self, page: int, head: bytes) -> bytes:
        return b"gramian keys" + self._keyring.store_id + page.to_bytes(8, "big") + head


def epoch_of(pages: Pages) -> int:
    """The epoch that pages of row keys are encrypted for."""
    return max((int.from_bytes(page[:8], "big") for page in pages.values()), default=0)


def _settings_key(id_key: bytes) -> bytes:
    """What encrypts the settings in a keyring; every copy of the store has it, sealed."""
    return sha256(b"gramian settings" + id_key).digest()


def _serial(sealed: bytes) -> int:
    return int.from_bytes(sealed[:8], "big")


def _cipher() -> tuple[type[AESGCM], type[Exception]]:
    try:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'a keyring needs cryptography: pip install "gramian[store]".'
        ) from error
    return AESGCM, InvalidTag
