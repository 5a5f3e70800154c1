"""The values of gamma that have a name."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gramian.core.arrays import Array, to_host


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
    X = to_host(X)
    n, d = X.shape
    if name == "auto":
        return float(1.0 / d)
    if weight is None:
        weight = np.ones(n)
    with np.errstate(all="ignore"):
        variance = _variance(*_entries(X, weight.astype(float)))
        gamma = 1.0 / d / variance
    return float(gamma) if 0.0 < gamma < np.inf else 1.0


def _entries(X: Any, weight: Array) -> tuple[Array, Array, float]:
    """The stored entries, their weights, and the weight of the zeros that CSR does not store."""
    d = X.shape[1]
    if not sparse.issparse(X):
        return X.astype(float).ravel(), np.repeat(weight, d), 0.0
    stored = np.diff(X.indptr)
    return X.data.astype(float), np.repeat(weight, stored), float(weight @ (d - stored))


def _variance(values: Array, weight: Array, zeros: float) -> np.float64:
    """The variance of the values and of zeros with this weight; infinite where it overflows.

    A first value is subtracted from all before their mean is taken, so that equal entries have a
    variance of exactly zero. The largest is near 1 meanwhile, so that its square is a number.
    """
    largest = np.abs(values).max(initial=0.0)
    if largest == 0.0:
        return np.float64(0.0)
    unit = np.exp2(np.floor(np.log2(largest)))
    values = values / unit
    first = values[0]
    values -= first
    total = weight.sum() + zeros
    mean = (weight @ values - zeros * first) / total
    squares = weight @ np.square(values - mean) + zeros * (first + mean) ** 2
    result: np.float64 = squares / total * unit * unit
    return result
