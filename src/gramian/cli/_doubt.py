"""``gramian doubt``."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier

from gramian.cli._models import notation_of
from gramian.cli._opened import reading
from gramian.cli._running import step
from gramian.cli._show import echo, table
from gramian.cli._tables import write_table
from gramian.data import doubtful, label_issues
from gramian.tables import estimator_of

_FEW = 20


def run(*, model: str, top: int | None, output: str | None) -> dict[str, Any]:
    """The doubtful rows as a table, which is written where there is a place for it."""
    with reading(model) as opened:
        fitted = opened.model
    estimator = estimator_of(fitted)
    step("leave-one-out values")
    if is_classifier(estimator):
        doubts = label_issues(fitted, top=top).to_dict()
    else:
        doubts = doubtful(fitted, top or _FEW).to_dict()
    if output:
        write_table(output, doubts, notation_of(fitted))
    return {
        "model": model,
        "rows": len(estimator.ids_),
        "count": len(doubts["id"]),
        "doubtful": len(label_issues(fitted).ids) if is_classifier(estimator) else None,
        "doubts": doubts,
        "output": output,
    }


def show(facts: dict[str, Any]) -> None:
    """For people: the first ones, and what to do with them."""
    doubts, count = facts["doubts"], facts["count"]
    echo(_headline(facts))
    if count == 0:
        return
    wrong = "probability" in doubts
    names = ["id", "given", "suggested", "probability that it is wrong" if wrong else "error"]
    rows = list(zip(*doubts.values(), strict=True))
    table(names, rows[:_FEW])
    if count > _FEW:
        echo(f"… and {count - _FEW} more.")
    output = facts["output"]
    if output is None:
        echo("\n-o FILE writes them as a table.")
        return
    echo(f"\nSaved {output}. Delete the rows that are right, then either of:")
    echo(f"  gramian relabel {facts['model']} {output}")
    echo(f"  gramian forget {facts['model']} --ids-from {output}")


def _headline(facts: dict[str, Any]) -> str:
    """How many rows are doubtful, which a number asked for by --top does not change."""
    count, rows, doubtful = facts["count"], facts["rows"], facts["doubtful"]
    if doubtful is None:
        return f"The {count} of {rows} rows that the model without each of them misses by the most."
    text = f"{doubtful} of {rows} rows are doubtful: the model without each of them gives another"
    listed = "" if count == doubtful else f" Listed: the {count} most doubtful."
    return f"{text} class.{listed}"
