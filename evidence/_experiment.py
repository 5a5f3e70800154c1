"""What an experiment is: independent cases, and a report on what they found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Parameters = dict[str, Any]
Record = dict[str, Any]


class UnavailableError(Exception):
    """What a case needs is not there. The report says so, and the other cases go on."""


@dataclass(frozen=True)
class Text:
    """A paragraph; `words` between backticks are code."""

    text: str


@dataclass(frozen=True)
class Cell:
    """A cell of a table with a remark under it, and a flag where a reader should stop."""

    text: str
    note: str = ""
    flagged: bool = False


@dataclass(frozen=True)
class Table:
    """Rows under the names of their columns; a cell is a `Cell`, a number, a text or None."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row of {len(row)} cells for the columns {list(self.columns)}.")


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG, with its caption."""

    svg: bytes
    caption: str


Part = Text | Table | Figure


@dataclass(frozen=True)
class Experiment:
    """A table or figure, as cases that are computed in any order and a report on all of them.

    Parameters
    ----------
    name : str
        On the page ``PAPER-WHAT``, as in ``kim2006-table-1``.
    title : str
    cases : callable
        ``cases(quick)`` lists the parameters of each case: plain values, and under ``data`` the
        data set that it needs, if any.
    run : callable
        ``run(**parameters)`` computes a case: a dict of plain values or arrays, by name. A function
        of a module, so that another process can find it, and of its parameters alone. Experiments
        with the same ``run`` share what was computed.
    report : callable
        ``report(records)`` makes tables and figures of the cases that were computed, at least one;
        a record is the parameters and the values of a case.
    timed : bool
        Whether the cases measure time, so that nothing else may run beside them.
    file : str
        Of docs/benchmarks, without its ending; none by default.
    page : bool
        Whether the page has a section on it.
    """

    name: str
    title: str
    cases: Callable[[bool], Iterable[Parameters]]
    run: Callable[..., dict[str, Any]]
    report: Callable[[list[Record]], Sequence[Part]]
    timed: bool = False
    file: str = ""
    page: bool = True


def benchmark(
    file: str,
    title: str,
    cases: Callable[[bool], Iterable[Parameters]],
    run: Callable[..., dict[str, Any]],
    report: Callable[[list[Record]], Sequence[Part]],
    timed: bool = True,
) -> Experiment:
    """An experiment of docs/benchmarks alone."""
    return Experiment(file, title, cases, run, report, timed, file, page=False)
