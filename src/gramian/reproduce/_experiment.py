"""What an experiment is: independent cases, and a report on what they found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gramian.reproduce._parts import Part

Parameters = dict[str, Any]
Record = dict[str, Any]


class UnavailableError(Exception):
    """What a case needs is not there. The page says so, and the other cases go on."""


@dataclass(frozen=True)
class Experiment:
    """A table or figure, as cases that are computed in any order and a report on all of them.

    Parameters
    ----------
    name : str
        ``PAPER-WHAT``, as in ``kim2006-table-1``.
    title : str
    cases : callable
        ``cases(quick)`` lists the parameters of each case: plain values, and under ``data`` the
        data set that it needs, if any.
    run : callable
        ``run(**parameters)`` computes a case: a dict of plain values or arrays, by name. A function
        of a module, so that another process can find it, and of its parameters alone.
    report : callable
        ``report(records)`` makes tables and figures of the cases that were computed, at least one;
        a record is the parameters and the values of a case.
    timed : bool
        Whether the cases measure time, so that nothing else may run beside them.
    """

    name: str
    title: str
    cases: Callable[[bool], Iterable[Parameters]]
    run: Callable[..., dict[str, Any]]
    report: Callable[[list[Record]], Sequence[Part]]
    timed: bool = False
