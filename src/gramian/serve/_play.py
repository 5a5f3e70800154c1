"""The page on which a visitor paints samples, as an ASGI application.

Each web socket holds one `Session`. The page sends JSON; an answer is one binary message: the
length of its head as a 32-bit number, the head (JSON, padded to four bytes), then the arrays that
the head names, as 32-bit floats or integers.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from threadpoolctl import threadpool_limits

from gramian.serve._choices import NAMED_KERNELS, OFFERS
from gramian.serve._pages import PAGE, POLICY, Pages
from gramian.serve._session import MOST, Reply, Session
from gramian.serve._toys import CLASSES, CURVES


def create_play() -> Starlette:
    """Return the application that ``gramian play`` runs."""
    return Starlette(
        routes=[
            WebSocketRoute("/socket", talk),
            Route("/", _first_page),
            Mount("/", Pages()),
        ]
    )


async def _first_page(request: Request) -> Response:
    return FileResponse(PAGE / "play.html", headers=POLICY)


def play(host: str = "127.0.0.1", port: int = 8765) -> None:
    """Serve the page until the process is interrupted, with one BLAS thread.

    A second thread would only make the first wait on matrices as small as those of the page.
    """
    with threadpool_limits(limits=1, user_api="blas"):
        uvicorn.run(
            create_play(),
            host=host,
            port=port,
            log_level="warning",
            ws_per_message_deflate=False,  # compressing a picture takes longer than drawing it
            ws_max_size=2**18,
        )


async def talk(socket: WebSocket) -> None:
    """Answer one visitor, request by request, until they leave."""
    if not _same_origin(socket):
        await socket.close(code=1008)
        return
    await socket.accept()
    session = Session()
    await socket.send_bytes(packed(_offers()))
    try:
        while True:
            text = await socket.receive_text()
            await socket.send_bytes(await run_in_threadpool(_answered, session, text))
    except WebSocketDisconnect:
        return


def _same_origin(socket: WebSocket) -> bool:
    """Whether the page comes from this server; programs that are no browsers send no origin."""
    origin = socket.headers.get("origin")
    return origin is None or origin.split("://")[-1] == socket.headers.get("host")


def _offers() -> Reply:
    facts = {
        "kind": "offers",
        "machines": [asdict(offer) for offer in OFFERS.values()],
        "kernels": NAMED_KERNELS,
        "classes": list(CLASSES),
        "curves": list(CURVES),
        "most": MOST,
    }
    return Reply(facts, {})


def _answered(session: Session, text: str) -> bytes:
    """The answer to a message, or an error that says what was wrong with it."""
    turn = None
    try:
        request = json.loads(text)
        turn = request.get("turn") if isinstance(request, dict) else None
        facts, arrays = session.answer(request)
    except (ValueError, ArithmeticError, RecursionError) as error:
        facts, arrays = {"kind": "error", "message": str(error)}, {}
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
