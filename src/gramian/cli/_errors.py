"""Errors of a regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import r2_score


def errors(y: Any, predicted: Any) -> dict[str, float]:
    """In the unit of the target, and R²."""
    return {
        "rmse": float(np.sqrt(np.mean((y - predicted) ** 2))),
        "mean_absolute_error": float(np.mean(np.abs(y - predicted))),
        "r2": float(r2_score(y, predicted)),
    }
