"""A = K + λD for the linear kernel with n ≫ d, as sums over features and passes over samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.extmath import row_norms

from gramian.arrays import Array, row_blocks
from gramian.engines._holdings import Holdings
from gramian.engines._rows import Rows
from gramian.engines._sums import SUMS, augmented
from gramian.gram import LiveNormal, Refactorization
from gramian.machines import Solved, Tableau, slack_tolerance

Edit = Callable[[Array, Array, Array], None]


class LinearSpace:
    """``A = X̃ X̃ᵀ + diag(λ_i)`` with ``X̃ = [X 1]``, by passes over the samples.

    The bias is in the last column, as duan2008 has it in ``[A −e]``. It never changes: an edit
    makes another one.

    Parameters
    ----------
    rows : Rows
        The samples.
    ridges : ndarray of shape (n,)
        λ_i.
    events : list of Refactorization
        What was rebuilt on this space or on one that it comes from.
    """

    dtype = np.dtype(float)
    factor_name = SUMS

    def __init__(self, rows: Rows, ridges: Array, events: list[Refactorization]) -> None:
        self._rows, self.ridges, self.events = rows, ridges, events
        self._zero = np.zeros(rows.width)

    @cached_property
    def longest(self) -> float:
        """The largest ``‖x̃‖``."""
        return float(np.sqrt(1.0 + row_norms(self._rows.samples(), squared=True).max()))

    @property
    def largest(self) -> float:
        """The largest ``‖x̃‖²``, k(x, x)."""
        return self.longest**2

    # -- edits ----------------------------------------------------------------------------------

    def meet(self, after: Holdings) -> Array:
        """X̃ of the samples behind the end of this space."""
        return augmented(after.rows.take(np.arange(len(self.ridges), len(after))), self._zero)

    def values(self, met: Array, Z: Array, B: Array | None) -> Array:
        """f of the new samples, from its weights B."""
        return met @ B

    def append(self, after: Holdings, met: Array, ridges: Array) -> LinearSpace:
        """The space that they are in."""
        return LinearSpace(after.rows, np.append(self.ridges, ridges), self.events)

    def remove(self, after: Holdings, positions: Array) -> LinearSpace:
        """The space without samples."""
        return LinearSpace(after.rows, np.delete(self.ridges, positions), self.events)

    # -- reads ----------------------------------------------------------------------------------

    def guess(self, Y: Array) -> Array:
        """``A⁻¹ Y`` of all samples, O(n d²)."""
        B = self.summed(np.arange(len(Y)), Y).solution()
        return (Y - self.decision_values(B)) / self.ridges[:, None]

    def multiply(self, Z: Array) -> Array:
        """``A @ Z``, O(n d)."""
        return self.decision_values(self.project(Z)) + self.ridges[:, None] * Z

    def decision_values(self, B: Array) -> Array:
        """``X̃ @ B``."""
        return np.concatenate([X @ B[:-1] + B[-1] for _, X in self._blocks()])

    def project(self, Z: Array) -> Array:
        """``X̃ᵀ @ Z``, the weights of f."""
        weights = np.sum([X.T @ Z[rows] for rows, X in self._blocks()], axis=0)
        return np.vstack([weights, Z.sum(axis=0)])

    def inverses(self) -> list[tuple[Callable[[Array], Array], float]]:
        """``P @ B = (B − X̃ N X̃ᵀ(B/λ)) / λ``, the identity of Sherman, Morrison and Woodbury."""
        n, column = len(self.ridges), self.ridges[:, None]
        N = self.summed(np.arange(n), np.empty((n, 0))).inverse()

        def inverse(B: Array) -> Array:
            return (B - self.decision_values(N @ self.project(B / column))) / column

        return [(inverse, 0.0)]

    def support(self) -> LinearSupport:
        """A live solution on a support, none yet."""
        return LinearSupport()

    def tableau(self, support: Array) -> Tableau:
        """See `Tableau`; columns in O(n d)."""
        members = np.flatnonzero(support)
        N = self.summed(members, np.empty((len(support), 0))).inverse()
        X, ridges = self._take(members), self.ridges[members, None]
        return Tableau(
            support,
            gram_columns=self._columns,
            solve=lambda B: (B - X @ (N @ (X.T @ (B / ridges)))) / ridges,
            multiply=lambda B: self.decision_values(X.T @ B),
        )

    # -- sums -----------------------------------------------------------------------------------

    def summed(self, positions: Array, Y: Array) -> LiveNormal:
        """``M = I + Σ x̃ x̃ᵀ / λ_i`` over these samples, with their rows of Y."""
        normal = LiveNormal(np.ones(len(self._zero) + 1), Y.shape[1])
        self.pass_through(normal.append, positions, Y)
        return normal

    def pass_through(self, edit: Edit, positions: Array, Y: Array) -> None:
        """Let samples enter or leave sums."""
        for block in row_blocks(len(positions), len(self._zero) + 1):
            some = positions[block]
            edit(self._take(some), Y[some], 1.0 / self.ridges[some])

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        """The samples, without the constant, a block at a time."""
        X = self._rows.samples()
        for rows in row_blocks(X.shape[0], X.shape[1]):
            yield rows, X[rows].astype(float, copy=False)

    def _take(self, positions: Array) -> Array:
        return augmented(self._rows.take(positions), self._zero)

    def _columns(self, J: Array) -> Array:
        columns = self.decision_values(self._take(J).T)
        columns[J, np.arange(len(J))] += self.ridges[J]
        return columns


class LinearSupport:
    """The least-squares solution on a part of the samples, from sums over that part.

    With ``B = Σ z_i x̃_i``, the weights of f, ``z_i = (y_i − x̃ᵢᵀB) / λ_i``.
    """

    factor_name = SUMS
    weights: Array
    """B, as `solve` found it last, of shape (d + 1,)."""

    def __init__(self) -> None:
        self._inside = np.empty(0, dtype=bool)
        self._normal: LiveNormal | None = None

    def solve(self, space: LinearSpace, support: Array, y: Array) -> Solved:
        """O(d²) per sample that has changed sides, and one pass over the samples."""
        members, Y = np.flatnonzero(support), y[:, None]
        if self._normal is None:
            self._normal = space.summed(members, Y)
        else:
            inside = self._padded(len(y))
            space.pass_through(self._normal.append, np.flatnonzero(support & ~inside), Y)
            space.pass_through(self._normal.remove, np.flatnonzero(inside & ~support), Y)
        self._inside = support
        if self._normal.worn():
            self._normal = space.summed(members, Y)
            reason = "most of what the sums held has left"
            space.events.append(Refactorization(reason, len(members), 0, SUMS))
        B = self._normal.solution()
        self.weights = B[:, 0]
        f = space.decision_values(B)[:, 0]
        z = np.where(support, (y - f) / space.ridges, 0.0)
        return Solved(z, 1.0 - y * f, slack_tolerance(B, space.longest))

    def leave(self, space: LinearSpace, positions: Array, y: Array) -> None:
        """Take out those of the samples that are inside; the others close the gaps."""
        assert self._normal is not None
        inside = self._padded(len(y))
        space.pass_through(self._normal.remove, positions[inside[positions]], y[:, None])
        self._inside = np.delete(inside, positions)

    def _padded(self, n: int) -> Array:
        """Which of n samples are inside; those behind the end have come since the last solve."""
        return np.append(self._inside, np.zeros(n - len(self._inside), dtype=bool))
