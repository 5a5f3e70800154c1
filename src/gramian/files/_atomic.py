"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from gramian.files._lock import try_flock

StrPath = str | os.PathLike[str]

_TEMPORARY = re.compile(r"\.gramian-[0-9a-f]{16}")
_YOUNG = 60.0  # seconds in which a temporary file is left alone, locked or not


@contextmanager
def replacing(path: StrPath, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Context manager of a binary stream whose content replaces ``path`` at the end.

    The content is written to a new file in the same folder, forced to disk, and renamed over
    ``path``. If the block raises, or the computer stops, the old file is unchanged. Temporary files
    of killed processes in the folder are removed.

    Parameters
    ----------
    path : str or path
    private : bool
        Whether a new file is readable by its owner only (mode 600), from its first byte; otherwise
        it gets what the umask allows. An existing file keeps its permissions.
    """
    target = Path(os.path.realpath(path))  # through a link, so that the link stays one
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(target.parent))
    remove_leftovers(target.parent)
    mode = target.stat().st_mode & 0o7777 if target.exists() else None
    temporary = target.with_name(f".gramian-{secrets.token_hex(8)}")
    descriptor = _create(temporary, 0o600 if private or mode is not None else 0o666)
    try:
        with open(descriptor, "wb") as stream:
            try_flock(stream.fileno())  # ours: no other process takes it for a leftover
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def remove_leftovers(folder: Path) -> list[Path]:
    """Remove temporary files of processes that are gone; returns them."""
    removed = []
    for path in folder.glob(".gramian-*"):
        if _TEMPORARY.fullmatch(path.name) and _is_abandoned(path):
            with suppress(OSError):
                path.unlink()
                removed.append(path)
    return removed


def sync_folder(folder: Path) -> None:
    """Force a rename to disk, where the system lets folders be opened."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _create(path: Path, mode: int) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(path, flags, mode)


def _is_abandoned(path: Path) -> bool:
    """Whether a temporary file is more than a minute old and no process writes it."""
    try:
        if time.time() - path.lstat().st_mtime < _YOUNG:
            return False
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return False
    try:
        return try_flock(descriptor)
    finally:
        os.close(descriptor)
