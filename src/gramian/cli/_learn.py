"""``gramian learn``."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from gramian.cli import _assess
from gramian.cli._models import describe_unknown, unknown_texts
from gramian.cli._opened import editing
from gramian.cli._running import step
from gramian.cli._show import echo, show_change
from gramian.cli._tables import naming, read_table
from gramian.cli._targets import with_target


def run(
    *,
    model: str,
    table: str,
    key: str | None,
    output: str | None,
    drop_missing_target: bool,
) -> dict[str, Any]:
    """Learn the rows and save."""
    start = perf_counter()
    with editing(model, key=key, output=output) as opened:
        fitted = opened.table_model
        columns = read_table(table, fitted)
        with naming(table):
            columns, dropped = with_target(
                columns, str(fitted.target), fitted.target_.format, drop=drop_missing_target
            )
        step("leave-one-out error before")
        before, n = _assess.leave_one_out(fitted), len(fitted.ids_)
        with naming(table):
            unknown = unknown_texts(fitted, columns)
            step("learning")
            receipt = opened.learn(columns)
        step("leave-one-out error after")
        fitted = opened.table_model
        return {
            "model": opened.saved,
            "learned": len(fitted.ids_) - n,
            "rows": len(fitted.ids_),
            "ids": fitted.ids_[n:].tolist(),
            "dropped": dropped,
            "unknown_texts": unknown,
            "leave_one_out_before": before,
            "leave_one_out": _assess.leave_one_out(fitted),
            **({} if receipt is None else {"receipt": receipt}),
            "seconds": perf_counter() - start,
        }


def show(facts: dict[str, Any]) -> None:
    rows = "row" if facts["learned"] == 1 else "rows"
    echo(f"Learned {facts['learned']} {rows}. The model holds {facts['rows']} rows.")
    if facts["dropped"]:
        echo(f"Left out: {facts['dropped']} rows without a target.")
    for line in describe_unknown(facts["unknown_texts"]):
        echo(f"Note: {line}")
    show_change(facts)
    echo(f"\nSaved {facts['model']}. {facts['seconds']:.1f} s.")
