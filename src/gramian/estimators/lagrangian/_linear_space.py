"""A = K + λD of all samples for the linear kernel with n ≫ d, by sums over features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.extmath import row_norms

from gramian.arrays import Array, row_blocks
from gramian.estimators.dense._linear_solver import FACTOR, augmented
from gramian.estimators.lagrangian._spaces import Inverse
from gramian.gram import Refactorization
from gramian.gram._normal import LiveNormal
from gramian.machines._lagrangian import Solved, Tableau, slack_tolerance


class LinearSupport:
    """The least-squares solution on a subset of the samples, from sums over that subset.

    With ``B = Σ z_i x̃_i``, the weights of f, ``z_i = (y_i − x̃ᵢᵀB) / λ_i``.
    """

    def __init__(self, space: LinearSpace) -> None:
        self._space = space
        self._normal = space.normal(1)
        self._support = np.empty(0, dtype=bool)

    def solve(self, support: Array, y: Array) -> Solved:
        """O(d²) per sample that has changed sides, and one pass over the samples."""
        self.exchange(support, y)
        if self._normal.worn():
            self.refactor(y)
            reason = "most of what the sums held has left"
            event = Refactorization(reason, int(support.sum()), 0, FACTOR)
            self._space.refactorizations.append(event)
        B = self._normal.solution()
        f = self._space.decision_values(B)[:, 0]
        z = np.where(support, (y - f) / self._space.ridges, 0.0)
        return Solved(z, 1.0 - y * f, slack_tolerance(B, self._space.longest))

    def weights(self) -> Array:
        """Weights of the features and the bias, O(d²)."""
        return self._normal.solution()[:, 0]

    def exchange(self, support: Array, y: Array) -> None:
        """Let samples enter and leave."""
        self._support = np.append(self._support, np.zeros(len(y) - len(self._support), dtype=bool))
        entering = np.flatnonzero(support & ~self._support)
        leaving = np.flatnonzero(self._support & ~support)
        self._space.add(self._normal.append, entering, y[:, None])
        self._space.add(self._normal.remove, leaving, y[:, None])
        self._support = support

    def renumber(self, positions: Array) -> None:
        """Samples outside the support have left the space, from these positions."""
        self._support = np.delete(self._support, positions)

    def refactor(self, y: Array) -> None:
        """Sum again."""
        self._normal = self._space.normal(1)
        self._space.add(self._normal.append, np.flatnonzero(self._support), y[:, None])


class LinearSpace:
    """``A = X̃ X̃ᵀ + diag(λ_i)`` with ``X̃ = [X 1]``, by passes over the samples.

    The bias is in the last column, as duan2008 has it in ``[A −e]``. `store` holds the samples, as
    for `LinearSolver`.

    Parameters
    ----------
    d : int
        Number of features.
    ridges : ndarray of shape (n,)
        λ_i.
    """

    store: Any = None
    dtype = np.dtype(float)
    factor_name = FACTOR

    def __init__(self, d: int, ridges: Array) -> None:
        self.ridges = ridges
        self._shift = np.zeros(d)
        self._longest: float | None = None
        self.refactorizations: list[Refactorization] = []

    @property
    def sample_dtype(self) -> np.dtype:
        return self.store.dtype

    @property
    def largest(self) -> float:
        """The largest ``‖x̃‖²``, k(x, x)."""
        return self.longest**2

    @property
    def longest(self) -> float:
        """The largest ``‖x̃‖``: a pass after an edit."""
        if self._longest is None:
            squares = row_norms(self.store.rows, squared=True)
            self._longest = float(np.sqrt(1.0 + squares.max()))
        return self._longest

    # -- edits ----------------------------------------------------------------------------------

    def append(self, ridges: Array) -> None:
        """Samples are about to enter the store."""
        self.ridges, self._longest = np.append(self.ridges, ridges), None

    def remove(self, positions: Array) -> None:
        """Samples are about to leave the store."""
        self.ridges, self._longest = np.delete(self.ridges, positions), None

    def refactor(self, reason: str) -> None:
        """Nothing to do but to note it: sums over all samples are made when they are needed."""
        self.refactorizations.append(Refactorization(reason, len(self.ridges), 0, FACTOR))

    # -- reads ----------------------------------------------------------------------------------

    def guess(self, Y: Array) -> Array:
        """``A⁻¹ Y`` of all samples, O(n d²)."""
        normal = self.normal(Y.shape[1])
        self.add(normal.append, np.arange(len(Y)), Y)
        return (Y - self.decision_values(normal.solution())) / self.ridges[:, None]

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

    def inverses(self) -> list[tuple[Inverse, float]]:
        """``P @ B = (B − X̃ N X̃ᵀ(B/λ)) / λ``, the identity of Sherman, Morrison and Woodbury."""
        normal = self.normal(0)
        everyone = np.arange(len(self.ridges))
        self.add(normal.append, everyone, np.empty((len(self.ridges), 0)))
        N, column = normal.inverse(), self.ridges[:, None]

        def inverse(B: Array) -> Array:
            return (B - self.decision_values(N @ self.project(B / column))) / column

        return [(inverse, 0.0)]

    def support(self) -> LinearSupport:
        """A live solution on a support, none yet."""
        return LinearSupport(self)

    def tableau(self, support: Array) -> Tableau:
        """See `Tableau`; columns in O(n d)."""
        normal = self.normal(0)
        members = np.flatnonzero(support)
        self.add(normal.append, members, np.empty((len(support), 0)))
        N, X, ridges = normal.inverse(), self._rows(members), self.ridges[members, None]
        return Tableau(
            support,
            gram_columns=self._columns,
            solve=lambda B: (B - X @ (N @ (X.T @ (B / ridges)))) / ridges,
            multiply=lambda B: self.decision_values(X.T @ B),
        )

    # -- for the supports -----------------------------------------------------------------------

    def normal(self, n_targets: int) -> LiveNormal:
        """Sums over no samples: ``M = I + Σ x̃ x̃ᵀ / λ_i``."""
        return LiveNormal(np.ones(len(self._shift) + 1), n_targets)

    def add(self, edit: Any, positions: Array, Y: Array) -> None:
        """Let samples enter or leave sums."""
        for block in row_blocks(len(positions), len(self._shift) + 1):
            some = positions[block]
            edit(self._rows(some), Y[some], 1.0 / self.ridges[some])

    # -- inside ---------------------------------------------------------------------------------

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        """The samples, without the constant, a block at a time."""
        X = self.store.rows
        for rows in row_blocks(X.shape[0], X.shape[1]):
            yield rows, X[rows].astype(float, copy=False)

    def _rows(self, positions: Array) -> Array:
        return augmented(self.store.take(positions), self._shift)

    def _columns(self, J: Array) -> Array:
        columns = self.decision_values(self._rows(J).T)
        columns[J, np.arange(len(J))] += self.ridges[J]
        return columns
