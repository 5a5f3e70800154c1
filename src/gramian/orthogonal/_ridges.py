"""Rules that choose λ for the columns of a growing `OrthogonalRegression`.

GCV assumes that all rows have the same leverage. Centres of a narrow kernel have much more than
other rows, and greedy selection prefers rows that it can fit, so GCV chooses too small a λ, the
more so the more columns there are. Leave-one-out uses the leverage of each row.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gramian.core.arrays import Array
from gramian.orthogonal._columns import OrthogonalRegression
from gramian.orthogonal._stopping import ridge_grid

RIDGES = ("loo", "gcv")

# Leave-one-out costs O(n m t) per λ, so λ is kept until the columns have grown by this factor.
_GROWTH = 1.05
_OCTAVES = 2.0 ** np.arange(-2, 3)
_ROUNDS = 8

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
    centre = start if 0 < start < squares.max() else best_of(regression, grid)
    for _ in range(_ROUNDS):
        ridges = centre * _OCTAVES
        errors = regression.press(ridges)
        best = int(np.argmin(errors))
        centre = float(min(max(ridges[best], grid[0]), grid[-1]))
        if 0 < best < len(ridges) - 1 and np.isfinite(errors[best - 1 : best + 2]).all():
            return float(centre * 2.0 ** vertex(errors[best - 1 : best + 2]))
    return centre


def best_of(regression: OrthogonalRegression, ridges: Array) -> float:
    """The λ with the smallest leave-one-out error."""
    return float(ridges[np.argmin(regression.press(ridges))])


def vertex(values: Array) -> float:
    """Position of the minimum of the parabola through three values at −1, 0, 1."""
    left, middle, right = (float(value) for value in values)
    curvature = left - 2.0 * middle + right
    return 0.5 * (left - right) / curvature if curvature > 0 else 0.0
