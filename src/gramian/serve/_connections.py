"""A server whose clients cannot keep connections open without using them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from socket import socket
from time import monotonic
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from gramian.serve._limits import Limits

_AT_ONCE = 100
"""Connections that are accepted before any of them is looked at."""
_SPARE = 64 + _AT_ONCE
"""Files that a process needs besides its connections."""


class LimitedConfig(uvicorn.Config):
    """The configuration of a server that has so many connections."""

    connections: int


class Connection(H11Protocol):
    """A connection that is closed if the client takes too long to send or to read."""

    config: LimitedConfig

    def __init__(self, config: Any, server_state: Any, *args: Any, **options: Any) -> None:
        super().__init__(config, server_state, *args, **options)
        self._phase: tuple[str, int] = ("", 0)
        self._since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take its place, or that of the connection that has waited longest for a request."""
        super().connection_made(transport)
        self.age(monotonic())
        if len(self.connections) > self.config.connections:
            own = [other for other in self.connections if isinstance(other, Connection)]
            idle = [other for other in own if other.phase == "head"]
            min(idle, key=lambda other: other._since, default=self).drop()

    def shutdown(self) -> None:
        """Do not wait for the rest of a request."""
        if self.phase == "receive":
            self.drop()
        else:
            super().shutdown()

    @property
    def phase(self) -> str:
        """What the connection is waiting for: ``head``, ``receive``, ``send``, or an answer."""
        if self.cycle is None or self.cycle.response_complete:
            return "head"
        if self.cycle.more_body:
            return "receive"
        return "send" if self.flow.write_paused else "answer"

    def age(self, now: float) -> float:
        """Seconds since it has been waiting for the same thing of the same request."""
        phase = self.phase, id(self.cycle)
        if phase != self._phase:
            self._phase, self._since = phase, now
        return now - self._since

    def drop(self) -> None:
        """Close it at once."""
        self.connections.discard(self)
        self.transport.abort()


class Server(uvicorn.Server):
    """Looks at every connection once a second, and ends without a traceback."""

    def __init__(self, config: uvicorn.Config, limits: Limits) -> None:
        super().__init__(config)
        self._seconds = {"head": limits.head, "receive": limits.receive, "send": limits.send}

    def run(self, sockets: list[socket] | None = None) -> None:
        """Serve until SIGINT or SIGTERM."""
        with suppress(KeyboardInterrupt):  # raised again after the server has ended in order
            super().run(sockets)

    async def on_tick(self, counter: int) -> bool:
        """Close connections that take too long."""
        if counter % 10 == 0:
            now = monotonic()
            for connection in list(self.server_state.connections):
                if isinstance(connection, Connection):
                    most = self._seconds.get(connection.phase, float("inf"))
                    if connection.age(now) > most:
                        connection.drop()
        return await super().on_tick(counter)


def limited_server(app: Any, limits: Limits, **options: Any) -> Server:
    """A server with limits on connections, and on the time that clients and the end may take."""
    config = LimitedConfig(
        app,
        http=Connection,
        access_log=False,
        server_header=False,
        backlog=_AT_ONCE,
        timeout_graceful_shutdown=max(1, round(limits.shutdown)),
        ws_max_size=2**18,
        **options,
    )
    config.connections = min(limits.connections, files_allowed() - _SPARE)
    config.load()  # also sets up the log
    return Server(config, limits)


def files_allowed() -> int:
    """How many files and connections this process may have open."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 2**16
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2**16 if soft == resource.RLIM_INFINITY else max(soft, _SPARE + 1)
