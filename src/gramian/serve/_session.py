"""The store of a service: one thread that edits it, and the version that readers see.

Readers use `Session.shown`, a snapshot that one assignment replaces after each edit, so they never
wait for the thread that edits. What needs the live engine (sets, intervals, drift) takes turns with
that thread, in `alone`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, Full, Queue
from threading import Lock, Thread
from typing import Any

from gramian.serve._edits import Edit, Learn, blocks
from gramian.serve._limits import Limits
from gramian.serve._metrics import Metrics
from gramian.serve._problems import Problem


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
    loo: bool = False


@dataclass(frozen=True, eq=False)
class Done:
    """An edit that is on disk and shown."""

    receipt: Any
    ids: list[int | str]
    version: int
    n: int


class Session:
    """A store that many read and one thread edits."""

    def __init__(self, store: Any, limits: Limits, metrics: Metrics) -> None:
        self._store, self._limits, self._metrics = store, limits, metrics
        self._turn = Lock()  # held by whoever uses the live model
        self._edits: Queue[tuple[Edit, Future[Done]] | None] = Queue(limits.waiting)
        self._thread = Thread(target=self._work, name="gramian-edits", daemon=True)
        self.closing = False
        self.shown = Shown(store.model.snapshot(), store.version)

    def start(self) -> None:
        """Begin to take edits."""
        self._thread.start()

    def close(self) -> None:
        """Finish the edits that wait, then close the store."""
        self.closing = True
        if self._thread.is_alive():
            self._edits.put(None)
            self._thread.join()
        with self._turn:
            self._store.close()

    def submit(self, edit: Edit) -> Future[Done]:
        """Queue an edit; raise a 429 if too many wait."""
        if self.closing:
            raise Problem(503, "the service is shutting down.", {"Retry-After": "10"})
        answer: Future[Done] = Future()
        try:
            self._edits.put_nowait((edit, answer))
        except Full:
            said = f"{self._limits.waiting} edits wait already; try again in a second."
            raise Problem(429, said, {"Retry-After": "1"}) from None
        return answer

    @property
    def waiting(self) -> int:
        """How many edits wait."""
        return self._edits.qsize()

    def alone(self, function: Callable[[Any], Any]) -> Any:
        """Call a function of the store while nothing edits it."""
        with self._turn:
            return function(self._store)

    def with_loo(self) -> Shown:
        """The shown version with leave-one-out values, computed once for all readers."""
        if not self.shown.loo:
            with self._turn:
                if not self.shown.loo:
                    self._show(loo=True)
        return self.shown

    # -- the thread that edits ------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            waiting = [self._edits.get()]
            with suppress(Empty):
                while len(waiting) < self._limits.waiting:
                    waiting.append(self._edits.get_nowait())
            for block in blocks([entry for entry in waiting if entry], self._limits.batch):
                with self._turn:
                    self._answer(block)
            if None in waiting:
                return

    def _answer(self, block: list[tuple[Edit, Future[Done]]]) -> None:
        """Apply a block as one; one that is refused spoils no other: they are tried alone."""
        edits = [edit for edit, _ in block]
        try:
            whole = edits[0] if len(edits) == 1 else Learn.joined(edits)  # type: ignore[arg-type]
            receipt, ids = whole.apply(self._store)
            self._show()
        except Exception as error:
            if len(block) == 1:
                block[0][1].set_exception(error)
                return
            for entry in block:
                self._answer([entry])
            return
        self._metrics.edited(edits[0].kind, len(block))
        n, version = len(self.shown.model.ids_), self.shown.version
        for edit, answer in block:
            own = ids[: len(edit)] if isinstance(edit, Learn) else ids
            ids = ids[len(own) :]
            answer.set_result(Done(receipt, own, version, n))

    def _show(self, loo: bool = False) -> None:
        self.shown = Shown(self._store.model.snapshot(loo=loo), self._store.version, loo)
