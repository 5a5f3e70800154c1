"""The files of the pages, with the headers that keep them to themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.responses import Response
from starlette.staticfiles import StaticFiles

PAGE = Path(__file__).parent / "page"

POLICY = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
"""A page loads nothing from elsewhere, and the browser holds it to that."""


class Pages(StaticFiles):
    """Files of the pages; ``/`` is ``index.html``."""

    def __init__(self) -> None:
        super().__init__(directory=PAGE, html=True)

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers.update(POLICY)
        return response
