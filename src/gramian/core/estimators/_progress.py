"""What `verbose` prints while hyper-parameters are chosen."""

from __future__ import annotations

from numbers import Integral
from time import perf_counter
from typing import Any

import numpy as np

from gramian.core.engines import Holdings, Spec
from gramian.core.search import Trial


class SearchProgress:
    """Prints how a choice of hyper-parameters goes: each stage of a search, and what was chosen.

    A stage is a row of settings that were tried on as many samples.
    """

    def __init__(self, name: str, verbose: Any) -> None:
        if not isinstance(verbose, Integral) or int(verbose) < 0:
            raise ValueError(f"verbose must be a whole number >= 0, got {verbose!r}.")
        self.name, self.start, self.tried = name, perf_counter(), 0
        self.stage: tuple[str, int] = ("", 0)
        self.best: Trial | None = None

    def resolve(self, spec: Spec[Any], holdings: Holdings, start: Spec[Any] | None) -> Spec[Any]:
        """Resolve the spec, and print how that goes."""
        n, found = len(holdings), spec.listening(self.record).resolve(holdings, start)
        self._end_stage()
        chosen = found.describe() or "nothing"
        self._print(f"chose {chosen}, {self._passed()}. Next: the fit to {n:,} samples.")
        return found

    def record(self, kernel: str, trial: Trial) -> None:
        """Record a setting that was tried with this kernel."""
        if self.stage != (kernel, trial.n):
            self._end_stage()
            self.stage = kernel, trial.n
        self.tried += 1
        if self.best is None or trial.objective < self.best.objective:
            self.best = trial

    def _end_stage(self) -> None:
        if self.best is not None:
            (kernel, n), best, width = self.stage, self.best, ""
            if np.ndim(best.gamma):
                width = f"{len(best.gamma)} widths, "
            elif best.gamma is not None:
                width = f"gamma={best.gamma:.4g}, "
            self._print(
                f"{kernel}: {self.tried} settings tried on {n:,} samples, the best {best.value:.4g}"
                f" ({width}ridge={best.ridge:.4g}), {self._passed()}."
            )
        self.tried, self.best = 0, None

    def _passed(self) -> str:
        return f"{perf_counter() - self.start:.1f} s so far"

    def _print(self, text: str) -> None:
        print(f"[{self.name}] {text}", flush=True)
