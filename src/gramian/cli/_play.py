"""``gramian play``."""

from __future__ import annotations

import webbrowser
from threading import Timer
from typing import Any


def run(*, host: str, port: int, browser: bool) -> dict[str, Any]:
    """Serve the page until it is interrupted."""
    try:
        from gramian.serve import play
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f'the page needs {error.name}: pip install "gramian[serve]".'
        ) from error
    if browser:
        Timer(1.0, webbrowser.open, [f"http://{host}:{port}/"]).start()
    play(host, port)
    return {}


def show(facts: dict[str, Any]) -> None:
    """Nothing is left to say."""
