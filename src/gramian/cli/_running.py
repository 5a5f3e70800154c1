"""How a command runs: in a process of its own, watched by another, with its errors as one line.

LAPACK does not look up until it is done, and no other thread of its process runs meanwhile. So a
command works in a child process, and its parent, which has imported nothing heavy, moves the clock,
prints a line now and then where there is no terminal, and obeys ^C at once.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
from contextlib import suppress
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from gramian.core.text import without_controls
from gramian.files import locked

if TYPE_CHECKING:
    from rich.progress import Progress

GRACE = 1.0
"""Seconds in which a command that is asked to stop may tidy up."""

_TICK = 0.1
_PATIENCE = 2.0  # seconds before anything is shown
_LINE_EVERY = 15.0  # seconds between lines where there is no terminal
_PR_SET_PDEATHSIG = 1
_SERVERS = ("play", "serve")  # they handle signals by themselves, and end in their own time
_PAUSE = "-"  # what is sent to stop the display until the next step

_parent: int | None = None  # the pipe to the process that watches, in the one that works


class RunOptions(NamedTuple):
    """How commands run."""

    traceback: bool
    watched: bool
    """In a process of their own, by one that shows progress and obeys ^C."""


class Commands(click.Group):
    """Commands in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


def run_command(command: str, options: dict[str, Any]) -> None:
    """Run a command, in a child process if this one is to watch it."""
    context = click.get_current_context()
    if context.obj.watched and command not in _SERVERS:
        code = watched(command)
        if code is not None:
            tidy(options.get("output") or options.get("model") or "")
            context.exit(code)
    _run_here(command, options, context)


def _run_here(command: str, options: dict[str, Any], context: click.Context) -> None:
    """Run a command, print what it returns, and turn errors of the data into one line."""
    as_json = options.pop("as_json", False)
    if as_json:
        silence()
    module = import_module(f"gramian.cli._{command}")
    try:
        facts = module.run(**options)
    except (ValueError, OSError, MemoryError, ModuleNotFoundError) as error:
        if context.obj.traceback:
            raise
        raise click.ClickException(without_controls(str(error), "\n")) from error
    finally:
        pause()
    if as_json:
        click.echo(json.dumps(facts, indent=2))
    else:
        module.show(facts)
    if facts.get("failed"):
        context.exit(1)


def prints_json() -> bool:
    """Whether the command is to print JSON and nothing else."""
    return bool(click.get_current_context().params.get("as_json"))


def step(what: str, done: float | None = None, detail: str = "", left: float | None = None) -> None:
    """Say what goes on; the process that watches shows it if it takes long.

    ``done`` is the share of the step that is done, ``left`` the seconds that the rest will take,
    where they are known.
    """
    if _parent is not None:
        os.write(_parent, json.dumps([what, done, left, detail]).encode() + b"\n")


def pause() -> None:
    """Show nothing: the command is about to print or to ask."""
    step(_PAUSE)


def silence() -> None:
    """Show nothing from now on."""
    global _parent
    pause()
    _parent = None


def watched(command: str) -> int | None:
    """Go on in a child process: None there, and in the parent the exit code when it has ended."""
    global _parent
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return Watch(child, reading, command).run()
    os.close(reading)
    _parent = writing
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to both
    signal.signal(signal.SIGUSR1, signal.default_int_handler)
    if sys.platform == "linux":  # who kills the one kills the other
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    return None


def tidy(path: str) -> None:
    """Remove the lock that a killed process left next to a file."""
    with suppress(OSError), locked(path, wait=0.0):
        pass


class Watch:
    """Follows a child process by what it sends through a pipe."""

    def __init__(self, child: int, pipe: int, command: str) -> None:
        self._child, self._pipe = child, pipe
        self._rest, self._display = b"", Display(command)

    def run(self) -> int:
        """The exit code of the child."""
        try:
            return self._follow()
        except KeyboardInterrupt:
            self._display.stop()
            return self._stop()
        finally:
            self._display.stop()
            os.close(self._pipe)

    def _follow(self) -> int:
        open_ = True
        while True:
            if open_ and select.select([self._pipe], [], [], _TICK)[0]:
                open_ = self._receive()
            self._display.tick()
            done, status = os.waitpid(self._child, 0 if not open_ else os.WNOHANG)
            if done:
                return _code(status)

    def _receive(self) -> bool:
        """Read what there is; False at the end of it."""
        found = os.read(self._pipe, 4096)
        *lines, self._rest = (self._rest + found).split(b"\n")
        for line in lines:
            what, done, left, detail = json.loads(line)
            if what != self._display.what:
                self._display.stop()
                self._display = Display(what)
            self._display.set(done, left, detail)
        return bool(found)

    def _stop(self) -> int:
        """Interrupt the child; if it does not react, end it."""
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
        return 1


class Display:
    """A step as people see it once it takes long: a bar on a terminal, lines elsewhere."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.done: float | None = None  # the share of the step that is done, where it is known
        self.end: float | None = None  # when it will be done, where that is known
        self.detail = ""
        self._start, self._next = monotonic(), _PATIENCE
        self._bar: Progress | None = None

    def set(self, done: float | None, left: float | None, detail: str) -> None:
        """How far the step is now."""
        self.done, self.detail = done, detail
        self.end = None if left is None else monotonic() + left

    def tick(self) -> None:
        passed = monotonic() - self._start
        if self.what == _PAUSE or passed < self._next:
            return
        if self._bar is None and not sys.stderr.isatty():
            print(f"{self.what}: {self._clock(passed)}", file=sys.stderr, flush=True)
            self._next = passed + _LINE_EVERY
            return
        self._bar = self._bar or _started_bar(self.what)
        task, clock = self._bar.task_ids[0], self._clock(passed)
        total = None if self.done is None else 1.0
        self._bar.update(task, completed=self.done or 0.0, total=total, clock=clock)

    def _clock(self, passed: float) -> str:
        """The time that has passed, what is left where that is known, and the detail."""
        left = 0.0 if self.end is None else self.end - monotonic()
        words = [f"{passed:.0f} s", f"about {left:.0f} s left" if left >= 1.0 else "", self.detail]
        return ", ".join(filter(None, words))

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def _started_bar(what: str) -> Progress:
    """A bar on a terminal, with a clock."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    bar = Progress(
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(),
        TextColumn("{task.fields[clock]}"), console=Console(stderr=True), transient=True,
    )  # fmt: skip
    bar.add_task(what, total=None, clock="")
    bar.start()
    return bar


def _code(status: int) -> int:
    """Of a process; as a shell has it where a signal ended it."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
