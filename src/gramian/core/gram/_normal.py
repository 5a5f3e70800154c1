"""Least squares from sums over samples, in place of a matrix of samples: for few features.

With d numbers per sample (rows of X), targets Y, weights w and a diagonal penalty Λ::

    M = Λ + Σᵢ wᵢ xᵢ xᵢᵀ,      V = Σᵢ wᵢ xᵢ yᵢᵀ,      M B = V

M is d×d for any n: adding (+) or removing (−) a sample costs O(d²). N = M⁻¹ follows by the identity
of Sherman, Morrison and Woodbury, ``N ∓ U (W⁻¹ ± X U)⁻¹ Uᵀ`` with ``U = N Xᵀ``. The sums are the
reference; N only helps to solve, and B is refined against M.

The sums are compensated: the rounding error of each addition is stored with them. Removing a
sample thus subtracts what it added, with an error of its own products, not of the whole sum.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import numpy as np

from gramian.core.arrays import (
    Array,
    factor_cholesky,
    invert_cholesky,
    placed_like,
    row_blocks,
    scale_by_cholesky,
    small_cholesky,
    to_host,
)

# The sums are worn when the terms that passed through them are this many times what they hold.
_WEAR = 64.0
# The same where rounding errors of the sums move what they determine least by more than this.
LOST, _WEAR_THERE = 1e-10, 4.0
# The first refinement must reduce the residual by this factor, or the inverse is rebuilt.
_CONTRACTION = 1e-4
# Removing samples with 1 − wᵢ xᵢᵀ N xᵢ below this rebuilds N, because an update would lose digits.
_STEEP = 1e-3
# Sums are added in blocks of rows of this many bytes, which fit into the processor's cache.
_CACHE = 2**18
# A matrix of so many rows is inverted on the device of the model, if it has one.
LARGE = 2048
_TINY = float(np.finfo(float).tiny)


class CompensatedSum:
    """A sum of arrays together with its accumulated rounding error, by error-free addition."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._high, self._low = np.zeros(shape), np.zeros(shape)

    @property
    def value(self) -> Array:
        return self._high + self._low

    def diagonal(self) -> Array:
        return self._high.diagonal() + self._low.diagonal()

    def add(self, term: Array) -> None:
        """Add a term by Knuth's two-sum: exact, except that the remainders' own sum is rounded."""
        self._add(lambda rows: term[rows])

    def add_outer(self, a: Array, b: Array) -> None:
        """Add ``a bᵀ`` of two vectors."""
        self._add(lambda rows: np.multiply.outer(a[rows], b))

    def _add(self, term: Callable[[slice], Array]) -> None:
        high, low = np.empty_like(self._high), np.empty_like(self._low)
        for rows in row_blocks(len(high), high.shape[1], budget=_CACHE):
            before, more, total, lost = self._high[rows], term(rows), high[rows], low[rows]
            np.add(before, more, out=total)
            added = total - before
            np.subtract(total, added, out=lost)
            np.subtract(before, lost, out=lost)
            np.subtract(more, added, out=added)
            lost += added
            lost += self._low[rows]
        self._high, self._low = high, low

    def take(self, index: Array, factors: Array) -> None:
        """Keep these rows and columns, times factors; index −1 inserts zeros."""
        both, scale = np.ix_(index, index), np.outer(factors, factors)
        high, low = (np.pad(part, (0, 1)) for part in (self._high, self._low))
        self._high, self._low = high[both] * scale, low[both] * scale


class LiveNormal:
    """Solves ``M B = V`` while samples are added and removed in O(d²); refines B against M.

    Parameters
    ----------
    penalty : ndarray of shape (d,)
        Diagonal of Λ.
    n_targets : int
    sums : ndarray of shape (d + n_targets, d + n_targets), optional
        Initial ``Σ w [x; y] [x; y]ᵀ``; zeros by default.
    advice : str
        Remedy for sums that do not determine B, for the error message.
    like : array, optional
        An array on the device that computes large inverses; host memory by default.

    Attributes
    ----------
    rebuilds : int
        How often N was computed from M.
    """

    d: int
    rebuilds: int
    advice: str

    def __init__(
        self,
        penalty: Array,
        n_targets: int,
        sums: Array | None = None,
        advice: str = "lower `C`, or drop or scale features",
        like: Array | None = None,
    ) -> None:
        self.d, self.rebuilds, self.advice = len(penalty), 0, advice
        size = self.d + n_targets
        self._penalty, self._like = penalty, like if self.d >= LARGE else None
        self._sums = CompensatedSum((size, size))
        self._passed = np.zeros(size)
        if sums is not None:
            self._sums.add(sums)
            self._passed = sums.diagonal().copy()
        self._N: Array | None = None
        self._B: Array | None = None

    def copy(self) -> LiveNormal:
        """Return a copy with independent edits; edits replace arrays and never change them."""
        twin = copy(self)
        twin._sums = copy(self._sums)
        return twin

    # -- edits ----------------------------------------------------------------------------------

    def append(self, X: Array, Y: Array, weight: Array) -> None:
        """Add samples, O(d²) each. Y may have new columns."""
        extra = Y.shape[1] - self.n_targets
        if extra:
            self._take(np.append(np.arange(len(self._passed)), np.full(extra, -1)))
        self._edit(X, Y, weight, 1.0)

    def remove(self, X: Array, Y: Array, weight: Array) -> None:
        """Remove samples, O(d²) each."""
        self._edit(X, Y, weight, -1.0)

    def select_columns(self, columns: Array) -> None:
        """Keep these columns of Y."""
        self._take(np.append(np.arange(self.d), self.d + columns))

    def append_multiples(self, feature: int, factors: Array) -> None:
        """Add columns of Y that are these multiples of a feature in every sample so far."""
        old = np.arange(len(self._passed))
        index = np.append(old, np.full(len(factors), feature))
        self._take(index, np.append(np.ones(len(old)), factors))

    # -- reads ----------------------------------------------------------------------------------

    @property
    def n_targets(self) -> int:
        """Columns of Y."""
        return len(self._passed) - self.d

    def sums(self) -> Array:
        """``Σ w [x; y] [x; y]ᵀ``, of shape (d + t, d + t)."""
        return self._sums.value

    def matrix(self) -> Array:
        """M."""
        return self._split()[0]

    def worn(self) -> bool:
        """Whether so much was added and removed since the start that rounding may matter.

        True if the squares that passed through any feature or target exceed 64 times the sum of
        squares held now; 4 times, if the rest is determined so little that rounding errors of what
        passed would show. The owner must then compute the sums again from the samples.
        """
        squares = self._squares()
        if np.any(self._passed > _WEAR * squares):
            return True
        return bool(np.any(self._passed > _WEAR_THERE * squares)) and self.rounding() > LOST

    def rounding(self) -> float:
        """Relative size of what rounding errors of the sums change in N: ``eps Σ x_a² N_aa``.

        Infinite if they have left M without an inverse.
        """
        try:
            sizes = self._passed[: self.d] * self.present_inverse().diagonal()
        except np.linalg.LinAlgError:
            return np.inf
        return float(np.finfo(float).eps * sizes.max(initial=0.0))

    def scales(self) -> Array:
        """Size of the terms of V, ``√(M_aa Σ w y_t²)``, the unit for residuals of M B = V."""
        squares = np.abs(self._squares())
        result: Array = np.sqrt(np.outer(squares[: self.d], squares[self.d :]))
        return result

    def drift(self) -> float:
        """Largest residual of the solution in ``M B = V``, relative to `scales`."""
        B, (M, V) = self.solution(), self._split()
        return float(np.max(np.abs(V - M @ B) / np.maximum(self.scales(), _TINY), initial=0.0))

    def inverse(self) -> Array:
        """N, rebuilt by a Cholesky factor of M, O(d³)."""
        self._N = _invert(self.matrix(), self.advice, self._like)
        self.rebuilds += 1
        return self._N

    def present_inverse(self) -> Array:
        """N after all updates, computed from M if there is none yet."""
        return self.inverse() if self._N is None else self._N

    def solution(self) -> Array:
        """B of shape (d, t): N V, refined while the residual in the summed M halves.

        O(d² t), or O(d³) when N must be rebuilt: after edits of more than d/2 samples at once, or
        when refinement shows that N has drifted. Cached until the next edit.
        """
        if self._B is None:
            M, V = self._split()
            B, contraction = _refine(M, self.present_inverse(), V)
            if contraction > _CONTRACTION:
                B, _ = _refine(M, self.inverse(), V)
            self._B = B
        return self._B

    # -- inside ---------------------------------------------------------------------------------

    def _split(self) -> tuple[Array, Array]:
        """M and V."""
        S, d = self._sums.value, self.d
        M = S[:d, :d]
        M[np.diag_indices(d)] += self._penalty
        return M, S[:d, d:]

    def _squares(self) -> Array:
        """The diagonal of M, and the sums of squares of the targets."""
        squares = self._sums.diagonal()
        squares[: self.d] += self._penalty
        return squares

    def _edit(self, X: Array, Y: Array, weight: Array, sign: float) -> None:
        T = np.sqrt(weight)[:, None] * np.hstack([X, Y])
        with np.errstate(over="ignore"):
            squares = np.einsum("ij,ij->j", T, T)  # no product of two columns is larger
        if not np.isfinite(squares).all():
            raise ValueError(
                "the samples are too large: sums of their squares are not finite in float64. "
                "Scale the samples or the targets."
            )
        N = self._edited_inverse(T[:, : self.d], sign)
        if len(T) == 1:
            self._sums.add_outer(sign * T[0], T[0])
        else:
            self._sums.add(sign * (T.T @ T))
        self._passed = self._passed + squares
        self._N, self._B = N, None

    def _edited_inverse(self, X: Array, sign: float) -> Array | None:
        """N after adding or removing samples of weight 1; None if rebuilding it is better."""
        k = len(X)
        if self._N is None or k > self.d // 2:
            return None
        U = self._N @ X.T
        L, info = small_cholesky(np.eye(k) + sign * (X @ U))
        if info or np.square(L.diagonal()).min(initial=1.0) < _STEEP:
            return None
        W = scale_by_cholesky(U, L)
        change = W @ W.T
        result: Array | None = (np.subtract if sign > 0 else np.add)(self._N, change, out=change)
        return result

    def _take(self, index: Array, factors: Array | None = None) -> None:
        factors = np.ones(len(index)) if factors is None else factors
        self._sums.take(index, factors)
        self._passed = np.append(self._passed, 0.0)[index] * factors**2
        self._B = None


def _invert(M: Array, advice: str, like: Array | None) -> Array:
    """M⁻¹, with M first scaled to a unit diagonal so that units of measurement do not matter.

    The scaled matrix is inverted on the device of ``like``.

    Raises
    ------
    LinAlgError
        If M is not positive definite in floating point.
    """
    scale = 1.0 / np.sqrt(np.maximum(M.diagonal(), _TINY))
    with np.errstate(over="ignore", invalid="ignore"):  # what is left of an outlier is no diagonal
        N = placed_like(np.asfortranarray(scale[:, None] * M * scale), like)
    bad = factor_cholesky(N)
    if bad:
        raise np.linalg.LinAlgError(
            f"the samples do not determine the weight of column {bad - 1} of {len(M)}, and the "
            f"penalty is too small to do it: {advice}."
        )
    invert_cholesky(N)
    N = to_host(np.triu(N) + np.triu(N, 1).T)
    result: Array = scale[:, None] * N * scale
    return result


def _refine(M: Array, N: Array, V: Array) -> tuple[Array, float]:
    """``B = M⁻¹ V`` with N as preconditioner, and the relative residual after the first step.

    Residuals are measured in units of √M_jj, so that units of measurement do not matter.
    """
    unit = 1.0 / np.sqrt(np.maximum(M.diagonal(), _TINY))[:, None]
    B = N @ V
    residual = V - M @ B
    error = float(np.abs(unit * residual).max(initial=0.0))
    contraction = error / max(float(np.abs(unit * V).max(initial=0.0)), _TINY)
    while error > 0.0:
        refined = B + N @ residual
        residual = V - M @ refined
        previous, error = error, float(np.abs(unit * residual).max())
        if not error < previous / 2:
            break
        B = refined
    return B, contraction
