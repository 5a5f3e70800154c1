"""``gramian fit``."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import click

import gramian
from gramian.cli import _assess
from gramian.cli._progress import search_progress
from gramian.cli._show import heading, pairs, say, show_columns, show_doubtful, show_leave_one_out
from gramian.cli._tables import naming, read_table
from gramian.estimators import ESTIMATORS
from gramian.files import locked
from gramian.tables import TableModel, are_classes, read_cells

MACHINES = {cls.cli_name: cls for cls in ESTIMATORS.values()}
# A name that stands for one machine where the target has classes, and for another for numbers.
EITHER = {
    "auto": ("discriminant", "ls-svr"),
    "stack": ("stack-classifier", "stack-regressor"),
}


def run(
    *, table, target, id_column, machine, kernel, gamma, ridge, categorical, ignore, doubtful,
    device, output, quiet,
) -> dict[str, Any]:  # fmt: skip
    """Read, fit, save, and assess."""
    start = perf_counter()
    columns = read_table(table)
    with naming(table):
        cells = read_cells(columns, target)
        if machine in EITHER:
            machine = EITHER[machine][0 if are_classes(cells) else 1]
        estimator = _estimator(machine, kernel=kernel, gamma=gamma, ridge=ridge, device=device)
        model = TableModel(
            estimator, target=target, id_column=id_column, categorical=categorical, ignore=ignore
        )
    with locked(output):  # from the start: who waits for it need not wait in vain
        with naming(table):
            seconds = _timed_fit(model, columns, len(cells), quiet)
        gramian.save(model, output)
    facts = {
        "model": output,
        "machine": type(estimator).__name__,
        "summary": _assess.described(model),
        "rows": len(model.ids_),
        "features": int(model.estimator_.n_features_in_),
        "columns": _assess.columns(model),
        "ignored": model.ignored_,
        "target": {"column": target, "held": _assess.targets(model)},
        "chosen": _assess.chosen(model),
        "leave_one_out": _assess.leave_one_out(model),
        "doubtful": _assess.doubtful(model, doubtful),
    }
    return {**facts, "seconds": {"fit": seconds, "all": perf_counter() - start}}


def _estimator(machine: str, *, gamma: Any, ridge: Any, kernel: str | None, device: Any) -> Any:
    """The estimator of this name; what was not asked for is left at its own default."""
    if machine not in MACHINES:
        names = ", ".join((*EITHER, *sorted(MACHINES)))
        raise click.BadParameter(f"must be {names}; got {machine}.", param_hint="--machine")
    estimator = MACHINES[machine]() if kernel is None else MACHINES[machine](kernel)
    known = estimator.get_params()
    strength = {"ridge": ridge} if "ridge" in known else {"C": ridge}
    if "C" in known and not isinstance(ridge, str | None):
        strength = {"C": 1.0 / ridge}
    given = {"gamma": gamma, **strength, "device": device}
    if "random_state" in known:
        given["random_state"] = 0
    for name, value in given.items():
        if value is not None and name not in known:
            raise click.BadParameter(f"{machine} has no such parameter.", param_hint=f"--{name}")
    return estimator.set_params(**{k: v for k, v in given.items() if v is not None})


def _timed_fit(model: TableModel, columns: Any, n: int, quiet: bool) -> float:
    """Seconds to fit, with a progress bar that leaves no trace in the model."""
    start = perf_counter()
    if "callback" not in model.estimator.get_params():
        model.fit(columns)
        return perf_counter() - start
    with search_progress(n, quiet=quiet) as follow:
        model.estimator.set_params(callback=follow)
        model.fit(columns)
    model.estimator.set_params(callback=None)
    model.estimator_.set_params(callback=None)
    return perf_counter() - start


def show(facts: dict[str, Any]) -> None:
    """For people."""
    say(facts["summary"])
    show_columns(facts)
    heading("Chosen")
    pairs(facts["chosen"])
    show_leave_one_out(facts["leave_one_out"])
    show_doubtful(facts["doubtful"])
    seconds = facts["seconds"]
    say(
        f"\nSaved {facts['model']}. {seconds['all']:.1f} s, of which {seconds['fit']:.1f} s to fit."
    )
