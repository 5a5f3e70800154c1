"""How much a client may ask for."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from gramian.serve._problems import Problem


@dataclass(frozen=True)
class Limits:
    """How much the service takes.

    Parameters
    ----------
    body : int
        Bytes of a request.
    rows : int
        Rows of a request.
    waiting : int
        Edits that wait for their turn; beyond it they are refused with 429.
    batch : int
        Rows that are learned in one block when several requests wait.
    rate : float, optional
        Requests a second of one client, by token or else by address; None for no bound.
    """

    body: int = 16 * 2**20
    rows: int = 10_000
    waiting: int = 256
    batch: int = 256
    rate: float | None = None


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
            raise Problem(
                429,
                f"more than {self.rate:g} requests a second; wait a moment.",
                {"Retry-After": "1"},
            )
        self._due[client] = due
