"""What every request passes before and after its route: origin, size, scope, pace, measurement."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from gramian.serve._limits import Limits, Pace
from gramian.serve._metrics import Metrics
from gramian.serve._problems import Problem
from gramian.serve._tokens import Tokens

PATH = "gramian.path"
"""Where a route leaves its path, for the measurements."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_NOSNIFF = (b"x-content-type-options", b"nosniff")


class Access:
    """Who may use a route, and how often."""

    def __init__(self, tokens: Tokens | None, rate: float | None) -> None:
        self.tokens, self._pace = tokens, Pace(rate)

    def admit(self, connection: HTTPConnection, scope: str) -> None:
        """Raise a 401, 403 or 429 unless the client may do what the scope names."""
        client = connection.client.host if connection.client else ""
        if self.tokens is None:
            self._pace.step(client)
            return
        token = self.tokens.find(connection.headers.get("authorization", ""))
        self._pace.step(client if token is None else f"token {token.name}")
        if token is None:
            asked = {"WWW-Authenticate": 'Bearer realm="gramian", Basic realm="gramian"'}
            raise Problem(401, "a token is needed: Authorization: Bearer TOKEN.", asked)
        if not token.allows(scope):
            raise Problem(403, f"the token {token.name!r} lacks the scope {scope!r}.")


class Gate:
    """Middleware that refuses foreign pages and large bodies, and measures every request.

    A page of another site can make a browser send requests to a service on the same machine. Such
    a request names its origin, or (with a name that was rebound to this machine) a foreign host.
    """

    def __init__(
        self, app: Any, *, limits: Limits, metrics: Metrics, hosts: Collection[str] | None
    ) -> None:
        self.app, self._limits, self._metrics, self._hosts = app, limits, metrics, hosts

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        start, status = perf_counter(), 500

        async def send_recorded(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": _plainly(message.get("headers", ()))}
            await send(message)

        try:
            self._check(headers)
        except Problem as problem:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await problem.response()(scope, receive, send_recorded)
        else:
            if b"transfer-encoding" in headers:
                receive = self._bounded(receive)
            await self.app(scope, receive, send_recorded)
        finally:
            if scope["type"] == "http":
                self._metrics.observe(scope.get(PATH, "other"), status, perf_counter() - start)

    def _check(self, headers: dict[bytes, bytes]) -> None:
        host = headers.get(b"host", b"").decode("latin-1")
        if self._hosts is not None and _hostname(f"//{host}") not in self._hosts:
            raise Problem(403, f"the host {host!r} is none of {', '.join(sorted(self._hosts))}.")
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and origin.partition("://")[2] != host:
            raise Problem(403, f"requests of pages from {origin!r} are refused.")
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self._limits.body:
            raise self._too_large()

    def _bounded(self, receive: Any) -> Any:
        """Count the bytes of a body whose length was not announced."""
        seen = 0

        async def counted() -> Any:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._limits.body:
                raise self._too_large()
            return message

        return counted

    def _too_large(self) -> Problem:
        return Problem(413, f"the body is larger than {self._limits.body} bytes; send fewer rows.")


def _plainly(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer, which no browser may take for another kind than it says."""
    return [*(pair for pair in headers if pair[0] != _NOSNIFF[0]), _NOSNIFF]


@lru_cache(maxsize=64)
def _hostname(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
