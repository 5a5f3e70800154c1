"""The application: the routes of the Open Inference Protocol, and those of edits and audits."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, WebSocketRoute
from starlette.routing import Route as StarletteRoute

from gramian.serve._bodies import VersionQuery
from gramian.serve._gate import LOOPBACK, PATH, Access, Gate
from gramian.serve._limits import Limits, Turns
from gramian.serve._live_store import LiveStore
from gramian.serve._metrics import Metrics
from gramian.serve._pages import Pages
from gramian.serve._problems import Problem, answer_problem, problem_of
from gramian.serve._requests import read_query
from gramian.serve._routes import MODEL, Route, Routes
from gramian.serve._tokens import Tokens
from gramian.serve._watch import Watch
from gramian.serve._workers import Workers
from gramian.store import Store


def create_app(
    stores: Mapping[str, Store],
    *,
    tokens: Tokens | None = None,
    limits: Limits | None = None,
    hosts: Collection[str] | None = None,
) -> Starlette:
    """The service of one or more stores, which it closes when it ends.

    Parameters
    ----------
    stores : mapping of str to Store
        By the names that their models have in paths.
    tokens : Tokens, optional
        Clients need one of them. Without tokens everyone who reaches the service may do all.
    limits : Limits, optional
        Those on connections and time are the server's, see `run`.
    hosts : collection of str, optional
        Names by which clients may call the service; by default those of this computer without
        tokens, and any name with tokens.

    Returns
    -------
    Starlette
        ``app.state.stores`` are the `LiveStore` objects that its routes use, by name.
    """
    for name in stores:
        if not re.fullmatch(r"[\w.-]{1,100}", name):
            raise ValueError(f"a model's name is made of letters, digits, . _ -; got {name!r}.")
    if not stores:
        raise ValueError("a service needs a store.")
    limits, metrics = limits or Limits(), Metrics()
    live = {name: LiveStore(name, store, limits, metrics) for name, store in stores.items()}
    workers, access = Workers(limits), Access(tokens, limits.rate)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        for store in live.values():
            await asyncio.to_thread(store.start, loop)
        try:
            yield
        finally:
            workers.close()
            for store in live.values():
                await asyncio.to_thread(store.close)

    if hosts is None and tokens is None:
        hosts = LOOPBACK
    table = Routes(live, limits, metrics, workers).table()
    app = Starlette(
        routes=[
            *(_route(access, live, route) for route in table),
            *_sockets(access, live, limits, workers),
            Mount("/", Pages(), name="page"),
        ],
        middleware=[Middleware(Gate, limits=limits, metrics=metrics, hosts=hosts)],
        exception_handlers={Problem: answer_problem, HTTPException: answer_problem},
        lifespan=lifespan,
    )
    app.state.stores = live
    return app


def _route(access: Access, stores: Mapping[str, LiveStore], route: Route) -> BaseRoute:
    """A route that asks for a scope first and answers every exception with a problem."""

    async def endpoint(request: Request) -> Response:
        name = request.path_params.get("model")
        request.scope[PATH] = route.path
        try:
            if route.scope is not None:
                access.admit(request, route.scope)
            if name is None:
                return await route.handler(request)
            if name not in stores:
                raise Problem(404, f"there is no model {name!r}.")
            request.scope[PATH] = route.path.replace("{model}", name)
            return await _answered(route, request, stores[name])
        except Exception as error:
            return problem_of(error).response()

    return StarletteRoute(route.path, endpoint, methods=[route.method])


async def _answered(route: Route, request: Request, live: LiveStore) -> Response:
    """The answer, if the store may answer before and after; an edit that was made is answered."""
    live.check()
    if request.scope["query_string"]:
        await live.wait_for_version(read_query(request, VersionQuery).min_version)
    work = route.handler(request, live)
    return await (work if route.edits else live.guarded(work))


def _sockets(
    access: Access, stores: Mapping[str, LiveStore], limits: Limits, workers: Workers
) -> list[BaseRoute]:
    """The web sockets of the page, of which there are so many in all."""
    turns = Turns(limits.sockets, "pages that watch")
    return [
        WebSocketRoute(
            f"{MODEL.replace('{model}', name)}/watch",
            Watch(live, access, limits, workers, turns).talk,
        )
        for name, live in stores.items()
    ]
