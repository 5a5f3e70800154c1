"""Steps that several experiments share."""

from __future__ import annotations

from collections.abc import Callable
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


def best_time(call: Callable[[], Any], repeat: int = 3) -> tuple[float, Any]:
    """Seconds of the fastest of several calls, and what the last one returned."""
    seconds, result = [], None
    for _ in range(repeat):
        start = perf_counter()
        result = call()
        seconds.append(perf_counter() - start)
    return min(seconds), result


def largest_difference(a: Any, b: Any) -> float:
    """The largest difference in units of the largest value of ``b``."""
    scale = float(np.abs(b).max())
    return float(np.abs(np.asarray(a) - b).max()) / (scale or 1.0)
