"""One process at a time on a file: a lock next to it, which says who holds it.

The lock is the system's own (``flock``) on a file ``.NAME.lock``, so that it ends with the process
that holds it, however that ends. Where the system has none, the file itself is the lock.
"""

from __future__ import annotations

import getpass
import io
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from weakref import WeakValueDictionary

from gramian.core.text import excerpt

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

WAIT = 10.0
"""Seconds to wait for another process."""

_PAUSE = 0.02
_mine = threading.local()  # the locks of this thread, so that a function may ask for one twice


class FileInUseError(OSError):
    """Another process is working on the file."""


@contextmanager
def locked(path: str | os.PathLike[str], *, wait: float | None = None) -> Iterator[None]:
    """Context manager that holds the lock of a file.

    Parameters
    ----------
    path : str or path
        The file need not exist, but its folder must.
    wait : float, optional
        Seconds to wait for another holder; `WAIT` by default.

    Raises
    ------
    FileInUseError
        If another process holds the lock all that time; the message says which.
    """
    target = os.path.realpath(path)
    held: WeakValueDictionary[str, _LockFile]
    held = _mine.__dict__.setdefault("files", WeakValueDictionary())
    mine = held.get(target)
    if mine is not None and not mine.closed:
        yield
        return
    lock = Path(target).with_name(f".{Path(target).name}.lock")
    with _acquire(target, lock, WAIT if wait is None else wait) as stream:
        held[target] = stream
        _sign(stream)
        try:
            yield
        finally:
            with suppress(OSError):
                lock.unlink()  # while it is ours; who waits for it sees that it is another file now


class _LockFile(io.FileIO):
    """An open lock; the system's lock on it ends when it is closed.

    It closes itself when nothing refers to it any more, so that an interrupt between two lines
    cannot leave the lock with this process.
    """

    def __init__(self, lock: Path) -> None:
        super().__init__(lock, "r+", opener=_open)

    __del__ = io.FileIO.close


def _open(name: str, _: int) -> int:
    flags = os.O_RDWR | os.O_CREAT | (os.O_EXCL if fcntl is None else 0)
    return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0), 0o600)


def try_flock(descriptor: int) -> bool:
    """Take the system's lock on an open file, or say that someone has it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _acquire(target: str, lock: Path, wait: float) -> _LockFile:
    deadline = time.monotonic() + wait
    while (stream := _try(lock)) is None:
        if time.monotonic() > deadline:
            raise FileInUseError(_in_use(target, lock, wait))
        time.sleep(_PAUSE)
    return stream


def _try(lock: Path) -> _LockFile | None:
    """An open file with the lock on it, if it is free."""
    try:
        stream = _LockFile(lock)
    except FileExistsError:
        return None
    try:
        if try_flock(stream.fileno()) and _is_still(lock, stream):
            return stream
    except BaseException:
        stream.close()
        raise
    stream.close()
    return None


def _is_still(lock: Path, stream: _LockFile) -> bool:
    """Whether the open file is the one of that name: its last holder removes it."""
    try:
        return os.path.samestat(os.stat(lock), os.fstat(stream.fileno()))
    except FileNotFoundError:
        return False


def user_name() -> str:
    """The user, as the system calls him; "unknown" where it does not."""
    try:
        return getpass.getuser()
    except Exception:  # no environment and no entry for the number: KeyError, OSError, ImportError
        return "unknown"


def _sign(stream: _LockFile) -> None:
    who = {
        "process": os.getpid(),
        "host": socket.gethostname(),
        "user": user_name(),
        "command": " ".join([os.path.basename(sys.argv[0] or "python"), *sys.argv[1:2]]),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    stream.truncate(0)
    stream.write(json.dumps(who).encode())


def _in_use(target: str, lock: Path, wait: float) -> str:
    try:
        who = json.loads(lock.read_text())
        holder = (
            f"`{who['command']}`, process {who['process']} of {who['user']} on {who['host']}, "
            f"since {who['since']}"
        )
    except (OSError, ValueError, KeyError, TypeError):
        holder = "another process"
    return (
        f"{target} is in use by {excerpt(holder, 200)}; waited {wait:g} s. Try again when that is "
        f"done. If it is not running any more, remove {lock}."
    )
