"""Prediction sets and intervals with a guarantee, from what a query would change."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from gramian.estimators._parameters import check_choice, is_number
from gramian.machines import (
    conformal_regions,
    jackknife_plus,
    nonconformity,
    p_values,
)

METHODS = ("full", "jackknife+")


def label_p_values(model: Any, X: Any, mondrian: bool, smoothed: bool, random_state: Any) -> Any:
    """p-value of each class for each query, of shape (m, n_classes)."""
    with model._lock:
        now = model._serving()
        held = now.held
        X = now.settings.samples.joining(model, held, X)
        m, classes = X.shape[0], range(len(held.classes))
        ties = check_random_state(random_state).uniform(size=m) if smoothed else None
        out = np.empty((m, len(classes)))
        for rows, block in now.engine.joined(held, X):
            for label in classes:
                scores = nonconformity(block.decisions(label), np.append(held.labels, label))
                weight = held.weight * (held.labels == label) if mondrian else held.weight
                out[rows, label] = p_values(scores, weight, None if ties is None else ties[rows])
        return out


def regions(model: Any, X: Any, confidence: Any) -> list[list[Any]]:
    """Intervals (r, 2) that make up the conformal region, for each query and target."""
    confidence = check_confidence(confidence)
    with model._lock:
        now = model._serving()
        held, out = now.held, []
        X = now.settings.samples.joining(model, held, X)
        Y = held.y.reshape(len(held), -1)
        for _, block in now.engine.joined(held, X):
            values, slope = block.lines()
            slope = np.broadcast_to(slope, values.shape)
            each = [
                conformal_regions(
                    Y[:, j] - values[:, :-1, j],
                    slope[:, :-1, j],
                    values[:, -1, j],
                    held.weight,
                    confidence,
                )
                for j in range(Y.shape[1])
            ]
            out += [list(targets) for targets in zip(*each, strict=True)]
        return out


def intervals(model: Any, X: Any, confidence: Any, method: str) -> Any:
    """Low and high ends for each query and target, of shape (m, t, 2)."""
    if check_choice("method", method, METHODS) == "full":
        found = regions(model, X, confidence)
        return np.array([[(part[0, 0], part[-1, 1]) for part in parts] for parts in found])
    confidence = check_confidence(confidence)
    with model._lock:
        residuals, now = model._loo_outputs(), model._serving()
        held = now.held
        X = now.settings.samples.queries(model, held, X)
        residuals = held.y.reshape(residuals.shape) - residuals
        out = np.empty((X.shape[0], residuals.shape[1], 2))
        for rows, values in now.engine.departed(held, X):
            for j, left_out in enumerate(residuals.T):
                ends = jackknife_plus(values[..., j], left_out, held.weight, confidence)
                out[rows, j] = np.stack(ends, axis=1)
        return out


def check_confidence(confidence: Any) -> float:
    """The confidence, if it is a number between 0 and 1."""
    if not (is_number(confidence) and 0.0 < confidence < 1.0):
        raise ValueError(f"confidence must be a number between 0 and 1, got {confidence!r}.")
    return float(confidence)
