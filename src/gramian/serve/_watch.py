"""What the page of a served store shows after every edit, by web sockets."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from contextlib import suppress
from typing import Any

from sklearn.base import is_classifier
from starlette.websockets import WebSocket, WebSocketDisconnect

from gramian.serve import _answers
from gramian.serve._gate import Access
from gramian.serve._limits import Limits, Turns
from gramian.serve._live_store import LiveStore
from gramian.serve._problems import problem_of
from gramian.serve._tokens import SCOPES
from gramian.serve._workers import Workers
from gramian.tables import estimator_of

SCOPE = "learn"
"""What a token must be good for to watch."""
REMEMBERED = 240
"""Edits whose readings are kept."""
_PAUSE = 0.2


class Watch:
    """Web sockets that give the readings of every version of a store.

    The first message of a client is ``{"token": …}``, null without one. The first answer names the
    scopes that the client has, the next ones are readings.
    """

    def __init__(
        self, live: LiveStore, access: Access, limits: Limits, workers: Workers, sockets: Turns
    ) -> None:
        self._live, self._access, self._workers = live, access, workers
        self._first, self._sockets = limits.head, sockets
        self._readings: deque[dict[str, Any]] = deque(maxlen=REMEMBERED)

    async def talk(self, socket: WebSocket) -> None:
        """Talk to one client until it leaves, or its token is no longer good."""
        try:
            with self._sockets.one():
                await socket.accept()
                with suppress(WebSocketDisconnect, TimeoutError):
                    await self._talk(socket)
        except Exception as error:
            later = problem_of(error).status == 503  # which logs where it was, and no values
            await socket.close(code=1013 if later else 1011)

    async def _talk(self, socket: WebSocket) -> None:
        message = await asyncio.wait_for(socket.receive_text(), self._first)
        scopes = self._scopes(message)
        if SCOPE not in scopes:
            await socket.send_json({"kind": "denied", "scopes": scopes})
            await socket.close(code=1008)
            return
        await socket.send_json(self._welcome(scopes))
        version = -1
        while SCOPE in self._scopes(message):
            self._live.check()
            if self._live.published.version != version:
                reading = await self._live.guarded(self._workers.compute(self._reading))
                version = reading["version"]
                await socket.send_json({"kind": "reading", **reading})
            with suppress(TimeoutError):
                await asyncio.wait_for(socket.receive_text(), _PAUSE)
        await socket.close(code=1008)

    def _scopes(self, message: str) -> list[str]:
        """What the token of the first message is good for."""
        tokens = self._access.tokens
        if tokens is None:
            return [*SCOPES]
        try:
            secret = json.loads(message)["token"]
        except (ValueError, TypeError, KeyError):
            return []
        token = tokens.find(f"Bearer {secret}")
        return [] if token is None else [scope for scope in SCOPES if token.allows(scope)]

    def _welcome(self, scopes: list[str]) -> dict[str, Any]:
        estimator = estimator_of(self._live.published.model)
        classes = estimator.classes_.tolist() if is_classifier(estimator) else None
        return {
            "kind": "welcome",
            "name": self._live.name,
            "readonly": self._live.store.readonly,
            "scopes": scopes,
            "estimator": type(estimator).__name__,
            "classes": classes,
            "numbered": estimator.ids_.dtype.kind == "i",
            "readings": [*self._readings],
        }

    def _reading(self) -> dict[str, Any]:
        """The readings of the present version, computed once for all clients."""
        published = self._live.with_loo()
        if self._readings and self._readings[-1]["version"] == published.version:
            return self._readings[-1]
        reading = {
            "version": published.version,
            "n": len(published.model.ids_),
            "error": _answers.left_out_error(published),
            "numerical_error": _answers.numerical_error(self._live)["numerical_error"],
            "data_drift": self._live.data_drift.as_dict(),
        }
        self._readings.append(reading)
        return reading
