"""From names of experiments to the page, and to the files of docs/benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from evidence import _markdown
from evidence._environment import cores, machine
from evidence._experiment import Experiment
from evidence._page import Section, page
from evidence._runner import Follower, Outcome, Task, run_tasks
from evidence._section import make_section
from evidence._store import Store
from evidence.shared.data import missing
from gramian.files import replacing
from gramian.plots._svg import require_drawing

ROOT = Path(__file__).parents[1]
CACHE = ROOT / "reports" / "evidence.jsonl"
BENCHMARKS = ROOT / "docs" / "benchmarks"
QUICK = ROOT / "reports" / "benchmarks"  # where quick runs go, which are no results

_TITLE = "Gramian: the papers' tables and figures, and ours"
_WORDS = (
    "Each published figure is shown next to ours. A figure of ours that lies more than one "
    "standard deviation from the published one is marked ▲; the deviation is the published "
    "one unless the section says otherwise. Only published figures were typed in.",
    "Timed cases ran one after the other, with no other case at the same time and with one "
    "BLAS thread; compare times within a table, never with those of the papers' computers.",
)


class Summary(NamedTuple):
    """What a run came to."""

    output: list[str]
    experiments: list[str]
    cases: int
    computed: int
    """How many of them have values: the others failed, or lack their data."""
    seconds: float
    unavailable: list[str]
    """What was not there: data sets, libraries. Nothing went wrong."""
    failures: list[str]
    tracebacks: list[str]


class Computed(NamedTuple):
    """Sections on some experiments, and what their cases took."""

    experiments: Sequence[Experiment]
    sections: list[Section]
    outcomes: list[Outcome]
    seconds: float

    def summary(self, output: Sequence[object]) -> Summary:
        """For whoever asked, with what was written."""
        unavailable = [reason for section in self.sections for reason in section.unavailable]
        return Summary(
            output=[str(path) for path in output],
            experiments=[experiment.name for experiment in self.experiments],
            cases=len(self.outcomes),
            computed=sum(outcome.values is not None for outcome in self.outcomes),
            seconds=self.seconds,
            unavailable=list(dict.fromkeys(unavailable)),
            failures=[f"{s.name}: {failure}" for s in self.sections for failure in s.failures],
            tracebacks=[outcome.traceback for outcome in self.outcomes if outcome.traceback],
        )


def compute(
    experiments: Sequence[Experiment],
    *,
    quick: bool = False,
    jobs: int | None = None,
    cache: Path = CACHE,
    again: bool = False,
    follow: Follower | None = None,
) -> Computed:
    """Compute what the file of finished cases does not have, and report.

    Parameters
    ----------
    experiments : sequence of Experiment
    quick : bool
        Fewer partitions and smaller sizes.
    jobs : int, optional
        Number of processes; as many as there are cores by default.
    cache : Path
        JSON lines. Finished cases are kept there; the same call goes on from there.
    again : bool
        Compute the cases of these experiments even where they are kept.
    follow : callable, optional
        Called with an `Event` for every case.

    Raises
    ------
    ValueError
        If the file of finished cases is damaged.
    ModuleNotFoundError
        Without matplotlib; before anything is computed.
    """
    require_drawing()
    start = perf_counter()
    cache.parent.mkdir(parents=True, exist_ok=True)
    tasks = [Task(e, parameters) for e in experiments for parameters in e.cases(quick)]
    absent = missing(t.parameters["data"] for t in tasks if t.parameters.get("data"))
    store = Store(cache)
    if again:
        store.drop(task.key for task in tasks)
    outcomes = run_tasks(tasks, store, jobs=jobs or cores(), absent=absent, follow=follow)
    pairs = list(zip(tasks, outcomes, strict=True))
    sections = [make_section(e, [p for p in pairs if p[0].experiment is e]) for e in experiments]
    return Computed(experiments, sections, outcomes, perf_counter() - start)


def write_page(computed: Computed, output: Path, *, quick: bool = False) -> Summary:
    """One page of HTML on all that was computed; it needs nothing but itself."""
    spent = sum(outcome.seconds for outcome in computed.outcomes)
    facts = {
        "made": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "extent": "quick: few partitions, small sizes" if quick else "full",
        "cases": _extent(computed.summary([])),
        "time": f"{duration(computed.seconds)}; the cases took {duration(spent)} when they ran",
        **machine(),
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    with replacing(output) as stream:
        stream.write(page(_TITLE, _WORDS, facts, computed.sections).encode())
    return computed.summary([output])


def _extent(summary: Summary) -> str:
    """How many cases have values, and how many lack something."""
    lacking = summary.cases - summary.computed
    return f"{summary.computed:,} computed" + (f", {lacking:,} not" if lacking else "")


def write_benchmarks(computed: Computed, folder: Path) -> Summary:
    """The files of docs/benchmarks; an experiment that lacks a case leaves those that are there."""
    output = []
    facts = {**machine(), "BLAS threads": "1, unless a table says otherwise"}
    for experiment, section in zip(computed.experiments, computed.sections, strict=True):
        if section.parts and not section.unavailable and not section.failures:
            names = _markdown.write(folder, experiment.file, experiment.title, section.parts, facts)
            output += [folder / name for name in names]
    return computed.summary(output)


def duration(seconds: float) -> str:
    """In words: seconds, and minutes from two of them on."""
    return f"{seconds:.1f} seconds" if seconds < 120 else f"{seconds / 60:.1f} minutes"
