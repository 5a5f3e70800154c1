"""The QR decomposition, updated by Givens rotations: kim2006's method, kept as a reference."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.linalg import qr, qr_delete, qr_insert, solve_triangular

from gramian.core.arrays import Array, on_device, row_blocks, small_cholesky
from gramian.core.gram._errors import NotPositiveDefiniteError
from gramian.core.gram._factor import Factor, check_positions
from gramian.core.gram._inverse import schur_cholesky
from gramian.core.gram._memory import require_memory
from gramian.core.gram._slots import RowBlock


class QRFactor(Factor):
    """``A = Q R``; each sample inserts or deletes a row and a column in O(n²).

    kim2006 decomposes the transpose of ``[1, A]``. Here the column of ones enters the solution in
    closed form (docs/maths), so only A is decomposed, which serves every model. The rotations of
    its Algorithms 1 to 4 are those of `scipy.linalg.qr_insert` and `qr_delete`. Memory: 3 n².
    """

    name: ClassVar[str] = "qr"
    _Q: Array
    _R: Array

    def __init__(self, diagonal: Array, row_block: RowBlock) -> None:
        n = len(diagonal)
        if on_device(diagonal):  # on a device
            raise ValueError(
                'factor="qr" is not there on a device: it is a reference, in host memory. '
                'Leave factor at "auto", or device at None.'
            )
        require_memory(3 * n**2 * diagonal.itemsize, f"Factoring the Gram matrix of {n} samples")
        self._A = np.empty((n, n), dtype=diagonal.dtype)
        for rows in row_blocks(n, n, diagonal.itemsize):
            self._A[rows] = row_block(rows, slice(0, n))
        np.fill_diagonal(self._A, diagonal)
        self.rebuild()

    @property
    def n(self) -> int:
        return len(self._A)

    @property
    def dtype(self) -> np.dtype:
        return self._A.dtype

    def matrix_diagonal(self) -> Array:
        return np.diagonal(self._A)

    def multiply(self, X: Array) -> Array:
        return self._A @ X

    def rows(self, positions: Array) -> Array:
        return self._A[positions]

    def norm(self) -> float:
        return float(np.abs(self._A).sum(axis=0).max(initial=0.0))

    def condition(self) -> float:
        """Condition number of A in the 1-norm, O(n³)."""
        return float(np.linalg.cond(self._A, 1))

    # -- edits ----------------------------------------------------------------------------------

    def append(self, cross: Array, corner: Array) -> None:
        """Append by inserting the columns, then the rows, by Givens rotations; see `Factor`."""
        n, k = cross.shape
        # The pivots of R have no sign; the Schur complement shows whether A stays definite.
        schur_cholesky(corner - cross.T @ self.apply_inverse(cross), corner, len(cross))
        require_memory(3 * (n + k) ** 2 * self.dtype.itemsize, "Growing the Gram matrix")
        Q, R = qr_insert(self._Q, self._R, cross, n, which="col")  # kim2006, Alg. 1
        rows = np.hstack([cross.T, corner])
        for i in range(k):
            Q, R = qr_insert(Q, R, rows[i], n + i, which="row")  # kim2006, Alg. 2
        self._A = np.block([[self._A, cross], [rows]])
        self._Q, self._R = Q, R

    def remove(self, positions: Array) -> None:
        """Remove by deleting the columns, then the rows, by Givens rotations; see `Factor`."""
        check_positions(positions, self.n)
        Q, R = self._Q, self._R
        for i in np.sort(positions)[::-1]:
            Q, R = qr_delete(Q, R, i, which="col")  # kim2006, Alg. 3
            Q, R = qr_delete(Q, R, i, which="row")  # kim2006, Alg. 4
        self._A = np.delete(np.delete(self._A, positions, axis=0), positions, axis=1)
        self._Q, self._R = Q, R

    def rebuild(self) -> None:
        L, info = small_cholesky(self._A)
        if info:
            raise NotPositiveDefiniteError(info - 1, float(L[info - 1, info - 1]), 0.0)
        # LAPACK takes no matrix of no samples.
        self._Q, self._R = qr(self._A) if len(self._A) else (self._A.copy(), self._A.copy())

    # -- the inverse ----------------------------------------------------------------------------

    def apply_inverse(self, B: Array) -> Array:
        return self._solve_upper(self._Q.T @ B)

    def diagonal(self) -> Array:
        """``diag(P)``, O(n³)."""
        return np.diagonal(self._inverse()).copy()

    def square_diagonal(self, weights: Array) -> Array:
        """``diag(P diag(weights) P)``, O(n³)."""
        P = self._inverse()
        result: Array = np.einsum("ij,ij,i->j", P, P, weights)
        return result

    def _inverse(self) -> Array:
        return self._solve_upper(self._Q.T)

    def _solve_upper(self, B: Array) -> Array:
        """``R⁻¹ B``; LAPACK takes no matrix of no samples."""
        return solve_triangular(self._R, B) if len(B) else B
