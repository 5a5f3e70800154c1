"""Steps and measures that several experiments share."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np


def fit_then_insert(model: Any, X: Any, y: np.ndarray, share: float = 0.75) -> Any:
    """Fit to the first samples and learn the others one by one (kim2006, §6)."""
    n = round(share * len(y))
    model.fit(X[:n], y[:n])
    for i in range(n, len(y)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    return model


def edit(model: Any, X: np.ndarray, y: np.ndarray, held: int, rng: np.random.Generator) -> None:
    """Learn one of the samples that are not held, or forget one; about ``held`` stay held."""
    ids = model.ids_
    if rng.random() < 0.5 + (held - len(ids)) / held:
        new = rng.choice(np.setdiff1d(np.arange(len(y)), ids), 1)
        model.partial_fit(X[new], y[new], ids=new)
    else:
        model.forget(rng.choice(ids))


def largest_difference(a: Any, b: Any) -> float:
    """The largest difference in units of the largest value of ``b``."""
    scale = float(np.abs(b).max())
    return float(np.abs(np.asarray(a) - b).max()) / (scale or 1.0)


def all_times(
    call: Callable[..., Any], repeat: int = 3, setup: Callable[[], tuple] = tuple
) -> tuple[list[float], Any]:
    """Seconds of ``call(*setup())``, several times, and what the last one returned.

    ``setup`` is called afresh and not timed. The garbage collector is off, as in `timeit`.
    """
    if repeat < 1:
        raise ValueError(f"repeat must be >= 1, got {repeat}.")
    seconds, result = [], None
    for _ in range(repeat):
        arguments, was_enabled = setup(), gc.isenabled()
        gc.disable()
        try:
            start = perf_counter()
            result = call(*arguments)
            seconds.append(perf_counter() - start)
        finally:
            if was_enabled:
                gc.enable()
    return seconds, result


def best_time(
    call: Callable[..., Any], repeat: int = 3, setup: Callable[[], tuple] = tuple
) -> tuple[float, Any]:
    """`all_times`, and of the seconds the least."""
    seconds, result = all_times(call, repeat, setup)
    return min(seconds), result


def mean_time(
    call: Callable[[Any], Any], values: Iterable[Any], finish: Callable[[], Any] = lambda: None
) -> float:
    """Mean seconds of ``call(value)``, with those of ``finish()`` at the end."""
    values = list(values)
    start = perf_counter()
    for value in values:
        call(value)
    finish()
    return (perf_counter() - start) / len(values)


def resident() -> float:
    """Largest resident size of this process so far, MiB; as Linux tells it."""
    # Not by `getrusage`, which a new process has from the one that started it.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 2**10


def edit_times(model: Any, X: np.ndarray, y: np.ndarray, n: int) -> dict[str, float]:
    """Mean seconds of learning the samples from n on one by one, and of forgetting them.

    Updates that are pending are folded in at the end, so that no work of an edit is put off.
    """

    def fold() -> None:
        model._now.engine.system.factor.fold()

    new = range(n, len(y))
    learn = mean_time(lambda i: model.partial_fit(X[i : i + 1], y[i : i + 1]), new, fold)
    return {"learn": learn, "forget": mean_time(model.forget, new, fold)}
