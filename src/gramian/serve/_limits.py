"""How much a client may ask for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

from gramian.serve._problems import try_later


@dataclass(frozen=True)
class Limits:
    """How much the service takes, and for how long.

    Parameters
    ----------
    body : int
        Bytes of a request.
    rows : int
        Rows of a request.
    learned : int
        Of these, rows that it may bring to learn: k of them take O(k n²) time and O(k n) memory.
    values : int
        Values of a request, and of its answer. They are counted before anything is read; a list
        counts as ten and an object as thirty, which is what they take in time and memory.
    bodies : int
        Bytes of all requests that are being received or answered.
    waiting : int
        Edits that wait for their turn; beyond it they are refused with 429.
    batch : int
        Rows that are learned in one block when several requests wait.
    rate : float, optional
        Requests a second of one client, by token or else by address; None for no bound.
    costly : int
        Answers that are computed or wait to be computed in a thread; beyond it 503.
    seconds : float
        How long sets and intervals of one request may take.
    copied : int
        Samples up to which sets, intervals and leave-one-out values are computed on a copy of the
        model, which takes its memory once more. Those of larger models take turns with edits.
    connections : int
        Open connections. The one that has waited longest for a request makes room for a new one.
    head, receive, send : float
        Seconds in which a client must send the head and then the body of a request, and go on
        reading its answer.
    shutdown : float
        Seconds after which answers that are not complete are given up when the service ends; edits
        are always completed.
    sockets : int
        Pages that watch.
    behind : float
        Seconds that a request waits for the version that it asks for.
    lease : float
        Seconds of the lease by which this process answers for a store on a server.
    """

    body: int = 8 * 2**20
    rows: int = 10_000
    learned: int = 1_000
    values: int = 500_000
    bodies: int = 64 * 2**20
    waiting: int = 256
    batch: int = 256
    rate: float | None = None
    costly: int = 16
    seconds: float = 10.0
    copied: int = 8_000
    connections: int = 512
    head: float = 10.0
    receive: float = 60.0
    send: float = 60.0
    shutdown: float = 10.0
    sockets: int = 64
    behind: float = 5.0
    lease: float = 10.0


class Pace:
    """Holds each client to a number of requests a second, after a second's worth at once."""

    def __init__(self, rate: float | None, clients: int = 10_000) -> None:
        self.rate, self._clients = rate, clients
        self._due: dict[str, float] = {}  # when the client's allowance is full again

    def step(self, client: str) -> None:
        """Count a request; raise a 429 if it comes too early."""
        if self.rate is None:
            return
        now = monotonic()
        if len(self._due) > self._clients:
            self._due = {name: due for name, due in self._due.items() if due > now}
        due = max(now, self._due.get(client, 0.0)) + 1.0 / self.rate
        if due > now + max(1.0, 1.0 / self.rate):
            raise try_later(429, f"more than {self.rate:g} requests a second; wait a moment.")
        self._due[client] = due


class Turns:
    """Counts what is under way, and refuses what would be too much."""

    def __init__(self, most: int, what: str) -> None:
        self.most, self.taken, self._what = most, 0, what

    def take(self, amount: int = 1) -> None:
        """Count it; raise a 503 if there would be more than allowed."""
        if self.taken + amount > self.most:
            raise try_later(
                503, f"the service takes {self.most} {self._what} at a time; try again in a second."
            )
        self.taken += amount

    def give_back(self, amount: int = 1) -> None:
        """It is done."""
        self.taken -= amount

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one thing while the block runs."""
        self.take()
        try:
            yield
        finally:
            self.give_back()
