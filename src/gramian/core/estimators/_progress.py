"""What `verbose` prints while hyper-parameters are chosen."""

from __future__ import annotations

from numbers import Integral
from time import perf_counter
from typing import Any

import numpy as np

from gramian.core.engines import Holdings
from gramian.core.search import Trial


class SearchProgress:
    """Settings that print what they choose: before it, after each stage of a search, and at last.

    A stage is a row of settings that were tried on as many samples.
    """

    def __init__(self, model: Any, spec: Any) -> None:
        if not isinstance(model.verbose, Integral) or model.verbose < 0:
            raise ValueError(f"verbose must be a whole number >= 0, got {model.verbose!r}.")
        self.model, self.spec = model, spec
        self.start, self.tried, self.stage = perf_counter(), 0, ("", 0)
        self.best: Trial | None = None

    def choose(self, holdings: Holdings, past: Any) -> Any:
        """What the settings choose."""
        n = len(holdings)
        choice = self.spec.recording(self.record_trial).choose(holdings, past)
        self._end_stage()
        chosen = "; ".join(told(part) for part in getattr(choice, "parts", (choice,)))
        self._say(f"chose {chosen or 'nothing'}, {self._passed()}. Next: the fit to {n:,} samples.")
        return choice

    def record_trial(self, kernel: Any, callback: Any, trial: Trial) -> None:
        """Take note of a trial with this kernel, and pass it on."""
        stage = kernel if isinstance(kernel, str) else "own kernel", trial.n
        if self.stage != stage:
            self._end_stage()
            self.stage = stage
        self.tried += 1
        if self.best is None or trial.objective < self.best.objective:
            self.best = trial
        if callback is not None:
            callback(trial)

    def _end_stage(self) -> None:
        if self.best is not None:
            (kernel, n), best, width = self.stage, self.best, ""
            if np.ndim(best.gamma):
                width = f"{len(best.gamma)} widths, "
            elif best.gamma is not None:
                width = f"gamma={best.gamma:.4g}, "
            self._say(
                f"{kernel}: {self.tried} settings tried on {n:,} samples, the best {best.value:.4g}"
                f" ({width}ridge={best.ridge:.4g}), {self._passed()}."
            )
        self.tried, self.best = 0, None

    def _passed(self) -> str:
        return f"{perf_counter() - self.start:.1f} s so far"

    def _say(self, text: str) -> None:
        print(f"[{type(self.model).__name__}] {text}", flush=True)


def told(choice: Any) -> str:
    """Names and values of what was chosen on samples."""
    values = {name: getattr(choice, name, None) for name in choice.chosen_on_data}
    if "C" in values:
        values["C"] = 1.0 / choice.ridge
    return ", ".join(
        f"{name}={value:.4g}" if isinstance(value, float | int) else name
        for name, value in values.items()
    )
