"""Errors of a regression."""

from __future__ import annotations

from typing import Any

import numpy as np


def errors(y: Any, predicted: Any) -> dict[str, float]:
    """In the unit of the target, and R²."""
    return {
        "rmse": float(np.sqrt(np.mean((y - predicted) ** 2))),
        "mean_absolute_error": float(np.mean(np.abs(y - predicted))),
        "r2": _r2(y, predicted),
    }


def _r2(y: Any, predicted: Any) -> float:
    """One minus the ratio of the squared errors to those of the mean, averaged over targets."""
    left = np.sum((y - predicted) ** 2, axis=0)
    total = np.sum((y - np.mean(y, axis=0)) ** 2, axis=0)
    return float(np.mean(1.0 - left / np.where(total > 0, total, np.inf)))
