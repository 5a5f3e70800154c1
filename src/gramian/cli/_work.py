"""Long computations: a process that works, and one that watches it.

LAPACK does not look up until it is done, and no other thread of its process runs meanwhile. So a
command works in a child process, and its parent, which has imported nothing heavy, moves the clock,
prints a line now and then where there is no terminal, and obeys ^C at once.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any, TypeVar

from gramian.files import locked

T = TypeVar("T")

GRACE = 1.0
"""Seconds in which a command that is told to stop may tidy up."""

_TICK = 0.1
_LINE_EVERY = 15.0  # seconds between lines where there is no terminal
_PR_SET_PDEATHSIG = 1

_parent: int | None = None  # the pipe to the process that watches, in the one that works


def patiently(compute: Callable[[], T], what: str, *, quiet: bool = False) -> T:
    """What ``compute`` returns; who watches is told what goes on."""
    if not quiet:
        _tell(f"{what}\n")
    try:
        return compute()
    finally:
        _tell("\n")


def watched() -> int | None:
    """Go on in a child process: None there, and in the parent the exit code when it has ended."""
    global _parent
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return Watch(child, reading).run()
    os.close(reading)
    _parent = writing
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to both
    signal.signal(signal.SIGUSR1, signal.default_int_handler)
    if sys.platform == "linux":  # who kills the one kills the other
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    return None


def tidy(path: str) -> None:
    """Remove the lock that a killed process left beside a file."""
    with suppress(OSError), locked(path, wait=0.0):
        pass


class Watch:
    """Follows a child process by what it tells through a pipe."""

    def __init__(self, child: int, pipe: int) -> None:
        self._child, self._pipe = child, pipe
        self._told, self._shown = b"", Shown()
        self.killed = False

    def run(self) -> int:
        """The exit code of the child."""
        try:
            return self._follow()
        except KeyboardInterrupt:
            self._shown.stop()
            return self._stop()
        finally:
            self._shown.stop()
            os.close(self._pipe)

    def _follow(self) -> int:
        open_ = True
        while True:
            if open_ and select.select([self._pipe], [], [], _TICK)[0]:
                open_ = self._listen()
            self._shown.tick()
            done, status = os.waitpid(self._child, 0 if not open_ else os.WNOHANG)
            if done:
                return _code(status)

    def _listen(self) -> bool:
        """Read what there is; False at the end of it."""
        found = os.read(self._pipe, 4096)
        *lines, self._told = (self._told + found).split(b"\n")
        for line in lines:
            self._shown.stop()
            if line:
                self._shown = shown(line.decode())
        return bool(found)

    def _stop(self) -> int:
        """Interrupt the child; if it does not hear that, end it."""
        os.kill(self._child, signal.SIGUSR1)
        deadline = monotonic() + GRACE
        while monotonic() < deadline:
            done, status = os.waitpid(self._child, os.WNOHANG)
            if done:
                return _code(status)
            select.select([], [], [], _TICK)
        os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)
        print("\nAborted!", file=sys.stderr)
        self.killed = True
        return 1


class Shown:
    """Nothing to show."""

    def tick(self) -> None: ...

    def stop(self) -> None: ...


class Lines(Shown):
    """A line on standard error every few seconds."""

    def __init__(self, what: str) -> None:
        self._what, self._start, self._next = what, monotonic(), _LINE_EVERY

    def tick(self) -> None:
        passed = monotonic() - self._start
        if passed >= self._next:
            print(f"{self._what}: {passed:.0f} s", file=sys.stderr, flush=True)
            self._next += _LINE_EVERY


class Bar(Shown):
    """A bar on a terminal, with a clock."""

    def __init__(self, console: Any, what: str) -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn()
        self._bar = Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
        self._bar.add_task(what, total=None)
        self._bar.start()

    def stop(self) -> None:
        self._bar.stop()


def shown(what: str) -> Shown:
    """A bar on a terminal, lines elsewhere."""
    from rich.console import Console

    console = Console(stderr=True)
    return Bar(console, what) if console.is_terminal else Lines(what)


def _tell(line: str) -> None:
    if _parent is not None:
        os.write(_parent, line.encode())


def _code(status: int) -> int:
    """Of a process; as a shell has it where a signal ended it."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
