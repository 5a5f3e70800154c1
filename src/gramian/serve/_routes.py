"""The routes: who may use them, what they take, what they answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import BaseModel
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from gramian import __version__
from gramian.serve import _answers, _bodies, _documents, _metrics, _projection
from gramian.serve._edits import Edit, Relabel, row_count
from gramian.serve._gate import USER
from gramian.serve._limits import Limits
from gramian.serve._live_store import LiveStore
from gramian.serve._problems import Problem
from gramian.serve._requests import LENGTH, Kind, T, read_body, read_query
from gramian.serve._rows import metadata, read_rows, rows_to_forget, rows_to_learn, wanted_outputs
from gramian.serve._tensors import write_tensor
from gramian.serve._workers import Workers
from gramian.tables import estimator_of

JSON = "application/json"
MODEL = "/v2/models/{model}"
_FEW = 2**20  # kernel values times features, which take a millisecond or so


@dataclass(frozen=True)
class Route:
    """A path with what OpenAPI says of it; ``scope`` None lets everyone in."""

    method: str
    path: str
    scope: str | None
    handler: Callable[..., Coroutine[Any, Any, Response]]
    summary: str
    body: type[BaseModel] | None = None
    query: type[BaseModel] | None = None
    media: str = JSON
    edits: bool = False


class Routes:
    """The handlers of one service; those of a model are called with its store."""

    def __init__(
        self,
        stores: Mapping[str, LiveStore],
        limits: Limits,
        metrics: _metrics.Metrics,
        workers: Workers,
    ) -> None:
        self._stores, self._limits, self._metrics, self._workers = stores, limits, metrics, workers
        metrics.add_models(
            lambda: {name: _answers.reading(live) for name, live in self._stores.items()}
        )

    def table(self) -> list[Route]:
        """All routes, the busiest first."""
        return [
            Route("POST", f"{MODEL}/infer", "predict", self.infer, "Predict.", _bodies.Infer),
            Route("GET", "/v2/health/live", None, self.alive, "Whether the service runs."),
            Route("GET", "/v2/health/ready", None, self.ready, "Whether it takes requests."),
            Route("GET", "/v2", "predict", self.server, "The service and its extensions."),
            Route("GET", MODEL, "predict", self.model, "The model, its inputs and outputs."),
            Route("GET", f"{MODEL}/ready", "predict", self.ready, "Whether the model is ready."),
            Route(
                "POST", f"{MODEL}/learn", "learn", self.learn, "Learn rows.", _bodies.LearnRows,
                edits=True,
            ),
            Route(
                "POST", f"{MODEL}/forget", "forget", self.forget, "Forget rows exactly.",
                _bodies.ForgetRows, edits=True,
            ),
            Route(
                "POST", f"{MODEL}/relabel", "learn", self.relabel, "Give rows other targets.",
                _bodies.RelabelRows, edits=True,
            ),
            Route(
                "GET", f"{MODEL}/loo", "learn", self.loo, "The exact leave-one-out error.",
                query=_bodies.LooQuery,
            ),
            Route(
                "GET", f"{MODEL}/doubt", "learn", self.doubt,
                "Samples whose target is least likely to the model without them.",
                query=_bodies.DoubtQuery,
            ),
            Route(
                "POST", f"{MODEL}/samples", "forget", self.samples,
                "Held samples by id: values, targets, and what the model without them says.",
                _bodies.Named,
            ),
            Route(
                "POST", f"{MODEL}/projection", "learn", self.projection, "The samples on a plane.",
                _bodies.Nothing,
            ),
            Route(
                "GET", f"{MODEL}/numerical-error", "predict", self.numerical_error,
                "How far rounding has carried the solution.",
            ),
            Route(
                "GET", f"{MODEL}/data-drift", "predict", self.data_drift,
                "Whether the rows that arrive are like those that are held.",
            ),
            Route(
                "GET", f"{MODEL}/receipts", "forget", self.receipts,
                "The receipts of all edits, and which of them are open.",
                query=_bodies.ReceiptsQuery,
            ),
            Route(
                "POST", f"{MODEL}/audit", "admin", self.audit,
                "Check receipts, rows and the file of the store.", _bodies.Audit,
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

    async def ready(self, request: Request, live: LiveStore | None = None) -> Response:
        if any(store.closing for store in self._stores.values()):
            raise Problem(503, "the service is shutting down.")
        for store in self._stores.values():
            store.check()
        names = {"models": [*self._stores]} if live is None else {"name": live.name}
        return _json({"ready": True, **names})

    async def server(self, request: Request) -> Response:
        extensions = ["binary_tensor_data", "records", "learn", "forget"]
        facts = {"version": __version__, "extensions": extensions, "models": [*self._stores]}
        return _json({"name": "gramian", **facts})

    async def model(self, request: Request, live: LiveStore) -> Response:
        return _json(metadata(live.published.model, live.name, live.published.version))

    async def infer(self, request: Request, live: LiveStore) -> Response:
        limits = self._limits

        def prepare(body: _bodies.Infer, tail: bytes) -> tuple[_bodies.Infer, Any, list[str]]:
            model = live.published.model
            names = wanted_outputs(body, model)
            rows = read_rows(model, body, tail, limits.rows)
            _answers.check_size(rows, names, model, limits.values)
            return body, rows, names

        body, rows, names = await self._read(request, _bodies.Infer, prepare)
        await live.wait_for_version((body.parameters or _bodies.PLAIN).min_version)
        published = live.published  # the body may have taken long
        if not _answers.NEED_ENGINE.isdisjoint(names):
            asked = body.parameters or _bodies.PLAIN

            def answer() -> Response:
                made, version = live.on_a_copy(
                    lambda model: _answers.outputs(model, rows, names, asked, limits.seconds)
                )
                return _inferred(live.name, version, body, made)

            return await self._workers.compute(answer)
        if not (published.loo or _answers.NEED_LOO.isdisjoint(names)):
            published = await self._workers.compute(live.with_loo)

        def predict() -> Response:
            made = _answers.outputs(published.model, rows, names)
            return _inferred(live.name, published.version, body, made)

        estimator = estimator_of(published.model)
        size = row_count(rows) * len(estimator.ids_) * estimator.n_features_in_
        return predict() if size <= _FEW else await self._workers.compute(predict)

    # -- edits ----------------------------------------------------------------------------------

    async def learn(self, request: Request, live: LiveStore) -> Response:
        model = live.published.model

        def prepare(body: _bodies.LearnRows, tail: bytes) -> tuple[_bodies.LearnRows, Edit]:
            rows = read_rows(model, body, tail, min(self._limits.learned, self._limits.rows))
            return body, rows_to_learn(model, body, rows, request.scope.get(USER))

        body, edit = await self._read(request, _bodies.LearnRows, prepare)
        return await self._edit(live, edit, body.dry_run)

    async def forget(self, request: Request, live: LiveStore) -> Response:
        body = await self._read(request, _bodies.ForgetRows, _body)
        edit = rows_to_forget(body, request.scope.get(USER))
        return await self._edit(live, edit, body.dry_run)

    async def relabel(self, request: Request, live: LiveStore) -> Response:
        body = await self._read(request, _bodies.RelabelRows, _body)
        edit = Relabel(body.ids, np.asarray(body.targets), user=request.scope.get(USER))
        return await self._edit(live, edit, body.dry_run)

    async def _edit(self, live: LiveStore, edit: Edit, dry_run: bool) -> Response:
        """Wait until the edit is on disk and shown, also if the client goes away meanwhile."""
        if len(edit) > self._limits.rows:
            raise Problem(422, f"{len(edit)} rows, but at most {self._limits.rows} are taken.")
        if dry_run:
            done = await self._workers.compute(lambda: live.dry_run(edit))
        else:
            done = await asyncio.wrap_future(live.submit(edit))
        return _json(
            {
                "model_name": live.name,
                "model_version": str(done.published.version),
                "n": len(done.published.model.ids_),
                "ids": done.ids,
                "dry_run": dry_run,
                "receipt": None if done.receipt is None else done.receipt.as_dict(),
            }
        )

    # -- what the model knows of itself ---------------------------------------------------------

    async def loo(self, request: Request, live: LiveStore) -> Response:
        samples = read_query(request, _bodies.LooQuery).samples
        return await self._computed(lambda: _answers.left_out(live.with_loo(), samples))

    async def doubt(self, request: Request, live: LiveStore) -> Response:
        count = read_query(request, _bodies.DoubtQuery).count
        return await self._computed(lambda: _answers.doubtful(live.with_loo(), count))

    async def samples(self, request: Request, live: LiveStore) -> Response:
        body = await self._read(request, _bodies.Named, _body)
        return await self._computed(lambda: _answers.samples(live.with_loo(), body.ids))

    async def projection(self, request: Request, live: LiveStore) -> Response:
        await self._read(request, _bodies.Nothing, _body)
        return await self._computed(lambda: _projection.projection(live.with_loo()))

    async def numerical_error(self, request: Request, live: LiveStore) -> Response:
        return await self._computed(lambda: _answers.numerical_error(live))

    async def data_drift(self, request: Request, live: LiveStore) -> Response:
        def read() -> dict[str, Any]:
            version = live.with_loo().version
            return {"version": version, **live.data_drift.as_dict()}

        return await self._computed(read)

    async def receipts(self, request: Request, live: LiveStore) -> Response:
        query = read_query(request, _bodies.ReceiptsQuery)

        def read() -> dict[str, Any]:
            every = live.store.receipts()
            part = every[query.after + 1 :][: query.limit]
            return {
                "version": every[-1].number,
                "total": len(every),
                "after": query.after,
                "receipts": [receipt.as_dict() for receipt in part],
                "open": sorted(live.store.open_receipts()),
            }

        return await self._computed(read)

    async def audit(self, request: Request, live: LiveStore) -> Response:
        body = await self._read(request, _bodies.Audit, _body)

        def check() -> dict[str, Any]:
            version = live.published.version
            return {"version": version, **live.store.audit(refit=body.refit).as_dict()}

        return await self._computed(check)

    # -- the service ----------------------------------------------------------------------------

    async def metrics(self, request: Request) -> Response:
        text = await self._workers.compute(self._metrics.text)
        return Response(text, media_type=_metrics.CONTENT_TYPE)

    async def openapi(self, request: Request) -> Response:
        return _json(_documents.openapi(self.table(), [*self._stores]))

    async def docs(self, request: Request) -> Response:
        return Response(_documents.page(self.table()), media_type="text/html")

    async def _read(
        self, request: Request, kind: type[Kind], prepare: Callable[[Kind, bytes], T]
    ) -> T:
        return await read_body(request, kind, self._limits, self._workers, prepare)

    async def _computed(self, function: Callable[[], Any]) -> Response:
        return await self._workers.compute(lambda: _json(function()))


def _body(body: Kind, tail: bytes) -> Kind:
    """A body that has no tensors."""
    if tail:
        raise ValueError(f"{len(tail)} bytes are left over behind the JSON.")
    return body


def _inferred(name: str, version: int, body: _bodies.Infer, made: dict[str, Any]) -> Response:
    """The response of an inference, with bytes behind the JSON where they were asked for."""
    parameters = {output.name: output.parameters or {} for output in body.outputs or ()}
    always = (body.parameters or _bodies.PLAIN).binary_data_output
    written = [
        write_tensor(key, array, binary=parameters.get(key, {}).get("binary_data", always) is True)
        for key, array in made.items()
    ]
    content: dict[str, Any] = {"model_name": name, "model_version": str(version)}
    if body.id is not None:
        content["id"] = body.id
    content["outputs"] = [tensor for tensor, _ in written]
    text, tail = to_json(content, inf_nan_mode="null"), b"".join(data for _, data in written)
    if not tail:
        return Response(text, media_type=JSON)
    return Response(text + tail, 200, {LENGTH: str(len(text))}, "application/octet-stream")


def _json(content: Any) -> Response:
    return Response(to_json(content, inf_nan_mode="null"), media_type=JSON)
