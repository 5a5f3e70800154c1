"""What every request passes before and after its route: origin, size, scope, pace, measurement."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from gramian.serve._limits import Limits, Pace, Turns
from gramian.serve._logs import log_request
from gramian.serve._metrics import Metrics
from gramian.serve._problems import Problem
from gramian.serve._tokens import Tokens

PATH, USER = "gramian.path", "gramian.user"
"""Where a route leaves its path and the name of the token, for measurements and receipts."""

PAGES = ("", "/", "/index.html")
"""Paths of pages that links may lead to."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_ALWAYS = {
    b"x-content-type-options": b"nosniff",
    b"cross-origin-resource-policy": b"same-origin",
}
"""Headers of every answer: no browser may guess what it is or give it to another site."""
_OWN = (b"same-origin", b"none")
"""What a browser says of a request that no other site has caused."""


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
        connection.scope[USER] = None if token is None else token.name
        if token is None:
            asked = {"WWW-Authenticate": 'Bearer realm="gramian", Basic realm="gramian"'}
            wrong = "a token is needed: Authorization: Bearer TOKEN."
            if "authorization" in connection.headers:
                wrong = "the token is not one of the service, or its time is over. Ask for one."
            raise Problem(401, wrong, asked)
        if not token.allows(scope):
            raise Problem(403, f"the token {token.name!r} lacks the scope {scope!r}.")


class Gate:
    """Middleware that refuses foreign pages and large bodies, and measures every request.

    A page of another site can make a browser send requests to a service on the same computer. Such
    a request names its origin, or (with a name that was rebound to this one) a foreign host, or
    says that it comes from another site. A link to one of the pages may come from anywhere.
    """

    def __init__(
        self, app: Any, *, limits: Limits, metrics: Metrics, hosts: Collection[str] | None
    ) -> None:
        self.app, self._limits, self._metrics, self._hosts = app, limits, metrics, hosts
        self._bodies = Turns(limits.bodies, "bytes of requests")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        scope, headers = _below_root(scope), dict(scope["headers"])
        start, status, body = perf_counter(), 500, Body(receive, self._limits, self._bodies)

        async def measured(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": _with_always(message.get("headers", ()))}
            await send(message)

        try:
            self._check(headers, scope)
        except Problem as problem:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await problem.response()(scope, receive, measured)
        else:
            await self.app(scope, body.receive, measured)
        finally:
            body.release()
            if scope["type"] == "http":
                seconds, path = perf_counter() - start, scope.get(PATH, "other")
                self._metrics.observe(path, status, seconds)
                log_request(scope.get(USER), scope["method"], path, status, seconds)

    def _check(self, headers: dict[bytes, bytes], scope: Any) -> None:
        host = headers.get(b"host", b"").decode("latin-1")
        if self._hosts is not None and _hostname(f"//{host}") not in self._hosts:
            raise Problem(403, f"the host {host!r} is none of {', '.join(sorted(self._hosts))}.")
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and origin not in (f"http://{host}", f"https://{host}"):
            raise Problem(403, f"requests of pages from {origin!r} are refused.")
        caused = headers.get(b"sec-fetch-site", b"none") not in _OWN
        if caused and not _opens_a_page(headers, scope):
            raise Problem(403, "requests that pages of other sites cause are refused.")
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self._limits.body:
            raise _too_large(self._limits)


class Body:
    """The body of one request: so large at most, and of all together so many bytes."""

    def __init__(self, receive: Any, limits: Limits, bodies: Turns) -> None:
        self._receive, self._limits, self._bodies = receive, limits, bodies
        self._held = 0

    async def receive(self) -> Any:
        """The next message, with its bytes counted."""
        message = await self._receive()
        size = len(message.get("body", b""))
        if self._held + size > self._limits.body:
            raise _too_large(self._limits)
        self._bodies.take(size)
        self._held += size
        return message

    def release(self) -> None:
        """It was answered."""
        self._bodies.give_back(self._held)


def _below_root(scope: Any) -> Any:
    """The scope of a request through a proxy that leaves its own path in front of ours.

    The server has already put that path there, for proxies that take it away.
    """
    root = scope.get("root_path", "")
    if not root or not scope["path"].startswith(f"{root}{root}/"):
        return scope
    return {**scope, "path": scope["path"].removeprefix(root)}


def _too_large(limits: Limits) -> Problem:
    return Problem(413, f"the body is larger than {limits.body} bytes; send fewer rows.")


def _opens_a_page(headers: dict[bytes, bytes], scope: Any) -> bool:
    """Whether the browser follows a link to one of the pages, which are files and ask no model."""
    opens = headers.get(b"sec-fetch-mode") == b"navigate" and scope.get("method") == "GET"
    return opens and scope["path"].removeprefix(scope.get("root_path", "")) in PAGES


def _with_always(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [*(pair for pair in headers if pair[0] not in _ALWAYS), *_ALWAYS.items()]


@lru_cache(maxsize=64)
def _hostname(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
