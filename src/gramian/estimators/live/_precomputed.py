"""Samples that are known by their kernel values alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from gramian.arrays import Array, factor_cholesky


class PrecomputedRows:
    """Stands in for the samples of a precomputed kernel, which the factor holds already."""

    def __init__(self, dtype: np.dtype) -> None:
        self.dtype = dtype

    def adopt(self, X: Array) -> Array:
        """Kernel values are dense."""
        return X

    def reserve(self, k: int) -> None:
        """Nothing to do: the factor makes its own room."""

    def append(self, X: Array) -> None:
        """Nothing to do: the factor holds the kernel values."""

    def remove(self, positions: Array) -> None:
        """Nothing to do: the factor has wiped the kernel values."""


def check_precomputed(X: Any, n_held: int, dtype: Any = None) -> Array:
    """Kernel values of k samples to the n_held held ones and to each other, (k, n_held + k).

    Raises
    ------
    ValueError
        If the shape is wrong, if the values among the new samples are not symmetric, or if they
        cannot come from a positive semi-definite kernel.
    """
    X = check_array(X, dtype=[np.float64, np.float32] if dtype is None else dtype)
    k = len(X)
    if X.shape[1] != n_held + k:
        what = (
            f"square, got shape {X.shape}"
            if n_held == 0
            else f"of shape ({k}, {n_held + k}): the values of {k} new samples to the {n_held} "
            f"held ones, in the order of ids_, and then to each other; got {X.shape}"
        )
        raise ValueError(f"a precomputed kernel must be {what}.")
    corner = X[:, n_held:]
    scale = float(np.abs(np.diagonal(corner)).max())
    asymmetry = float(np.abs(corner - corner.T).max())
    if asymmetry > 1e3 * np.finfo(X.dtype).eps * max(scale, np.abs(corner).max()):
        raise ValueError(
            f"a precomputed kernel must be symmetric, but K and its transpose differ by "
            f"{asymmetry:.2g}."
        )
    _check_semidefinite(corner, scale)
    return X


def check_precomputed_queries(X: Any, n_held: int, dtype: Any) -> Array:
    """Kernel values of queries to the n_held held samples, one row for each.

    Raises
    ------
    ValueError
        If there is not one column for each held sample.
    """
    X = check_array(X, dtype=dtype)
    if X.shape[1] != n_held:
        raise ValueError(
            f"X must hold the kernel values to each of the {n_held} samples of the model, in the "
            f"order of ids_; got {X.shape[1]} columns."
        )
    return X


def check_extension(corner: Array, cross: Array, solver: Any) -> None:
    """Raise ValueError if new samples cannot come from a positive semi-definite kernel.

    If the whole kernel matrix is semi-definite, so is ``corner − crossᵀ A⁻¹ cross``, O(n²).
    """
    scale = float(np.abs(np.diagonal(corner)).max())
    _check_semidefinite(corner - cross.T @ solver.solve(cross), scale)


def _check_semidefinite(K: Array, scale: float) -> None:
    """Raise ValueError if K has an eigenvalue clearly below zero, by a Cholesky attempt, O(n³)."""
    n = len(K)
    shifted = np.array(K, order="F")
    shifted[np.diag_indices(n)] += (
        1e3 * n * np.finfo(K.dtype).eps * max(scale, float(np.finfo(K.dtype).tiny))
    )
    if factor_cholesky(shifted):
        raise ValueError(
            "a precomputed kernel must be positive semi-definite, but this one has a negative "
            f"eigenvalue ({np.linalg.eigvalsh(K)[0]:.2g})."
        )
