"""Timing, thread limits, and tables in Markdown and JSON with the machine they were made on.

A benchmark is a module of this folder with ``run(quick: bool) -> None``. It times calls, fills a
`Table` and writes it; claims are ratios between columns of one table, never across machines.
"""

from __future__ import annotations

import gc
import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy
from threadpoolctl import threadpool_info, threadpool_limits

from gramian.reproduce import _environment as environment

RESULTS = Path(__file__).parent.parent / "docs" / "benchmarks"


class Timing(NamedTuple):
    """Seconds of a call: the best and the median of several."""

    best: float
    median: float


def time_call(
    fn: Callable[..., Any], repeat: int = 5, setup: Callable[[], tuple] | None = None
) -> Timing:
    """Time ``fn(*setup())`` ``repeat`` times; ``setup`` is called afresh and not timed.

    The garbage collector is off during the calls, as in `timeit`.
    """
    if repeat < 1:
        raise ValueError(f"repeat must be >= 1, got {repeat}.")
    seconds = [_time_once(fn, setup() if setup else ()) for _ in range(repeat)]
    return Timing(min(seconds), statistics.median(seconds))


def _time_once(fn: Callable[..., Any], args: tuple) -> float:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        start = perf_counter()
        fn(*args)
        return perf_counter() - start
    finally:
        if was_enabled:
            gc.enable()


def limit_threads(n: int) -> threadpool_limits:
    """Context in which BLAS and OpenMP use ``n`` threads."""
    return threadpool_limits(limits=n)


def machine() -> dict[str, str]:
    """What the page of `gramian reproduce` says of the machine, and the threads that BLAS uses."""
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    threads = sorted({pool["num_threads"] for pool in pools})
    return {**environment.machine(), "BLAS threads": ", ".join(map(str, threads)) or "unknown"}


@dataclass
class Table:
    """Rows of results under one title, written as ``NAME.md`` and ``NAME.json``.

    Parameters
    ----------
    name : str
        Of the two files.
    title : str
    columns : tuple of str
        With their units, as in ``"append (ms)"``.
    note : str
        What was measured and how; stands between title and table.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    note: str = ""
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, *values: Any) -> None:
        """Append one row, a value for each column."""
        if len(values) != len(self.columns):
            raise ValueError(f"{self.name}: {len(self.columns)} columns, got {len(values)} values.")
        self.rows.append(tuple(_plain(value) for value in values))

    def markdown(self) -> str:
        """The page: title, note, table and machine; numbers to three significant digits."""
        head = [self.columns, ("---",) * len(self.columns)]
        lines = ["| " + " | ".join(map(_cell, row)) + " |" for row in (*head, *self.rows)]
        made_on = "; ".join(f"{key} {value}" for key, value in machine().items())
        parts = [f"# {self.title}", self.note, "\n".join(lines), f"Measured on: {made_on}."]
        return "\n\n".join(part for part in parts if part) + "\n"

    def write(self, folder: Path = RESULTS) -> None:
        """Write both files into ``folder``, over those of an earlier run."""
        folder.mkdir(parents=True, exist_ok=True)
        content = {
            "title": self.title,
            "note": self.note,
            "columns": self.columns,
            "rows": self.rows,
            "machine": machine(),
        }
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
        (folder / f"{self.name}.json").write_text(text + "\n", encoding="utf-8")
        (folder / f"{self.name}.md").write_text(self.markdown(), encoding="utf-8")


def _plain(value: Any) -> Any:
    """A Python number for a NumPy one, so that JSON takes it."""
    return value.item() if isinstance(value, numpy.generic) else value


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return _float_cell(value)
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", "\\|")


def _float_cell(value: float) -> str:
    if 0 < abs(value) < 1e-3:
        return f"{value:.1e}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"
