"""The interface of every factorisation of a growing and shrinking matrix A."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from gramian.core.arrays import Array, factor_cholesky
from gramian.core.gram._errors import NotPositiveDefiniteError
from gramian.core.gram._slots import SlotMatrix


def check_positions(positions: Array, n: int) -> None:
    """Raise unless the positions are distinct and each lies in 0 … n − 1."""
    order = np.sort(positions)
    if len(order) and not 0 <= order[0] <= order[-1] < n:
        raise IndexError(f"positions must be in 0 … {n - 1}, got {order[0]} … {order[-1]}.")
    repeated = order[1:][order[1:] == order[:-1]]
    if len(repeated):
        raise ValueError(f"positions must be distinct, got {repeated[0]} twice.")


class Factor(ABC):
    """A symmetric positive definite matrix A, stored both unchanged and in factored form.

    Samples are rows and columns of A in order of arrival: an append adds them at the end, a removal
    closes the gap. No update changes the stored A arithmetically, so every solution can be checked
    against the true system and the factored form can be rebuilt from A.

    Appends and removals are atomic: one that raises leaves the factor as it was.
    """

    name: ClassVar[str]

    # -- the matrix -----------------------------------------------------------------------------

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of samples."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype:
        """Data type of all arguments and results."""

    @abstractmethod
    def matrix_diagonal(self) -> Array:
        """``diag(A)``."""

    def largest(self) -> float:
        """``max |diag(A)|``."""
        return float(np.abs(self.matrix_diagonal()).max(initial=0.0))

    @abstractmethod
    def multiply(self, X: Array) -> Array:
        """``A @ X`` with the true A, O(n²) per few columns."""

    @abstractmethod
    def rows(self, positions: Array) -> Array:
        """Rows of the true A, O(n) each."""

    @abstractmethod
    def norm(self) -> float:
        """``‖A‖₁``, O(n²)."""

    # -- edits ----------------------------------------------------------------------------------

    @abstractmethod
    def append(self, cross: Array, corner: Array) -> Array | None:
        """Add k samples: ``cross`` (n×k) is A[held, new], ``corner`` (k×k) is A[new, new].

        Returns W of shape (n+k, k) with ``P_after = P_before + W Wᵀ`` (P_before padded by zeros)
        if the update computes it, else None.

        Raises
        ------
        NotPositiveDefiniteError
            If the Schur complement of the new samples is not positive definite.
        """

    @abstractmethod
    def remove(self, positions: Array) -> Array | None:
        """Remove k samples and erase their numbers.

        Returns W of shape (n, k), n counted before, with ``P_after = P_before − W Wᵀ`` if the
        update computes it, else None. ``W[positions]`` is lower triangular.
        """

    @abstractmethod
    def rebuild(self) -> None:
        """Rebuild the factored form from A, O(n³)."""

    def fold(self) -> None:  # noqa: B027
        """Carry out deferred updates, if any; until then they contain traces of removed samples."""

    # -- the inverse ----------------------------------------------------------------------------

    @abstractmethod
    def apply_inverse(self, B: Array) -> Array:
        """``P @ B`` by the factored form alone, without refinement; O(n²) per few columns."""

    @abstractmethod
    def diagonal(self) -> Array:
        """``diag(P)``."""

    @abstractmethod
    def square_diagonal(self, weights: Array) -> Array:
        """``diag(P diag(weights) P)``."""

    def columns(self, positions: Array) -> Array:
        """Columns of P, shape (n, k)."""
        shape, like = (self.n, len(positions)), self.matrix_diagonal()
        unit = np.zeros(shape, dtype=self.dtype, order="F", like=like)
        unit[positions, np.arange(len(positions))] = 1.0
        return self.apply_inverse(unit)

    def solve(self, B: Array, start: Array | None = None) -> tuple[Array, float]:
        """``X = A⁻¹ B``, refined against the true A, and its residual ``max |B − A X|``.

        Iterative refinement ``X ← X + P (B − A X)``, with P as preconditioner, continues while it
        halves the residual, O(n²) per step. The final residual is either rounding error of A X, or
        a sign that P has drifted too far; the caller knows the scale that distinguishes them.
        """
        X = self.apply_inverse(B) if start is None else start
        residual = B - self.multiply(X)
        error = float(np.abs(residual).max(initial=0.0))
        while error > 0.0:
            refined = X + self.apply_inverse(residual)
            residual = B - self.multiply(refined)
            previous, error = error, float(np.abs(residual).max())
            if not error < previous:
                return X, previous
            X = refined
            if error > previous / 2:
                break
        return X, error

    def inverse_drift(self, positions: Array, rows: Array | None = None) -> float:
        """``max |A P − I|`` over these rows (of A, if given) and columns, O(n) each."""
        product = (self.rows(positions) if rows is None else rows) @ self.columns(positions)
        return float(np.abs(product - np.eye(len(positions))).max(initial=0.0))


class SlotFactor(Factor):
    """A factor in the upper triangle of a `SlotMatrix`, with A in the lower."""

    _matrix: SlotMatrix

    @property
    def n(self) -> int:
        return len(self._matrix.slots)

    @property
    def dtype(self) -> np.dtype:
        return self._matrix.buffer.dtype

    @property
    def matrix(self) -> SlotMatrix:
        """The storage, which another factor can take over."""
        return self._matrix

    def matrix_diagonal(self) -> Array:
        return self._matrix.diagonal[self._matrix.index]

    def largest(self) -> float:
        diagonal = self._matrix.diagonal  # 0 in free slots, and else > 0 unless it is complex
        return float((np.abs(diagonal) if diagonal.dtype.kind == "c" else diagonal).max())

    def multiply(self, X: Array) -> Array:
        return self._matrix.multiply(X)

    def rows(self, positions: Array) -> Array:
        return self._matrix.rows(positions)

    def norm(self) -> float:
        return self._matrix.norm()

    def _cholesky(self) -> None:
        """Write R with ``A = RᵀR``, in the order of the slots, into the upper triangle."""
        self._matrix.copy_to_upper()
        info = factor_cholesky(self._matrix.active)
        pivots = self._matrix.buffer.diagonal()
        failed = info - 1 if info else int(np.argmax(np.isnan(pivots)))
        if info or np.isnan(pivots[failed]):  # LAPACK does not report a NaN
            position = int(np.flatnonzero(self._matrix.slots == failed)[0])
            raise NotPositiveDefiniteError(position, float(pivots[failed]), 0.0)
