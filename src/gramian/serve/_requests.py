"""Bodies of requests: weighed before they are read, and read in another thread if large."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel
from starlette.requests import Request

from gramian.serve._limits import Limits
from gramian.serve._problems import Problem
from gramian.serve._workers import Workers

LENGTH = "Inference-Header-Content-Length"
_SMALL = 2**16  # bytes that are read in a millisecond or so
_WEIGHTS = {b"{": 30, b"[": 10, b",": 1}
"""How many numbers an object, a list and an element of it are like, in time and memory."""

Kind = TypeVar("Kind", bound=BaseModel)
T = TypeVar("T")


async def read_body(
    request: Request,
    kind: type[Kind],
    limits: Limits,
    workers: Workers,
    prepare: Callable[[Kind, bytes], T],
) -> T:
    """What ``prepare`` makes of the JSON of a body and the bytes of tensors behind it."""
    content = await request.body()
    size = _json_size(request, content)

    def read() -> T:
        weigh(content[:size], limits)
        return prepare(kind.model_validate_json(content[:size] or b"{}"), content[size:])

    return read() if len(content) <= _SMALL else await workers.read(read)


def read_query(request: Request, kind: type[Kind]) -> Kind:
    """The parameters behind the question mark."""
    return kind.model_validate(dict(request.query_params))


def weigh(content: bytes, limits: Limits) -> None:
    """Raise a 413 if the JSON may have more values than a request may."""
    if sum(content.count(mark) * each for mark, each in _WEIGHTS.items()) > limits.values:
        said = f"the body has more than {limits.values} values; send fewer rows, or binary data."
        raise Problem(413, said)


def _json_size(request: Request, content: bytes) -> int:
    length = request.headers.get(LENGTH)
    if length is None:
        return len(content)
    if not (length.isascii() and length.isdecimal()) or int(length) > len(content):
        raise Problem(400, f"{LENGTH} is not the length of the JSON in the body.")
    return int(length)
