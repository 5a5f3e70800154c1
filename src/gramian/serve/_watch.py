"""What the page of a served store shows: readings after every edit, samples, and a projection."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from starlette.websockets import WebSocket, WebSocketDisconnect

from gramian.core.arrays import Array
from gramian.core.estimators import positions_of
from gramian.estimators import ESTIMATORS
from gramian.files.parts import estimator_of
from gramian.serve import _answers
from gramian.serve._gate import Access
from gramian.serve._live_store import LiveStore, Shown
from gramian.serve._tokens import SCOPES
from gramian.tables import TableModel

SCOPE = "learn"
"""What a token must be good for to watch."""
REMEMBERED = 240
"""Edits whose readings are kept."""
DRAWN = 1000
"""Samples of a projection at most."""
_PAUSE = 0.2


class Watch:
    """A web socket that tells the readings of every version of a store.

    The first message of a client is ``{"token": …}``, null without one. The first answer names the
    scopes that the client has, the next ones are readings.
    """

    def __init__(self, live: LiveStore, name: str, access: Access) -> None:
        self._live, self._name, self._access = live, name, access
        self._readings: deque[dict[str, Any]] = deque(maxlen=REMEMBERED)

    async def talk(self, socket: WebSocket) -> None:
        """Talk to one client until it leaves."""
        await socket.accept()
        with suppress(WebSocketDisconnect):
            scopes = self._scopes(await socket.receive_text())
            if SCOPE not in scopes:
                await socket.send_json({"kind": "denied", "scopes": scopes})
                await socket.close(code=1008)
                return
            await socket.send_json(self._welcome(scopes))
            await self._tell(socket)

    async def _tell(self, socket: WebSocket) -> None:
        told = -1
        while True:
            if self._live.shown.version != told:
                reading = await asyncio.to_thread(self._reading)
                told = reading["version"]
                await socket.send_json({"kind": "reading", **reading})
            with suppress(TimeoutError):
                await asyncio.wait_for(socket.receive_text(), _PAUSE)

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
        model = self._live.shown.model
        machine = estimator_of(model)
        classes = machine.classes_.tolist() if is_classifier(machine) else None
        return {
            "kind": "welcome",
            "name": self._name,
            "scopes": scopes,
            "machine": type(machine).__name__,
            "classes": classes,
            "numbered": machine.ids_.dtype.kind == "i",
            "readings": [*self._readings],
        }

    def _reading(self) -> dict[str, Any]:
        """The readings of the present version, computed once for all clients."""
        shown = self._live.with_loo()
        if self._readings and self._readings[-1]["version"] == shown.version:
            return self._readings[-1]
        reading = {
            "version": shown.version,
            "n": len(shown.model.ids_),
            "error": _answers.left_out_error(shown),
            "drift": _answers.drift(self._live.store)["drift"],
        }
        self._readings.append(reading)
        return reading


def samples(shown: Shown, ids: list[Any]) -> dict[str, Any]:
    """Held samples: their values, targets, and what the model without each of them says."""
    machine = estimator_of(shown.model)
    places = positions_of(machine.ids_, ids)
    predicted, y = machine.loo_predict(), machine.y_fit_
    table = _table(shown.model, machine)
    found = [
        {
            "id": machine.ids_[place].item(),
            "target": y[place].tolist(),
            "others_say": predicted[place].tolist(),
            "values": {name: column[[place]].tolist()[0] for name, column in table.items()},
        }
        for place in places
    ]
    return {"version": shown.version, "samples": found}


def _table(model: Any, machine: Any) -> dict[str, Array]:
    """The held rows by column: as they came, or as the features of the machine."""
    if isinstance(model, TableModel):
        return model.table_
    X = machine.X_fit_
    X = X if isinstance(X, np.ndarray) else X.toarray()
    names = getattr(machine, "feature_names_in_", [f"x{i}" for i in range(X.shape[1])])
    return {str(name): column for name, column in zip(names, X.T, strict=True)}


def projection(shown: Shown) -> dict[str, Any]:
    """The samples on a plane, at most `DRAWN` of them; computed once for a version."""
    if "projection" not in shown.cache:
        sets = _answers.left_out_sets(shown)
        shown.cache["projection"] = {**_projected(shown), "sets": sets}
    return shown.cache["projection"]


def _projected(shown: Shown) -> dict[str, Any]:
    """The plane of a projection.

    Three or more classes: the first two principal axes of their kernel Fisher discriminants. Two
    classes: their discriminant, and the probability of the own label to the model without the
    sample. Numbers: the left-out prediction and the target.
    """
    machine = estimator_of(shown.model)
    ids, y = machine.ids_, machine.y_fit_
    some = np.sort(np.random.default_rng(0).permutation(len(ids))[:DRAWN])
    if not is_classifier(machine):
        target = y.reshape(len(y), -1)[:, 0]
        said = machine.loo_predict().reshape(len(y), -1)[:, 0]
        return _drawn(shown, ids[some], said[some], target[some], ["left-out prediction", "target"])
    P, own = machine.loo_predict_proba(), np.searchsorted(machine.classes_, y)
    F = _discriminants(machine, some)
    mine = P[np.arange(len(y)), own][some]
    if F.shape[1] == 1:
        axes = ["kernel Fisher discriminant", "probability of its label, left out"]
        facts = _drawn(shown, ids[some], F[:, 0], mine, axes)
    else:
        centred = F - F.mean(axis=0)
        plane = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
        axes = ["first discriminant axis", "second discriminant axis"]
        facts = _drawn(shown, ids[some], plane[:, 0], plane[:, 1], axes)
    right = P.argmax(axis=1) == own
    claims = {"claimed": P.max(axis=1)[some].tolist(), "right": right[some].tolist()}
    return {**facts, **claims, "labels": own[some].tolist()}


def _discriminants(machine: Any, some: Array) -> Array:
    """Kernel Fisher discriminants of the held samples, with the kernel of their machine."""
    kernel, gamma = machine.kernel, machine.gamma_
    own = isinstance(kernel, str) and kernel != "precomputed" and np.ndim(gamma) == 0
    parameters = {"kernel": kernel, "gamma": gamma or 1.0} if own else {"kernel": "linear"}
    X = machine.X_fit_[some]
    model = ESTIMATORS["KernelFisherDiscriminant"](**parameters, ridge="loo")
    return model.fit(X, machine.y_fit_[some]).transform(X)


def _drawn(shown: Shown, ids: Array, x: Array, y: Array, axes: list[str]) -> dict[str, Any]:
    places = {"ids": ids.tolist(), "x": x.tolist(), "y": y.tolist(), "axes": axes}
    return {"version": shown.version, "n": len(shown.model.ids_), **places}
