"""``gramian relabel``."""

from __future__ import annotations

from functools import partial
from typing import Any

import gramian
from gramian.cli import _assess
from gramian.cli._models import (
    as_held,
    check_options,
    check_table_model,
    held_texts,
    load_table_model,
)
from gramian.cli._show import say, show_leave_one_out
from gramian.cli._tables import naming, read_table
from gramian.files import locked
from gramian.store import Store, is_store
from gramian.tables import read_cells


def run(*, model, table, column, ids, to, output, quiet) -> dict[str, Any]:
    """Relabel and save."""
    columns = read_table(table) if table else {"id": list(ids), column: [to] * len(ids)}
    asked = partial(_asked, columns=columns, column=column, table=table)
    if is_store(model):
        check_options(model, output=output)
        with Store.open(model) as store:
            before, names, cells = store.read(
                lambda holdings: asked(check_table_model(holdings, model))
            )
            store.relabel(names, cells)
            after, rows = store.read(
                lambda holdings: (_assess.leave_one_out(holdings), len(holdings.ids_))
            )
    else:
        with locked(output or model):
            fitted = load_table_model(model)
            before, names, cells = asked(fitted)
            fitted.relabel(names, cells)
            gramian.save(fitted, output or model)
        after, rows = _assess.leave_one_out(fitted), len(fitted.ids_)
    return {
        "model": output or model,
        "ids": names,
        "rows": rows,
        "leave_one_out_before": before,
        "leave_one_out": after,
    }


def _asked(model: Any, *, columns: Any, column: str, table: str | None) -> tuple[Any, list, list]:
    """The error before, and which rows get which targets."""
    before = _assess.leave_one_out(model)
    with naming(table or "--id"):
        asked, cells = read_cells(columns, "id"), read_cells(columns, column)
        if table:
            asked = held_texts(asked, model.ids_)
            cells = held_texts(cells, model.y_fit_)
        return before, [as_held(model, str(name)) for name in asked], list(cells)


def show(facts: dict[str, Any]) -> None:
    """For people."""
    say(f"Relabelled {len(facts['ids'])} of {facts['rows']} rows.")
    show_leave_one_out(facts["leave_one_out"])
    name = "error" if "error" in facts["leave_one_out"] else "rmse"
    before = facts["leave_one_out_before"][name]
    say(f"before: {before:.2%}" if name == "error" else f"rmse before: {before:.4g}")
    say(f"\nSaved {facts['model']}.")
