"""``gramian inspect``."""

from __future__ import annotations

from typing import Any

from gramian import data
from gramian.cli import _assess
from gramian.cli._opened import Opened, reading
from gramian.cli._progress import progress_of
from gramian.cli._running import step
from gramian.cli._show import echo, heading, pairs, show_columns, show_doubtful, show_errors


def run(*, model: str, loo: bool, doubtful: int) -> dict[str, Any]:
    """What the file and the model say of themselves."""
    with reading(model) as opened:
        return described(opened, loo=loo, doubtful=doubtful)


def described(opened: Opened, *, loo: bool, doubtful: int) -> dict[str, Any]:
    """The same of a model that is open."""
    fitted = opened.model
    facts: dict[str, Any] = {
        "model": opened.path,
        "file": opened.facts(),
        **_assess.describe(fitted),
        "ids": {"first": fitted.ids_[0].item(), "last": fitted.ids_[-1].item()},
    }
    if loo:
        with progress_of("error on new rows", only="folds"):
            facts["new_rows"], facts["notes"] = _assess.new_rows(fitted)
        step("leave-one-out error")
        facts["leave_one_out"] = _assess.leave_one_out(fitted)
        facts["doubtful"] = data.doubtful(fitted, doubtful).rows()
    return facts


def show(facts: dict[str, Any]) -> None:
    echo(facts["summary"])
    ids, target = facts["ids"], facts["target"]
    echo(f"Ids: {ids['first']} … {ids['last']}.")
    heading("Target" if target["column"] is None else f"Target {target['column']}")
    pairs(target["held"])
    heading("Chosen")
    pairs(facts["chosen"])
    if "columns" in facts:
        show_columns(facts)
    if "leave_one_out" in facts:
        for note in facts["notes"]:
            echo(f"Note: {note}")
        show_errors(facts)
        show_doubtful(facts["doubtful"])
    heading(f"File {facts['model']}, every checksum right")
    pairs(facts["file"])
