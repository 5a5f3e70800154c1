"""Following the edits of other processes, with a lease that names the version reached.

A process that answers holds a lease of some seconds and renews it. The lease names the version that
it answers with: an erasure is *closed* when every lease that has not ended names its version or a
later one. A process whose lease has ended must not answer, since nobody waits for it any more.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Condition, Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Self

from gramian.store._database import Database
from gramian.store._errors import NoLeaseError, OldCopyError, StoreBusyError, StoreError

if TYPE_CHECKING:
    from gramian.store._answers import StoreAnswers

LEASE = 10.0
"""Seconds of a lease."""

_POLL = 1.0  # seconds between two looks, also without a notice of an edit
_AGAIN = 0.2  # seconds until the next attempt after an error
_LAST = 15.0  # seconds for threads to end after what they wait for was cut off
_ONCE = 1.0  # seconds until it is cut off again


class Following:
    """Two threads: one applies the edits of others, one renews the lease.

    Made by `Store.follow`; a context manager.

    Attributes
    ----------
    name : str
        Of the lease.
    error : Exception or None
        What went wrong at the last attempt to follow; attempts go on.
    """

    def __init__(
        self,
        store: StoreAnswers,
        backends: tuple[Database, Database] | None,
        name: str | None,
        seconds: float,
        on_change: Callable[[int], None] | None,
    ) -> None:
        self.name = name or f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.error: Exception | None = None
        self._store, self._seconds, self._on_change = store, seconds, on_change
        self._listener: Database | None = backends[0] if backends else None
        self._leaser: Database | None = backends[1] if backends else None
        self._visible = store.version  # the version that readers see
        self._needed = 0  # the version from which on this process may answer
        self._ends = -1.0 if backends else float("inf")
        self._renewing, self._ended, self._moved = Lock(), Event(), Condition()
        if backends:
            self._renew()
            self._step()
        work = [self._follow, self._keep_lease] if backends else [self._follow]
        self._threads = [Thread(target=f, name=f"gramian{f.__name__}", daemon=True) for f in work]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def version(self) -> int:
        """The version that readers see, and that the lease has confirmed or soon will."""
        return self._visible

    @property
    def answering(self) -> bool:
        """Whether this process may answer: it has a lease, and was up to date since it got it."""
        leased = monotonic() < self._ends and not self._ended.is_set()
        return leased and self._visible >= self._needed

    def check(self) -> None:
        """Raise NoLeaseError unless this process may answer."""
        if not self.answering:
            why = f": {self.error}" if self.error else "."
            raise NoLeaseError(
                f"{self._store.path} is out of sight, or this process is not up to date yet; it "
                f"must not answer{why}"
            )

    def wait(self, version: int, timeout: float) -> bool:
        """Wait until readers see this version or a later one; False if that takes too long."""
        with self._moved:
            return self._moved.wait_for(lambda: self._visible >= version, timeout)

    def close(self, timeout: float = LEASE) -> None:
        """Follow no longer, and end the lease.

        Parameters
        ----------
        timeout : float
            Seconds to wait for an answer of the server. Then connections are cut off, this store's
            own as well, which is made anew when it is needed; the lease ends by itself.

        Raises
        ------
        StoreBusyError
            If `on_change` has not returned even some seconds after that.
        """
        self._ended.set()
        own = [backend for backend in (self._listener, self._leaser) if backend is not None]
        running, end = self._are_running(timeout), monotonic() + timeout + _LAST
        while running:  # again and again: a connection may have been made just now
            for backend in (*own, self._store._database):
                backend.cut_off()
            running = self._are_running(_ONCE)
            if running and monotonic() > end:
                raise StoreBusyError(
                    f"{self._store.path} is still being followed: what was to be done at a new "
                    f"version has not come to an end. This process answers no more."
                )
        for backend in own:
            backend.close()

    def _are_running(self, seconds: float) -> bool:
        """Whether a thread runs still after so long."""
        end = monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - monotonic()))
        return any(thread.is_alive() for thread in self._threads)

    # -- threads --------------------------------------------------------------------------------

    def _follow(self) -> None:
        look = self._listener or self._store._database
        while not self._ended.is_set():
            try:
                look.wait(_POLL)
                self._step()
                self.error = None
            except Exception as error:  # the last version stays, and the next attempt may succeed
                self.error = error
                self._ended.wait(_AGAIN)

    def _keep_lease(self) -> None:
        while not self._ended.wait(self._seconds / 3):
            try:
                self._renew()
            except Exception as error:  # the lease ends by itself if this goes on
                self.error = error
        assert self._leaser is not None
        with self._renewing, suppress(StoreError):  # out of reach: the lease ends by itself
            self._leaser.release(self.name)

    def _step(self) -> None:
        """Apply what others have done, let readers see it, and confirm it."""
        self._store.refresh()
        version = self._store.version
        if version == self._visible:
            return
        if self._on_change is not None:
            self._on_change(version)
        with self._moved:
            self._visible = version
            self._moved.notify_all()
        if self._leaser is not None:
            self._renew()

    def _renew(self) -> None:
        assert self._leaser is not None
        with self._renewing:
            if self._ended.is_set():
                return
            asked = monotonic()  # before the server counts: our end comes before its
            newest = self._leaser.lease(self.name, self._visible, self._seconds)
            if monotonic() >= self._ends:  # when it came, erasures may have been closed without us
                self._needed = newest
            self._ends = asked + self._seconds
            if newest < self._visible:
                self._ends = -1.0
                raise OldCopyError(
                    f"{self._store.path} is an old copy: it is at version {newest}, and was at "
                    f"{self._visible} before."
                )
