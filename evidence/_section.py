"""One experiment's part of the page, from what became of its cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from evidence._experiment import Experiment, Parameters, Part, Record
from evidence._page import Section
from evidence._runner import Outcome, Task, one_line, record_of
from evidence.published.sections import published_parts
from evidence.shared.data import partitions_used
from evidence.shared.homes import how_to_get

Case = tuple[Task, Outcome]


def make_section(experiment: Experiment, cases: Sequence[Case]) -> Section:
    """The report on the cases that have values; for the others, why they have none."""
    records = [record_of(*case) for case in cases if case[1].values is not None]
    parts, broken = _report(experiment, records)
    lacking = [str(task.parameters.get("data", "")) for task, o in cases if o.unavailable]
    return Section(
        name=experiment.name,
        title=experiment.title,
        parts=parts,
        unavailable=list(dict.fromkeys(o.unavailable for _, o in cases if o.unavailable)),
        failures=[*_failures(cases), *broken],
        notes=[_extent(cases, len(records)), *partitions_used(records), *_warnings(cases)],
        published=published_parts(experiment.name) if lacking else [],
        remedies=how_to_get(lacking),
    )


def _report(experiment: Experiment, records: list[Record]) -> tuple[Sequence[Part], list[str]]:
    """Its parts, and what was wrong with making them."""
    if not records:
        return [], []
    try:
        return experiment.report(records), []
    except Exception as error:  # the other sections go on; the page and the exit code tell
        return [], [f"The report failed: {one_line(error)}"]


def _failures(cases: Sequence[Case]) -> list[str]:
    counts = Counter(outcome.error for _, outcome in cases if outcome.error)
    first = {outcome.error: task.parameters for task, outcome in reversed(cases)}
    return [
        f"{_number(count, 'case')} failed ({_text(first[error])}{' and others' * (count > 1)}): "
        f"{error}"
        for error, count in counts.items()
    ]


def _warnings(cases: Sequence[Case]) -> Iterable[str]:
    counts = Counter(message for _, outcome in cases for message in outcome.warnings)
    for message, count in counts.items():
        yield f"Warning of {_number(count, 'case')}: {message}"


def _extent(cases: Sequence[Case], done: int) -> str:
    seconds = sum(outcome.seconds for _, outcome in cases)
    total = _number(len(cases), "case")
    return f"{total if done == len(cases) else f'{done} of {total}'}, {seconds:,.1f} s."


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _text(parameters: Parameters) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items())
