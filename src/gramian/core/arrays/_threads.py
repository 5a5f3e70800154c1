"""Threads: BLAS has one, and independent work is done side by side in threads of our own.

Threads of OpenBLAS wait for one another in a spin, many times in one factorisation. Small matrices
gain nothing by them, and where other processes want the same cores, a fit takes up to a hundred
times longer. So BLAS is limited to one thread while a model works, and what is independent (widths,
kernels, parts of a stack, blocks of a large matrix) is given to threads that take the next piece
when they are done with one. Pieces do not depend on how many threads there are, and neither do
results, to the last bit.

By default there are as many threads as BLAS would have: as many as cores that this process may use
(a quota or an affinity counts), or what ``OPENBLAS_NUM_THREADS`` or `threadpool_limits` allow. Few
samples have fewer: between their small products threads wait for Python's lock, the more the
more of them there are.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar, copy_context
from functools import cache
from numbers import Integral
from threading import Lock, RLock, get_ident
from typing import Any, NamedTuple, TypeVar
from weakref import WeakSet

from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

FEW = 9_000
"""A matrix of fewer numbers is left to BLAS, which takes one thread for it by itself."""
SAMPLES_PER_THREAD = 250
"""By default there is a thread for each so many samples, and two at least."""

_lock = RLock()  # an interrupt must not lock out the thread that it comes to
_allowed: list[int] = []  # threads of each BLAS before it was limited; empty while it is not


_AFFIXES = [(first, last) for first in ("", "scipy_") for last in ("", "64_", "_64")]


class _Library(NamedTuple):
    """How the number of threads of one BLAS is read and set, from any thread."""

    read: Callable[[], int]
    limit: Callable[[int], None]


def _library(controller: Any) -> _Library:
    """The functions of OpenBLAS itself, where all threads share its pool.

    A recent threadpoolctl lets the first thread that asks set their number, and what others ask for
    is ignored, without a word. Here any thread may be the first to work, and any the last.
    """
    functions = getattr(controller, "dynlib", None)  # an early threadpoolctl needs no help
    if getattr(controller, "threading_layer", None) == "pthreads":
        for first, last in _AFFIXES:
            names = [f"{first}openblas_{do}_num_threads{last}" for do in ("get", "set")]
            if all(hasattr(functions, name) for name in names):
                return _Library(*(getattr(functions, name) for name in names))
    return _Library(controller.get_num_threads, controller.set_num_threads)


@cache
def _libraries() -> list[_Library]:
    """The BLAS libraries of NumPy and SciPy. Looking for them takes milliseconds, so only once."""
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return [_library(controller) for controller in found]


@cache
def _cores() -> int:
    """Cores that this process may use, by affinity and by quota."""
    return int(cpu_count())


class _OneBlasThread:
    """Limits BLAS to one thread until the last block that needs it so is left.

    An interrupt may come before `__enter__` returns; then `__exit__` is not called. The object is
    gone then, and the next block that is left lifts the limit.
    """

    thread: int | None = None  # of a block that limits

    def __enter__(self) -> None:
        with _lock:
            if not _allowed:
                allowed = [library.read() for library in _libraries()]
                if max(allowed, default=1) == 1:  # nothing to limit, and nothing to lift later
                    return
                _allowed[:] = allowed
                _limit_threads(1)
            self.thread = get_ident()
            _blocks.add(self)

    def __exit__(self, *error: object) -> None:
        if self.thread is None:
            return
        with _lock:
            _blocks.discard(self)
            if not _blocks and _allowed:
                _limit_threads(None)
                _allowed.clear()


_blocks: WeakSet[_OneBlasThread] = WeakSet()


def _limit_threads(most: int | None) -> None:
    """Give every BLAS so many threads, or as many as it had."""
    for library, allowed in zip(_libraries(), _allowed, strict=True):
        if allowed != 1:  # it is set already
            library.limit(most or allowed)


def one_blas_thread(numbers: int = FEW) -> AbstractContextManager[None]:
    """Limit BLAS to one thread, for work on matrices of so many numbers; nothing if they are few.

    It costs about 3 µs.
    """
    return nullcontext() if numbers < FEW else _OneBlasThread()


class using_jobs:
    """Let `side_by_side` use so many threads, as joblib counts them; None leaves it as it is."""

    def __init__(self, n_jobs: int | None) -> None:
        if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
            raise ValueError(
                f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}. -1 means "
                f"all cores."
            )
        self._n_jobs = n_jobs

    def __enter__(self) -> None:
        self._token = _jobs.set(_jobs.get() if self._n_jobs is None else self._n_jobs)

    def __exit__(self, *error: object) -> None:
        _jobs.reset(self._token)


def n_threads(samples: int | None = None) -> int:
    """Threads that may work side by side: as asked for, as joblib says, or all that are allowed.

    The last is limited by the number of samples that each works on, where it is given.
    """
    asked = _jobs.get()
    backend, in_context = get_active_backend()
    if asked is not None or in_context is not None or backend.nesting_level:
        return int(effective_n_jobs(asked))
    with _lock:
        known = _allowed or [library.read() for library in _libraries()]
    worthwhile = [] if samples is None else [max(2, samples // SAMPLES_PER_THREAD)]
    return min([_cores(), *known, *worthwhile])


class _Team:
    """Threads that help with one piece of work and with all that is nested in it."""

    def __init__(self, others: int) -> None:
        self._free, self._lock = others, Lock()

    def take(self, most: int) -> int:
        """Take up to so many of the free threads; how many they are."""
        with self._lock:
            taken = min(most, self._free)
            self._free -= taken
            return taken

    def give_back(self) -> None:
        """One of the threads is free again."""
        with self._lock:
            self._free += 1


_jobs: ContextVar[int | None] = ContextVar("_jobs", default=None)
_team: ContextVar[_Team | None] = ContextVar("_team", default=None)


def side_by_side(
    function: Callable[[Item], Result], items: Iterable[Item], samples: int | None = None
) -> list[Result]:
    """``[function(item) for item in items]``, by several threads; calls must be independent.

    Each works on so many ``samples``, which limits the threads that are taken by default. This
    thread works too, and others help that are free, so that calls may be nested. If one call
    fails, no other begins, and the error of the first one that failed is raised when all that had
    begun are done.
    """
    waiting = deque(enumerate(items))
    count = len(waiting)
    if count < 2:
        return [function(item) for _, item in waiting]
    team = _team.get() or _Team(n_threads(samples) - 1)
    others = team.take(count - 1)
    if others == 0:
        return [function(item) for _, item in waiting]
    results: dict[int, Result] = {}
    errors: dict[int, BaseException] = {}

    def work() -> None:
        _team.set(team)
        while True:
            try:
                number, item = waiting.popleft()
            except IndexError:  # this thread or another took the last one
                return
            try:
                results[number] = function(item)
            except BaseException as error:
                waiting.clear()
                errors[number] = error

    with one_blas_thread():
        helpers: list[Future[None]] = []
        try:
            for _ in range(others):
                helpers.append(_pool().submit(copy_context().run, work))
                helpers[-1].add_done_callback(lambda _: team.give_back())
            copy_context().run(work)
        finally:
            waiting.clear()
            for helper in helpers:
                if not helper.cancel():  # it has begun: what it writes must be written
                    helper.result()
    if errors:
        raise errors[min(errors)]
    return [results[number] for number in range(count)]


@cache
def _pool() -> ThreadPoolExecutor:
    """Threads that help. They are never waited for before they have begun, so few are enough."""
    return ThreadPoolExecutor(max(32, _cores()), thread_name_prefix="gramian")


def _forget_threads() -> None:  # in a process of its own
    """In a forked process: this thread alone has survived."""
    global _lock
    _lock = RLock()
    _pool.cache_clear()
    for block in list(_blocks):
        if block.thread != get_ident():
            _blocks.discard(block)


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_forget_threads)
