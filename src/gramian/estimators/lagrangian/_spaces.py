"""A = K + λD of all samples, as the Lagrangian support vector machine asks for it.

A space multiplies with A, solves on any subset of the samples, the support, and lets samples come
and go. Those of this module hold the n×n matrix; `LinearSpace` sums over features.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from gramian.arrays import Array
from gramian.gram import CholeskyFactor, LiveSystem, Refactorization, SlotMatrix, factorize
from gramian.gram._slots import RowBlock, spare_capacity, square_blocks
from gramian.machines._lagrangian import Solved, Tableau, slack_tolerance

Inverse = Callable[[Array], Array]

# Up to so many samples, the search for the support starts from all of them.
_FEW = 400


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

    def solve(self, support: Array, y: Array) -> Solved:
        """O(|S|²) per sample that has changed sides, and O(n²)."""
        self.exchange(support, y)
        z = np.zeros(len(y), dtype=y.dtype)
        if self._system is not None:
            z[self._members] = self._system.solution()[:, 0]
            self._report(self._system)
        rho = y - self._space.multiply(z[:, None])[:, 0]
        xi = y * np.where(support, self._space.ridges * z, rho)
        return Solved(z, xi, slack_tolerance(z, self._space.largest))

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
        self._diagonal, self.ridges = diagonal, ridges.astype(diagonal.dtype)
        self.refactorizations: list[Refactorization] = []
        self._matrix = SlotMatrix(diagonal + self.ridges, row_block)

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
        self._note(corner.diagonal(), ridges)

    def remove(self, positions: Array) -> None:
        """Take samples out."""
        matrix = self._matrix
        matrix.wipe(positions)
        if matrix.capacity > 2 * spare_capacity(matrix.n):
            matrix.resize(spare_capacity(matrix.n))
        self._drop(positions)

    # -- reads ----------------------------------------------------------------------------------

    def guess(self, Y: Array) -> Array:
        """Coefficients to start from: the least-squares solution on a quarter of the samples.

        Four hundred at least, spread evenly by the golden ratio; O(n³) / 192.
        """
        n = len(Y)
        some = np.arange(n)
        if n > _FEW:
            steps = np.arange(max(_FEW, n // 4))
            some = np.unique((steps * 0.6180339887498949 % 1.0 * n).astype(int))
        rows = self.rows(some)[:, some]
        factor, _ = factorize(rows.diagonal().copy(), lambda a, b: rows[a, b], "cholesky")
        Z = np.zeros_like(Y)
        Z[some] = factor.apply_inverse(Y[some])
        return Z

    def solve(self, Y: Array) -> Array:
        """``A⁻¹ Y`` of all samples, by a Cholesky factor in the free triangle, O(n³)."""
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

    # -- inside ---------------------------------------------------------------------------------

    def _note(self, diagonal: Array, ridges: Array) -> None:
        self._diagonal = np.append(self._diagonal, diagonal.astype(self.dtype))
        self.ridges = np.append(self.ridges, ridges.astype(self.dtype))

    def _drop(self, positions: Array) -> None:
        self._diagonal = np.delete(self._diagonal, positions)
        self.ridges = np.delete(self.ridges, positions)


class SolvedGramSpace(GramSpace):
    """A with P = A⁻¹ of all samples, as the paper's iteration needs it."""

    def __init__(self, diagonal: Array, row_block: RowBlock, ridges: Array, factor: str) -> None:
        self.factor = factor
        self._diagonal, self.ridges = diagonal, ridges.astype(diagonal.dtype)
        ones = np.ones((len(diagonal), 1))
        self.system = LiveSystem(diagonal + self.ridges, row_block, ones, factor)
        self.refactorizations = self.system.refactorizations

    def append(self, cross: Array, corner: Array, ridges: Array) -> None:
        self.system.append(cross, corner + np.diag(ridges), np.ones((len(corner), 1)))
        self._note(corner.diagonal(), ridges)

    def remove(self, positions: Array) -> None:
        self.system.remove(positions)
        self._drop(positions)

    @property
    def factor_name(self) -> str:
        return self.system.factor.name

    def refactor(self, reason: str) -> None:
        """Rebuild the factor."""
        self.system.refactor(reason)

    def guess(self, Y: Array) -> Array:
        return self.solve(Y)

    def solve(self, Y: Array) -> Array:
        return self.system.solve(Y)

    def multiply(self, Z: Array) -> Array:
        return self.system.factor.multiply(Z)

    def rows(self, positions: Array) -> Array:
        return self.system.factor.rows(positions)

    def inverses(self) -> list[tuple[Inverse, float]]:
        """``P @ B`` by the factor alone and held to the true A, and how far to trust each."""
        trusted = float(np.sqrt(np.finfo(self.dtype).eps))
        return [(self.system.factor.apply_inverse, trusted), (self.system.solve, 0.0)]
