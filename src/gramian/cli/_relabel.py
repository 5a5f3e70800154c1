"""``gramian relabel``."""

from __future__ import annotations

from typing import Any

import gramian
from gramian.cli import _assess
from gramian.cli._models import as_held, held_texts, load_table_model
from gramian.cli._show import say, show_leave_one_out
from gramian.cli._tables import naming, read_table
from gramian.files import locked
from gramian.tables import read_cells


def run(*, model, table, column, ids, to, output, quiet) -> dict[str, Any]:
    """Relabel and save."""
    columns = read_table(table) if table else {"id": list(ids), column: [to] * len(ids)}
    with locked(output or model):
        fitted = load_table_model(model)
        before = _assess.leave_one_out(fitted)
        with naming(table or "--id"):
            asked, cells = read_cells(columns, "id"), read_cells(columns, column)
            if table:
                asked = held_texts(asked, fitted.ids_)
                cells = held_texts(cells, fitted.y_fit_)
            names = [as_held(fitted, str(name)) for name in asked]
            fitted.relabel(names, cells)
        gramian.save(fitted, output or model)
    return {
        "model": output or model,
        "ids": names,
        "rows": len(fitted.ids_),
        "leave_one_out_before": before,
        "leave_one_out": _assess.leave_one_out(fitted),
    }


def show(facts: dict[str, Any]) -> None:
    """For people."""
    say(f"Relabelled {len(facts['ids'])} of {facts['rows']} rows.")
    show_leave_one_out(facts["leave_one_out"])
    name = "error" if "error" in facts["leave_one_out"] else "rmse"
    before = facts["leave_one_out_before"][name]
    say(f"before: {before:.2%}" if name == "error" else f"rmse before: {before:.4g}")
    say(f"\nSaved {facts['model']}.")
