"""The store of a service: one thread that edits it, and the version that readers see.

Readers use `LiveStore.published`, a snapshot that one assignment replaces after each edit, so that
they never wait for the thread that edits. What needs an engine (sets, intervals, leave-one-out
values) is computed on a copy of the version, made once when it is first needed and gone with the
next edit: no computation holds the store while others want to edit it.

Other processes may edit the store, too: one on a server, or one that is open for reading alone. Its
versions are followed, and without a lease nothing is answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Lock, Thread
from typing import Any, TypeVar

from gramian.files import Receipt
from gramian.serve._data_drift import DataDrift
from gramian.serve._edits import Edit, Forget, Learn, blocks
from gramian.serve._limits import Limits
from gramian.serve._metrics import Metrics
from gramian.serve._problems import Problem, log, try_later
from gramian.store import Following, Store, StoreError, is_address

T = TypeVar("T")
_PAUSE = 0.2  # seconds between two looks at whether one may still answer


@dataclass(frozen=True, eq=False)
class Published:
    """One version of the model, for readers.

    Attributes
    ----------
    model : estimator or TableModel
        A snapshot, or a copy with its engine.
    version : int
        Of the store.
    loo : bool
        Whether the snapshot has leave-one-out values and probabilities.
    """

    model: Any
    version: int
    loo: bool = False
    cache: dict[str, Any] = field(default_factory=dict)
    """Answers about this version, which are gone with it."""


@dataclass(frozen=True, eq=False)
class Done:
    """An edit that is on disk and shown, or (without a receipt) one that was only tried."""

    receipt: Receipt | None
    ids: list[int | str]
    published: Published


class LiveStore:
    """A store that many read and one thread edits."""

    published: Published
    """The last version, or a later one."""

    def __init__(self, name: str, store: Store, limits: Limits, metrics: Metrics) -> None:
        self.name, self.store, self._limits, self._metrics = name, store, limits, metrics
        self._edits: SimpleQueue[tuple[Edit, Future[Done]] | None] = SimpleQueue()
        self._places = BoundedSemaphore(limits.waiting)  # taken until an edit is answered
        self._thread = Thread(target=self._work, name="gramian-edits", daemon=True)
        self._assigning, self._computing, self._copying = Lock(), Lock(), Lock()
        self._copy: Published | None = None
        self._others_edit = store.readonly or is_address(store.path)
        self._following: Following | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._moved = asyncio.Event()
        self._answered = True  # whether it could answer when it was last asked
        self.data_drift = DataDrift()
        self.closing = False
        self.published = self._present()

    def start(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Begin to take edits, and to follow those of other processes.

        Parameters
        ----------
        loop : event loop, optional
            That of `reach`.
        """
        self._loop = loop
        if self._others_edit:
            lease = self._limits.lease
            self._following = self.store.follow(seconds=lease, on_change=self._follow)
        if not self.store.readonly:
            self._thread.start()

    def close(self) -> None:
        """Finish the edits that wait, then close the store."""
        self.closing = True
        if self._thread.is_alive():
            self._edits.put(None)
            self._thread.join()
        with suppress(Empty):
            while True:  # what came while the thread ended
                entry = self._edits.get_nowait()
                if entry and entry[1].set_running_or_notify_cancel():
                    entry[1].set_exception(_closing())
        if self._following is not None:
            self._following.close()
        self.store.close()

    @property
    def answering(self) -> bool:
        """Whether this process may answer: it is up to date, or has a lease that says how far."""
        able = self._following.answering if self._following else not self._others_edit
        if able != self._answered:
            self._answered = able
            said = "is in sight again" if able else "is out of sight, or not up to date yet"
            log.warning("the store of %s %s", self.name, said)
        return able

    def check(self) -> None:
        """Raise a 503 unless this process may answer."""
        if not self.answering:
            raise try_later(
                503, f"the store of {self.name} is out of sight; ask another replica, or try again."
            )

    async def guarded(self, work: Coroutine[Any, Any, T]) -> T:
        """What work returns; a 503 as soon as this process may not answer.

        Work may hang then, since a server that is out of reach sends nothing.
        """
        if self._following is None:
            return await work
        job = asyncio.ensure_future(work)
        while not (await asyncio.wait({job}, timeout=_PAUSE))[0]:
            if not self.answering:
                job.cancel()
            self.check()
        self.check()
        return job.result()

    async def wait_for_version(self, version: int) -> None:
        """Wait until readers see a version; a 503 if that takes too long."""
        if self.published.version >= version:
            return
        try:
            async with asyncio.timeout(self._limits.behind):
                while self.published.version < version:
                    await self._moved.wait()
        except TimeoutError:
            seen = self.published.version
            said = f"version {version} is not here yet: this is {seen}; try again."
            raise try_later(503, said) from None

    def _wake_waiting(self) -> None:
        """Wake those who wait for a version; in the thread of the event loop."""
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    @property
    def waiting(self) -> int:
        """How many edits wait."""
        return self._edits.qsize()

    def submit(self, edit: Edit) -> Future[Done]:
        """Queue an edit; raise a 429 if too many wait."""
        self._check_writable()
        if not self._places.acquire(blocking=False):
            most = self._limits.waiting
            raise try_later(429, f"{most} edits wait already; try again in a second.")
        answer: Future[Done] = Future()
        answer.add_done_callback(lambda _: self._places.release())
        self._edits.put((edit, answer))
        return answer

    def dry_run(self, edit: Edit) -> Done:
        """What an edit would do, tried on a copy."""
        self._check_writable()
        model, version = self.store.read(lambda model: (deepcopy(model), self.store.version))
        edit.try_on(model)
        return Done(None, edit.ids_in(model), Published(model, version))

    def _check_writable(self) -> None:
        if self.closing:
            raise _closing()
        if self.store.readonly:
            raise Problem(403, "this service only reads its store: edit it where it is written.")

    # -- what takes longer ----------------------------------------------------------------------

    def with_loo(self) -> Published:
        """The shown version with leave-one-out values, computed once for all readers."""
        if self.published.loo:
            return self.published
        with self._computing:
            if not self.published.loo:
                snapshot, version = self.on_a_copy(lambda model: model.snapshot(loo=True))
                found = Published(snapshot, version, loo=True)
                self.data_drift.update(found.model)
                self._assign(found)
                return found
            return self.published

    def on_a_copy(self, question: Callable[[Any], T]) -> tuple[T, int]:
        """What a model with an engine answers, and its version; edits go on meanwhile.

        A model with too many samples for a copy answers between two edits.
        """
        if len(self.published.model.ids_) > self._limits.copied:
            return self.store.read(lambda model: (question(model), self.store.version))
        with self._copying:
            copy = self._copy
            if copy is None or copy.version != self.published.version:
                copy = self.store.read(lambda model: Published(deepcopy(model), self.store.version))
                with self._assigning:
                    self._copy = copy if copy.version == self.published.version else None
        return question(copy.model), copy.version

    def _assign(self, published: Published) -> None:
        """Let readers see a version, unless they see a later one."""
        with self._assigning:
            if published.version >= self.published.version:
                self.published = published
            if self._copy is not None and self._copy.version != self.published.version:
                self._copy = None  # it may hold what was forgotten
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._wake_waiting)

    def _present(self) -> Published:
        """A snapshot of the present version of the store."""
        return self.store.read(lambda model: Published(model.snapshot(), self.store.version))

    # -- the thread that edits, and what other processes do ------------------------------------

    def _follow(self, version: int) -> None:
        """Let readers see a version that another process has made."""
        if self.published.version < version:
            self._publish_all(self._present())

    def _publish_all(self, published: Published) -> None:
        """Let readers see a version, with all rows that came and went since the last."""
        before, after = set(self.published.model.ids_.tolist()), published.model.ids_.tolist()
        self.data_drift.leave([*before.difference(after)])
        self.data_drift.arrive([name for name in after if name not in before])
        self._assign(published)

    def _work(self) -> None:
        open_ = True
        while open_:
            taken = [self._edits.get()]
            with suppress(Empty):
                while True:
                    taken.append(self._edits.get_nowait())
            open_ = None not in taken
            waiting = [
                entry for entry in taken if entry and entry[1].set_running_or_notify_cancel()
            ]
            for block in blocks(waiting, self._limits.batch):
                try:
                    self._answer(block)
                except Exception as error:  # no edit that comes later may wait for ever
                    log.error("an edit could not be published: %s", type(error).__name__)
                    for _, answer in block:
                        if not answer.done():
                            answer.set_exception(_unshown())

    def _answer(self, block: list[tuple[Edit, Future[Done]]]) -> None:
        """Apply a block as one; a request that is refused spoils no other: all are tried alone."""
        edits = [edit for edit, _ in block]
        learns = [edit for edit in edits if isinstance(edit, Learn)]
        whole = edits[0] if len(edits) == 1 else Learn.merged(learns)
        before = self.published.version
        try:
            receipt, published = self.store.read(lambda _: self._apply(whole))
        except Exception as error:
            alone = len(block) > 1 and (isinstance(error, ValueError) or self._is_at(before))
            for entry in block:
                if alone:
                    self._answer([entry])
                else:
                    entry[1].set_exception(error)
            return
        ids = whole.ids_in(published.model)
        if self._others_edit:
            self._publish_all(published)
        else:
            if isinstance(whole, Learn):
                self.data_drift.arrive(ids)
            elif isinstance(whole, Forget):
                self.data_drift.leave(ids)
            self._assign(published)
        for edit, answer in block:
            answer.set_result(Done(receipt, ids[: len(edit)], published))
            ids = ids[len(edit) :]
        self._metrics.edited(self.name, whole.kind, len(block))

    def _apply(self, edit: Edit) -> tuple[Receipt, Published]:
        """Make an edit, and what is shown of it; no edit of another process comes between."""
        receipt = edit.apply(self.store)
        try:
            return receipt, self._present()
        except Exception as error:
            log.error("an edit could not be published: %s", type(error).__name__)
            raise _unshown() from error

    def _is_at(self, version: int) -> bool:
        """Whether the store is for sure at a version, so that what failed was not made."""
        try:
            return self.store.read(lambda _: self.store.version) == version
        except StoreError:
            return False


def _unshown() -> Problem:
    return Problem(500, "the edit is on disk but could not be published; restart the service.")


def _closing() -> Problem:
    return try_later(503, "the service is shutting down.", 10)
