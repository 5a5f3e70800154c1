"""Two features of a classifier as a plane to draw on, the others held at their means."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from gramian.core.arrays import Array

_MARGIN = 0.08


class Plane(NamedTuple):
    """A grid over two features, and the samples in it."""

    grid: tuple[Array, Array]
    """Values of the two features, of shape (g,) each."""
    queries: Array
    """All points of the grid with all features, of shape (g², d), row by row of the second."""
    samples: Array
    """Of shape (n, 2)."""
    names: tuple[str, str]
    n_fixed: int
    """Number of other features."""

    def shaped(self, values: Array) -> Array:
        """Values (c, g²) of the queries as images (c, g, g)."""
        return values.reshape(-1, len(self.grid[1]), len(self.grid[0]))


def plane_of(model: Any, features: Any, resolution: int) -> Plane:
    """The plane of two features of a fitted classifier of dense samples."""
    X = _dense_samples(model)
    names = [str(name) for name in _feature_names(model)]
    pair = [_position(feature, names) for feature in features]
    grid = _axis(X[:, pair[0]], resolution), _axis(X[:, pair[1]], resolution)
    queries = np.tile(X.mean(axis=0), (resolution**2, 1))
    queries[:, pair] = np.column_stack([values.ravel() for values in np.meshgrid(*grid)])
    return Plane(grid, queries, X[:, pair], (names[pair[0]], names[pair[1]]), X.shape[1] - 2)


def legend_title(n_fixed: int) -> str:
    """What the classes of the legend are drawn at."""
    others = "feature" if n_fixed == 1 else f"{n_fixed} features"
    return f"class (regions at the mean of the other {others})" if n_fixed else "class"


def unnamed(method: Callable[[Array], Any], queries: Array) -> Any:
    """``method(queries)`` for a model that knows feature names: columns are in its own order."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return method(queries)


def _dense_samples(model: Any) -> Array:
    check_is_fitted(model)
    X = model.X_fit_
    pairwise = getattr(model, "kernel", None) == "precomputed"
    if not is_classifier(model) or sparse.issparse(X) or pairwise or X.shape[1] < 2:
        raise ValueError(
            "a decision boundary needs a classifier of dense samples with two features or more, "
            f"got {type(model).__name__} of {X.shape[1]} features."
        )
    return np.asarray(X, dtype=float)


def _feature_names(model: Any) -> Any:
    default = [f"feature {k}" for k in range(model.n_features_in_)]
    return getattr(model, "feature_names_in_", default)


def _position(feature: Any, names: list[str]) -> int:
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    if not isinstance(feature, str) and 0 <= feature < len(names):
        return int(feature)
    raise ValueError(
        f"features must be two of {names} or of 0 … {len(names) - 1}, got {feature!r}."
    )


def _axis(values: Array, resolution: int) -> Array:
    margin = _MARGIN * (np.ptp(values) or 1.0)
    return np.linspace(values.min() - margin, values.max() + margin, resolution)
