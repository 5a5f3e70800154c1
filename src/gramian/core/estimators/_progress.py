"""What `verbose` prints while hyper-parameters are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from time import perf_counter
from typing import Any

import numpy as np

from gramian.core.engines import Holdings
from gramian.core.search import Problem, Trial

LONG = 2.0
"""Seconds from which on the time that is left is printed."""


@dataclass
class Stage:
    """Settings that a search has tried on as many samples."""

    kernel: str
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
    """A spec that prints what it chooses: after each stage of a search, and at last.

    The time that is left is reckoned from the stage that has ended.
    """

    def __init__(self, model: Any, spec: Any) -> None:
        if not isinstance(model.verbose, Integral) or model.verbose < 0:
            raise ValueError(f"verbose must be a whole number >= 0, got {model.verbose!r}.")
        self.model, self.spec, self.n = model, spec, 0
        self.start = perf_counter()
        self.stages: dict[str, Stage] = {}  # of each kernel: several are tuned at a time

    def choose(self, holdings: Holdings, past: Any) -> Any:
        """What the spec chooses."""
        self.n = len(holdings)
        choice = self.spec.recording(self.record_trial).choose(holdings, past)
        for stage in self.stages.values():
            self._print(f"{stage.describe()}, {self._passed()}.")
        chosen = "; ".join(format_choice(part) for part in getattr(choice, "parts", (choice,)))
        self._print(
            f"chose {chosen or 'nothing'}, {self._passed()}. Next: the fit to {self.n:,} samples."
        )
        return choice

    def record_trial(self, kernel: Any, callback: Any, trial: Trial) -> None:
        """Count a trial with this kernel, and pass it on."""
        name, now = kernel if isinstance(kernel, str) else "own kernel", perf_counter()
        stage = self.stages.get(name)
        if stage is None or stage.n != trial.n:
            if stage is not None:
                left = stage.seconds_left(self.n, now)
                more = f", about {left:.0f} s to go" if left > LONG else ""
                self._print(f"{stage.describe()}, {self._passed()}{more}.")
            stage = self.stages[name] = Stage(name, trial.n, now)
        stage.add(trial)
        if callback is not None:
            callback(trial)

    def _passed(self) -> str:
        return f"{perf_counter() - self.start:.1f} s so far"

    def _print(self, text: str) -> None:
        print(f"[{type(self.model).__name__}] {text}", flush=True)


def format_choice(choice: Any) -> str:
    """Names and values of what was chosen on samples."""
    values = {name: getattr(choice, name, None) for name in choice.chosen_on_data}
    if "C" in values:
        values["C"] = 1.0 / choice.ridge
    return ", ".join(
        f"{name}={value:.4g}" if isinstance(value, float | int) else name
        for name, value in values.items()
    )
