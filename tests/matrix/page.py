"""The page of what works, written from the registry and from nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from tests.matrix.capabilities import CAPABILITIES, GROUPS, Capability
from tests.matrix.cases import ESTIMATORS, VARIANTS, Case
from tests.matrix.pairs import FIT, Pair, all_pairs
from tests.matrix.refusals import REFUSALS, Refusal

PAGE = Path(__file__).parents[2] / "docs" / "what_works.md"
WORKS, NOTHING = "✔", "–"

HEAD = """# What works with what

Every capability is tested with every estimator and every variant of it. This page is generated from
the registry of those tests by `python -m tests.matrix --page`, and a test checks that it is up to
date.

- ✔: it works; the test compares it with a fit from scratch or with the same calls in Python.
- A number: it is refused, with an error that says what to do instead; the reasons are at the end.
  ✔ with numbers: it works, with the exceptions given in those reasons.
- –: it does not apply, such as an interval for a classifier.

"""


def page() -> str:
    """The text of the page."""
    pairs = list(all_pairs())
    works = sum(pair.refusal is None for pair in pairs)
    counts = (
        f"{len(ESTIMATORS)} estimators in {len(VARIANTS)} variants meet {len(CAPABILITIES)} "
        f"capabilities in {len(pairs):,} pairs: {works:,} work, {len(pairs) - works} are refused.\n"
    )
    parts = [HEAD + counts, "\n## Variants of each estimator\n\n", _fits(pairs)]
    for group in GROUPS:
        some = [one for one in CAPABILITIES.values() if one.group == group]
        parts.append(f"\n## {group.capitalize()}\n\n")
        parts.append(_table("estimator", ESTIMATORS, some, pairs, lambda case: case.estimator))
        parts.append("\n" + _table("variant", VARIANTS, some, pairs, lambda case: case.variant))
    return "".join(parts) + _reasons()


def _fits(pairs: list[Pair]) -> str:
    """Which variants an estimator has."""
    head = ["estimator", *VARIANTS]
    rows = []
    for name in ESTIMATORS:
        cells = []
        for variant in VARIANTS:
            case = Case(name, variant)
            mine = [pair for pair in pairs if pair.case == case and pair.capability is FIT]
            cells.append(_cell(mine))
        rows.append([name, *cells])
    return _lines(head, rows)


def _table(
    what: str,
    names: Iterable[str],
    capabilities: list[Capability],
    pairs: list[Pair],
    of: Callable[[Case], str],
) -> str:
    rows = []
    fitted = [pair for pair in pairs if pair.capability is not FIT or pair.refusal is None]
    for name in names:
        mine = [pair for pair in fitted if of(pair.case) == name]
        cells = [_cell([p for p in mine if p.capability is one]) for one in capabilities]
        rows.append([name, *cells])
    return _lines([what, *(one.name for one in capabilities)], rows)


def _cell(pairs: list[Pair]) -> str:
    """What the pairs of a cell have in common."""
    if not pairs:
        return NOTHING
    refused = [pair.refusal for pair in pairs if pair.refusal is not None]
    numbers = sorted({REFUSALS.index(one) + 1 for one in refused})
    marks = [WORKS] if len(refused) < len(pairs) else []
    return " ".join([*marks, *(str(number) for number in numbers)])


def _lines(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _reasons() -> str:
    lines = [f"{k}. {_where(one)}: {one.reason}.\n" for k, one in enumerate(REFUSALS, 1)]
    return "\n## Reasons\n\n" + "".join(lines)


def _where(one: Refusal) -> str:
    """The part of the matrix that a refusal covers."""
    parts = [", ".join(one.capabilities)]
    if one.variants:
        parts.append(f"with {', '.join(one.variants)}")
    if one.estimators:
        parts.append(f"of {', '.join(one.estimators)}")
    return " ".join(parts)
