"""What turns a Gram matrix and targets into coefficients, also as samples come and go.

A solver knows nothing of labels: its targets are columns, and everything it returns is linear in
them. Both solvers are atomic: an edit that raises leaves them as they were.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from gramian.arrays import Array
from gramian.gram import LiveSystem, Refactorization, require_memory
from gramian.gram._slots import RowBlock
from gramian.gram._spectrum import Moments
from gramian.machines._coefficients import (
    intercept_and_coefficients,
    minimum_norm,
    minimum_norm_loo,
)
from gramian.machines._paths import Machine, loo_bordered, loo_min_norm


class Solver(Protocol):
    """Targets in, coefficients and leave-one-out values out."""

    def append(self, cross: Array, corner: Array, targets: Array, weight: Array) -> None:
        """Enter samples: ``cross`` is K[held, new], ``corner`` is K[new, new]."""

    def remove(self, positions: Array) -> None:
        """Take samples out."""

    def select_columns(self, columns: Array) -> None:
        """Keep these target columns."""

    def coefficients(self) -> tuple[Array, Array]:
        """Intercepts (t,) and coefficients (n, t)."""

    def loo(self) -> Array:
        """Leave-one-out decision values (n, t)."""

    def solve(self, B: Array) -> Array:
        """``A⁻¹ B``."""

    def gram_rows(self) -> Array:
        """K of the held samples."""

    def drift(self) -> float:
        """Measured relative residual."""

    def refactor(self, reason: str) -> None:
        """Rebuild from K."""


class RidgeSolver:
    """``A = K + ridge · diag(1 / weight)``, as a `LiveSystem` for a column of ones and the targets.

    Parameters
    ----------
    machine : Machine
    diagonal : ndarray of shape (n,)
        Of K.
    row_block : callable
        ``row_block(rows, columns)`` gives that block of K.
    """

    def __init__(
        self,
        machine: Machine,
        diagonal: Array,
        row_block: RowBlock,
        targets: Array,
        *,
        weight: Array,
        ridge: complex,
        factor: str,
    ) -> None:
        self.machine, self.ridge = machine, ridge
        self._diagonal, self._inverse_weight = diagonal, (1.0 / weight).astype(diagonal.dtype)
        A_diagonal = diagonal + ridge * self._inverse_weight
        self.system = LiveSystem(A_diagonal, row_block, _after_ones(targets), factor)

    @property
    def factor_name(self) -> str:
        return self.system.factor.name

    @property
    def refactorizations(self) -> list[Refactorization]:
        return self.system.refactorizations

    @property
    def targets(self) -> Array:
        return self.system.B[:, 1:]

    def append(self, cross: Array, corner: Array, targets: Array, weight: Array) -> None:
        inverse_weight = (1.0 / weight).astype(corner.dtype)
        self.system.append(
            cross, corner + np.diag(self.ridge * inverse_weight), _after_ones(targets)
        )
        self._diagonal = np.concatenate([self._diagonal, np.diagonal(corner)])
        self._inverse_weight = np.concatenate([self._inverse_weight, inverse_weight])

    def remove(self, positions: Array) -> None:
        self.system.remove(positions)
        self._diagonal = np.delete(self._diagonal, positions)
        self._inverse_weight = np.delete(self._inverse_weight, positions)

    def select_columns(self, columns: Array) -> None:
        self.system.select_columns(np.append(0, 1 + columns))

    def coefficients(self) -> tuple[Array, Array]:
        """O(n t) after an edit that the live inverse followed."""
        X = self.system.solution()
        return intercept_and_coefficients(self.machine, X[:, 1:], X[:, 0], self._inverse_weight)

    def loo(self) -> Array:
        """O(n t) for a penalised or free intercept, one O(n²) solve for that of least norm."""
        first = self._moments(self.system.solution(), self.system.inverse_diagonal())
        targets = self.targets
        if self.machine.intercept_penalty is not None:
            return loo_bordered(targets, first, self.machine.intercept_penalty)
        D = self._inverse_weight
        solved = self.system.solve(D[:, None] * self.system.solution())
        second = self._moments(solved, self.system.inverse_square_diagonal(D))
        return loo_min_norm(targets, first, second)

    def solve(self, B: Array) -> Array:
        return self.system.solve(B)

    def gram_rows(self) -> Array:
        K = self.system.factor.rows(np.arange(self.system.n))
        np.fill_diagonal(K, self._diagonal)
        return K

    def drift(self) -> float:
        return self.system.drift()

    def refactor(self, reason: str) -> None:
        self.system.refactor(reason)

    @staticmethod
    def _moments(X: Array, diagonal: Array) -> Moments:
        return Moments(X[:, 1:], X[:, 0], diagonal)


class MinimumNormSolver:
    """The unregularised machine, ridge 0: `minimum_norm` anew after every edit, O(n³)."""

    factor_name = "svd"

    def __init__(self, diagonal: Array, row_block: RowBlock, targets: Array, weight: Array) -> None:
        n = len(diagonal)
        require_memory(3 * n**2 * diagonal.itemsize, f"Decomposing the Gram matrix of {n} samples")
        self._K = np.array(row_block(slice(0, n), slice(0, n)))
        self._targets, self._weight = targets, weight
        self._solution: tuple[Array, Array] | None = None
        self.refactorizations: list[Refactorization] = []
        _check_distinct(self._K)

    def append(self, cross: Array, corner: Array, targets: Array, weight: Array) -> None:
        size = (len(corner) + len(self._K)) ** 2 * corner.itemsize
        require_memory(3 * size, "Growing the Gram matrix")
        K = np.block([[self._K, cross], [cross.T, corner]])
        _check_distinct(K)
        extra = targets.shape[1] - self._targets.shape[1]
        self._targets = np.vstack([np.pad(self._targets, ((0, 0), (0, extra))), targets])
        self._weight = np.concatenate([self._weight, weight])
        self._K, self._solution = K, None

    def remove(self, positions: Array) -> None:
        self._K = np.delete(np.delete(self._K, positions, axis=0), positions, axis=1)
        self._targets = np.delete(self._targets, positions, axis=0)
        self._weight = np.delete(self._weight, positions)
        self._solution = None

    def select_columns(self, columns: Array) -> None:
        self._targets, self._solution = self._targets[:, columns], None

    def coefficients(self) -> tuple[Array, Array]:
        if self._solution is None:
            self._solution = minimum_norm(self._K, self._targets, self._weight)
        return self._solution

    def loo(self) -> Array:
        return minimum_norm_loo(self._K, self._targets, self._weight)

    def solve(self, B: Array) -> Array:
        return np.linalg.pinv(self._K, hermitian=True) @ B

    def gram_rows(self) -> Array:
        return self._K.copy()

    def drift(self) -> float:
        """Residual of the normal equations, which a least-squares solution makes zero."""
        intercept, Z = self.coefficients()
        G = np.column_stack([np.ones(len(self._K)), self._K])
        residual = self._weight[:, None] * (self._targets - G @ np.vstack([intercept, Z]))
        return float(np.abs(G.T @ residual).max() / np.abs(G.T @ self._targets).max())

    def refactor(self, reason: str) -> None:
        self._solution = None
        self.refactorizations.append(Refactorization(reason, len(self._K), 0, self.factor_name))


def _after_ones(targets: Array) -> Array:
    return np.column_stack([np.ones(len(targets), dtype=targets.dtype), targets])


def _check_distinct(K: Array) -> None:
    """Raise ValueError if two samples coincide in the feature space: no ridge tells them apart."""
    norms = np.diagonal(K)
    squared = norms[:, None] + norms[None, :] - 2.0 * K
    np.fill_diagonal(squared, np.inf)
    i, j = np.unravel_index(np.argmin(squared), K.shape)
    if squared[i, j] <= 4 * np.finfo(K.dtype).eps * max(norms[i], norms[j]):
        raise ValueError(
            f"samples {min(i, j)} and {max(i, j)} are exact duplicates (counted in order of "
            f"arrival), which ridge=0 cannot tell apart; set `ridge` > 0 or drop one of them."
        )
