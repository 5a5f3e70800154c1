"""What parameters of several estimators mean."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy import sparse


def is_number(value):
    """Whether a parameter is a real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def default_gamma(name, X, weight):
    """1 / (n_features · variance) for "scale", 1 / n_features for "auto", as in scikit-learn.

    The variance is that of all entries, weighted as if a sample were repeated.
    """
    d = X.shape[1]
    if name == "auto":
        return 1.0 / d
    total = weight.sum() * d
    squares = X.multiply(X) if sparse.issparse(X) else np.square(X)
    mean, mean_square = (float((weight @ values).sum()) / total for values in (X, squares))
    variance = mean_square - mean**2
    return 1.0 / (d * variance) if variance > 0 else 1.0
