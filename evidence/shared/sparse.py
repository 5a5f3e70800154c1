"""What the experiments of andelic2007 share: estimators, a width chosen by folds, samples drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV

from evidence.shared.data import SEED, Split

# Widths are tried around scikit-learn's "scale", one over the variance of all features together.
FACTORS = (0.5, 1.0, 2.0, 4.0, 8.0)
FOLDS = 5
# andelic2007, Alg. 1 and §3, with GCV at its minimum for the end.
PAPER = {
    "selection": "residual",
    "stopping": "gcv",
    "penalty": "orthogonal",
    "ridge": "gcv",
    "penalize_bias": True,
}


def tuned(model: Any, grid: dict[str, list], X: np.ndarray, y: np.ndarray) -> Any:
    """The model with the best gamma, and the rest of the grid, by folds; not fitted."""
    grid = {"gamma": [factor * scale_gamma(X) for factor in FACTORS], **grid}
    search = GridSearchCV(model, grid, cv=FOLDS, refit=False)
    return model.set_params(**search.fit(X, y).best_params_)


def scale_gamma(X: np.ndarray) -> float:
    """``1 / (d · variance)``."""
    return 1.0 / (X.shape[1] * float(X.var()))


def standardized(part: Split) -> Split:
    """Features with mean 0 and variance 1 on the training part."""
    mean, deviation = part.X.mean(axis=0), part.X.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    return part._replace(X=(part.X - mean) / deviation, X_test=(part.X_test - mean) / deviation)


def few(n: int, size: int) -> np.ndarray:
    """Positions of at most ``size`` of n samples, at random."""
    return np.sort(np.random.default_rng(SEED).permutation(n)[:size])
