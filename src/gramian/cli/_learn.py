"""``gramian learn``."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import gramian
from gramian.cli import _assess
from gramian.cli._models import (
    check_options,
    check_table_model,
    describe_unknown,
    load_table_model,
    unknown_texts,
)
from gramian.cli._show import say, show_leave_one_out
from gramian.cli._tables import naming, read_table
from gramian.cli._work import patiently
from gramian.files import locked
from gramian.store import Store, is_store


def run(*, model, table, key, output, quiet) -> dict[str, Any]:
    """Learn the rows and save."""
    start = perf_counter()
    if is_store(model):
        check_options(model, output=output)
        return {**_into_store(model, table, key), "seconds": perf_counter() - start}
    if key is not None:
        raise ValueError(f"{model} is a model file; a key signs the receipts of a store.")
    with locked(output or model):
        fitted = load_table_model(model)
        columns = read_table(table, fitted)
        before, n = _assess.leave_one_out(fitted), len(fitted.ids_)
        with naming(table):
            unknown = unknown_texts(fitted, columns)
            patiently(lambda: fitted.partial_fit(columns), "learning", quiet=quiet)
        gramian.save(fitted, output or model)
    return {
        "model": output or model,
        "learned": len(fitted.ids_) - n,
        "rows": len(fitted.ids_),
        "ids": fitted.ids_[n:].tolist(),
        "unknown_texts": unknown,
        "leave_one_out_before": before,
        "leave_one_out": _assess.leave_one_out(fitted),
        "seconds": perf_counter() - start,
    }


def _into_store(path: str, table: str, key: str | None) -> dict[str, Any]:
    """Learn the rows; they are on disk when this returns."""
    with Store.open(path, key=key) as store:
        fitted = check_table_model(store.read(lambda m: m), path)
        columns, before = read_table(table, fitted), store.read(_assess.leave_one_out)
        with naming(table):
            unknown = unknown_texts(fitted, columns)
            receipt = store.learn(columns)
        return {
            "model": path,
            "learned": receipt.count,
            "rows": receipt.n_after,
            "ids": store.read(lambda m: m.ids_)[-receipt.count :].tolist(),
            "unknown_texts": unknown,
            "leave_one_out_before": before,
            "leave_one_out": store.read(_assess.leave_one_out),
            "receipt": receipt.as_dict(),
        }


def show(facts: dict[str, Any]) -> None:
    """For people."""
    rows = "row" if facts["learned"] == 1 else "rows"
    say(f"Learned {facts['learned']} {rows}. The model holds {facts['rows']} rows.")
    for line in describe_unknown(facts["unknown_texts"]):
        say(f"Note: {line}")
    show_leave_one_out(facts["leave_one_out"])
    name = "error" if "error" in facts["leave_one_out"] else "rmse"
    before = facts["leave_one_out_before"][name]
    say(f"before: {before:.2%}" if name == "error" else f"rmse before: {before:.4g}")
    say(f"\nSaved {facts['model']}. {facts['seconds']:.1f} s.")
