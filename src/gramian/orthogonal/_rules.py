"""Rules of forward selection: which column is next, how much ridge, and when to stop.

λ follows the columns by generalised cross-validation (andelic2007) or by leave-one-out. GCV assumes
that all rows have the same leverage. Centres of a narrow kernel have much more than other rows, and
greedy selection prefers rows that it can fit, so GCV chooses too small a λ, the more so the more
columns there are. Leave-one-out uses the leverage of each row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines import check_choice
from gramian.orthogonal._candidates import SELECTION
from gramian.orthogonal._equations import OrthogonalRegression, ridge_grid

RIDGES = ("loo", "gcv")
STOPPING = ("gcv", "loo", "bic", "lambda")

# Leave-one-out costs O(n m t) per λ, so λ is kept until the columns have grown by this factor.
_GROWTH = 1.05
_OCTAVES = 2.0 ** np.arange(-2, 3)
_ROUNDS = 8


@dataclass(frozen=True)
class ForwardRules:
    """Rules for choosing columns, for regularisation, and for stopping.

    Parameters
    ----------
    max_basis : int, optional
        Largest number of centres, without the bias. None allows as many as there are samples.
    selection : {"gain", "residual", "random"}
        How to find the next centre; see `gramian.orthogonal._candidates`. With ``"random"`` there
        is no search: `forward_select` is not for it.
    ridge : "loo", "gcv" or float
        λ: a number ≥ 0, or re-estimated during the selection by leave-one-out or by generalised
        cross-validation (the paper's).
    stopping : {"loo", "gcv", "bic", "lambda"}
        Stop when the criterion has not improved by more than the factor 1 − ``tol`` for
        ``patience`` columns, and return to the size where it was best. ``"lambda"`` (the
        paper's) stops when a column changes λ by at most the fraction ``tol``.
        The paper also names BIC and GCV. GCV ignores that the columns were chosen: on
        classification problems it still falls when leave-one-out has long been rising.
    patience : int
    tol : float
    epsilon : float
        Added to the diagonal of K (andelic2007), where a sample meets itself as a centre, but not
        in predictions. Not needed here, since dependent columns are skipped.
    max_condition : float
        Largest ratio of the longest to the shortest q_j; columns that exceed it are skipped.
    penalize_bias : bool
        True gives the bias the ridge of the other columns, as in the paper. False gives it none:
        adding a constant to the targets then only adds it to the predictions.
    """

    max_basis: int | None = None
    selection: str = "gain"
    ridge: str | float = "gcv"
    stopping: str = "loo"
    patience: int = 50
    tol: float = 1e-3
    epsilon: float = 0.0
    max_condition: float = 1e7
    penalize_bias: bool = True

    def __post_init__(self) -> None:
        check_choice("selection", self.selection, (*SELECTION, "random"))
        check_choice("stopping", self.stopping, STOPPING)
        known = self.ridge in RIDGES if isinstance(self.ridge, str) else self.ridge >= 0
        if not known:
            raise ValueError(f'ridge must be >= 0, "loo" or "gcv", got {self.ridge!r}.')
        if self.stopping == "lambda" and self.ridge != "gcv":
            raise ValueError(
                f'stopping="lambda" watches λ settle and needs ridge "gcv" or "cv", '
                f"got {self.ridge!r}."
            )
        for name, low in (("patience", 1), ("tol", 0), ("epsilon", 0), ("max_condition", 1)):
            if not getattr(self, name) >= low:
                raise ValueError(f"{name} must be >= {low}, got {getattr(self, name)!r}.")
        if self.max_basis is not None and not self.max_basis >= 1:
            raise ValueError(f"max_basis must be >= 1 or None, got {self.max_basis!r}.")


# -- how much ridge -----------------------------------------------------------------------------

RidgeRule = Callable[[OrthogonalRegression], float]


def ridge_rule(ridge: str | float) -> RidgeRule:
    """Return the rule that gives λ for the present columns: ``"loo"``, ``"gcv"``, or a number."""
    if ridge == "loo":
        return LeaveOneOutRidge()
    if ridge == "gcv":
        return lambda regression: regression.shrinkage.minimize_gcv()
    value = float(ridge)
    return lambda regression: value


class LeaveOneOutRidge:
    """λ that minimises the leave-one-out error, found again for every 5 % more columns."""

    def __init__(self) -> None:
        self._due, self._ridge = 0, 0.0

    def __call__(self, regression: OrthogonalRegression) -> float:
        size = regression.basis.size
        if size >= self._due and size > regression.free:
            self._due = max(size + 1, int(_GROWTH * size))
            self._ridge = minimize_press(regression, self._ridge)
        return self._ridge


def minimize_press(regression: OrthogonalRegression, start: float) -> float:
    """λ near a minimum of the leave-one-out error, to within a quarter; O(n m t) per λ tried.

    Moves in octaves from ``start`` until two of them bracket a minimum, then interpolates by a
    parabola. This suffices: the error exceeds its minimum by less than 0.1 %. A start of 0 or above
    all s_j, where the error is flat, is replaced by the best value of a grid.
    """
    squares = regression.basis.squares[regression.free :]
    grid = ridge_grid(squares)
    centre = start
    if not 0 < start < squares.max():
        centre = float(grid[np.argmin(regression.press(grid))])
    for _ in range(_ROUNDS):
        ridges = centre * _OCTAVES
        errors = regression.press(ridges)
        best = int(np.argmin(errors))
        centre = float(min(max(ridges[best], grid[0]), grid[-1]))
        if 0 < best < len(ridges) - 1 and np.isfinite(errors[best - 1 : best + 2]).all():
            return float(centre * 2.0 ** vertex(errors[best - 1 : best + 2]))
    return centre


def vertex(values: Array) -> float:
    """Position of the minimum of the parabola through three values at −1, 0, 1."""
    left, middle, right = (float(value) for value in values)
    curvature = left - 2.0 * middle + right
    return 0.5 * (left - right) / curvature if curvature > 0 else 0.0


# -- when to stop -------------------------------------------------------------------------------


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

    def arrays(self) -> dict[str, Array]:
        """The columns of the record, by name."""
        return {name: np.array(getattr(self, name)) for name in PATH}

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


PATH = tuple(entry.name for entry in fields(Path) if entry.name != "total")


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
