"""The store of a service: one thread that edits it, and the version that readers see.

Readers use `LiveStore.shown`, a snapshot that one assignment replaces after each edit, so that they
never wait for the thread that edits. What needs the live engine (sets, intervals, drift, and once
for each version the leave-one-out values) takes turns with that thread, by ``store.read``.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Thread
from typing import Any

from gramian.serve._edits import Edit, Learn, blocks
from gramian.serve._limits import Limits
from gramian.serve._metrics import Metrics
from gramian.serve._problems import Problem, log


@dataclass(frozen=True, eq=False)
class Shown:
    """One version of the model, for readers.

    Attributes
    ----------
    model : estimator or TableModel
        A snapshot.
    version : int
        Of the store.
    loo : bool
        Whether the snapshot has leave-one-out values and probabilities.
    """

    model: Any
    version: int
    loo: bool
    cache: dict[str, Any] = field(default_factory=dict)
    """Answers about this version, which are gone with it."""


@dataclass(frozen=True, eq=False)
class Done:
    """An edit that is on disk and shown."""

    receipt: Any
    ids: list[int | str]
    shown: Shown


class LiveStore:
    """A store that many read and one thread edits."""

    shown: Shown
    """The last version, or a later one."""

    def __init__(self, store: Any, limits: Limits, metrics: Metrics) -> None:
        self.store, self._limits, self._metrics = store, limits, metrics
        self._edits: SimpleQueue[tuple[Edit, Future[Done]] | None] = SimpleQueue()
        self._places = BoundedSemaphore(limits.waiting)  # taken until an edit is answered
        self._thread = Thread(target=self._work, name="gramian-edits", daemon=True)
        self.closing = False
        self._show()

    def start(self) -> None:
        """Begin to take edits."""
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
        self.store.close()

    @property
    def waiting(self) -> int:
        """How many edits wait."""
        return self._edits.qsize()

    def submit(self, edit: Edit) -> Future[Done]:
        """Queue an edit; raise a 429 if too many wait."""
        if self.closing:
            raise _closing()
        if not self._places.acquire(blocking=False):
            said = f"{self._limits.waiting} edits wait already; try again in a second."
            raise Problem(429, said, {"Retry-After": "1"})
        answer: Future[Done] = Future()
        answer.add_done_callback(lambda _: self._places.release())
        self._edits.put((edit, answer))
        return answer

    def with_loo(self) -> Shown:
        """The shown version with leave-one-out values, computed once for all readers."""
        shown = self.shown
        return shown if shown.loo else self._show(loo=True)

    def alone(self, question: Callable[[Any], Any]) -> tuple[Any, int]:
        """What the live model answers between two edits, and its version."""
        return self.store.read(lambda model: (question(model), self.store.version))

    def _show(self, loo: bool = False) -> Shown:
        """Let readers see the present version of the store."""

        def assign(model: Any) -> Shown:  # between two edits, so that none is shown after a later
            if not (loo and self.shown.loo and self.shown.version == self.store.version):
                self.shown = Shown(model.snapshot(loo=loo), self.store.version, loo)
            return self.shown

        return self.store.read(assign)

    # -- the thread that edits ------------------------------------------------------------------

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
        whole = edits[0] if len(edits) == 1 else Learn.added(edits)  # type: ignore[arg-type]
        try:
            receipt = whole.apply(self.store)
        except Exception as error:
            if len(block) == 1:
                block[0][1].set_exception(error)
            else:
                for entry in block:
                    self._answer([entry])
            return
        shown = self._show()
        ids = whole.ids_in(shown.model)
        for edit, answer in block:
            answer.set_result(Done(receipt, ids[: len(edit)], shown))
            ids = ids[len(edit) :]
        self._metrics.edited(whole.kind, len(block))


def _unshown() -> Problem:
    return Problem(500, "the edit is on disk but could not be shown; restart the service.")


def _closing() -> Problem:
    return Problem(503, "the service is shutting down.", {"Retry-After": "10"})
