"""How much ridge orthogonal columns need, and when there are enough columns.

Ridge regression on orthogonal columns q_j is one division per column. With ``s_j = q_jᵀq_j``,
``c_j = q_jᵀY``, ``r₀ = ‖Y − Q Q⁺Y‖²`` and N rows, the squared residual, the degrees of freedom and
generalised cross-validation are, for any λ and in O(m)::

    RSS(λ) = r₀ + Σ_j λ² ‖c_j‖² / (s_j (λ + s_j)²)
    df(λ)  = Σ_j s_j / (λ + s_j)
    GCV(λ) = N RSS(λ) / (N − df(λ))²                                            (andelic2007)

No term of RSS is negative, so nothing cancels however well the columns fit. The derivatives are
``RSS' = 2 λ Σ ‖c_j‖² / (λ + s_j)³`` and ``df' = −Σ s_j / (λ + s_j)²``, and GCV' = 0 reads::

    λ = RSS(λ) Σ s_j / (λ + s_j)²  /  ((N − df(λ)) Σ ‖c_j‖² / (λ + s_j)³)

If the right side is below λ, GCV' is positive, and vice versa: inserting λ on the right gives a
better λ on the left. This is the paper's re-estimation formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gramian.core.arrays import Array

STOPPING = ("gcv", "loo", "bic", "lambda")

# Upper limit of λ as a multiple of the largest s_j; there every weight is shrunk to nearly 0.
_CEILING = 1e4
_ITERATIONS = 100
_PRECISION = 1e-6


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
        """One pass of the re-estimation formula, O(m); see the module docstring.

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


@dataclass
class Path:
    """The criteria after each column, one entry per size from the first one recorded."""

    size: list[int] = field(default_factory=list)
    ridge: list[float] = field(default_factory=list)
    gcv: list[float] = field(default_factory=list)
    loo: list[float] = field(default_factory=list)
    bic: list[float] = field(default_factory=list)
    condition: list[float] = field(default_factory=list)
    total: float = 1.0
    """N, which makes `bic` comparable with the logarithm of an error."""

    def scores(self, criterion: str) -> Array:
        """The criterion as the logarithm of an error: a difference of 0.01 is one per cent."""
        if criterion == "bic":
            return np.array(self.bic) / self.total
        with np.errstate(divide="ignore"):  # an error of zero scores −inf, the best value
            result: Array = np.log(np.array(getattr(self, criterion)))
            return result

    def best(self, criterion: str) -> int:
        """Index of the smallest entry; the last one for ``"lambda"``, which compares no sizes."""
        if criterion == "lambda":
            return len(self.size) - 1
        return int(np.argmin(self.scores(criterion)))

    def ends(self, criterion: str, patience: int, tol: float) -> bool:
        """Whether there are enough columns according to the criterion."""
        if criterion == "lambda":
            return settled(self.ridge, tol)
        return stalled(self.scores(criterion), patience, tol)


def stalled(scores: Array, patience: int, tol: float) -> bool:
    """Whether the last ``patience`` scores are not better than all before by more than ``tol``."""
    if len(scores) <= patience:
        return False
    return not scores[-patience:].min() < scores[:-patience].min() - tol


def settled(ridges: Sequence[float], tol: float) -> bool:
    """Whether the last column changed λ by at most the fraction ``tol`` (andelic2007, Alg. 1).

    False before the third entry, because the first belongs to the bias alone.
    """
    return len(ridges) > 2 and abs(ridges[-1] - ridges[-2]) <= tol * ridges[-1]
