"""Sums over samples in place of a matrix of samples: for linear kernels with n ≫ d.

With d numbers per sample (rows of X), targets Y, weights w and a penalty Λ, a diagonal matrix::

    M = Λ + Σᵢ wᵢ xᵢ xᵢᵀ,      V = Σᵢ wᵢ xᵢ yᵢᵀ,      M B = V

M is d×d, whatever n: samples enter (+) and leave (−) in O(d²), and N = M⁻¹ follows by the identity
of Sherman, Morrison and Woodbury, ``N ∓ U (W⁻¹ ± X U)⁻¹ Uᵀ`` with ``U = N Xᵀ``.

Sums are compensated: what rounding takes from an addition is kept beside it. A sample that leaves
so takes away what it brought, and the error is that of its own products, not of the whole sum.
"""

from __future__ import annotations

from copy import copy

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from gramian.arrays import Array, scale_by_cholesky, small_cholesky

# The sums are worn when this many times what they hold has passed through them.
_WEAR = 64.0
# Refinement must shrink a residual by this factor at first, or the inverse has drifted too far.
_CONTRACTION = 1e-4


class CompensatedSum:
    """A sum of arrays together with what rounding took from it, by error-free addition."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._high, self._low = np.zeros(shape), np.zeros(shape)

    @property
    def value(self) -> Array:
        return self._high + self._low

    def add(self, term: Array) -> None:
        """Add a term: Knuth's two-sum, exact but for the rounding of the remainders' own sum."""
        total = self._high + term
        added = total - self._high
        self._low = self._low + ((self._high - (total - added)) + (term - added))
        self._high = total

    def take(self, index: Array) -> None:
        """Keep these rows and columns; −1 stands for one of zeros."""
        high, low = (np.pad(part, (0, 1)) for part in (self._high, self._low))
        self._high, self._low = high[np.ix_(index, index)], low[np.ix_(index, index)]


class LiveNormal:
    """``M B = V`` with samples that come and go in O(d²), B held to the summed M.

    Parameters
    ----------
    penalty : ndarray of shape (d,)
        Diagonal of Λ.
    n_targets : int
    """

    def __init__(self, penalty: Array, n_targets: int) -> None:
        self.d = len(penalty)
        size = self.d + n_targets
        self._penalty = penalty
        self._sums = CompensatedSum((size, size))  # of w [x; y] [x; y]ᵀ
        self._passed = np.zeros(size)
        self._N: Array | None = None

    def copy(self) -> LiveNormal:
        """A twin whose edits do not touch this one; arrays are replaced by edits, never changed."""
        twin = copy(self)
        twin._sums = copy(self._sums)
        return twin

    # -- edits ----------------------------------------------------------------------------------

    def append(self, X: Array, Y: Array, weight: Array) -> None:
        """Enter samples, O(d²) each. Y may bring new columns."""
        extra = Y.shape[1] - (len(self._passed) - self.d)
        if extra:
            self._take(np.append(np.arange(len(self._passed)), np.full(extra, -1)))
        self._edit(X, Y, weight, 1.0)

    def remove(self, X: Array, Y: Array, weight: Array) -> None:
        """Take samples out, O(d²) each."""
        self._edit(X, Y, weight, -1.0)

    def select_columns(self, columns: Array) -> None:
        """Keep these columns of Y."""
        self._take(np.append(np.arange(self.d), self.d + columns))

    # -- reads ----------------------------------------------------------------------------------

    def matrix(self) -> Array:
        """M."""
        M = self._sums.value[: self.d, : self.d]
        M[np.diag_indices(self.d)] += self._penalty
        return M

    def worn(self) -> bool:
        """Whether so much has entered and left since the start that rounding may show.

        Feature by feature and target by target: 64 times the sum of squares that is held now. The
        owner then sums again from the samples.
        """
        held = self._sums.value.diagonal().copy()
        held[: self.d] += self._penalty
        return bool(np.any(self._passed > _WEAR * held))

    def scales(self) -> Array:
        """Size of the terms of V, ``√(M_aa Σ w y_t²)``: what a residual of M B = V is held to."""
        squares = self._sums.value.diagonal().copy()
        squares[: self.d] += self._penalty
        return np.sqrt(np.outer(squares[: self.d], squares[self.d :]))

    def inverse(self) -> Array:
        """N, rebuilt by a Cholesky factor of M, O(d³)."""
        self._N = _invert(self.matrix())
        return self._N

    def solution(self) -> Array:
        """B, of shape (d, t): N V, refined while the residual in the summed M halves.

        O(d² t); O(d³) when N has to be rebuilt: after edits of more than d/2 samples at once, or
        when refinement shows that it has drifted.
        """
        M, V = self.matrix(), self._sums.value[: self.d, self.d :]
        scale = 1.0 / np.sqrt(M.diagonal())
        M, V = scale[:, None] * M * scale, scale[:, None] * V
        B, contraction = _refine(M, self._scaled_inverse(scale), V)
        if contraction > _CONTRACTION:
            self._N = None
            B, _ = _refine(M, self._scaled_inverse(scale), V)
        return scale[:, None] * B

    # -- inside ---------------------------------------------------------------------------------

    def _scaled_inverse(self, scale: Array) -> Array:
        N = self.inverse() if self._N is None else self._N
        return N / np.outer(scale, scale)

    def _edit(self, X: Array, Y: Array, weight: Array, sign: float) -> None:
        T = np.sqrt(weight)[:, None] * np.hstack([X, Y])
        with np.errstate(over="ignore", invalid="ignore"):
            products = T.T @ T
        if not np.isfinite(products).all():
            raise ValueError(
                "the samples are too large: sums of their squares are not finite in float64. "
                "Scale the samples or the targets."
            )
        N = self._edited_inverse(T[:, : self.d], sign)
        self._sums.add(sign * products)
        self._passed = self._passed + np.einsum("ij,ij->j", T, T)
        self._N = N

    def _edited_inverse(self, X: Array, sign: float) -> Array | None:
        """N after samples of weight 1 enter or leave; None where rebuilding is better."""
        k = len(X)
        if self._N is None or k > self.d // 2:
            return None
        U = self._N @ X.T
        L, info = small_cholesky(np.eye(k) + sign * (X @ U))
        if info:
            return None
        W = scale_by_cholesky(U, L)
        return self._N - sign * (W @ W.T)

    def _take(self, index: Array) -> None:
        self._sums.take(index)
        self._passed = np.append(self._passed, 0.0)[index]


def _invert(M: Array) -> Array:
    """M⁻¹, with M scaled to a unit diagonal so that units of measurement do not matter.

    Raises
    ------
    LinAlgError
        If M is not positive definite in floating point.
    """
    scale = 1.0 / np.sqrt(M.diagonal())
    try:
        factor = cho_factor(scale[:, None] * M * scale)
    except np.linalg.LinAlgError as error:
        raise np.linalg.LinAlgError(
            "the sums over the samples are singular: features depend on each other and the "
            "penalty is too small to tell them apart; lower `C`, or drop or scale features."
        ) from error
    return scale[:, None] * cho_solve(factor, np.diag(scale))


def _refine(M: Array, N: Array, V: Array) -> tuple[Array, float]:
    """``B = M⁻¹ V`` with N as preconditioner, and how much of a residual N leaves."""
    B = N @ V
    residual = V - M @ B
    error = float(np.abs(residual).max(initial=0.0))
    contraction = error / max(float(np.abs(V).max(initial=0.0)), np.finfo(float).tiny)
    while error > 0.0:
        refined = B + N @ residual
        residual = V - M @ refined
        previous, error = error, float(np.abs(residual).max())
        if not error < previous / 2:
            break
        B = refined
    return B, contraction
