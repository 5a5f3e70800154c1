"""Independent vectors among a sequence of samples, by Cholesky factorisation with a threshold.

The samples are visited in their order. A sample is independent if its Schur complement, the
squared distance from the span of the independent ones before it, is at least τ; otherwise it is
discarded (kaieda2004, eqs. 40-43). With the independent vectors B and ``K[B, B] = L Lᵀ``, every
sample has the coordinates ``v(x) = L⁻¹ k(B, x)`` in an orthonormal basis of their span, and
``k(x, y) = v(x)·v(y)`` up to τ. The rows of the independent vectors form L.

A sample that was discarded early also has a coordinate below √τ along each later direction,
``(k(x, b) − v(x)·v(b)) / l_bb``. Each direction is therefore computed for all samples at once, as
one column: n samples with m independent vectors cost O(n m²) and m columns of the Gram matrix.

States are immutable: each function returns a new one, and a call that fails leaves the old one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

Column = Callable[[int], np.ndarray]

# So many columns are computed at a time, if all samples prove independent.
_MOST = 64


@dataclass(frozen=True)
class Independent:
    """The independent vectors of a sequence of n samples, and the coordinates of all samples.

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
        result: np.ndarray = self.coordinates[self.basis]
        return result


def independent_select(column: Column, diagonal: np.ndarray, tau: float) -> Independent:
    """Select the independent vectors of a sequence (kaieda2004, eqs. 40-43).

    Parameters
    ----------
    column : callable
        ``column(j)`` returns ``k(x_i, x_j)`` for every sample i of the sequence, in order.
    diagonal : ndarray of shape (n,)
        ``k(x_i, x_i)``.
    tau : float
        Smallest squared distance of an independent vector from the earlier ones; > 0.

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

    The result equals `independent_select` on the longer sequence.

    Parameters
    ----------
    cross : ndarray of shape (r, m)
        ``k(x, b)`` for the r new samples x and the present independent vectors b.
    column, diagonal
        As for `independent_select`, for the sequence with the new samples at its end.

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
    """Remove the samples at ``positions`` from the sequence.

    The result equals `independent_select` on the remaining samples. Removing a discarded sample
    changes nothing else. Removing an independent vector keeps the earlier ones with their columns
    and repeats the selection from its position on.

    Parameters
    ----------
    column, diagonal
        As for `independent_select`, for the remaining sequence.

    Notes
    -----
    O(n m) if only discarded samples are removed; else O(n m (m − r)) and m − r columns, where r
    independent vectors precede the first removed one.
    """
    kept = np.delete(np.arange(len(state.coordinates)), positions)
    staying = np.isin(state.basis, kept)
    r = len(staying) if staying.all() else int(np.argmin(staying))
    start = len(kept) if staying.all() else int(np.searchsorted(kept, state.basis[r]))
    prefix = Independent(np.searchsorted(kept, state.basis[:r]), state.coordinates[kept, :r])
    return _resume(prefix, column, diagonal, tau, start)


def triangular_coordinates(factor: np.ndarray, cross: np.ndarray) -> np.ndarray:
    """Coordinates ``v(x) = L⁻¹ k(B, x)``, one row per row ``k(x, B)`` of ``cross``; O(r m²)."""
    if not len(factor):
        return np.empty_like(cross)  # older versions of SciPy reject an empty system
    result: np.ndarray = solve_triangular(factor, cross.T, lower=True, check_finite=False).T
    return result


def _resume(
    state: Independent, column: Column, diagonal: np.ndarray, tau: float, start: int
) -> Independent:
    """Continue the selection at position ``start``, given all coordinates found so far."""
    basis, coordinates = list(state.basis), state.coordinates
    tested = coordinates[start:]
    residual = diagonal[start:] - np.einsum("ij,ij->i", tested, tested)
    position, size = 0, 1
    # kaieda2004, eq. (43): the next samples that cannot be discarded yet, several at a time
    while (ahead := np.flatnonzero(residual[position:] >= tau)[:size]).size:
        panel, first = start + position + ahead, len(basis)
        known = coordinates[:, :first]
        columns = np.stack([column(j) for j in panel], axis=1) - known @ known[panel].T
        for j, values in zip(panel, columns.T, strict=True):
            left = residual[j - start]
            if left < tau:  # discarded by an earlier one of them
                continue
            m = len(basis)
            if m == coordinates.shape[1]:
                coordinates = _widened(coordinates)
            recent = coordinates[:, first:m]
            direction = (values - recent @ recent[j]) / np.sqrt(left)  # eq. (41)
            direction[basis] = 0.0
            direction[j] = np.sqrt(left)  # eq. (42)
            coordinates[:, m] = direction
            residual -= direction[start:] ** 2
            basis.append(j)
        position += int(ahead[-1]) + 1
        size = min(_MOST, 2 * (len(basis) - first))
    if len(basis) < coordinates.shape[1]:
        coordinates = coordinates[:, : len(basis)].copy(order="F")
    return Independent(np.array(basis, dtype=np.intp), coordinates)


def _widened(coordinates: np.ndarray) -> np.ndarray:
    """Return the same columns in an array with room for as many more; columns are contiguous."""
    n, m = coordinates.shape
    wide = np.empty((n, min(n, 2 * m + 16)), dtype=coordinates.dtype, order="F")
    wide[:, :m] = coordinates
    return wide
