"""Independent vectors among a sequence of samples, by Cholesky factorisation with a threshold.

Walk through the samples in their order. A sample whose squared distance from the span of the
independent ones before it, its Schur complement, reaches τ is independent too; another is
discarded (kaieda2004, eqs. 40-43). With the independent vectors B and ``K[B, B] = L Lᵀ``, every
sample has the coordinates ``v(x) = L⁻¹ k(B, x)`` in an orthonormal system of their span, so that
``k(x, y) = v(x)·v(y)`` up to τ. The rows of the independent vectors are L itself.

A sample discarded early also has a coordinate along each direction found later, of size below √τ:
``(k(x, b) − v(x)·v(b)) / l_bb``. So each direction is computed for all samples at once, as one
column, and n samples with m independent vectors cost O(n m²) and m columns of the Gram matrix.

A state is never changed: each function returns a new one, and a call that fails leaves the old.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

Column = Callable[[int], np.ndarray]


@dataclass(frozen=True)
class Independent:
    """The independent vectors of a sequence of n samples, and the coordinates of all in them.

    Attributes
    ----------
    basis : ndarray of shape (m,)
        Positions of the independent vectors in the sequence, ascending.
    coordinates : ndarray of shape (n, m)
        Row i holds v(x_i).
    """

    basis: np.ndarray
    coordinates: np.ndarray

    @property
    def factor(self) -> np.ndarray:
        """The Cholesky factor L of ``K[basis, basis]``, lower triangular."""
        return self.coordinates[self.basis]


def independent_select(column: Column, diagonal: np.ndarray, tau: float) -> Independent:
    """Select the independent vectors of a sequence (kaieda2004, eqs. 40-43).

    Parameters
    ----------
    column : callable
        ``column(j)`` gives ``k(x_i, x_j)`` for every sample i of the sequence, in order.
    diagonal : ndarray of shape (n,)
        ``k(x_i, x_i)``.
    tau : float
        Least squared distance from the span of the samples before; > 0.

    Notes
    -----
    O(n m²) and m columns for m independent vectors.
    """
    if not tau > 0:
        raise ValueError(f"tau must be > 0, got {tau!r}.")
    diagonal = np.asarray(diagonal)
    empty = np.empty((len(diagonal), 0), dtype=diagonal.dtype)
    return _resume(Independent(np.empty(0, np.intp), empty), column, diagonal, tau, start=0)


def independent_append(
    state: Independent, cross: np.ndarray, column: Column, diagonal: np.ndarray, tau: float
) -> Independent:
    """Append samples at the end of the sequence, each by its Schur complement.

    The result is that of `independent_select` on the longer sequence.

    Parameters
    ----------
    cross : ndarray of shape (r, m)
        ``k(x, b)`` for the r new samples x and the present independent vectors b.
    column, diagonal
        As for `independent_select`, of the sequence with the new samples at its end.

    Notes
    -----
    O(r m² + n m), and O((n + r) m) with one column for each new independent vector.
    """
    rows = triangular_coordinates(state.factor, cross)
    longer = Independent(state.basis, np.concatenate([state.coordinates, rows]))
    return _resume(longer, column, diagonal, tau, start=len(state.coordinates))


def independent_remove(
    state: Independent,
    positions: np.ndarray | int,
    column: Column,
    diagonal: np.ndarray,
    tau: float,
) -> Independent:
    """Take the samples at ``positions`` out of the sequence.

    The result is that of `independent_select` on what remains. Without a discarded sample
    nothing else changes. Without an independent vector, those before it and their columns stay,
    and the selection is repeated from its place on.

    Parameters
    ----------
    column, diagonal
        As for `independent_select`, of the sequence that remains.

    Notes
    -----
    O(n m) if only discarded samples leave; else O(n m (m − r)) and m − r columns, where the first
    independent vector to leave has r before it.
    """
    kept = np.delete(np.arange(len(state.coordinates)), positions)
    staying = np.isin(state.basis, kept)
    r = len(staying) if staying.all() else int(np.argmin(staying))
    start = len(kept) if staying.all() else int(np.searchsorted(kept, state.basis[r]))
    prefix = Independent(np.searchsorted(kept, state.basis[:r]), state.coordinates[kept, :r])
    return _resume(prefix, column, diagonal, tau, start)


def triangular_coordinates(factor: np.ndarray, cross: np.ndarray) -> np.ndarray:
    """Coordinates ``v(x) = L⁻¹ k(B, x)``, a row for each row ``k(x, B)`` of ``cross``; O(r m²)."""
    if not len(factor):
        return np.empty_like(cross)  # older versions of SciPy refuse an empty system
    return solve_triangular(factor, cross.T, lower=True, check_finite=False).T


def _resume(
    state: Independent, column: Column, diagonal: np.ndarray, tau: float, start: int
) -> Independent:
    """Go on with the selection at position ``start``, given all coordinates found so far."""
    basis, coordinates = list(state.basis), state.coordinates
    tested = coordinates[start:]
    residual = diagonal[start:] - np.einsum("ij,ij->i", tested, tested)
    position = 0
    # kaieda2004, eq. (43): the next sample that cannot be discarded
    while (ahead := np.flatnonzero(residual[position:] >= tau)).size:
        position += int(ahead[0])
        m, j = len(basis), start + position
        if m == coordinates.shape[1]:
            coordinates = _widened(coordinates)
        known = coordinates[:, :m]
        direction = (column(j) - known @ known[j]) / np.sqrt(residual[position])  # eq. (41)
        direction[basis] = 0.0
        direction[j] = np.sqrt(residual[position])  # eq. (42)
        coordinates[:, m] = direction
        residual -= direction[start:] ** 2
        basis.append(j)
        position += 1
    if len(basis) < coordinates.shape[1]:
        coordinates = coordinates[:, : len(basis)].copy(order="F")
    return Independent(np.array(basis, dtype=np.intp), coordinates)


def _widened(coordinates: np.ndarray) -> np.ndarray:
    """The same columns in an array with room for as many more; columns are contiguous."""
    n, m = coordinates.shape
    wide = np.empty((n, min(n, 2 * m + 16)), dtype=coordinates.dtype, order="F")
    wide[:, :m] = coordinates
    return wide
