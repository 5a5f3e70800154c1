"""The live resolvent: P = (K + iσD)⁻¹, complex, for ridge regressions on the columns of K.

It contains both matrices that such an estimator needs, with the square root of their condition::

    (K D⁻¹ K + μD)⁻¹ = −Im P / σ,    D⁻¹ K (K D⁻¹ K + μD)⁻¹ = Re P,    σ = √μ

``A = K + iσD`` is complex symmetric, and each sample adds a row *and* a column to it. The updates
of the live inverse therefore apply, transposed and never conjugated. The imaginary part of a Schur
complement is at least σ/weight, so it cannot vanish for any kernel or any number of duplicates.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from gramian.core.arrays import Array, add_outer, complex_cholesky, scale_by_cholesky
from gramian.core.gram._errors import NotPositiveDefiniteError
from gramian.core.gram._inverse import LiveInverse, schur_threshold

_SWEPT = 128


class LiveResolvent(LiveInverse):
    """A `LiveInverse` of a complex symmetric A whose imaginary part is a positive diagonal.

    Memory: (17/16 n)² complex numbers.
    """

    name: ClassVar[str] = "resolvent"

    def condition(self) -> float:
        """An upper bound of ‖A‖₂ ‖P‖₂, since ‖P‖₂ ≤ 1 / min Im diag(A)."""
        least = self.matrix_diagonal().imag.min(initial=np.inf)
        return float(self.norm() / float(least))

    def spread(self) -> float:
        """The largest Im diag(A) over the smallest, as the largest weight over the smallest."""
        shifts = self.matrix_diagonal().imag
        return float(shifts.max(initial=0.0)) / float(shifts.min(initial=np.inf))

    # -- inside ---------------------------------------------------------------------------------

    def _schur_root(self, S: Array, corner: Array) -> Array:
        L = complex_cholesky(S)
        entering = np.arange(len(L))
        check_schur(np.diagonal(L) ** 2, np.diagonal(corner), entering, self.n, new=True)
        return L

    def _leaving_root(self, block: Array, positions: Array) -> Array:
        L = complex_cholesky(block)
        with np.errstate(divide="ignore", invalid="ignore"):
            schur = 1.0 / np.diagonal(L) ** 2
        check_schur(schur, self.matrix_diagonal()[positions], positions, self.n)
        return L

    def _invert_upper(self, cholesky_done: bool) -> None:
        """Compute P by sweeping A, a block of slots at a time: 4 n³ flops, in place."""
        matrix = self._matrix
        matrix.copy_to_upper()
        pivots = np.empty(matrix.capacity, dtype=self.dtype, like=matrix.buffer)
        for start in range(0, matrix.capacity, _SWEPT):
            block = slice(start, min(start + _SWEPT, matrix.capacity))
            pivots[block] = sweep(matrix.buffer, block)
        for j, column in enumerate(matrix.buffer.T):
            column[: j + 1] *= -1.0
        check_schur(pivots[matrix.index], self.matrix_diagonal(), np.arange(self.n), self.n)


def sweep(buffer: Array, block: slice) -> Array:
    """Replace block J of the symmetric S in the upper triangle by its inverse, in place.

    ::

        S_JJ ← −S_JJ⁻¹,    S_oJ ← S_oJ S_JJ⁻¹,    S_oo ← S_oo − S_oJ S_JJ⁻¹ S_Jo

    All three are one update ``S ← S − C S_JJ⁻¹ Cᵀ``, once block J of S is zero and that of C is −1.
    After all blocks have been swept, S is −S⁻¹. Returns the pivots: the Schur complement of each
    row in the rows swept before.
    """
    start, stop = block.start, block.stop
    square = np.triu(buffer[block, block])
    L = complex_cholesky(square + np.triu(square, 1).T)
    C = np.concatenate([buffer[:start, block], -np.eye(stop - start), buffer[block, stop:].T])
    buffer[:start, block] = 0.0
    buffer[block, stop:] = 0.0
    buffer[block, block] = np.tril(buffer[block, block], -1)
    add_outer(buffer, scale_by_cholesky(C, L), -1.0)
    return np.diagonal(L) ** 2


def check_schur(schur: Array, diagonal: Array, positions: Array, n: int, new: bool = False) -> None:
    """Raise if a Schur complement is lost in rounding error: λ or σ is too small for the kernel.

    In exact arithmetic the imaginary part of a resolvent's, hence its size, is at least that of the
    diagonal.
    """
    size = np.abs(schur) if np.iscomplexobj(schur) else schur
    least = schur_threshold(diagonal, n)
    low = np.flatnonzero(~(size > np.maximum(least, 0.5 * diagonal.imag)))  # NaN counts as low
    if len(low):
        raise NotPositiveDefiniteError(int(positions[low[0]]), float(size[low[0]]), least, new)
