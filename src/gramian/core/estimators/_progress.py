"""What `verbose` prints while hyper-parameters are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from time import perf_counter
from typing import Any

import numpy as np

from gramian.core.engines import Holdings, Spec
from gramian.core.search import Problem, Trial

LONG = 2.0
"""Seconds from which on the time that is left is printed."""


@dataclass
class Stage:
    """Settings that a search has tried on as many samples, by one criterion."""

    kernel: str
    name: str
    n: int
    start: float
    tried: int = 0
    best: Trial | None = None

    def add(self, trial: Trial) -> None:
        """Count a setting."""
        self.tried += 1
        if self.best is None or trial.objective < self.best.objective:
            self.best = trial

    def describe(self) -> str:
        """What was tried and what was best."""
        assert self.best is not None
        best, width = self.best, ""
        if np.ndim(best.gamma):
            width = f"{len(best.gamma)} widths, "
        elif best.gamma is not None:
            width = f"gamma={best.gamma:.4g}, "
        return (
            f"{self.kernel}: {self.tried} settings tried on {self.n:,} samples, the best "
            f"{best.value:.4g} ({width}ridge={best.ridge:.4g})"
        )

    def seconds_left(self, n: int, now: float) -> float:
        """Seconds that the search goes on for, and the fit, if work grows with the cube of samples.

        A search has a stage for every doubling, and one setting takes as long as a fit.
        """
        size, stages, largest = 2 * self.n, 0.0, min(n, Problem.largest)
        while self.n < largest and size < 2 * largest:
            stages += (min(size, largest) / self.n) ** 3
            size *= 2
        return (now - self.start) * (stages + (n / self.n) ** 3 / self.tried)


class SearchProgress:
    """Prints how a choice of hyper-parameters goes: each stage of a search, and what was chosen.

    The time that is left is reckoned from the stage that has ended.
    """

    def __init__(self, name: str, verbose: Any) -> None:
        if not isinstance(verbose, Integral) or int(verbose) < 0:
            raise ValueError(f"verbose must be a whole number >= 0, got {verbose!r}.")
        self.name, self.start, self.n = name, perf_counter(), 0
        self.stages: dict[str, Stage] = {}  # of each kernel: several are tuned at a time

    def resolve(self, spec: Spec[Any], holdings: Holdings, start: Spec[Any] | None) -> Spec[Any]:
        """Resolve the spec, and print how that goes."""
        self.n = len(holdings)
        found = spec.listening(self.record).resolve(holdings, start)
        for stage in self.stages.values():
            self._print(f"{stage.describe()}, {self._passed()}.")
        chosen = found.describe() or "nothing"
        self._print(f"chose {chosen}, {self._passed()}. Next: the fit to {self.n:,} samples.")
        return found

    def record(self, kernel: str, trial: Trial) -> None:
        """Record a setting that was tried with this kernel."""
        stage, now = self.stages.get(kernel), perf_counter()
        if stage is None or (stage.name, stage.n) != (trial.stage, trial.n):
            if stage is not None:
                left = stage.seconds_left(self.n, now)
                more = f", about {left:.0f} s to go" if left > LONG else ""
                self._print(f"{stage.describe()}, {self._passed()}{more}.")
            stage = self.stages[kernel] = Stage(kernel, trial.stage, trial.n, now)
        stage.add(trial)

    def _passed(self) -> str:
        return f"{perf_counter() - self.start:.1f} s so far"

    def _print(self, text: str) -> None:
        print(f"[{self.name}] {text}", flush=True)
