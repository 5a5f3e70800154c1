"""``gramian serve``."""

from __future__ import annotations

from typing import Any

from gramian.cli._show import say


def run(*, store, max_body, max_rows, max_waiting, rate, quiet, **options) -> dict[str, Any]:
    """Serve until told to stop."""
    try:
        from gramian.serve import Limits, run
    except ModuleNotFoundError as error:
        needs = 'the service needs more packages: pip install "gramian[serve]".'
        raise ModuleNotFoundError(needs, name=error.name) from error
    limits = Limits(body=max_body * 2**20, rows=max_rows, waiting=max_waiting, rate=rate)
    run(store, limits=limits, **options)
    return {"store": store}


def show(facts: dict[str, Any]) -> None:
    """For people."""
    say(f"Closed {facts['store']}.")
