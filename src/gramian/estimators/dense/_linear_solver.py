"""The linear kernel with n ≫ d: sums of d + 1 numbers in place of the n×n Gram matrix.

By the identity of Sherman, Morrison and Woodbury (duan2008, section 2), with ``X̃ = [X 1]``::

    (K + λD)⁻¹ = (W − W X̃ M⁻¹ X̃ᵀ W) / λ,      M = λ + X̃ᵀ W X̃,      W = D⁻¹ = diag(weight)

so that everything reads off the (d+1)×(d+1) matrix M, which samples enter and leave in O(d²).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from gramian.arrays import Array, row_blocks
from gramian.gram import Refactorization
from gramian.gram._normal import LiveNormal
from gramian.machines._paths import Machine

FACTOR = "woodbury"


def augmented(X: Any, shift: Array) -> Array:
    """``[X − shift, 1]`` as a dense float64 array."""
    dense = X.toarray() if sparse.issparse(X) else X
    out = np.ones((dense.shape[0], dense.shape[1] + 1))
    np.subtract(dense, shift, out=out[:, :-1])
    return out


def augmented_blocks(X: Any, shift: Array) -> Iterator[tuple[slice, Array]]:
    """Row blocks of `augmented`, of bounded memory."""
    for rows in row_blocks(X.shape[0], X.shape[1] + 1):
        yield rows, augmented(X[rows], shift)


def block_mean(X: Any) -> Array:
    """The mean of the first block of rows: near enough to the mean of all to centre them by."""
    rows = next(row_blocks(X.shape[0], X.shape[1] + 1))
    return np.asarray(X[rows].mean(axis=0), dtype=float).ravel()


class LinearSolver:
    """Least squares with a free or penalised intercept, from sums over the samples.

    ::

        M [w; b] = X̃ᵀ W Y,      z_i = weight_i (y_i − f(x_i)) / λ
        f₋ᵢ = y_i − (y_i − f(x_i)) / (1 − h_i),      h_i = weight_i x̃ᵢᵀ M⁻¹ x̃ᵢ

    The solver holds no samples. `rows` is the store of those that the estimator holds, to which
    it is attached after each edit: an edit comes before the store follows, a read after.

    Parameters
    ----------
    machine : Machine
        With a penalty of the intercept, 0 if it is free. A free intercept takes up any shift of
        the samples, which are centred then: M is better conditioned so.
    """

    factor_name = FACTOR
    in_sums = True
    rows: Any = None

    def __init__(
        self, machine: Machine, X: Any, targets: Array, *, weight: Array, ridge: float
    ) -> None:
        assert machine.intercept_penalty is not None
        d = X.shape[1]
        self._shift = np.zeros(d) if machine.intercept_penalty else block_mean(X)
        self._penalty = ridge * np.append(np.ones(d), machine.intercept_penalty)
        self._ridge, self._dtype = ridge, X.dtype
        self._targets, self._weight = targets.astype(float), weight
        self.refactorizations: list[Refactorization] = []
        self._edits = 0
        self._normal = self._summed(X)

    # -- edits ----------------------------------------------------------------------------------

    def append_rows(self, X: Any, targets: Array, weight: Array) -> None:
        """Enter samples, O(d²) each."""
        extra = targets.shape[1] - self._targets.shape[1]
        held = np.pad(self._targets, ((0, 0), (0, extra))) if extra else self._targets
        self._normal.append(augmented(X, self._shift), targets, weight)
        self._targets = np.concatenate([held, targets])
        self._weight = np.concatenate([self._weight, weight])
        self._edits += len(targets)

    def remove(self, positions: Array) -> None:
        """Take samples out, O(d²) each."""
        X = augmented(self.rows.take(positions), self._shift)
        self._normal.remove(X, self._targets[positions], self._weight[positions])
        self._targets = np.delete(self._targets, positions, axis=0)
        self._weight = np.delete(self._weight, positions)
        self._edits += len(positions)

    def select_columns(self, columns: Array) -> None:
        self._normal.select_columns(columns)
        self._targets = self._targets[:, columns]

    def refactor(self, reason: str) -> None:
        """Sum again from the samples, O(n d²)."""
        self._normal = self._summed(self.rows.rows)
        event = Refactorization(reason, len(self._targets), self._edits, FACTOR)
        self.refactorizations.append(event)

    # -- reads ----------------------------------------------------------------------------------

    def weights(self) -> tuple[Array, Array]:
        """Intercepts (t,) and weights of the features (d, t), O(d² t)."""
        B = self._solution()
        intercept = B[-1] - self._shift @ B[:-1]
        return intercept.astype(self._dtype), B[:-1].astype(self._dtype)

    def coefficients(self) -> tuple[Array, Array]:
        """Intercepts (t,) and coefficients of the samples (n, t), one pass over them."""
        Z = self._residuals(self._solution())
        Z *= self._weight[:, None] / self._ridge
        return self.weights()[0], Z.astype(self._dtype)

    def loo(self) -> Array:
        """One pass over the samples, O(n d²)."""
        residuals = self._residuals(self._solution())
        N = self._normal.inverse()
        for rows, X in augmented_blocks(self.rows.rows, self._shift):
            h = self._weight[rows] * np.einsum("ij,ij->i", X @ N, X)
            residuals[rows] /= (1.0 - h)[:, None]
        return (self._targets - residuals).astype(self._dtype)

    def drift(self) -> float:
        """Residual of the normal equations, summed again from the samples, O(n d).

        ``max |X̃ᵀ W (Y − X̃ B) − Λ B|``, each entry relative to the size of the terms it is made of.
        """
        B = self._solution()
        weighted = self._residuals(B) * self._weight[:, None]
        error = -self._penalty[:, None] * B
        for rows, X in augmented_blocks(self.rows.rows, self._shift):
            error += X.T @ weighted[rows]
        scales = np.maximum(self._normal.scales(), np.finfo(float).tiny)
        return float(np.max(np.abs(error) / scales))

    # -- inside ---------------------------------------------------------------------------------

    def _summed(self, X: Any) -> LiveNormal:
        normal = LiveNormal(self._penalty, self._targets.shape[1])
        for rows, block in augmented_blocks(X, self._shift):
            normal.append(block, self._targets[rows], self._weight[rows])
        return normal

    def _solution(self) -> Array:
        if self._normal.worn():
            self.refactor("most of what the sums held has left")
        return self._normal.solution()

    def _residuals(self, B: Array) -> Array:
        out = self._targets.copy()
        for rows, X in augmented_blocks(self.rows.rows, self._shift):
            out[rows] -= X @ B
        return out
