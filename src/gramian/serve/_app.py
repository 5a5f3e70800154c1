"""The application: routes of the Open Inference Protocol, and beside them those of edits."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.routing import WebSocketRoute

from gramian import __version__
from gramian.serve._gate import LOOPBACK, PATH, Access, Gate
from gramian.serve._limits import Limits
from gramian.serve._live_store import LiveStore
from gramian.serve._metrics import Metrics
from gramian.serve._pages import Pages
from gramian.serve._problems import Problem, answer_problem, problem_of
from gramian.serve._routes import Route, Routes
from gramian.serve._tokens import Tokens
from gramian.serve._watch import Watch


def create_app(
    store: Any,
    *,
    name: str,
    tokens: Tokens | None = None,
    limits: Limits | None = None,
    hosts: Collection[str] | None = None,
) -> FastAPI:
    """The service of a store, which it closes when it ends.

    Parameters
    ----------
    store : Store
        Opened for writing.
    name : str
        Of the model, in paths.
    tokens : Tokens, optional
        Clients need one of them. Without tokens everyone who reaches the service may do all.
    limits : Limits, optional
    hosts : collection of str, optional
        Names by which clients may call the service; by default those of this machine without
        tokens, and any name with tokens.

    Returns
    -------
    FastAPI
        ``app.state.live`` is the `LiveStore` that its routes use.
    """
    if not re.fullmatch(r"[\w.-]{1,100}", name):
        raise ValueError(f"the name of a model is made of letters, digits, . _ -; got {name!r}.")
    limits, metrics = limits or Limits(), Metrics()
    live = LiveStore(store, limits, metrics)
    routes = Routes(live, name, limits, metrics)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        live.start()
        try:
            yield
        finally:
            await asyncio.to_thread(live.close)

    app = FastAPI(title="Gramian", version=__version__, lifespan=lifespan, openapi_url=None)
    for kind in (Problem, HTTPException):
        app.add_exception_handler(kind, answer_problem)
    app.state.live = live
    access = Access(tokens, limits.rate)
    for route in routes.table():
        _add(app, access, route)
    watch = Watch(live, name, access)
    app.routes.append(WebSocketRoute(f"/v2/models/{name}/watch", watch.talk))
    if hosts is None and tokens is None:
        hosts = LOOPBACK
    app.add_middleware(Gate, limits=limits, metrics=metrics, hosts=hosts)
    app.mount("/", Pages(), name="page")
    return app


def _add(app: FastAPI, access: Access, route: Route) -> None:
    """Add a route that asks for a scope first and answers every exception with a problem."""

    async def endpoint(request: Request) -> Response:
        request.scope[PATH] = route.path
        try:
            if route.scope is not None:
                access.admit(request, route.scope)
            return await route.handler(request)
        except Exception as error:
            return problem_of(error).response()

    app.add_route(route.path, endpoint, methods=[route.method], include_in_schema=False)
