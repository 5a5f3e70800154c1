"""How λ follows the columns of a growing `OrthogonalRegression`.

GCV takes all rows to have the same leverage. Centres of a narrow kernel have much more than the
other rows, and a greedy selection goes for rows that it can reach: GCV then takes λ too small,
the more so the more columns there are. Leave-one-out knows each row's own leverage.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gramian.arrays import Array
from gramian.machines._orthogonal import OrthogonalRegression
from gramian.machines._stopping import ridge_grid

RIDGES = ("loo", "gcv")

# Leave-one-out costs O(n m t) for each λ, so λ is kept until the columns are so many times more.
_GROWTH = 1.05
_OCTAVES = 2.0 ** np.arange(-2, 3)
_ROUNDS = 8

RidgeRule = Callable[[OrthogonalRegression], float]


def ridge_rule(ridge: str | float) -> RidgeRule:
    """The rule that gives λ for the columns present: ``"loo"``, ``"gcv"``, or a number."""
    if ridge == "loo":
        return LeaveOneOutRidge()
    if ridge == "gcv":
        return lambda regression: regression.shrinkage.minimize_gcv()
    value = float(ridge)
    return lambda regression: value


class LeaveOneOutRidge:
    """λ that minimises the leave-one-out error, found anew when the columns are 5 % more."""

    def __init__(self) -> None:
        self._due, self._ridge = 0, 0.0

    def __call__(self, regression: OrthogonalRegression) -> float:
        size = regression.basis.size
        if size >= self._due and size > regression.free:
            self._due = max(size + 1, int(_GROWTH * size))
            self._ridge = minimize_press(regression, self._ridge)
        return self._ridge


def minimize_press(regression: OrthogonalRegression, start: float) -> float:
    """λ at a minimum of the leave-one-out error, to a quarter of it; O(n m t) for each λ tried.

    From ``start`` in octaves until a minimum is between two of them, then its place by a parabola.
    That is enough: the error there is above its minimum by less than 0.1 %. A start of 0 or above
    all s_j, where the error is flat, is replaced by the best of a grid.
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
            return centre * 2.0 ** vertex(errors[best - 1 : best + 2])
    return centre


def best_of(regression: OrthogonalRegression, ridges: Array) -> float:
    """The λ with the least leave-one-out error."""
    return float(ridges[np.argmin(regression.press(ridges))])


def vertex(values: Array) -> float:
    """Where the parabola through three values at −1, 0, 1, the middle one least, is least."""
    left, middle, right = (float(value) for value in values)
    curvature = left - 2.0 * middle + right
    return 0.5 * (left - right) / curvature if curvature > 0 else 0.0
