"""A = K + λD for the linear kernel with n ≫ d, by sums over features and passes over samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.utils.extmath import row_norms

from gramian.core.arrays import Array, row_blocks
from gramian.core.engines import PRIMAL, Holdings, Rows
from gramian.core.engines._primal import augmented
from gramian.core.gram import Rebuild
from gramian.core.gram._normal import LiveNormal
from gramian.svm._lagrangian_equations import Solved, Tableau, slack_tolerance


class LinearSpace:
    """``A = X̃ X̃ᵀ + diag(λ_i)`` with ``X̃ = [X 1]``, by passes over the samples.

    The last column holds the bias, as in duan2008's ``[A −e]``. An edit returns a new space.

    Parameters
    ----------
    rows : Rows
        The samples.
    ridges : ndarray of shape (n,)
        λ_i.
    """

    dtype = np.dtype(float)

    def __init__(self, rows: Rows, ridges: Array) -> None:
        self._rows, self.ridges = rows, ridges
        self._zero = np.zeros(rows.width)

    @cached_property
    def largest(self) -> float:
        """The largest ``‖x̃‖²``, k(x, x)."""
        return 1.0 + float(row_norms(self._rows.samples(), squared=True).max())

    def meet(self, after: Holdings, Z: Array, B: Array) -> tuple[Any, Array]:
        """Return X̃ of the samples that ``after`` adds, and their f = X̃ B."""
        X = augmented(after.rows.take(np.arange(len(self.ridges), len(after))), self._zero)
        return X, X @ B

    def append(self, after: Holdings, met: Any, ridges: Array) -> LinearSpace:
        """Return the space with the samples of `meet`."""
        return LinearSpace(after.rows, np.append(self.ridges, ridges))

    def remove(self, after: Holdings, positions: Array) -> LinearSpace:
        """Return the space without some samples."""
        return LinearSpace(after.rows, np.delete(self.ridges, positions))

    def multiply(self, Z: Array) -> Array:
        """``A @ Z``, O(n d)."""
        result: Array = self.decision_values(self.project(Z)) + self.ridges[:, None] * Z
        return result

    def decision_values(self, B: Array) -> Array:
        """``X̃ @ B``."""
        return np.concatenate([X @ B[:-1] + B[-1] for _, X in self._blocks()])

    def project(self, Z: Array) -> Array:
        """``X̃ᵀ @ Z``, the weights of f."""
        weights = np.sum([X.T @ Z[rows] for rows, X in self._blocks()], axis=0)
        return np.vstack([weights, Z.sum(axis=0)])

    def summed(self, part: Array, y: Array) -> LiveNormal:
        """``M = I + Σ x̃ x̃ᵀ / λ_i`` over a part of the samples."""
        normal = LiveNormal(np.ones(len(self._zero) + 1), 1)
        self.pass_through(normal.append, np.flatnonzero(part), y)
        return normal

    def pass_through(self, edit: Callable[..., None], positions: Array, y: Array) -> None:
        """Apply ``edit``, which adds samples to sums or removes them, in blocks."""
        for block in row_blocks(len(positions), len(self._zero) + 1):
            some = positions[block]
            edit(self._take(some), y[some, None], 1.0 / self.ridges[some])

    def inverse(self, part: Array, N: Array) -> Callable[[Array], Array]:
        """``P B = (B − X̃ N X̃ᵀ(B/λ)) / λ`` on a part (Sherman, Morrison, Woodbury), N = M⁻¹."""
        ridges = self.ridges[part, None]

        def apply(B: Array) -> Array:
            weighted = np.zeros((len(part), B.shape[1]))
            weighted[part] = B / ridges
            return (B - self.decision_values(N @ self.project(weighted))[part]) / ridges

        return apply

    def tableau(self, support: Array) -> Tableau:
        """Return the `Tableau` of a support, with columns in O(n d).

        Up to 2 (d + 1) samples have a Gram matrix that is smaller than the sums, and more exact.
        """
        X = self._take(np.flatnonzero(support))
        if len(X) > 2 * X.shape[1]:
            solve = self.inverse(support, self.summed(support, self.ridges).inverse())
        else:
            factor = cho_factor(X @ X.T + np.diag(self.ridges[support]))
            solve = partial(cho_solve, factor)
        return Tableau(
            support,
            gram_columns=self._columns,
            solve=solve,
            multiply=lambda B: self.decision_values(X.T @ B),
        )

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        """Yield the samples without the constant, a block at a time."""
        X = self._rows.samples()
        for rows in row_blocks(X.shape[0], X.shape[1]):
            yield rows, X[rows].astype(float, copy=False)

    def _take(self, positions: Array) -> Array:
        return augmented(self._rows.take(positions), self._zero)

    def _columns(self, J: Array) -> Array:
        columns = self.decision_values(self._take(J).T)
        columns[J, np.arange(len(J))] += self.ridges[J]
        return columns


class LinearPart:
    """Least squares on a part of the samples, from sums over that part.

    With the weights ``B = Σ z_i x̃_i`` of f, ``z_i = (y_i − x̃ᵢᵀB) / λ_i``.
    """

    factor = PRIMAL
    weights: Array
    """B of the last `solve`, of shape (d + 1,)."""

    def __init__(self) -> None:
        self._part, self._y = np.empty(0, dtype=bool), np.empty(0)
        self._normal: LiveNormal | None = None
        self.events: list[Rebuild] = []

    def settle(self) -> None:
        """Do nothing: no update is deferred."""

    def solve(self, space: LinearSpace, part: Array, y: Array) -> Solved:
        """Solve on a part, O(d²) per sample that changed sides, and one pass over the samples."""
        B = self._exchange(space, part, y).solution()
        self.weights, f = B[:, 0], space.decision_values(B)[:, 0]
        z = np.where(part, (y - f) / space.ridges, 0.0)
        return Solved(z, 1.0 - y * f, slack_tolerance(B, np.sqrt(space.largest)))

    def inverses(
        self, space: LinearSpace, y: Array
    ) -> list[tuple[Callable[[Array], Array], float]]:
        """``P @ B`` of all samples, and its error."""
        everyone = np.ones(len(y), dtype=bool)
        return [(space.inverse(everyone, self._exchange(space, everyone, y).inverse()), 0.0)]

    def leave(self, space: LinearSpace, positions: Array) -> None:
        """Remove samples from the part, and renumber the remaining ones."""
        known = positions[positions < len(self._part)]  # the others are newer than the last solve
        if self._normal is not None:
            space.pass_through(self._normal.remove, known[self._part[known]], self._y)
        self._part, self._y = np.delete(self._part, known), np.delete(self._y, known)

    def _exchange(self, space: LinearSpace, part: Array, y: Array) -> LiveNormal:
        """Update the sums to the part; compute them again if they have lost accuracy."""
        normal, here = self._normal, np.zeros_like(part)
        here[: len(self._part)] = self._part
        if normal is not None:
            space.pass_through(normal.append, np.flatnonzero(part & ~here), y)
            space.pass_through(normal.remove, np.flatnonzero(here & ~part), y)
            if normal.worn():
                reason = "most of what the sums held has left"
                self.events.append(Rebuild(reason, int(part.sum()), 0, PRIMAL))
                normal = None
        self._normal = space.summed(part, y) if normal is None else normal
        self._part, self._y = part, y
        return self._normal
