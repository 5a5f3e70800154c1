"""``gramian audit``."""

from __future__ import annotations

from typing import Any

from gramian.cli._opened import open_store, opening
from gramian.cli._show import echo, show_checks
from gramian.store import audit


def run(*, store: str, public_key: Any, refit: bool) -> dict[str, Any]:
    """Every check, and whether all passed."""
    report = audit(store, public_key, **opening())
    if refit and report.passed:
        with open_store(store, readonly=True) as opened:
            report = opened.audit(public_key, refit=True)
    return {"store": store, **report.as_dict(), "failed": not report.passed}


def show(facts: dict[str, Any]) -> None:
    """A row for each check."""
    show_checks(facts["checks"])
    verdict = "passed" if facts["passed"] else "did NOT pass"
    echo(f"{facts['store']} {verdict} the audit.")
