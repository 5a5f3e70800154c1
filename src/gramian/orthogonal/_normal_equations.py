"""Sums over rows from which ridge regression on a fixed basis is solved.

A row is a sample x with its targets y and its weight v. Forward selection has chosen m columns (the
bias and the centres) and the U that makes them orthogonal on its rows. The features of a row are

    ψ(x) = U⁻ᵀ [1, k(x, centre_1), …]

The estimator is ``f(x) = ψ(x)ᵀa`` with ``(G + diag(λ)) a = b``, where rows can be added to the sums
and subtracted from them in any order and in chunks of any size::

    G = Σ v ψ ψᵀ,    b = Σ v ψ yᵀ

Without U, the condition number of the sums would be the square of that of the columns. On the rows
of the selection G is diag(s), and it stays nearly diagonal for similar rows. All sums are float64,
whatever the dtype of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.core.arrays import Array, add_outer, mirror_upper, solve_transposed, to_host


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
    columns = np.ones((len(rows), len(U)), like=rows).T
    columns[1:] = rows.T
    return solve_transposed(U, columns).T


class RunningSums:
    """`Sums` in the making, on the device of the rows; G is summed in its upper triangle alone.

    Parameters
    ----------
    U : ndarray of shape (m, m)
        Upper triangular; moved to the device of the rows once.
    n_targets : int
    like : array, optional
        An array on the device of the rows; host memory by default.
    """

    def __init__(self, U: Array, n_targets: int, like: Array | None = None) -> None:
        self._U = np.asarray(U, like=like)
        self._gram = np.zeros((len(U), len(U)), order="F", like=like)
        self._moments = np.zeros((len(U), n_targets), like=like)
        self._squares, self._total, self._rows = np.zeros(n_targets), 0.0, 0

    def add(self, rows: Array, targets: Array, weight: Array | None = None) -> None:
        """Add rows, given by their kernel values with the centres; 2 m² operations for each."""
        weight = np.ones(len(rows)) if weight is None else weight
        roots = np.sqrt(weight.astype(float))[:, None]
        scaled, wanted = basis_features(self._U, rows), targets * roots
        scaled *= roots
        add_outer(self._gram, scaled.T, 1.0)
        self._moments += scaled.T @ wanted
        self._squares += np.einsum("ik,ik->k", wanted, wanted)
        self._total += float(weight.sum())
        self._rows += int(np.count_nonzero(weight))

    def widen(self, n_targets: int) -> None:
        """Add outputs until there are so many; a new one has the target −1 for all rows so far."""
        new = n_targets - len(self._squares)
        means = -self._gram[:1].T  # ψ_0 is 1 in every row
        self._moments = np.concatenate([self._moments, *[means] * new], axis=1)
        self._squares = np.append(self._squares, np.full(new, self._total))

    def total(self) -> Sums:
        """The sums over the rows so far, in host memory."""
        gram, moments = to_host(mirror_upper(self._gram)), to_host(self._moments)
        return Sums(gram, moments, self._squares, self._total, self._rows)
