"""The page on which a visitor paints samples, as an ASGI application.

Each web socket holds one `Session`. The page sends JSON; an answer is one binary message: the
length of its head as a 32-bit number, the head (JSON, padded to four bytes), then the arrays that
the head names, as 32-bit floats or integers.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Collection
from dataclasses import asdict

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from threadpoolctl import threadpool_limits

from gramian.serve._choices import NAMED_KERNELS, OFFERS
from gramian.serve._connections import limited_server
from gramian.serve._gate import LOOPBACK, Gate
from gramian.serve._limits import Limits, Turns
from gramian.serve._metrics import Metrics
from gramian.serve._pages import PAGE, POLICY, Pages
from gramian.serve._problems import Problem, problem_of
from gramian.serve._run import is_loopback
from gramian.serve._session import MOST, Reply, Session
from gramian.serve._toys import CLASSES, CURVES

VISITORS = 16
"""Sessions at a time; each has a model of its own."""


def create_play(hosts: Collection[str] | None = LOOPBACK) -> Starlette:
    """Return the application that ``gramian play`` runs.

    Parameters
    ----------
    hosts : collection of str, optional
        Names by which browsers may call it; None for any.
    """
    visitors = Turns(VISITORS, "visitors")

    async def socket(link: WebSocket) -> None:
        try:
            with visitors.one():
                await talk(link)
        except Problem:
            await link.close(code=1013)  # try again later

    return Starlette(
        routes=[
            WebSocketRoute("/socket", socket),
            Route("/", _first_page),
            Mount("/", Pages()),
        ],
        middleware=[Middleware(Gate, limits=Limits(), metrics=Metrics(), hosts=hosts)],
    )


async def _first_page(request: Request) -> Response:
    return FileResponse(PAGE / "play.html", headers=POLICY)


def play(host: str = "127.0.0.1", port: int = 8765) -> None:
    """Serve the page until the process is interrupted, with one BLAS thread.

    A second thread would only make the first wait on matrices as small as those of the page.
    """
    server = limited_server(
        create_play(LOOPBACK if is_loopback(host) else None),
        Limits(shutdown=1.0),
        host=host,
        port=port,
        log_level="warning",
        ws_per_message_deflate=False,  # compressing a picture takes longer than drawing it
    )
    with threadpool_limits(limits=1, user_api="blas"):
        server.run()


async def talk(socket: WebSocket) -> None:
    """Answer one visitor, request by request, until they leave."""
    await socket.accept()
    session = Session()
    await socket.send_bytes(packed(_offers()))
    try:
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text") or message.get("bytes") or b""
            await socket.send_bytes(await run_in_threadpool(_answered, session, text))
    except WebSocketDisconnect:
        return


def _offers() -> Reply:
    facts = {
        "kind": "offers",
        "estimators": [asdict(offer) for offer in OFFERS.values()],
        "kernels": NAMED_KERNELS,
        "classes": list(CLASSES),
        "curves": list(CURVES),
        "most": MOST,
    }
    return Reply(facts, {})


def _answered(session: Session, text: str | bytes) -> bytes:
    """The answer to a message, or an error that says what was wrong with it."""
    turn = None
    try:
        request = json.loads(text)
        turn = request.get("turn") if isinstance(request, dict) else None
        facts, arrays = session.answer(request)
    except (ValueError, ArithmeticError, RecursionError) as error:
        facts, arrays = {"kind": "error", "message": str(error)}, {}
    except Exception as error:  # the visitor's samples are worth more than this request
        facts, arrays = {"kind": "error", "message": problem_of(error).detail}, {}
    return packed(Reply({**facts, "turn": turn}, arrays))


def packed(reply: Reply) -> bytes:
    """Return a reply as one binary message."""
    arrays = {
        name: np.ascontiguousarray(array, dtype="<i4" if array.dtype.kind in "iu" else "<f4")
        for name, array in reply.arrays.items()
    }
    listed = [[name, array.dtype.kind, array.size] for name, array in arrays.items()]
    head = json.dumps({**reply.facts, "arrays": listed}).encode()
    head += b" " * (-len(head) % 4)
    return b"".join([struct.pack("<I", len(head)), head, *(a.tobytes() for a in arrays.values())])
