"""Two models on the same partitions of many sets: differences, and what they come to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evidence._compare import column, grouped, signed
from evidence._experiment import Record, Table


def mean_of(records: Sequence[Record], name: str) -> float | None:
    """The mean of a value, to three decimals; None without records."""
    return round(float(np.mean(column(records, name))), 3) if records else None


def against(
    records: list[Record], machines: Sequence[str], other: str, classes: bool, where: str = ""
) -> Table:
    """Each model next to another one, on the partitions that both have."""
    columns = ["model", "sets", "won", "lost", "error (points)" if classes else "error"]
    names = ("error", "log_loss") if classes else ("error",)
    rows = []
    for machine in machines:
        pairs = {name: differences(records, machine, other, name, not classes) for name in names}
        if machine == other or len(pairs["error"]) < 2:
            continue
        error = pairs["error"]
        won, lost = int(np.sum(error < 0)), int(np.sum(error > 0))
        texts = [shown(pairs[name], 2 if name == "error" else 3, not classes) for name in names]
        rows.append([machine, len(error), won, lost, *texts])
    return Table(
        [*columns, *(["log-loss"] if classes else [])], rows, f"Against the {other}{where}"
    )


def differences(
    records: list[Record], machine: str, other: str, name: str, relative: bool
) -> np.ndarray:
    """Of each set, on the partitions that both have: a difference, or a difference of logs."""
    found = grouped(records, "table", "machine")
    values = []
    for table in grouped(records, "table"):
        ours, theirs = (
            {r["partition"]: r[name] for r in found.get((table, m), []) if name in r}
            for m in (machine, other)
        )
        both = sorted(ours.keys() & theirs.keys())
        if both:
            a, b = (float(np.mean([side[k] for k in both])) for side in (ours, theirs))
            values.append(np.log(a / b) if relative else a - b)
    return np.array(values)


def shown(values: np.ndarray, digits: int, relative: bool) -> str:
    """Mean ± standard error; of logarithms, as a change in per cent."""
    if len(values) < 2:
        return ""
    mean, error = values.mean(), values.std(ddof=1) / np.sqrt(len(values))
    if relative:
        mean, error, digits = 100.0 * np.expm1(mean), 100.0 * np.exp(mean) * error, 1
    unit = " %" if relative else ""
    return f"{signed(float(mean), digits)}{unit} ± {error:.{digits}f}"
