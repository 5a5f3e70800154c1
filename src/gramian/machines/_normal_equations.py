"""Sums over rows from which ridge regression on a fixed basis is solved.

A row is a sample x with its targets y and its weight v. Forward selection has chosen m columns (the
bias and the centres) and the U that makes them orthogonal on its rows. The features of a row are

    ψ(x) = U⁻ᵀ [1, k(x, centre_1), …]

The machine is ``f(x) = ψ(x)ᵀa`` with ``(G + diag(λ)) a = b``, where rows can be added to the sums
and subtracted from them in any order and in chunks of any size::

    G = Σ v ψ ψᵀ,    b = Σ v ψ yᵀ

Without U, the condition number of the sums would be the square of that of the columns. On the rows
of the selection G is diag(s), and it stays nearly diagonal for similar rows. All sums are float64,
whatever the dtype of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from gramian.arrays import Array


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over rows, from which the normal equations and their criteria are computed.

    They are additive: the sums over two sets of rows are ``a + b``, up to rounding.

    Attributes
    ----------
    gram : ndarray of shape (m, m)
        ``G = Σ v ψ ψᵀ``.
    moments : ndarray of shape (m, t)
        ``Σ v ψ yᵀ``.
    squares : ndarray of shape (t,)
        ``Σ v y²``.
    total : float
        ``Σ v``.
    rows : int
        Number of rows of weight > 0.
    """

    gram: Array
    moments: Array
    squares: Array
    total: float = 0.0
    rows: int = 0

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            self.gram + other.gram,
            self.moments + other.moments,
            self.squares + other.squares,
            self.total + other.total,
            self.rows + other.rows,
        )

    def distance(self, other: Sums) -> float:
        """Largest difference in G relative to its diagonal; the drift, if ``other`` is fresh."""
        scale = np.sqrt(np.diagonal(other.gram))
        scale = np.where(scale > 0, scale, 1.0)
        difference = (self.gram - other.gram) / np.outer(scale, scale)
        return float(np.abs(difference).max(initial=0.0))


def basis_features(U: Array, rows: Array) -> Array:
    """``ψ = U⁻ᵀ [1, k]`` for each row k of kernel values with the centres; O(m²) per row.

    Parameters
    ----------
    U : ndarray of shape (m, m)
        Upper triangular.
    rows : ndarray of shape (r, m − 1)

    Returns
    -------
    ndarray of shape (r, m)
    """
    columns = np.ones((len(U), len(rows)), order="F")
    columns[1:] = rows.T
    return solve_triangular(U, columns, trans="T", overwrite_b=True, check_finite=False).T


def chunk_sums(U: Array, rows: Array, targets: Array, weight: Array | None = None) -> Sums:
    """Sums over one chunk of rows, given by their kernel values with the centres; O(r m²)."""
    weight = np.ones(len(rows)) if weight is None else weight
    features, roots = basis_features(U, rows), np.sqrt(weight.astype(float))[:, None]
    scaled, wanted = features * roots, targets * roots
    squares = np.einsum("ik,ik->k", wanted, wanted)
    total = float(weight.sum())
    there = int(np.count_nonzero(weight))
    return Sums(scaled.T @ scaled, scaled.T @ wanted, squares, total, there)
