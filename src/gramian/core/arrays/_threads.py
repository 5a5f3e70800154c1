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
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar, copy_context
from functools import cache
from numbers import Integral
from threading import Condition, Lock, RLock, get_ident
from typing import Any, Generic, NamedTuple, TypeVar
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


class _Call(Generic[Item, Result]):
    """One call of `side_by_side`: items that wait, and what came of the others.

    What changes is guarded by the lock of the team, but for the results: each has its own place.
    """

    def __init__(
        self, function: Callable[[Item], Result], items: Iterable[Item], team: _Team
    ) -> None:
        self.function, self.team, outer = function, team, _call.get()
        self.around: list[_Call[Any, Any]] = [] if outer is None else [outer, *outer.around]
        self.waiting = deque(enumerate(items))
        self.helped = 0  # items that other threads work on
        self.changed = Condition(team.lock)  # none is helped, or there is a call inside to help
        self.results: dict[int, Result] = {}
        self.errors: dict[int, BaseException] = {}
        self._context = copy_context()
        self._context.run(_call.set, self)

    def do(self, number: int, item: Item) -> None:
        """Work on an item; if that fails, no other begins."""
        try:
            self.results[number] = self._context.copy().run(self.function, item)
        except BaseException as error:
            self.errors[number] = error
            with self.team.lock:
                self.waiting.clear()


_Taken = list[tuple[_Call[Any, Any], int, Any]]
"""The item of a call that another thread works on, if any; an interrupt finds it here."""


class _Team:
    """Threads that work on one call and on all that is nested in it, never more than there are.

    A helper takes an item of any call, of the latest first, as those are the smallest. It leaves
    when none waits and comes back with the next call. The thread that calls works on the items of
    its call. While it waits for one that another thread has begun, it helps with calls in that.
    """

    def __init__(self, others: int) -> None:
        self.others = self._free = others  # helpers, and those of them that are not at work
        self.lock = Lock()
        self._calls: list[_Call[Any, Any]] = []

    def work_on(self, call: _Call[Any, Any]) -> None:
        """Work on all items of a call."""
        try:
            self._open(call)
            while (own := self._next(call)) is not None:
                call.do(*own)
            self._help(call)
        finally:
            with self.lock:
                call.waiting.clear()
                self._calls = [other for other in self._calls if other is not call]
                # What has begun may write where the caller reads, also after an interrupt.
                call.changed.wait_for(lambda: call.helped <= 0)

    def _open(self, call: _Call[Any, Any]) -> None:
        """Let others see a call, and let helpers come that are free."""
        with self.lock:
            self._calls.append(call)
            for outer in call.around:
                outer.changed.notify()
            coming = min(len(call.waiting) - 1, self._free)
            self._free -= coming
        for _ in range(coming):
            _pool().submit(self._help)

    def _next(self, call: _Call[Item, Any]) -> tuple[int, Item] | None:
        """The next item for the thread that called."""
        with self.lock:
            return call.waiting.popleft() if call.waiting else None

    def _help(self, waits_for: _Call[Any, Any] | None = None) -> None:
        """Work on items of other threads: a helper on any, one that waits on those in its call."""
        taken: _Taken = []
        try:
            while self._take(taken, waits_for):
                call, number, item = taken[0]
                call.do(number, item)
                self._give_back(taken)
        finally:
            self._give_back(taken)

    def _take(self, taken: _Taken, waits_for: _Call[Any, Any] | None) -> bool:
        """Take an item; False when a helper finds none, or the call that one waits for is done."""
        with self.lock:
            while True:
                for call in reversed(self._calls):
                    if call.waiting and (waits_for is None or waits_for in call.around):
                        taken.append((call, *call.waiting.popleft()))
                        call.helped += 1
                        return True
                if waits_for is None:
                    self._free += 1
                    return False
                if waits_for.helped <= 0:
                    return False
                waits_for.changed.wait()

    def _give_back(self, taken: _Taken) -> None:
        """Say that an item is done, if one was taken."""
        if taken:
            with self.lock:
                call, _, _ = taken.pop()
                call.helped -= 1
                if call.helped <= 0:
                    call.changed.notify()


_jobs: ContextVar[int | None] = ContextVar("_jobs", default=None)
_call: ContextVar[_Call[Any, Any] | None] = ContextVar("_call", default=None)


def side_by_side(
    function: Callable[[Item], Result], items: Iterable[Item], samples: int | None = None
) -> list[Result]:
    """``[function(item) for item in items]``, by several threads; calls must be independent.

    Each works on so many ``samples``, which limits the threads that are taken by default. This
    thread works too, and others help that are free, so that calls may be nested. If one call
    fails, no other begins, and the error of the first one that failed is raised when all that had
    begun are done.
    """
    waiting, outer = list(items), _call.get()
    if outer is not None:
        team = outer.team
    else:
        team = _Team(n_threads(samples) - 1 if len(waiting) > 1 else 0)
    if len(waiting) < 2 or team.others == 0:
        return [function(item) for item in waiting]
    call = _Call(function, waiting, team)
    with one_blas_thread():
        team.work_on(call)
    if call.errors:
        raise call.errors[min(call.errors)]
    return [call.results[number] for number in range(len(waiting))]


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
