"""The inverse in single precision: more samples in the same memory, and double precision in X.

P and the stored A are float32, which halves the memory. Solutions are float64 all the same:
their residual is that of the true A, whose rows are computed from the samples again, and P only
says where to go next. A step goes as far as makes the residual shortest, after the directions of
all steps before (generalised conjugate residuals)::

    Z = P R,  Q = A Z,  Z, Q ← made orthogonal in Q;      X ← X + Z c,  R ← R − Q c,  c = QᵀR / QᵀQ

That matters: P is wrong where A is largest, since its rounding errors are those of its largest
entries, and ``X ← X + P R`` alone would not converge there. A step evaluates the kernel for all
pairs of samples. diag(P), and leave-one-out values with it, have the digits of P: measured, about
1e-10 times the condition number is lost of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from gramian.core.arrays import Array, row_blocks, scale_by_cholesky
from gramian.core.gram._inverse import LiveInverse, schur_cholesky
from gramian.core.gram._slots import SlotMatrix

SINGLE = "single"
_STEPS, _PROBES = 40, 8
_GOOD = 1e-6  # of a product with P, on a few rows

TrueRows = Callable[[Any, Any], Array]
"""``rows(positions, columns)``: that block of A for the samples held now, but for its diagonal."""


class SingleInverse(LiveInverse):
    """A `LiveInverse` in float32 whose `multiply` and `rows` are those of A in float64.

    Parameters
    ----------
    matrix : SlotMatrix
        With a float32 buffer and the diagonal of A in float64.
    true_rows : callable
    """

    name: ClassVar[str] = SINGLE

    def __init__(self, matrix: SlotMatrix, true_rows: TrueRows) -> None:
        self._true_rows = true_rows
        super().__init__(matrix, cholesky_done=True)

    @property
    def dtype(self) -> np.dtype:
        return self._matrix.diagonal.dtype

    # -- the matrix -----------------------------------------------------------------------------

    def multiply(self, X: Array) -> Array:
        """``A @ X``, by evaluating the kernel for all pairs."""
        out = np.empty(X.shape, dtype=self.dtype, like=X)
        for block in row_blocks(self.n, self.n, self.dtype.itemsize, like=X):
            out[block] = self.rows(np.arange(block.start, block.stop)) @ X
        return out

    def rows(self, positions: Array) -> Array:
        rows = self._true_rows(positions, slice(None))
        rows[np.arange(len(positions)), positions] = self.matrix_diagonal()[positions]
        return rows

    # -- edits ----------------------------------------------------------------------------------

    def append(self, cross: Array, corner: Array) -> Array:
        """Add k samples, with a Schur complement in float64; see `Factor`."""
        slots = self._reserve(cross.shape[1])
        U = self.apply_inverse(cross)
        some = np.linspace(0, self.n - 1, min(_PROBES, self.n)).astype(int)
        off = np.abs(self.rows(some) @ U - cross[some]).max(initial=0.0)
        if not off <= _GOOD * np.abs(cross).max(initial=0.0):
            U, _ = self.solve(cross)
        L = schur_cholesky(corner - cross.T @ U, corner, self.n)
        W = scale_by_cholesky(np.concatenate([U, -np.eye(len(slots))]), L)
        self._matrix.write(slots, self._matrix.scatter(cross), corner)
        self._defer(self._matrix.scatter(W), 1.0)
        return W

    def remove(self, positions: Array) -> Array | None:
        W = super().remove(positions)
        return None if W is None else W.astype(self.dtype)

    # -- the inverse ----------------------------------------------------------------------------

    def apply_inverse(self, B: Array) -> Array:
        return super().apply_inverse(B).astype(self.dtype)

    def columns(self, positions: Array) -> Array:
        return super().columns(positions).astype(self.dtype)

    def diagonal(self) -> Array:
        return super().diagonal().astype(self.dtype)

    def solve(self, B: Array, start: Array | None = None) -> tuple[Array, float]:
        """``A⁻¹ B`` in float64 by conjugate residuals; see `Factor`."""
        goal = 2**10 * float(np.finfo(self.dtype).eps) * float(np.abs(B).max(initial=0.0))
        X = np.zeros(B.shape, dtype=self.dtype, like=B) if start is None else start
        residual = B if start is None else B - self.multiply(X)
        error = float(np.abs(residual).max(initial=0.0))
        past: list[tuple[Array, Array, Array]] = []
        for _ in range(_STEPS):
            if error <= goal:
                break
            Z = self.apply_inverse(residual)
            Q = self.multiply(Z)
            for z, q, square in past:
                share = (q * Q).sum(axis=0) / square
                Z, Q = Z - share * z, Q - share * q
            square = np.maximum((Q * Q).sum(axis=0), np.finfo(self.dtype).tiny)
            share = (Q * residual).sum(axis=0) / square
            X, residual = X + share * Z, residual - share * Q
            past.append((Z, Q, square))
            error = float(np.abs(residual).max(initial=0.0))
        return X, float(np.abs(B - self.multiply(X)).max(initial=0.0))
