"""``gramian relabel``."""

from __future__ import annotations

from typing import Any

from gramian.cli import _assess
from gramian.cli._models import as_held, held_texts
from gramian.cli._opened import editing
from gramian.cli._running import step
from gramian.cli._show import echo, show_change
from gramian.cli._tables import naming, read_table
from gramian.tables import TableModel, read_cells


def run(
    *,
    model: str,
    table: str | None,
    column: str,
    ids: tuple[str, ...],
    to: str | None,
    key: str | None,
    output: str | None,
) -> dict[str, Any]:
    """Relabel and save."""
    with editing(model, key=key, output=output) as opened:
        fitted = opened.table_model
        step("leave-one-out error before")
        before = _assess.leave_one_out(fitted)
        if table is None:
            names, cells = [as_held(fitted, name) for name in ids], [to] * len(ids)
        else:
            names, cells = _new_labels(fitted, table, column)
        step("relabelling")
        receipt = opened.relabel(names, cells)
        step("leave-one-out error after")
        fitted = opened.table_model
        return {
            "model": opened.saved,
            "ids": names,
            "rows": len(fitted.ids_),
            "suggested": table is not None and column == "suggested",
            "leave_one_out_before": before,
            "leave_one_out": _assess.leave_one_out(fitted),
            **({} if receipt is None else {"receipt": receipt}),
        }


def _new_labels(model: TableModel, path: str, column: str) -> tuple[list[Any], list[Any]]:
    """Which rows get which targets, by a table such as `gramian doubt` writes."""
    columns = read_table(path, model)
    with naming(path):
        given_ids = held_texts(read_cells(columns, "id"), model.ids_)
        cells = held_texts(read_cells(columns, column), model.y_fit_)
        return [as_held(model, name) for name in given_ids], list(cells)


def show(facts: dict[str, Any]) -> None:
    echo(f"Relabelled {len(facts['ids'])} of {facts['rows']} rows.")
    show_change(facts)
    if facts["suggested"]:
        echo("Note: these targets are what the model suggests, so it agrees with them.")
    echo(f"\nSaved {facts['model']}.")
