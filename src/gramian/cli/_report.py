"""``gramian report``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gramian.cli import _html, _inspect
from gramian.cli._assess import machine_of
from gramian.cli._figures import figures
from gramian.cli._models import load_model
from gramian.cli._show import column_rows, confusion_rows, say
from gramian.files import replacing


def run(*, model, doubtful, output, quiet) -> dict[str, Any]:
    """Write the page."""
    facts = _inspect.run(model=model, loo=True, doubtful=doubtful, quiet=quiet)
    drawn = figures(machine_of(load_model(model)))
    parts = [*_words(facts)]
    for title, caption, svg in drawn:
        parts += [_html.heading(title), _html.figure(svg, caption)]
    parts += [_html.heading("File"), _html.pairs(facts["file"])]
    with replacing(output) as stream:
        stream.write(_html.page(f"Report on {model}", parts).encode())
    return {"output": output, "figures": [figure.title for figure in drawn]}


def _words(facts: dict[str, Any]) -> Iterator[str]:
    yield _html.heading(facts["model"], 1)
    yield _html.paragraph(facts["summary"])
    yield from _leave_one_out(facts["leave_one_out"])
    if facts["doubtful"]:
        yield _html.heading("Doubtful rows")
        yield _html.paragraph(
            "What all the other rows say of these, and how little they believe the target."
        )
        names = [name.replace("_", " ") for name in facts["doubtful"][0]]
        yield _html.table(names, [list(row.values()) for row in facts["doubtful"]])
    yield _html.heading("Target")
    yield _html.pairs(facts["target"]["held"])
    if "columns" in facts:
        yield _html.heading("Columns")
        yield _html.table(*column_rows(facts))
    yield _html.heading("Chosen")
    yield _html.pairs(facts["chosen"])


def _leave_one_out(facts: dict[str, Any]) -> Iterator[str]:
    yield _html.heading("Exact leave-one-out error")
    if "confusion" not in facts:
        yield _html.pairs(facts)
        return
    yield _html.paragraph(f"{facts['error']:.2%} (log-loss {facts['log_loss']:.3f})")
    yield _html.table(*confusion_rows(facts))


def show(facts: dict[str, Any]) -> None:
    """For people."""
    say(f"Saved {facts['output']}: {', '.join(facts['figures'])}.")
