"""From names of experiments to the page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from gramian.files import replacing
from gramian.plots._svg import require_drawing
from gramian.reproduce._data import missing
from gramian.reproduce._environment import cores, machine
from gramian.reproduce._experiment import Experiment
from gramian.reproduce._page import page
from gramian.reproduce._registry import select
from gramian.reproduce._runner import Follower, Task, run_tasks
from gramian.reproduce._section import make_section
from gramian.reproduce._store import Store

_TITLE = "Gramian: the papers' tables and figures, and ours"
_WORDS = (
    "Each published figure stands beside ours. A figure of ours that lies more than one standard "
    "deviation from the published one is marked ▲; the deviation is the published one unless the "
    "section says otherwise. Only published figures were typed in.",
    "Timed cases ran one after the other, with nothing beside them and one BLAS thread; compare "
    "times within a table, never with those of the papers' machines.",
)


class Summary(NamedTuple):
    """What a run came to."""

    output: str
    experiments: list[str]
    cases: int
    seconds: float
    unavailable: list[str]
    """What was not there: data sets, machines. Nothing went wrong."""
    failures: list[str]
    tracebacks: list[str]


def reproduce(
    names: Sequence[str] = (),
    *,
    output: str | os.PathLike,
    quick: bool = False,
    jobs: int | None = None,
    follow: Follower | None = None,
) -> Summary:
    """Compute experiments and write one page on them.

    Parameters
    ----------
    names : sequence of str
        As `select` takes them.
    output : path
        The page. Finished cases are kept beside it, in a file with the ending ``.jsonl``; the
        same call goes on from there.
    quick : bool
        Fewer partitions and smaller sizes.
    jobs : int, optional
        Number of processes; as many as there are cores by default.
    follow : callable, optional
        Called with an `Event` for every case.

    Raises
    ------
    ValueError
        If a name is unknown, or the file of finished cases is damaged.
    ModuleNotFoundError
        Without matplotlib; before anything is computed.
    """
    experiments = select(names)
    jobs = jobs or cores()
    return run_experiments(experiments, output=output, quick=quick, jobs=jobs, follow=follow)


def run_experiments(
    experiments: Sequence[Experiment],
    *,
    output: str | os.PathLike,
    quick: bool = False,
    jobs: int = 1,
    follow: Follower | None = None,
) -> Summary:
    """`reproduce` for given experiments."""
    require_drawing()
    start = perf_counter()
    store = Store(Path(output).with_suffix(".jsonl"))
    tasks = [Task(e, parameters) for e in experiments for parameters in e.cases(quick)]
    absent = missing(t.parameters["data"] for t in tasks if t.parameters.get("data"))
    outcomes = run_tasks(tasks, store, jobs=jobs, absent=absent, follow=follow)
    pairs = list(zip(tasks, outcomes, strict=True))
    sections = [make_section(e, [p for p in pairs if p[0].experiment is e]) for e in experiments]
    seconds = perf_counter() - start
    facts = {
        "made": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "extent": "quick: few partitions, small sizes" if quick else "full",
        "time": f"{seconds / 60:.1f} minutes in {jobs} processes; the cases took "
        f"{sum(outcome.seconds for outcome in outcomes) / 60:.1f} minutes when they ran",
        **machine(),
    }
    with replacing(output) as stream:
        stream.write(page(_TITLE, _WORDS, facts, sections).encode())
    return Summary(
        output=str(output),
        experiments=[experiment.name for experiment in experiments],
        cases=len(tasks),
        seconds=seconds,
        unavailable=list(dict.fromkeys(reason for s in sections for reason in s.unavailable)),
        failures=[f"{s.name}: {failure}" for s in sections for failure in s.failures],
        tracebacks=[outcome.traceback for outcome in outcomes if outcome.traceback],
    )
