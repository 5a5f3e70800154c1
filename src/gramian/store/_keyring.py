"""Keyrings: the epoch key that opens the row keys of a store, kept outside of its database.

An erasure starts a new epoch: the row keys that stay are wrapped by a new key, and the old key is
destroyed. Every copy of the database that was made before, wherever it is, then holds rows that
nobody can open, except for those whose keys a keyring still has.

The file has a fixed head, which is overwritten in place, and a table of wrapped row keys:

    "gramian keyring 1" and zeros (32 bytes) | id of the store (16)
    two slots of an epoch (8) and its key (32), zeros where there is none
    number of pages (8), then each page: its number (8), its length (8), its bytes
"""

from __future__ import annotations

import os
import re
import stat
import struct
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import IO

from gramian.files import FileInUseError, StrPath, locked, sync_folder
from gramian.store._errors import StoreBusyError, StoreError

KEY = 32
_MAGIC = b"gramian keyring 1".ljust(32, b"\0")
_ID = 16
_SLOT = 8 + KEY
_SLOTS = 2
_START = len(_MAGIC) + _ID  # of the slots
_HEAD = _START + _SLOTS * _SLOT

Pages = dict[int, bytes]


class Keyring(ABC):
    """Where the epoch keys of one store are. A key management service is another implementation.

    A store calls ``turn``, ``start`` and ``finish`` in this order for each erasure, with its own
    commit between the last two: between them both keys exist, and a process that is killed there
    leaves them to the next one that opens the store, which calls ``finish``. Whatever cannot be
    done is a `StoreError`: one of ``start`` undoes the erasure, one of ``finish`` leaves it made,
    with the old key to be destroyed later. Keys are of 32 bytes, and come from the store.
    """

    @property
    @abstractmethod
    def store_id(self) -> bytes:
        """Sixteen random bytes: of the store that these keys are for."""

    @abstractmethod
    def keys(self) -> dict[int, bytes]:
        """The keys that exist, by epoch; at least one."""

    @abstractmethod
    def table(self) -> Pages:
        """The row keys and settings as of the start of the last epoch, encrypted by its key."""

    @abstractmethod
    def turn(self) -> AbstractContextManager[None]:
        """One process at a time starts and ends an epoch; StoreBusyError if another one is."""

    @abstractmethod
    def start(self, epoch: int, key: bytes, table: Pages) -> None:
        """Keep the key of a new epoch, that of the one before, and no older one."""

    @abstractmethod
    def finish(self, epoch: int) -> None:
        """Destroy every key before this epoch; at the end of the call they are gone for good.

        There may be none, where another process has done it.
        """


class FileKeyring(Keyring):
    """A keyring in a file that its owner alone may read.

    A new version replaces the file; the old one is overwritten by zeros then. A key that is
    destroyed is overwritten in place. Both are forced to disk. What a file system with copies of
    its own (snapshots, copy-on-write) keeps of old blocks is out of reach: use another place.
    """

    path: str

    def __init__(self, path: StrPath) -> None:
        self.path = os.path.abspath(path)
        self._read_head()

    @classmethod
    def create(cls, path: StrPath) -> FileKeyring:
        """A new keyring in its first epoch, without row keys; StoreError if the file is there."""
        target = os.path.abspath(path)
        if os.path.lexists(target):
            raise StoreError(f"{target} is there already; a new keyring needs a name of its own.")
        slots = _pack_slots({1: os.urandom(KEY)})
        _replace(target, _MAGIC + os.urandom(_ID) + slots + _pack_pages({}))
        return cls(target)

    @property
    def store_id(self) -> bytes:
        return self._store_id

    def keys(self) -> dict[int, bytes]:
        return self._read_head()

    def table(self) -> Pages:
        return _unpack_pages(self._content()[_HEAD:], self.path)

    @contextmanager
    def turn(self) -> Iterator[None]:
        with ExitStack() as held:
            try:
                held.enter_context(locked(self.path))
            except FileInUseError as error:
                raise StoreBusyError(str(error)) from error
            except OSError as error:
                raise _unwritable(self.path, error) from error
            yield

    def start(self, epoch: int, key: bytes, table: Pages) -> None:
        with self._written():
            kept = {old: value for old, value in self.keys().items() if old == epoch - 1}
            slots = _pack_slots({**kept, epoch: key})
            _replace(self.path, _MAGIC + self._store_id + slots + _pack_pages(table))

    def finish(self, epoch: int) -> None:
        with self._written():
            slots = read_keys(self._content(_HEAD)[_START:])
            with open(self.path, "r+b") as stream:
                for place, (found, _) in enumerate(slots):
                    if 0 < found < epoch:
                        stream.seek(_START + place * _SLOT)
                        stream.write(bytes(_SLOT))
                _force(stream)
            self._destroy_leftovers()

    def _destroy_leftovers(self) -> None:
        """Overwrite and remove what killed processes left: files that were to replace this one."""
        folder, name = os.path.split(self.path)
        for left in Path(folder).iterdir():
            if re.fullmatch(rf"{re.escape(name)}\.[0-9a-f]{{16}}", left.name):
                with open(left, "r+b") as stream:
                    _overwrite(stream)
                left.unlink()

    @contextmanager
    def _written(self) -> Iterator[None]:
        """With the lock; errors of the disk say which file it was."""
        try:
            with locked(self.path):
                yield
        except StoreError:
            raise
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def _content(self, size: int = -1) -> bytes:
        try:
            mode = os.stat(self.path).st_mode
            with open(self.path, "rb") as stream:
                content = stream.read(size)
        except FileNotFoundError:
            raise StoreError(
                f"there is no keyring {self.path}: without it, nothing in its store can be read."
            ) from None
        if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
            raise StoreError(
                f"the keyring {self.path} may be read by others (mode {stat.S_IMODE(mode):o}): "
                f"chmod 600 {self.path}."
            )
        if not content.startswith(_MAGIC) or len(content) < _HEAD:
            raise StoreError(f"{self.path} is no keyring, or it is damaged.")
        return content

    def _read_head(self) -> dict[int, bytes]:
        head = self._content(_HEAD)
        self._store_id = head[len(_MAGIC) : _START]
        keys = {epoch: key for epoch, key in read_keys(head[_START:]) if epoch}
        if not keys:
            raise StoreError(f"the keyring {self.path} is damaged: it has no key.")
        return keys


def _unwritable(path: str, error: OSError) -> StoreError:
    return StoreError(f"the keyring {path} cannot be written: {error}.")


def _replace(path: str, content: bytes) -> None:
    """Put a new file in the place of an old one, which is overwritten then; both forced to disk."""
    temporary = Path(f"{path}.{os.urandom(8).hex()}")
    with open(path, "r+b") if os.path.exists(path) else nullcontext() as old:
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as new:
                new.write(content)
                _force(new)
            os.replace(temporary, path)
            sync_folder(temporary.parent)
            if old is not None:
                _overwrite(old)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _overwrite(stream: IO[bytes]) -> None:
    """Zeros in place of all that an open file holds, forced to disk."""
    stream.write(bytes(os.fstat(stream.fileno()).st_size))
    _force(stream)


def _force(stream: IO[bytes]) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def _pack_slots(keys: dict[int, bytes]) -> bytes:
    slots = b"".join(epoch.to_bytes(8, "big") + key for epoch, key in sorted(keys.items()))
    return slots.ljust(_SLOTS * _SLOT, b"\0")


def read_keys(content: bytes) -> list[tuple[int, bytes]]:
    """Numbers (8 bytes) with keys (32), one after the other."""
    return [*struct.iter_unpack(f">Q{KEY}s", content)]


def _pack_pages(pages: Pages) -> bytes:
    parts = [len(pages).to_bytes(8, "big")]
    for page, content in sorted(pages.items()):
        parts += [page.to_bytes(8, "big"), len(content).to_bytes(8, "big"), content]
    return b"".join(parts)


def _unpack_pages(content: bytes, path: str) -> Pages:
    pages, at = {}, 8
    for _ in range(int.from_bytes(content[:8], "big")):
        page, size = (int.from_bytes(content[at + i : at + i + 8], "big") for i in (0, 8))
        pages[page] = content[at + 16 : at + 16 + size]
        at += 16 + size
        if at > len(content):
            raise StoreError(f"the keyring {path} is damaged: its table is cut short.")
    return pages
