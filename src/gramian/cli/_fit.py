"""``gramian fit``."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import click

import gramian
from gramian import data
from gramian.cli import _assess
from gramian.cli._estimators import Choice, choose_estimator, make_estimator, stack_for
from gramian.cli._progress import progress_of
from gramian.cli._running import prints_json, step
from gramian.cli._show import echo, heading, pairs, show_columns, show_doubtful, show_errors
from gramian.cli._tables import naming, read_table, reading_options
from gramian.cli._targets import with_target
from gramian.core.text import without_controls
from gramian.files import locked
from gramian.tables import TableModel, are_classes, read_cells


def run(
    *,
    table: str,
    target: str,
    estimator: str,
    kernel: str | None,
    gamma: Any,
    metric: str | None,
    ridge: Any,
    float32: bool,
    device: str | None,
    doubtful: Any,
    output: str,
    drop_missing_target: bool,
    **reading: Any,
) -> dict[str, Any]:
    """Read, fit, save, and assess; ``reading`` has parameters of `TableModel`."""
    start = perf_counter()
    step("reading")
    columns = read_table(table)
    encoding, dtype = reading_options().encoding, "float32" if float32 else "float64"
    model = TableModel(None, target=target, dtype=dtype, encoding=encoding, **reading)
    given = {"kernel": kernel, "gamma": gamma, "metric": metric, "ridge": ridge, "device": device}
    with naming(table):
        written = model._reading().written(target, read_cells(columns, target))
        columns, dropped = with_target(columns, target, written, drop=drop_missing_target)
        cells, named = read_cells(columns, target), target in reading["categorical"]
        choice = Choice(estimator)
        if estimator == "auto":
            one, size = any(value is not None for value in given.values()), 4 if float32 else 8
            choice = choose_estimator(cells, written.number, size, one=one, classes=named)
            _remark(f"Estimator: {choice.name} ({choice.why}).")
        elif estimator == "stack":
            choice = Choice(stack_for(named or are_classes(cells, written.number)))
        model.estimator = make_estimator(choice.name, parameters=choice.parameters, **given)
    with locked(output):  # from the start: who waits for it need not wait in vain
        with naming(table):
            seconds, notes = _timed_fit(model, columns)
        with progress_of("error on new rows", only="folds"):
            # before it is saved: what folds have chosen stays in it
            found, doubts = _assess.new_rows(model)
        step("saving")
        gramian.save(model, output)
    step("leave-one-out error")
    return {
        "model": output,
        "estimator_reason": choice.why,
        "notes": [*dict.fromkeys([*notes, *doubts])],
        "dropped": dropped,
        **_assess.describe(model),
        "new_rows": found,
        "leave_one_out": _assess.leave_one_out(model),
        "doubtful": data.doubtful(model, doubtful).rows(),
        "seconds": {"fit": seconds, "all": perf_counter() - start},
    }


def _timed_fit(model: TableModel, table: Any) -> tuple[float, list[str]]:
    """Seconds to fit, and notes: on cells, and on what speaks against the errors."""
    start = perf_counter()
    searches = "callback" in model.estimator.get_params()
    with progress_of("fitting") as progress, _assess.collected_warnings() as notes:

        def tried(trial: Any) -> None:  # a function, which copies of the estimator share
            progress.trial(trial)

        if searches:
            model.estimator.set_params(callback=tried)
        model.fit(table)
    if searches:
        for estimator in (model.estimator, model.estimator_):
            estimator.set_params(callback=None)
    return perf_counter() - start, notes


def _remark(text: str) -> None:
    if not prints_json():
        click.echo(without_controls(text), err=True)


def show(facts: dict[str, Any]) -> None:
    echo(facts["summary"])
    if facts["dropped"]:
        echo(f"Left out: {facts['dropped']} rows without a target.")
    for note in facts["notes"]:
        echo(f"Note: {note}")
    show_columns(facts)
    heading("Chosen")
    pairs(facts["chosen"])
    show_errors(facts)
    show_doubtful(facts["doubtful"])
    seconds = facts["seconds"]
    echo(
        f"\nSaved {facts['model']}. {seconds['all']:.1f} s, of which {seconds['fit']:.1f} s to fit."
    )
