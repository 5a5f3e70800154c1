"""The inverse in single precision: more samples in the same memory, and double precision in X.

P and the A beside it are float32, which halves the memory. Solutions are float64 all the same:
their residual is that of the true A, whose rows are computed from the samples again, and P only
brings them nearer (iterative refinement)::

    X ← X + P (B − A X),      the error falls by the factor ‖I − P A‖ ≈ cond(A) · 6e-8

A step evaluates the kernel for all pairs of samples. diag(P), and leave-one-out values with it,
have the digits of P: about seven, less those of the condition number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from gramian.arrays import Array, row_blocks
from gramian.gram._inverse import LiveInverse
from gramian.gram._slots import SlotMatrix

SINGLE = "single"

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
        return super().append(cross, corner).astype(self.dtype)

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

    # -- inside ---------------------------------------------------------------------------------

    def _take(self, matrix: SlotMatrix) -> None:
        self._matrix = matrix
        self.norm = matrix.norm
