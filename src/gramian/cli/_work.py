"""Long computations: in a thread of their own, so that the command stays awake.

Linear algebra does not look up until it is done, and neither does the thread that called it. The
first thread waits here: it moves the clock, prints a line now and then where there is no terminal,
and obeys ^C at once.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

T = TypeVar("T")

_TICK = 0.1
_LINE_EVERY = 15.0  # seconds between lines where there is no terminal
_GRACE = 1.0  # seconds in which an interrupted computation may tidy up

_unfinished: list[threading.Thread] = []


def patiently(
    compute: Callable[[], T], what: str, *, quiet: bool = False, expected: float | None = None
) -> T:
    """What ``compute`` returns; while it works, the time that passed and what is left of it.

    Parameters
    ----------
    compute : callable
        It runs in another thread. At ^C it is interrupted there; if it does not hear that within a
        second, it is left behind, and `unfinished` is true.
    what : str
        Name of the work, such as "fitting".
    quiet : bool
    expected : float, optional
        Seconds that the whole will take, more or less.
    """
    done: list[Any] = []

    def work() -> None:
        try:
            done.append((compute(), None))
        except BaseException as error:
            done.append((None, error))

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    try:
        with _shown(what, quiet, expected) as tick:
            while worker.is_alive():
                worker.join(_TICK)
                tick()
    except BaseException:
        _interrupt(worker)
        raise
    found, error = done[0]
    if error is not None:
        raise error
    return found


def unfinished() -> bool:
    """Whether a computation goes on that was told to stop."""
    return any(worker.is_alive() for worker in _unfinished)


def _interrupt(worker: threading.Thread) -> None:
    """Raise KeyboardInterrupt in a thread, and wait a little for it to tidy up."""
    if worker.ident is not None and worker.is_alive():
        ident = ctypes.c_ulong(worker.ident)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(KeyboardInterrupt))
        worker.join(_GRACE)
        _unfinished.append(worker)


@contextmanager
def _shown(what: str, quiet: bool, expected: float | None) -> Iterator[Callable[[], None]]:
    console = Console(stderr=True)
    if quiet:
        yield lambda: None
    elif console.is_terminal:
        with _bar(console) as bar:
            task = bar.add_task(what, total=expected, left="")
            start = perf_counter()
            yield lambda: bar.update(task, **_state(perf_counter() - start, expected))
    else:
        yield _Lines(what, expected).tick


def _bar(console: Console) -> Progress:
    return Progress(
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"), console=console, transient=True,
    )  # fmt: skip


def _state(passed: float, expected: float | None) -> dict[str, Any]:
    """Where the bar stands; an estimate that is used up grows."""
    if expected is None:
        return {}
    total = max(expected, 1.1 * passed)
    return {"completed": passed, "total": total, "left": f"about {total - passed:.0f} s left"}


class _Lines:
    """A line on standard error every few seconds."""

    def __init__(self, what: str, expected: float | None) -> None:
        self._what, self._expected = what, expected
        self._start, self._next = perf_counter(), _LINE_EVERY

    def tick(self) -> None:
        passed = perf_counter() - self._start
        if passed >= self._next:
            left = _state(passed, self._expected).get("left", "")
            print(f"{self._what}: {passed:.0f} s, {left}".rstrip(", "), file=sys.stderr, flush=True)
            self._next += _LINE_EVERY
