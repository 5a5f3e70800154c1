"""``gramian fit``."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

import click

import gramian
from gramian import data
from gramian.cli import _assess
from gramian.cli._estimators import choose_estimator, make_estimator, stack_for
from gramian.cli._show import heading, pairs, say, show_columns, show_doubtful, show_leave_one_out
from gramian.cli._tables import asked_encoding, naming, read_table
from gramian.cli._work import patiently
from gramian.core.text import without_controls
from gramian.files import locked
from gramian.tables import NumberFormat, TableModel, TableWarning, are_classes, read_cells


def run(
    *, table, target, estimator, kernel, gamma, ridge, float32, device, doubtful, output, quiet,
    **reading,
) -> dict[str, Any]:  # fmt: skip
    """Read, fit, save, and assess; ``reading`` has parameters of `TableModel`."""
    start = perf_counter()
    columns = read_table(table)
    with naming(table):
        cells = read_cells(columns, target)
        reason, written = None, NumberFormat(reading["decimal"], reading["thousands"] or "")
        if estimator == "auto":
            one = any(given is not None for given in (kernel, gamma, ridge, device))
            size = 4 if float32 else 8
            estimator, reason = choose_estimator(cells, written.number, size, one=one)
            _remark(f"Machine: {estimator} ({reason}).", quiet)
        elif estimator == "stack":
            estimator = stack_for(are_classes(cells, written.number))
        unfitted = make_estimator(estimator, kernel=kernel, gamma=gamma, ridge=ridge, device=device)
        dtype = "float32" if float32 else "float64"
        model = TableModel(
            unfitted, target=target, dtype=dtype, encoding=asked_encoding(), **reading
        )
    with locked(output):  # from the start: who waits for it need not wait in vain
        with naming(table):
            seconds, notes = _timed_fit(model, columns, quiet)
        gramian.save(model, output)
    facts = {
        "model": output,
        "machine": type(unfitted).__name__,
        "machine_reason": reason,
        "notes": notes,
        "summary": _assess.described(model),
        "rows": len(model.ids_),
        "features": int(model.estimator_.n_features_in_),
        "columns": _assess.columns(model),
        "ignored": model.ignored_,
        "target": {"column": target, "held": _assess.targets(model)},
        "chosen": _assess.chosen(model),
        "leave_one_out": _assess.leave_one_out(model),
        "doubtful": data.doubtful(model, doubtful),
    }
    return {**facts, "seconds": {"fit": seconds, "all": perf_counter() - start}}


def _timed_fit(model: TableModel, table: Any, quiet: bool) -> tuple[float, list[str]]:
    """Seconds to fit, and notes on cells that are probably not what they were taken for."""
    start = perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", TableWarning)
        patiently(lambda: model.fit(table), "fitting", quiet=quiet)
    return perf_counter() - start, [str(warning.message) for warning in caught]


def _remark(text: str, quiet: bool) -> None:
    if not quiet:
        click.echo(without_controls(text), err=True)


def show(facts: dict[str, Any]) -> None:
    """For people."""
    say(facts["summary"])
    for note in facts["notes"]:
        say(f"Note: {note}")
    show_columns(facts)
    heading("Chosen")
    pairs(facts["chosen"])
    show_leave_one_out(facts["leave_one_out"])
    show_doubtful(facts["doubtful"])
    seconds = facts["seconds"]
    say(
        f"\nSaved {facts['model']}. {seconds['all']:.1f} s, of which {seconds['fit']:.1f} s to fit."
    )
