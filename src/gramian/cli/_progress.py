"""A progress bar for the search of hyper-parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

# Settings that a search tries on few and on many samples (gramian.selection), more or less.
_FEW, _MANY = 14, 22


@contextmanager
def search_progress(n: int, *, quiet: bool) -> Iterator[Callable[[Any], None] | None]:
    """A callback for an estimator that draws the search on a terminal; None where there is none."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    bar = Progress(
        TextColumn("tuning by leave-one-out"), BarColumn(), TextColumn("{task.description}"),
        TimeElapsedColumn(), console=console, transient=True,
    )  # fmt: skip
    task = bar.add_task("", total=_FEW if n <= 400 else _MANY)

    def follow(trial: Any) -> None:
        bar.update(task, advance=1, description=f"{trial.n} samples, loss {trial.value:.4f}")

    with bar:
        yield follow
