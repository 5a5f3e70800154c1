"""The values of gamma that have a name."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gramian.arrays import Array


def default_gamma(name: str, X: Any, weight: Array | None = None) -> float:
    """1 / (n_features · variance) for "scale" and 1 / n_features for "auto", as in scikit-learn.

    The variance is that of all entries of X, weighted as if a sample were repeated. Where it is
    zero, or too large or too small for a floating-point number, "scale" gives 1.

    Examples
    --------
    >>> default_gamma("scale", np.array([[0.0, 2.0], [2.0, 0.0]]))
    0.5
    """
    if name not in ("scale", "auto"):
        raise ValueError(f'gamma must be "scale", "auto" or a number > 0, got {name!r}.')
    n, d = X.shape
    if name == "auto":
        return 1.0 / d
    if weight is None:
        weight = np.ones(n)
    with np.errstate(all="ignore"):
        variance, unit = _variance(*_entries(X, weight.astype(float)))
        # One factor after the other: their product may overflow where gamma does not.
        gamma = 1.0 / d / variance / unit / unit
    return float(gamma) if 0.0 < variance * unit * unit < np.inf and 0.0 < gamma < np.inf else 1.0


def _entries(X: Any, weight: Array) -> tuple[Array, Array, float]:
    """The stored entries, their weights, and the weight of the zeros that CSR does not store."""
    d = X.shape[1]
    if not sparse.issparse(X):
        return X.astype(float).ravel(), np.repeat(weight, d), 0.0
    stored = np.diff(X.indptr)
    return X.data.astype(float), np.repeat(weight, stored), float(weight @ (d - stored))


def _variance(values: Array, weight: Array, zeros: float) -> tuple[float, float]:
    """The variance in squares of ``unit``, and ``unit``, a power of two near the largest entry.

    A first value is subtracted from all before their mean is taken, so that equal entries have a
    variance of exactly zero.
    """
    largest = np.abs(values).max(initial=0.0)
    if largest == 0.0:
        return 0.0, 1.0
    unit = float(np.exp2(np.floor(np.log2(largest))))
    values = values / unit
    first = values[0]
    values -= first
    total = weight.sum() + zeros
    mean = (weight @ values - zeros * first) / total
    squares = weight @ np.square(values - mean) + zeros * (first + mean) ** 2
    return float(squares / total), unit
