"""A = K + λD of all samples, as the Lagrangian support vector machine asks for it.

A space multiplies with A, solves on any subset of the samples, the support, and lets samples come
and go. Those of this module hold the n×n matrix; `LinearSpace` sums over features.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from gramian._arrays import Array
from gramian.gram import CholeskyFactor, LiveSystem, Refactorization, SlotMatrix
from gramian.gram._slots import RowBlock, spare_capacity, square_blocks
from gramian.machines._lagrangian import Tableau

Inverse = Callable[[Array], Array]


class GramSupport:
    """The least-squares solution on a subset of the samples, as a `LiveSystem` of its own."""

    def __init__(self, space: GramSpace) -> None:
        self._space = space
        self._system: LiveSystem | None = None
        self._members = np.empty(0, dtype=int)  # in the order of the system
        self._reported = 0

    @property
    def factor_name(self) -> str:
        assert self._system is not None
        return self._system.factor.name

    def solve(self, support: Array, y: Array) -> Array:
        """z of all samples, zero outside the support: O(|S|²) per sample that has changed sides."""
        self.exchange(support, y)
        z = np.zeros(len(y), dtype=y.dtype)
        if self._system is not None:
            z[self._members] = self._system.solution()[:, 0]
            self._report(self._system)
        return z

    def exchange(self, support: Array, y: Array) -> None:
        """Let samples enter and leave; what is cheaper to build anew is built anew."""
        leaving = np.flatnonzero(~support[self._members])
        entering = np.setdiff1d(np.flatnonzero(support), self._members)
        changes, size = len(leaving) + len(entering), int(support.sum())
        if size == 0:
            self._system, self._members = None, entering
        elif self._system is None or (len(entering) and 2 * changes > size):
            self._build(np.flatnonzero(support), y)
        else:
            self._change(self._system, leaving, entering, y)

    def renumber(self, positions: Array) -> None:
        """Samples outside the support have left the space, from these positions."""
        self._members = self._members - np.searchsorted(positions, self._members)

    def refactor(self, y: Array) -> None:
        """Rebuild the factor."""
        if self._system is not None:
            self._system.refactor()
            self._reported += 1

    def _build(self, members: Array, y: Array) -> None:
        rows = self._space.rows(members)[:, members]
        self._system = LiveSystem(
            rows.diagonal().copy(),
            lambda block, others: rows[block, others],
            y[members, None],
            self._space.factor,
        )
        self._members, self._reported = members, 0

    def _change(self, system: LiveSystem, leaving: Array, entering: Array, y: Array) -> None:
        if len(entering):
            rows = self._space.rows(entering)
            cross, corner = rows[:, self._members].T, rows[:, entering]
            system.append(cross, corner, y[entering, None])
            self._members = np.append(self._members, entering)
        if len(leaving):
            system.remove(leaving)
            self._members = np.delete(self._members, leaving)

    def _report(self, system: LiveSystem) -> None:
        """Enter what the system has rebuilt by itself into the record of the space."""
        self._space.refactorizations.extend(system.refactorizations[self._reported :])
        self._reported = len(system.refactorizations)


class GramSpace:
    """A in one triangle of a `SlotMatrix`: n² numbers, no factor of the whole.

    Parameters
    ----------
    diagonal : ndarray of shape (n,)
        Of K.
    row_block : callable
        ``row_block(rows, columns)`` gives that block of K.
    ridges : ndarray of shape (n,)
        λ_i.
    factor : {"auto", "inverse", "cholesky", "qr"}
        Of the supports.
    """

    def __init__(self, diagonal: Array, row_block: RowBlock, ridges: Array, factor: str) -> None:
        self.factor = factor
        self._diagonal = diagonal
        self.refactorizations: list[Refactorization] = []
        self._matrix = SlotMatrix(diagonal + ridges.astype(diagonal.dtype), row_block)

    @property
    def dtype(self) -> np.dtype:
        """Of the coefficients."""
        return self._diagonal.dtype

    @property
    def sample_dtype(self) -> np.dtype:
        return self.dtype

    @property
    def largest(self) -> float:
        """The largest k(x, x)."""
        return float(self._diagonal.max())

    # -- edits ----------------------------------------------------------------------------------

    def append(self, cross: Array, corner: Array, ridges: Array) -> None:
        """Enter samples: ``cross`` is K[held, new], ``corner`` is K[new, new]."""
        matrix, k = self._matrix, len(corner)
        if matrix.n + k > matrix.capacity:
            matrix.resize(spare_capacity(matrix.n + k))
        slots = np.flatnonzero(~matrix.occupied())[:k]
        matrix.write(slots, cross, corner + np.diag(ridges))
        self._diagonal = np.append(self._diagonal, corner.diagonal().astype(self.dtype))

    def remove(self, positions: Array) -> None:
        """Take samples out."""
        matrix = self._matrix
        matrix.wipe(positions)
        if matrix.capacity > 2 * spare_capacity(matrix.n):
            matrix.resize(spare_capacity(matrix.n))
        self._diagonal = np.delete(self._diagonal, positions)

    # -- reads ----------------------------------------------------------------------------------

    def start(self, Y: Array) -> Array:
        """``A⁻¹ Y`` of all samples, once: by a Cholesky factor in the free triangle, O(n³)."""
        solution = CholeskyFactor(self._matrix).apply_inverse(Y)
        for block in square_blocks(self._matrix.capacity, self.dtype.itemsize):
            self._matrix.buffer[block, block.stop :] = 0.0
            self._matrix.buffer[block, block] = np.tril(self._matrix.buffer[block, block], -1)
        return solution

    def multiply(self, Z: Array) -> Array:
        """``A @ Z``."""
        return self._matrix.multiply(Z)

    def rows(self, positions: Array) -> Array:
        """Rows of A."""
        return self._matrix.rows(positions)

    def gram_rows(self) -> Array:
        """K."""
        K = self.rows(np.arange(len(self._diagonal)))
        np.fill_diagonal(K, self._diagonal)
        return K

    def support(self) -> GramSupport:
        """A live solution on a support, none yet."""
        return GramSupport(self)

    def tableau(self, support: Array) -> Tableau:
        """See `Tableau`; by a Cholesky factor of its own, O(|S|³)."""
        rows = self.rows(np.flatnonzero(support))
        factor = cho_factor(rows[:, support])
        return Tableau(
            support,
            gram_columns=lambda J: self.rows(J).T,
            solve=lambda B: cho_solve(factor, B),
            multiply=lambda B: rows.T @ B,
        )


class SolvedGramSpace(GramSpace):
    """A with P = A⁻¹ of all samples, as the paper's iteration needs it."""

    def __init__(self, diagonal: Array, row_block: RowBlock, ridges: Array, factor: str) -> None:
        self.factor = factor
        self._diagonal = diagonal
        ones = np.ones((len(diagonal), 1))
        A_diagonal = diagonal + ridges.astype(diagonal.dtype)
        self.system = LiveSystem(A_diagonal, row_block, ones, factor)
        self.refactorizations = self.system.refactorizations

    def append(self, cross: Array, corner: Array, ridges: Array) -> None:
        self.system.append(cross, corner + np.diag(ridges), np.ones((len(corner), 1)))
        self._diagonal = np.append(self._diagonal, corner.diagonal().astype(self.dtype))

    def remove(self, positions: Array) -> None:
        self.system.remove(positions)
        self._diagonal = np.delete(self._diagonal, positions)

    @property
    def factor_name(self) -> str:
        return self.system.factor.name

    def refactor(self, reason: str) -> None:
        """Rebuild the factor."""
        self.system.refactor(reason)

    def start(self, Y: Array) -> Array:
        return self.system.solve(Y)

    def multiply(self, Z: Array) -> Array:
        return self.system.factor.multiply(Z)

    def rows(self, positions: Array) -> Array:
        return self.system.factor.rows(positions)

    def inverses(self) -> list[tuple[Inverse, float]]:
        """``P @ B`` by the factor alone and held to the true A, and how far to trust each."""
        trusted = float(np.sqrt(np.finfo(self.dtype).eps))
        return [(self.system.factor.apply_inverse, trusted), (self.system.solve, 0.0)]
