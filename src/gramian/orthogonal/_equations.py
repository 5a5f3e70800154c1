"""Least squares on a growing set of orthogonal columns, its ridge and its criteria (andelic2007).

The columns k_1, k_2, … of a design matrix arrive one at a time. Each is split into a part in the
span of the earlier columns and a rest that is orthogonal to them::

    q_m = k_m − Q Q⁺ k_m,    K_m = Q_m U_m,    U_m = [U_{m−1}  Q⁺k_m; 0  1]

In the orthogonal columns ridge regression, ``min ‖Y − Q a‖² + λ ‖a‖²``, is one division each::

    a_j = q_jᵀY / (λ + q_jᵀq_j),    E = Y − Q a,    h_i = Σ_j q_ij² / (λ + q_jᵀq_j)

The weights of the original columns are ``w = U⁻¹ a``, with the penalty λ‖U w‖². Adding or dropping
a column or changing λ changes no other q_j. Leaving out row i, with the q_j kept as functions,
gives the residual ``E_i / (1 − h_i)`` there.

With ``s_j = q_jᵀq_j``, ``c_j = q_jᵀY``, ``r₀ = ‖Y − Q Q⁺Y‖²`` and N rows, the squared residual, the
degrees of freedom and generalised cross-validation are, for any λ and in O(m)::

    RSS(λ) = r₀ + Σ_j λ² ‖c_j‖² / (s_j (λ + s_j)²)
    df(λ)  = Σ_j s_j / (λ + s_j)
    GCV(λ) = N RSS(λ) / (N − df(λ))²

No term of RSS is negative, so nothing cancels however well the columns fit. The derivatives are
``RSS' = 2 λ Σ ‖c_j‖² / (λ + s_j)³`` and ``df' = −Σ s_j / (λ + s_j)²``, and GCV' = 0 reads::

    λ = RSS(λ) Σ s_j / (λ + s_j)²  /  ((N − df(λ)) Σ ‖c_j‖² / (λ + s_j)³)

If the right side is below λ, GCV' is positive, and vice versa: inserting λ on the right gives a
better λ on the left. This is the paper's re-estimation formula.

Columns are stored as the rows of arrays, so each is contiguous and can be appended in place. Arrays
of a number for each sample live where the targets are, also on a device; U, squares and moments in
host memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gramian.core.arrays import Array, device_like, row_blocks, subtract_outer, to_host

_FIRST_CAPACITY = 32
# Upper limit of λ as a multiple of the largest s_j; there every weight is shrunk to nearly 0.
_CEILING = 1e4
_ITERATIONS = 100
_PRECISION = 1e-6


class OrthogonalBasis:
    """Columns q_j and the unit upper triangular U with ``K = Q U``.

    The paper orthogonalises once and reports that this suffices. But one pass leaves eps ‖k‖ of the
    old directions in a rest that may be 10⁷ times shorter than k. Later columns inherit this error,
    and dependent columns enter unnoticed. Measured with an RBF kernel of 2,000 samples: after one
    pass |cos(q_i, q_j)| reaches 1e-8 in good cases and 0.99 in bad ones, within 200 columns. A
    second pass leaves eps ‖q‖, which suffices: 1e-15 at 1,000 columns.

    Parameters
    ----------
    n : int
        Length of the columns.
    dtype : data type
    like : array, optional
        An array on the device of the columns; host memory by default.

    Notes
    -----
    Memory n m + m² numbers for m columns, at most three times as much while growing.
    """

    def __init__(self, n: int, dtype: np.dtype, like: Array | None = None) -> None:
        self.size = 0
        self._Q = np.empty((_FIRST_CAPACITY, n), dtype=dtype, like=like)
        self._U = np.zeros((_FIRST_CAPACITY, _FIRST_CAPACITY), dtype=dtype)
        self._squares = np.empty(_FIRST_CAPACITY, dtype=dtype)

    @property
    def Q(self) -> Array:
        """Array of shape (m, n) whose row j is the column q_j. A view."""
        return self._Q[: self.size]

    @property
    def U(self) -> Array:
        """The triangle U, of shape (m, m). A view."""
        return self._U[: self.size, : self.size]

    @property
    def squares(self) -> Array:
        """``q_jᵀq_j``, of shape (m,). A view."""
        return self._squares[: self.size]

    def project(self, Z: Array) -> Array:
        """Subtract from each row of Z its part in the span, in place: one pass, O(n m) per row.

        Returns the coefficients ``Z Qᵀ diag(1/s)`` of that part, of shape (len(Z), m).
        """
        coefficients = (Z @ self.Q.T) / self.squares
        Z -= coefficients @ self.Q
        return coefficients

    def append(self, z: Array, coefficients: Array) -> None:
        """Add a column to which `project` has been applied once, O(n m).

        Parameters
        ----------
        z : ndarray of shape (n,)
            The rest of the column. Changed in place by the second pass.
        coefficients : ndarray of shape (m,)
            Coefficients that the first pass returned.
        """
        if self.size == len(self._Q):
            self._grow()
        m = self.size
        # andelic2007: q_m = k_m − K_{m−1} K⁺_{m−1} k_m and the last column of U_m
        self._U[:m, m] = to_host(coefficients + self.project(z[None])[0])
        self._U[m, m] = 1.0
        self._Q[m] = z
        self._squares[m] = float(z @ z)
        self.size = m + 1

    def truncate(self, size: int) -> None:
        """Drop all columns after the first ``size``; their memory is reused."""
        self._U[:, size:] = 0.0
        self.size = size

    def _grow(self) -> None:
        capacity = 2 * len(self._Q)
        self._Q = resized(self._Q, capacity)
        self._squares = resized(self._squares, capacity)
        U = np.zeros((capacity, capacity), dtype=self._U.dtype)
        U[: self.size, : self.size] = self.U
        self._U = U


class OrthogonalRegression:
    """Ridge regression of targets on a growing `OrthogonalBasis`.

    Stores two residuals: the plain one, ``Y − Q Q⁺ Y``, which does not depend on λ, and that of the
    ridge regression with its hat diagonal. A new column updates them in O(n t) at the same λ
    (andelic2007: ẽ_m = ẽ_{m−1} − q_m yᵀq_m / (λ + q_mᵀq_m)); changing λ costs O(n m t).

    Parameters
    ----------
    Y : ndarray of shape (n, t)
        For weighted rows, targets and columns must be multiplied by the roots of the weights.
    total : float
        Sum of the weights.
    free : int
        Number of leading columns without a ridge.

    Attributes
    ----------
    basis : OrthogonalBasis
    ridge : float
    plain : ndarray of shape (t, n)
        The residual of plain least squares.
    residual : ndarray of shape (t, n)
        The residual at ``ridge``.
    hat : ndarray of shape (n,)
        Diagonal of the hat matrix at ``ridge``.
    """

    def __init__(self, Y: Array, total: float, free: int = 0) -> None:
        self.total, self.free, self.ridge = total, free, 0.0
        self.basis = OrthogonalBasis(len(Y), Y.dtype, device_like(Y))
        self.plain = np.array(Y.T, order="C", like=Y)
        self.residual = self.plain.copy()
        self.hat = np.zeros(len(Y), dtype=Y.dtype, like=Y)
        self._moments = np.empty((_FIRST_CAPACITY, Y.shape[1]), dtype=Y.dtype)
        self._shrinkage: Shrinkage | None = None

    @property
    def moments(self) -> Array:
        """``c_j = q_jᵀY``, of shape (m, t). A view."""
        return self._moments[: self.basis.size]

    @property
    def weights(self) -> Array:
        """Orthogonal weights ``a_j = c_j / (λ + s_j)``, of shape (m, t)."""
        return self.moments / self._divisors(self.ridge)[:, None]

    @property
    def condition(self) -> float:
        """Condition number of Q, the ratio of the longest q_j to the shortest, without the bias."""
        squares = self.basis.squares[1:]
        return float(np.sqrt(squares.max() / squares.min())) if len(squares) else 1.0

    @property
    def shrinkage(self) -> Shrinkage:
        """The quantities from which GCV and BIC are computed, once for each set of columns."""
        if self._shrinkage is None:
            self._shrinkage = Shrinkage(
                squares=self.basis.squares[self.free :],
                moments=np.einsum("jk,jk->j", self.moments, self.moments)[self.free :],
                residual=float(np.vdot(self.plain, self.plain)),
                total=self.total,
                outputs=len(self.plain),
                free=min(self.free, self.basis.size),
            )
        return self._shrinkage

    def loo(self) -> Array:
        """Residuals ``E_i / (1 − h_i)`` with row i left out, of shape (t, n).

        Infinite if h_i = 1: the columns fit such a row whatever its target is.
        """
        return leave_out(self.residual, 1.0 - self.hat)

    def press(self, ridges: Array) -> Array:
        """Mean squared leave-one-out residual for several λ, summed over outputs; O(n m t) each.

        The present ``ridge`` does not change.
        """
        divisors = np.array([self._divisors(ridge) for ridge in ridges])
        lacking = (divisors - self.basis.squares) / (divisors * self.basis.squares)
        coefficients = lacking[:, None, :] * self.moments.T
        residuals = self.plain + coefficients @ self.basis.Q
        left = 1.0 - self._weighted_squares(1.0 / divisors)
        errors = np.square(leave_out(residuals, left[:, None, :])).sum(axis=(1, 2))
        result: Array = to_host(errors) / self.total
        return result

    def append(self, z: Array, coefficients: Array) -> None:
        """Add a column as in `OrthogonalBasis.append`; O(n m + n t)."""
        self.basis.append(z, coefficients)
        self._shrinkage, m = None, self.basis.size
        if m > len(self._moments):
            self._moments = resized(self._moments, 2 * m)
        q, square = self.basis.Q[-1], self.basis.squares[-1]
        moment = to_host(self.plain @ q)  # = q·Y, since q is orthogonal to Y − plain
        self._moments[m - 1] = moment
        divisor = self._divisors(self.ridge)[-1]
        subtract_outer(self.plain, moment / square, q)
        subtract_outer(self.residual, moment / divisor, q)
        self.hat += q * q / divisor

    def set_ridge(self, ridge: float) -> None:
        """Change λ and recompute residual and hat diagonal, O(n m t)."""
        squares, divisors = self.basis.squares, self._divisors(ridge)
        lacking = self.moments * ((divisors - squares) / (squares * divisors))[:, None]
        self.residual = self.plain + lacking.T @ self.basis.Q
        self.hat = self._weighted_squares(1.0 / divisors)
        self.ridge = ridge

    def truncate(self, size: int, ridge: float) -> None:
        """Return to the first ``size`` columns and to ``ridge``; O(n m t)."""
        dropped = slice(size, self.basis.size)
        slopes = self.moments[dropped] / self.basis.squares[dropped, None]
        self.plain += slopes.T @ self.basis.Q[dropped]
        self.basis.truncate(size)
        self._shrinkage = None
        self.set_ridge(ridge)

    def _weighted_squares(self, factors: Array) -> Array:
        """``Σ_j factors_j q_j²`` for one set of factors or several, in bounded memory."""
        n_columns, n = self.basis.Q.shape
        total = np.zeros((*factors.shape[:-1], n), dtype=factors.dtype, like=self.basis.Q)
        for block in row_blocks(n_columns, n, factors.itemsize, like=self.basis.Q):
            total += factors[..., block] @ np.square(self.basis.Q[block])
        return total

    def _divisors(self, ridge: float) -> Array:
        """``λ_j + s_j``."""
        squares = self.basis.squares
        result: Array = squares + penalties(len(squares), ridge, self.free).astype(squares.dtype)
        return result


def leave_out(residuals: Array, left: Array) -> Array:
    """``residuals / (1 − h)``, infinite if ``left = 1 − h`` is rounding error."""
    known = left > residuals.shape[-1] * np.finfo(residuals.dtype).eps
    return np.divide(residuals, left, out=np.full_like(residuals, np.inf), where=known)


def penalties(size: int, ridge: float, free: int) -> Array:
    """λ for each column: ``ridge``, but 0 for the first ``free``."""
    return np.where(np.arange(size) < free, 0.0, ridge)


def resized(buffer: Array, capacity: int) -> Array:
    """Return a buffer with ``capacity`` rows, the first of which are those of ``buffer``."""
    longer = np.empty((capacity, *buffer.shape[1:]), dtype=buffer.dtype, like=buffer)
    longer[: len(buffer)] = buffer
    return longer


# -- how much ridge -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Shrinkage:
    """The quantities of a ridge regression on orthogonal columns that the criteria need.

    Parameters
    ----------
    squares : ndarray of shape (m,)
        ``s_j`` of the columns with a ridge, > 0.
    moments : ndarray of shape (m,)
        ``‖c_j‖²``, summed over the outputs.
    residual : float
        ``r₀``, summed over the outputs.
    total : float
        N: the number of rows, or the sum of their weights, which count as repetitions.
    outputs : int
    free : int
        Number of columns without a ridge (the bias, or none): each has one degree of freedom.
    """

    squares: Array
    moments: Array
    residual: float
    total: float
    outputs: int = 1
    free: int = 0

    def rss(self, ridge: Any) -> Any:
        """The squared residual, summed over the outputs; for one λ, or an array of them."""
        return self._rss(ridge, self._shares(ridge))

    def df(self, ridge: Any) -> Any:
        """Effective number of parameters of one output, the trace of the hat matrix."""
        return self.free + self._shares(ridge) @ self.squares

    def gcv(self, ridge: Any) -> Any:
        """Generalised cross-validation, summed over the outputs; infinite if N ≤ df."""
        shares = self._shares(ridge)
        left = self.total - self.free - shares @ self.squares
        # If df equals N, the difference that is left is rounding error.
        some = left > len(self.squares) * np.finfo(float).eps * self.total
        return np.where(
            some, self.total * self._rss(ridge, shares) / np.where(some, left, 1.0) ** 2, np.inf
        )

    def bic(self, ridge: float) -> float:
        """Bayesian information criterion of one output, ``N log(RSS / (N t)) + df log N``."""
        rss = self.rss(ridge)
        if rss == 0.0:
            return -np.inf
        log_error = float(np.log(rss / (self.total * self.outputs)))
        return float(self.total * log_error + self.df(ridge) * float(np.log(self.total)))

    def reestimate(self, ridge: float) -> float:
        """One pass of the re-estimation formula (andelic2007), O(m).

        The result is at most 10⁴ times the largest ``s_j``, which stands for infinity: it is
        reached if no column is related to the targets.
        """
        shares = self._shares(ridge)
        squared = shares * shares
        down = float(squared @ self.squares) * self._rss(ridge, shares)
        left = self.total - self.free - float(shares @ self.squares)
        up = left * float((squared * shares) @ self.moments)
        ceiling = _CEILING * float(self.squares.max())
        return down / up if down < ceiling * up else ceiling

    def minimize_gcv(self) -> float:
        """λ at the minimum of GCV: the best of a coarse grid, then re-estimation until it settles.

        The grid is needed because GCV can have two minima, one of them at infinity. O(m) for each
        of its 17 values and each pass. Re-estimation approaches the minimum by a constant factor,
        so its limit is extrapolated, usually three times. Returns 0 if there is no column to
        shrink.
        """
        if len(self.squares) == 0:
            return 0.0
        grid = ridge_grid(self.squares)
        ridge = float(grid[np.argmin(self.gcv(grid))])
        for _ in range(_ITERATIONS):
            once = self.reestimate(ridge)
            twice = self.reestimate(once)
            if abs(twice - once) <= _PRECISION * twice:
                break
            ridge = limit(ridge, once, twice)
        return float(twice)

    def _rss(self, ridge: Any, shares: Array) -> Any:
        return self.residual + np.square(ridge) * (np.square(shares) @ self._slopes)

    @cached_property
    def _slopes(self) -> Array:
        return self.moments / self.squares

    def _shares(self, ridge: Any) -> Array:
        """``1 / (λ + s_j)``, with an axis for several λ before that of the columns."""
        return 1.0 / (np.asarray(ridge)[..., None] + self.squares)


def limit(first: float, second: float, third: float) -> float:
    """Limit of three positive numbers whose logarithms converge geometrically (Aitken).

    Returns the third number if they do not converge: each step must be shorter than the last.
    """
    if min(first, second, third) <= 0.0:
        return third
    step, next_step = np.log(second / first), np.log(third / second)
    ratio = next_step / step
    return float(third * np.exp(next_step * ratio / (1.0 - ratio))) if abs(ratio) < 0.9 else third


def ridge_grid(squares: Array) -> Array:
    """Values of λ a factor of ten apart, from almost no shrinkage to the upper limit."""
    return float(squares.max()) * _CEILING * 10.0 ** np.arange(-16, 1)
