"""How far a computation of the library is: what it logs, as a step that people see."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any, cast

from gramian.cli._work import step
from gramian.core.progress import PROGRESS

_ENOUGH = 2  # so many must be done before the time of the rest can be estimated


class Follower(logging.Handler):
    """Shows the last record of each kind, such as the folds that are done.

    Parameters
    ----------
    what : str
        The step.
    only : str
        The kind to show, whose end is that of the step, so that the time which is left follows
        from it; all kinds if it is empty.
    """

    def __init__(self, what: str, only: str = "") -> None:
        super().__init__()
        self._what, self._only, self._start = what, only, monotonic()
        self._details: dict[str, str] = {}
        self._trials = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Show what a computation has logged."""
        done, total, kind = cast(tuple[int, int, str], record.args)
        if not self._only:
            self._show(kind.split()[0], record.getMessage())
        elif kind == self._only:
            passed, share = monotonic() - self._start, done / total
            left = passed * (1.0 / share - 1.0) if done >= _ENOUGH else None
            step(self._what, share, record.getMessage(), left)

    def trial(self, trial: Any) -> None:
        """Show that a search has tried another setting."""
        self._trials += 1
        self._show("settings", f"{self._trials} settings tried, the last on {trial.n:,} rows")

    def _show(self, kind: str, detail: str) -> None:
        self._details[kind] = detail
        step(self._what, detail=", ".join(self._details.values()))


@contextmanager
def progress_of(what: str, only: str = "") -> Iterator[Follower]:
    """A step, during which all that is logged of the progress is shown."""
    step(what)
    follower, level = Follower(what, only), PROGRESS.level
    PROGRESS.addHandler(follower)
    PROGRESS.setLevel(logging.INFO)
    try:
        yield follower
    finally:
        PROGRESS.removeHandler(follower)
        PROGRESS.setLevel(level)
