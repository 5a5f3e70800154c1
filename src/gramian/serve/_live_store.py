"""The store of a service: one thread that edits it, and the version that readers see.

Readers use `LiveStore.shown`, a snapshot that one assignment replaces after each edit, so that they
never wait for the thread that edits. What needs an engine (sets, intervals, leave-one-out values)
is computed on a copy of the version, made once when it is first asked for and gone with the next
edit: no computation holds the store while others want to edit it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Event, Lock, Thread
from typing import Any, TypeVar

from gramian.serve._data_drift import DataDrift
from gramian.serve._edits import Edit, Forget, Learn, blocks
from gramian.serve._limits import Limits
from gramian.serve._metrics import Metrics
from gramian.serve._problems import Problem, log
from gramian.tables import estimator_of

T = TypeVar("T")
_REFRESHED = 1.0  # seconds between two looks at a store that another process edits


@dataclass(frozen=True, eq=False)
class Shown:
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

    receipt: Any
    ids: list[int | str]
    shown: Shown


class LiveStore:
    """A store that many read and one thread edits."""

    shown: Shown
    """The last version, or a later one."""

    def __init__(self, name: str, store: Any, limits: Limits, metrics: Metrics) -> None:
        self.name, self.store, self._limits, self._metrics = name, store, limits, metrics
        self._edits: SimpleQueue[tuple[Edit, Future[Done]] | None] = SimpleQueue()
        self._places = BoundedSemaphore(limits.waiting)  # taken until an edit is answered
        work = self._follow if store.readonly else self._work
        self._thread = Thread(target=work, name="gramian-edits", daemon=True)
        self._assigning, self._computing, self._copying = Lock(), Lock(), Lock()
        self._copy: Shown | None = None
        self._ended = Event()
        self.data_drift = DataDrift()
        self.closing = False
        self.shown = self._present()

    def start(self) -> None:
        """Begin to take edits."""
        self._thread.start()

    def close(self) -> None:
        """Finish the edits that wait, then close the store."""
        self.closing = True
        self._ended.set()
        if self._thread.is_alive():
            self._edits.put(None)
            self._thread.join()
        with suppress(Empty):
            while True:  # what came while the thread ended
                entry = self._edits.get_nowait()
                if entry and entry[1].set_running_or_notify_cancel():
                    entry[1].set_exception(_closing())
        self.store.close()

    @property
    def waiting(self) -> int:
        """How many edits wait."""
        return self._edits.qsize()

    def submit(self, edit: Edit) -> Future[Done]:
        """Queue an edit; raise a 429 if too many wait."""
        self._check_writable()
        if not self._places.acquire(blocking=False):
            said = f"{self._limits.waiting} edits wait already; try again in a second."
            raise Problem(429, said, {"Retry-After": "1"})
        answer: Future[Done] = Future()
        answer.add_done_callback(lambda _: self._places.release())
        self._edits.put((edit, answer))
        return answer

    def rehearse(self, edit: Edit) -> Done:
        """What an edit would do, tried on a copy."""
        self._check_writable()
        model, version = self.store.read(lambda model: (deepcopy(model), self.store.version))
        edit.try_on(model)
        return Done(None, edit.ids_in(model), Shown(model, version))

    def _check_writable(self) -> None:
        if self.closing:
            raise _closing()
        if self.store.readonly:
            raise Problem(403, "this service only reads its store: edit it where it is written.")

    # -- what takes longer ----------------------------------------------------------------------

    def with_loo(self) -> Shown:
        """The shown version with leave-one-out values, computed once for all readers."""
        if self.shown.loo:
            return self.shown
        with self._computing:
            if not self.shown.loo:
                snapshot, version = self.apart(lambda model: model.snapshot(loo=True))
                found = Shown(snapshot, version, loo=True)
                self.data_drift.look_at(found.model)
                self._assign(found)
                return found
            return self.shown

    def apart(self, question: Callable[[Any], T]) -> tuple[T, int]:
        """What a model with an engine answers, and its version; edits go on meanwhile.

        A model with too many samples for a copy answers between two edits.
        """
        if len(estimator_of(self.shown.model).ids_) > self._limits.copied:
            found: tuple[T, int] = self.store.read(lambda m: (question(m), self.store.version))
            return found
        with self._copying:
            copy = self._copy
            if copy is None or copy.version != self.shown.version:
                copy = self.store.read(lambda model: Shown(deepcopy(model), self.store.version))
                self._assign_copy(copy)
        return question(copy.model), copy.version

    def _assign_copy(self, copy: Shown) -> None:
        with self._assigning:
            self._copy = copy if copy.version == self.shown.version else None

    def _assign(self, shown: Shown) -> None:
        """Let readers see a version, unless they see a later one."""
        with self._assigning:
            if shown.version >= self.shown.version:
                self.shown = shown
            if self._copy is not None and self._copy.version != self.shown.version:
                self._copy = None  # it may hold what was forgotten

    def _present(self) -> Shown:
        """A snapshot of the present version of the store."""
        present: Shown = self.store.read(lambda m: Shown(m.snapshot(), self.store.version))
        return present

    # -- the thread that edits, or follows one that does ----------------------------------------

    def _follow(self) -> None:
        while not self._ended.wait(_REFRESHED):
            try:
                if self.store.refresh():
                    before, shown = set(self.shown.model.ids_.tolist()), self._present()
                    after = shown.model.ids_.tolist()
                    self.data_drift.leave([*before.difference(after)])
                    self.data_drift.arrive([name for name in after if name not in before])
                    self._assign(shown)
            except Exception as error:  # the last version stays, and the next look may succeed
                log.error("the store could not be read again: %s", type(error).__name__)

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
                    log.error("an edit could not be shown: %s", type(error).__name__)
                    for _, answer in block:
                        if not answer.done():
                            answer.set_exception(_unshown())

    def _answer(self, block: list[tuple[Edit, Future[Done]]]) -> None:
        """Apply a block as one; a request that is refused spoils no other: all are tried alone."""
        edits = [edit for edit, _ in block]
        learns = [edit for edit in edits if isinstance(edit, Learn)]
        whole = edits[0] if len(edits) == 1 else Learn.merged(learns)
        try:
            receipt = whole.apply(self.store)
        except Exception as error:
            if len(block) == 1:
                block[0][1].set_exception(error)
            else:
                for entry in block:
                    self._answer([entry])
            return
        shown = self._present()
        ids = whole.ids_in(shown.model)
        if isinstance(whole, Learn):
            self.data_drift.arrive(ids)
        elif isinstance(whole, Forget):
            self.data_drift.leave(ids)
        self._assign(shown)
        for edit, answer in block:
            answer.set_result(Done(receipt, ids[: len(edit)], shown))
            ids = ids[len(edit) :]
        self._metrics.edited(self.name, whole.kind, len(block))


def _unshown() -> Problem:
    return Problem(500, "the edit is on disk but could not be shown; restart the service.")


def _closing() -> Problem:
    return Problem(503, "the service is shutting down.", {"Retry-After": "10"})
