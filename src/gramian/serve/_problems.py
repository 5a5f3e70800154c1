"""What a refused request is answered: RFC 9457 problems, never a traceback."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from gramian.store import StoreBusyError, StoreError

log = logging.getLogger("gramian.serve")


class Problem(Exception):
    """A request that is refused, and why.

    Parameters
    ----------
    status : int
        Of HTTP.
    detail : str
        What was asked, what was seen, what to do.
    headers : mapping of str to str
    """

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers

    def response(self) -> Response:
        """As RFC 9457 writes it; ``error`` is where clients of the inference protocol look."""
        content = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "error": self.detail,
        }
        headers = dict(self.headers or {})
        return Response(to_json(content), self.status, headers, "application/problem+json")


def try_later(status: int, detail: str, seconds: int = 1) -> Problem:
    """A problem that may be over after some seconds."""
    return Problem(status, detail, {"Retry-After": str(seconds)})


def problem_of(error: Exception) -> Problem:
    """The answer to an exception of the layers below."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, HTTPException):
        return Problem(error.status_code, str(error.detail), error.headers)
    if isinstance(error, ValidationError):
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        not_json = any(fault["type"] == "json_invalid" for fault in faults)
        return Problem(400 if not_json else 422, _described(faults))
    if isinstance(error, ClientDisconnect):
        return Problem(400, "the client went away before the body was complete.")
    if isinstance(error, StoreBusyError):
        return Problem(409, str(error))
    if isinstance(error, StoreError):  # whose message says what became of an edit
        log.error("the store refused: %s", type(error).__name__)
        return try_later(503, str(error))
    if isinstance(error, OSError):
        log.error("the store refused: %s", type(error).__name__)
        return Problem(503, f"nothing was changed: {error}")
    if isinstance(error, MemoryError):
        return Problem(503, "not enough memory for this request; nothing was changed.")
    if isinstance(error, ValueError):
        return Problem(422, str(error))
    # The places alone: the message of an unexpected error may hold features.
    places = "".join(traceback.format_tb(error.__traceback__))
    log.error("unexpected %s at\n%s", type(error).__name__, places)
    return Problem(500, "an unexpected error, which the log of the service describes.")


async def answer_problem(request: Request, error: Exception) -> Response:
    """The handler of exceptions that no route has answered."""
    return problem_of(error).response()


def _described(faults: Sequence[Any], most: int = 3) -> str:
    """The first faults, with their places in the body."""
    said = [f"{'/'.join(map(str, f['loc'])) or 'the body'}: {_message(f)}" for f in faults[:most]]
    more = [f"and {len(faults) - most} more"] if len(faults) > most else []
    return "; ".join(said + more) + "."


def _message(fault: Any) -> str:
    """What is wrong with a part of the body."""
    if fault["type"] == "extra_forbidden":
        return "there is no such field; /docs lists those that there are"
    return str(fault["msg"])
