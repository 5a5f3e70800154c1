"""Which machine a table gets, and how long that will take."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import click
import numpy as np
from sklearn.base import clone

from gramian.estimators import ESTIMATORS
from gramian.gram import available_memory
from gramian.tables import TableModel, are_classes

MACHINES = {cls.cli_name: cls for cls in ESTIMATORS.values()}
EXACT_UP_TO = 5_000
"""Rows up to which a machine on the whole Gram matrix tunes itself in seconds."""

_PILOTS = (400, 800)  # rows on which the time is measured that all of them will take


def choose_machine(cells: list[Any], read: Any, itemsize: int) -> tuple[str, str]:
    """Name of the machine for this target on this computer, and why, in one line."""
    n, classes = len(cells), are_classes(cells, read)
    what = "classes" if classes else "numbers"
    exact, sparse = ("discriminant", "orthogonal") if classes else ("ls-svr", "orthogonal-svr")
    needed, free = 3 * n * n * itemsize, available_memory()
    size = f"the matrix of {n:,} rows takes {_gib(needed)} GiB with room to tune"
    if n > EXACT_UP_TO:
        return sparse, f"{what}, and more than {EXACT_UP_TO:,} rows ({n:,}): a basis of some rows"
    if free is not None and needed > free:
        return sparse, f"{what}, and {size}, of which {_gib(free)} are free: a basis of some rows"
    return exact, f"{what}, and {size}"


def make_estimator(machine: str, *, gamma: Any, ridge: Any, kernel: str) -> Any:
    """The estimator of this name; what was not asked for is left at its own default."""
    if machine not in MACHINES:
        names = ", ".join(sorted(MACHINES))
        raise click.BadParameter(f"must be auto, {names}; got {machine}.", param_hint="--machine")
    estimator = MACHINES[machine](kernel)
    known = estimator.get_params()
    strength = {"ridge": ridge} if "ridge" in known else {"C": ridge}
    if "C" in known and not isinstance(ridge, str | None):
        strength = {"C": 1.0 / ridge}
    given = {"gamma": gamma, **strength, "random_state": 0 if "random_state" in known else None}
    for name, value in given.items():
        if value is not None and name not in known:
            raise click.BadParameter(f"{machine} has no such parameter.", param_hint=f"--{name}")
    return estimator.set_params(**{k: v for k, v in given.items() if v is not None})


def expected_seconds(model: TableModel, table: dict[str, list[Any]], n: int) -> float | None:
    """An estimate from fits to two small parts of the table; None where that is not worth it."""
    if n < 5 * _PILOTS[1]:
        return None
    seconds = []
    for size in _PILOTS:
        rows = np.linspace(0, n - 1, size).astype(int).tolist()
        part = {name: [cells[i] for i in rows] for name, cells in table.items()}
        start = perf_counter()
        clone(model).fit(part)
        seconds.append(perf_counter() - start)
    small, large = _PILOTS
    power = np.clip(np.log(seconds[1] / seconds[0]) / np.log(large / small), 1.0, 3.0)
    return float(seconds[1] * (n / large) ** power)


def _gib(size: float) -> str:
    return f"{size / 2**30:.2g}"
