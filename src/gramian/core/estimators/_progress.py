"""What `verbose` prints while hyper-parameters are chosen, and how long a fit will take."""

from __future__ import annotations

from numbers import Integral
from time import perf_counter
from typing import Any

import numpy as np

from gramian.core.engines import Holdings
from gramian.core.gram import factorize
from gramian.core.search import Trial

LONG = 10.0
"""Seconds from which on a fit is announced."""

# Seconds that a default fit takes on n samples, as multiples of the time for a Cholesky factor of
# _PROBE samples: (fixed, of n/1000, of (n/1000)³). From the ratios at 1,000 and 5,000 samples in
# docs/benchmarks/default_times.md, `python -m evidence bench default_times`.
_PROBE = 600
_COSTS = {
    "discriminant": (161.0, 0.0, 9.5),
    "fisher": (246.0, 0.0, 32.8),
    "fuzzy": (11.0, 0.0, 29.1),
    "lagrangian": (107.0, 0.0, 13.0),
    "ls-svc": (81.0, 0.0, 13.5),
    "ls-svr": (54.0, 0.0, 9.6),
    "orthogonal": (278.0, 174.0, 0.0),
    "orthogonal-regressor": (174.0, 190.0, 0.0),
    "stack-classifier": (557.0, 0.0, 38.6),
    "stack-regressor": (587.0, 0.0, 61.7),
}


def expected_seconds(name: str, n: int) -> float | None:
    """An estimate from what this computer does in some milliseconds; None for other machines.

    ``name`` is the `cli_name` of the estimator.
    """
    if name not in _COSTS:
        return None
    A, seconds = np.eye(_PROBE) + 1.0, []
    for _ in range(3):
        start = perf_counter()
        factorize(A.diagonal().copy(), lambda rows, columns: A[rows, columns], "cholesky")
        seconds.append(perf_counter() - start)
    fixed, linear, cubic = _COSTS[name]
    return min(seconds) * (fixed + linear * n / 1e3 + cubic * (n / 1e3) ** 3)


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
        expected = expected_seconds(self.model.cli_name, n)
        if expected is not None and expected > LONG:
            self._say(f"a default fit of {n:,} samples takes about {expected:.0f} s here.")
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
