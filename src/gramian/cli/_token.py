"""``gramian token``."""

from __future__ import annotations

from typing import Any

from gramian.cli._show import echo


def run(*, file: str, name: str, scopes: Any, days: float | None) -> dict[str, Any]:
    """Make a token, and keep its hash."""
    from gramian.serve import add_token

    return {"file": file, "name": name, "token": add_token(file, name, scopes, days=days)}


def show(facts: dict[str, Any]) -> None:
    echo(facts["token"])
    echo(f"\nIts hash is in {facts['file']}; the token itself is shown only now.")
