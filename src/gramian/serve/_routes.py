"""The routes: who may use them, what they take, what they answer."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from fastapi import Request, Response
from pydantic import BaseModel
from pydantic_core import to_json

from gramian import __version__
from gramian.files.parts import estimator_of
from gramian.serve import _answers, _bodies, _documents, _metrics, _watch
from gramian.serve._edits import Edit, Forget, Relabel
from gramian.serve._limits import Limits
from gramian.serve._live_store import LiveStore
from gramian.serve._problems import Problem
from gramian.serve._rows import metadata, read_rows, rows_to_learn, wanted_outputs
from gramian.serve._tensors import write_tensor

JSON = "application/json"
_LENGTH = "Inference-Header-Content-Length"
_FEW = 2**20  # kernel values times features, which take a millisecond or so

Body = TypeVar("Body", bound=BaseModel)


@dataclass(frozen=True)
class Query:
    """A parameter behind the question mark: a number, or with a bool default true or false."""

    name: str
    default: int | bool
    most: int = 1
    text: str = ""

    def read(self, request: Request) -> Any:
        """Its value in a request."""
        given = request.query_params.get(self.name)
        if given is None:
            return self.default
        words = {"true": 1, "false": 0, "1": 1, "0": 0} if isinstance(self.default, bool) else {}
        try:
            value = words[given] if words else int(given)
        except (KeyError, ValueError):
            value = -1
        if not 0 <= value <= self.most:
            kind = "true or false" if words else f"a number from 0 to {self.most}"
            raise Problem(422, f"{self.name} must be {kind}.")
        return type(self.default)(value)


@dataclass(frozen=True)
class Route:
    """A path with what OpenAPI says of it; ``scope`` None lets everyone in."""

    method: str
    path: str
    scope: str | None
    handler: Callable[[Request], Awaitable[Response]]
    summary: str
    body: type[BaseModel] | None = None
    query: tuple[Query, ...] = ()
    media: str = JSON


COUNT = Query("count", 20, 10_000, "How many samples, the most doubtful first.")
SAMPLES = Query("samples", False, text="Whether to list ids, targets and predictions.")
AFTER = Query("after", 0, 2**53, "How many receipts to skip.")
LIMIT = Query("limit", 100, 10_000, "How many receipts at most.")
REFIT = Query("refit", False, text="Whether to compare the live model with a refit, O(n³).")


class Routes:
    """The handlers of one service."""

    def __init__(self, live: LiveStore, name: str, limits: Limits, metrics: Any) -> None:
        self._live, self._name, self._limits = live, name, limits
        self._metrics = metrics
        _add_gauges(metrics, live)

    def table(self) -> list[Route]:
        """All routes, the busiest first."""
        model = f"/v2/models/{self._name}"
        return [
            Route("POST", f"{model}/infer", "predict", self.infer, "Predict.", _bodies.Infer),
            Route("GET", "/v2/health/live", None, self.alive, "Whether the service runs."),
            Route("GET", "/v2/health/ready", None, self.ready, "Whether it takes requests."),
            Route("GET", "/v2", "predict", self.server, "The service and its extensions."),
            Route("GET", model, "predict", self.model, "The model, its inputs and outputs."),
            Route("GET", f"{model}/ready", "predict", self.ready, "Whether the model is ready."),
            Route(
                "POST", f"{model}/learn", "learn", self.learn, "Learn rows.", _bodies.LearnRows
            ),
            Route(
                "POST", f"{model}/forget", "forget", self.forget, "Forget rows exactly.",
                _bodies.ForgetRows,
            ),
            Route(
                "POST", f"{model}/relabel", "learn", self.relabel, "Give rows other targets.",
                _bodies.RelabelRows,
            ),
            Route(
                "GET", f"{model}/loo", "learn", self.loo, "The exact leave-one-out error.",
                query=(SAMPLES,),
            ),
            Route(
                "GET", f"{model}/doubt", "learn", self.doubt,
                "Samples whose target is least likely to the model without them.", query=(COUNT,),
            ),
            Route(
                "POST", f"{model}/samples", "forget", self.samples,
                "Held samples by id: values, targets, and what the model without them says.",
                _bodies.ForgetRows,
            ),
            Route(
                "GET", f"{model}/projection", "learn", self.projection, "The samples on a plane.",
            ),
            Route("GET", f"{model}/drift", "predict", self.drift, "The measured residual."),
            Route(
                "GET", f"{model}/receipts", "forget", self.receipts, "The receipts of all edits.",
                query=(AFTER, LIMIT),
            ),
            Route(
                "GET", f"{model}/audit", "admin", self.audit,
                "Check receipts, rows and the file of the store.", query=(REFIT,),
            ),
            Route("GET", "/metrics", "predict", self.metrics, "For Prometheus.",
                  media="text/plain"),
            Route("GET", "/openapi.json", "predict", self.openapi, "These routes, for programs."),
            Route("GET", "/docs", "predict", self.docs, "These routes, for people.",
                  media="text/html"),
        ]  # fmt: skip

    # -- the Open Inference Protocol ------------------------------------------------------------

    async def alive(self, request: Request) -> Response:
        return _json({"live": True})

    async def ready(self, request: Request) -> Response:
        if self._live.closing:
            raise Problem(503, "the service is shutting down.")
        return _json({"ready": True, "name": self._name})

    async def server(self, request: Request) -> Response:
        extensions = ["binary_tensor_data", "records", "learn", "forget"]
        return _json({"name": "gramian", "version": __version__, "extensions": extensions})

    async def model(self, request: Request) -> Response:
        shown = self._live.shown
        return _json(metadata(shown.model, self._name, shown.version))

    async def infer(self, request: Request) -> Response:
        body, tail = await _read(request, _bodies.Infer)
        shown = self._live.shown
        rows = read_rows(shown.model, body, tail, self._limits.rows)
        names = wanted_outputs(body, estimator_of(shown.model))
        if not _answers.LIVE.isdisjoint(names):
            confidence = (body.parameters or _bodies.PLAIN).confidence
            made, version = await asyncio.to_thread(
                self._live.alone, lambda model: _answers.outputs(model, rows, names, confidence)
            )
        else:
            if not (shown.loo or _answers.LEFT_OUT.isdisjoint(names)):
                shown = await asyncio.to_thread(self._live.with_loo)
            made, version = await self._outputs(shown, rows, names), shown.version
        return _inferred(self._name, version, body, made)

    async def _outputs(self, shown: Any, rows: Any, names: list[str]) -> dict[str, Any]:
        """Outputs of a snapshot: few rows at once, many in a thread, so that others are served."""
        machine = estimator_of(shown.model)
        size = len(rows) if isinstance(rows, np.ndarray) else len(next(iter(rows.values())))
        if size * len(machine.ids_) * machine.n_features_in_ <= _FEW:
            return _answers.outputs(shown.model, rows, names, 0.0)
        return await asyncio.to_thread(_answers.outputs, shown.model, rows, names, 0.0)

    # -- edits ----------------------------------------------------------------------------------

    async def learn(self, request: Request) -> Response:
        body, tail = await _read(request, _bodies.LearnRows)
        model = self._live.shown.model
        rows = read_rows(model, body, tail, self._limits.rows)
        return await self._edit(rows_to_learn(model, body, rows))

    async def forget(self, request: Request) -> Response:
        body, _ = await _read(request, _bodies.ForgetRows)
        return await self._edit(Forget(body.ids))

    async def relabel(self, request: Request) -> Response:
        body, _ = await _read(request, _bodies.RelabelRows)
        return await self._edit(Relabel(body.ids, np.asarray(body.targets)))

    async def _edit(self, edit: Edit) -> Response:
        """Wait until the edit is on disk and shown, also if the client goes away meanwhile."""
        done = await asyncio.wrap_future(self._live.submit(edit))
        return _json(
            {
                "model_name": self._name,
                "model_version": str(done.shown.version),
                "n": len(done.shown.model.ids_),
                "ids": done.ids,
                "receipt": done.receipt.as_dict(),
            }
        )

    # -- what the model knows of itself ---------------------------------------------------------

    async def loo(self, request: Request) -> Response:
        samples = SAMPLES.read(request)
        return await _threaded(lambda: _answers.left_out(self._live.with_loo(), samples))

    async def doubt(self, request: Request) -> Response:
        count = COUNT.read(request)
        return await _threaded(lambda: _answers.doubtful(self._live.with_loo(), count))

    async def samples(self, request: Request) -> Response:
        body, _ = await _read(request, _bodies.ForgetRows)
        return await _threaded(lambda: _watch.samples(self._live.with_loo(), body.ids))

    async def projection(self, request: Request) -> Response:
        return await _threaded(lambda: _watch.projection(self._live.with_loo()))

    async def drift(self, request: Request) -> Response:
        return await _threaded(lambda: _answers.drift(self._live.store))

    async def receipts(self, request: Request) -> Response:
        after, limit = AFTER.read(request), LIMIT.read(request)

        def read() -> dict[str, Any]:
            every = self._live.store.receipts()
            part = [receipt.as_dict() for receipt in every[after : after + limit]]
            return {"total": len(every), "after": after, "receipts": part}

        return await _threaded(read)

    async def audit(self, request: Request) -> Response:
        refit = REFIT.read(request)
        return await _threaded(lambda: self._live.store.audit(refit=refit).as_dict())

    # -- the service ----------------------------------------------------------------------------

    async def metrics(self, request: Request) -> Response:
        text = await asyncio.to_thread(self._metrics.text)
        return Response(text, media_type=_metrics.CONTENT_TYPE)

    async def openapi(self, request: Request) -> Response:
        return _json(_documents.openapi(self.table()))

    async def docs(self, request: Request) -> Response:
        return Response(_documents.page(self.table()), media_type="text/html")


async def _read(request: Request, kind: type[Body]) -> tuple[Body, bytes]:
    """The body, and the bytes of tensors that stand behind its JSON."""
    content = await request.body()
    length = request.headers.get(_LENGTH)
    if length is None:
        return kind.model_validate_json(content), b""
    if not length.isdecimal() or int(length) > len(content):
        raise Problem(400, f"{_LENGTH} is not the length of the JSON in the body.")
    return kind.model_validate_json(content[: int(length)]), content[int(length) :]


def _inferred(name: str, version: int, body: _bodies.Infer, made: dict[str, Any]) -> Response:
    """The response of an inference, with bytes behind the JSON where they were asked for."""
    asked = {output.name: output.parameters or {} for output in body.outputs or ()}
    always = (body.parameters or _bodies.PLAIN).binary_data_output
    written = [
        write_tensor(key, array, binary=asked.get(key, {}).get("binary_data", always) is True)
        for key, array in made.items()
    ]
    content: dict[str, Any] = {"model_name": name, "model_version": str(version)}
    if body.id is not None:
        content["id"] = body.id
    content["outputs"] = [tensor for tensor, _ in written]
    text, tail = to_json(content, inf_nan_mode="null"), b"".join(data for _, data in written)
    if not tail:
        return Response(text, media_type=JSON)
    return Response(text + tail, 200, {_LENGTH: str(len(text))}, "application/octet-stream")


def _json(content: Any) -> Response:
    return Response(to_json(content, inf_nan_mode="null"), media_type=JSON)


async def _threaded(function: Callable[[], Any]) -> Response:
    return _json(await asyncio.to_thread(function))


def _add_gauges(metrics: Any, live: LiveStore) -> None:
    def machine() -> Any:
        return estimator_of(live.shown.model)

    def left_out_error() -> float:
        alone = len(machine().ids_) < 2  # nothing is left without it
        return math.nan if alone else _answers.left_out_error(live.with_loo())

    metrics.gauge("samples", "Samples that the model holds.", lambda: len(machine().ids_))
    metrics.gauge("version", "Version of the store.", lambda: live.shown.version)
    metrics.gauge("waiting_edits", "Edits that wait.", lambda: live.waiting)
    metrics.gauge(
        "leave_one_out_error", "Exact leave-one-out error, or of numbers the root mean square.",
        left_out_error,
    )  # fmt: skip
    metrics.gauge(
        "drift", "Measured relative residual of the solution.",
        lambda: _answers.drift(live.store)["drift"],
    )  # fmt: skip
    metrics.gauge(
        "rebuilds", "What was rebuilt since the last fit.",
        lambda: len(machine().rebuilds_),
    )  # fmt: skip
