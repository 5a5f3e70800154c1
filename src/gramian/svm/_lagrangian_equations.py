"""The Lagrangian support vector machine: the paper's iteration, principal pivoting, leave-one-out.

With signs y, ``A = K + λD`` and ``Q = diag(y) A diag(y)`` (duan2008, eqs. 1 and 2)::

    min ½ αᵀQα − 1ᵀα,   α ≥ 0

All formulas use ``z = diag(y) α``, the coefficients of f, and ``ρ = y − A z``. The solution is the
least-squares solution on the support S alone, the samples with α > 0::

    i in S      ρ_i = 0,    ξ_i = y_i λ_i z_i > 0
    otherwise   z_i = 0,    ξ_i = y_i ρ_i ≤ 0

with ``λ_i = λ / weight_i``. In both cases the slack ξ is 1 − y f, the shortfall from a margin of 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gramian.core.arrays import Array, row_blocks

# Largest number of exchanges in pivoting; usually a dozen suffice.
EXCHANGES = 200
# Number of supports within rounding error of the solution to try for one with all signs correct.
TRIES = 8
# The iteration has reached rounding error after this many steps without a smaller change.
STALLED = 50


# -- the iteration ------------------------------------------------------------------------------


class Iterated(NamedTuple):
    """The result of `lagrangian_iteration`."""

    Z: Array
    """``diag(y) α``, of shape (n, t)."""
    support: Array
    """Mask of the samples whose multiplier is not forced to zero, of shape (n, t)."""
    iterations: int
    unfinished: float | None
    """None, or the last ``‖α⁺ − α‖`` if it was still above ε."""


def lagrangian_iteration(
    apply_inverse: Callable[[Array], Array],
    Y: Array,
    Z: Array,
    products: Array,
    *,
    step: float | Array,
    tol: float,
    max_iter: int,
) -> Iterated:
    """``α ← Q⁻¹ (1 + ((Qα − 1) − γα)₊)``, duan2008, eqs. (3) and (10), for t estimators at once.

    All estimators share P, since ``Q⁻¹ = diag(y) P diag(y)``. With ``u = ((Qα − 1) − γα)₊`` an
    iteration yields ``Qα = 1 + u``, so Q itself multiplies only the start. O(n² t) each; linear
    convergence from any start for 0 < γ < 2/C. With weights, 0 < γ_i < 2λ_i: in the variables
    ``α_i / √weight_i`` it is the same iteration with λI on the diagonal.

    Parameters
    ----------
    apply_inverse : callable
        ``P @ B`` for B of shape (n, t).
    Y : ndarray of shape (n, t)
        Signs.
    Z : ndarray of shape (n, t)
        Start of the iteration: the previous solution, 0 for new samples.
    products : ndarray of shape (n, t)
        ``A @ Z``.
    step : float or ndarray of shape (n, 1)
        γ, one for all or one per sample.
    tol : float
        ε: stop when ``‖α⁺ − α‖ ≤ ε`` for every model, or when the change is rounding error: half
        of the digits are reached and 50 steps found no smaller change.
    max_iter : int
    """
    u = np.maximum(Y * products - 1.0 - step * Y * Z, 0.0)
    least, since, change = np.inf, 0, np.inf
    for iteration in range(1, max_iter + 1):
        previous, Z = Z, apply_inverse(Y * (1.0 + u))
        u = np.maximum(u - step * Y * Z, 0.0)
        change = _largest_column(Z - previous)
        least, since = (change, 0) if change < least else (least, since + 1)
        stalled = since >= STALLED and change**2 <= np.finfo(Z.dtype).eps * _largest_column(Z) ** 2
        if change <= tol or stalled:
            return Iterated(Z, u == 0.0, iteration, None)
    return Iterated(Z, u == 0.0, max_iter, change)


def _largest_column(Z: Array) -> float:
    return float(np.sqrt(np.square(Z).sum(axis=0)).max(initial=0.0))


# -- principal pivoting -------------------------------------------------------------------------


def slack_tolerance(z: Array, largest: float) -> float:
    """Slacks below this are rounding error of a solve or of the sum ``Σ z_j k(x, x_j)``.

    ``max(2¹⁴, 64 k_max ‖z‖) eps``, with k_max the largest k(x, x), or the analogue for features.
    """
    eps = float(np.finfo(z.dtype).eps)
    return eps * max(2.0**14, 64.0 * largest * float(np.linalg.norm(z)))


class Solved(NamedTuple):
    """The least-squares solution on a support."""

    z: Array
    """Coefficients of all samples, zero outside the support."""
    xi: Array
    """Slacks ``1 − y f`` of all samples."""
    rounding: float
    """Size of rounding errors in the slacks."""


def principal_pivot(
    solve: Callable[[Array], Solved], support: Array, y: Array, ridges: Array
) -> tuple[Array, Array]:
    """Return the support of the solution and its z, from any initial support.

    All samples of the wrong sign change sides at once: out of the support if ξ < 0, into it if ξ >
    0. This is Newton's method for ``½ zᵀKz + ½ Σ (ξ_i)₊² / λ_i``, whose dual is this problem, and
    could cycle without a line search. The new support therefore consists of the samples with ξ > 0
    at the point of least value on the way to the Newton solution. The value is convex and piecewise
    quadratic, and each exchange decreases it, so no support occurs twice and the method ends. Each
    exchange costs one call of ``solve``.

    A slack of the wrong sign within rounding error does not prove a support wrong, nor right: at a
    large C, ``ξ = λα`` is small even for a large α. A few more exchanges then look for a support
    with all signs correct.

    Parameters
    ----------
    solve : callable
        ``solve(support)`` returns the least-squares solution on a support.
    support : ndarray of shape (n,), bool
    y : ndarray of shape (n,)
        Signs.
    ridges : ndarray of shape (n,)
        λ_i.

    Raises
    ------
    LinAlgError
        If rounding error keeps the method from ending.
    """
    there = solve(support)
    z, xi, near = there.z, there.xi, dict[bytes, Array]()
    for _ in range(EXCHANGES):
        wrong = np.where(support, there.xi < 0.0, there.xi > 0.0)
        if not np.any(wrong & (np.abs(there.xi) > there.rounding)):
            if not wrong.any() or support.tobytes() in near or len(near) == TRIES:
                return support, there.z
            near[support.tobytes()] = support
        step = _least_value(z, xi, there, y, ridges)
        z, xi = z + step * (there.z - z), xi + step * (there.xi - xi)
        support = xi > 0.0
        there = solve(support)
    if near:
        support = next(iter(near.values()))
        return support, solve(support).z
    raise np.linalg.LinAlgError(
        f"principal pivoting found no support set in {EXCHANGES} exchanges: at this C, slacks are "
        "lost in rounding error. Lower `C`, or scale the samples."
    )


def _least_value(z: Array, xi: Array, there: Solved, y: Array, ridges: Array) -> float:
    """Position of the least value on the way from here (0) to there (1), in O(n log n).

    The derivative ``c + s t`` increases and is piecewise linear: c and s change where a slack
    changes sign.
    """
    move, change = there.z - z, there.xi - xi
    values, weight = -y * change, change / ridges  # K @ move; factor of each slack in c and s
    inside = xi > 0.0
    c, s = z @ values + weight[inside] @ xi[inside], move @ values + weight[inside] @ change[inside]
    crossing = np.flatnonzero(inside != (there.xi > 0.0))
    times = -xi[crossing] / change[crossing]
    order = np.argsort(times)
    times, crossing = np.append(times[order], 1.0), crossing[order]
    sign = np.where(inside[crossing], -1.0, 1.0)  # a slack leaves the sum, or enters it
    c = c + np.append(0.0, np.cumsum(sign * weight[crossing] * xi[crossing]))
    s = s + np.append(0.0, np.cumsum(sign * weight[crossing] * change[crossing]))
    beyond = np.flatnonzero(c + s * times > 0.0)
    if len(beyond) == 0:
        return 1.0
    piece = beyond[0]
    return float(np.clip(-c[piece] / s[piece], times[piece - 1] if piece else 0.0, times[piece]))


# -- leave-one-out ------------------------------------------------------------------------------


@dataclass
class Tableau:
    """The principal pivot transform of A at a support S, computed by columns.

    With q = (z on S, ρ elsewhere), the solution when the samples in Δ change sides is::

        T_ΔΔ v = q_Δ,      q' = q − T[:, Δ] v,      q'_Δ = v

    where, with ``P = (A_SS)⁻¹`` and U the samples outside S,

        T[S, j] = P e_j,   T[U, j] = −A_US P e_j              for j in S
        T[S, j] = P A_Sj,  T[U, j] = A_Uj − A_US P A_Sj       otherwise

    Parameters
    ----------
    support : ndarray of shape (n,), bool
    gram_columns : callable
        ``gram_columns(J)`` is ``A[:, J]``.
    solve : callable
        ``P @ B`` for B of shape (|S|, k).
    multiply : callable
        ``A[:, S] @ B``; its rows in S are not used.
    """

    support: Array
    gram_columns: Callable[[Array], Array]
    solve: Callable[[Array], Array]
    multiply: Callable[[Array], Array]
    _kept: dict[int, Array] = field(default_factory=dict)

    def columns(self, J: Array) -> Array:
        """``T[:, J]``, in O(n |S|) each."""
        inside = self.support[J]
        A_J = self.gram_columns(J)
        B = A_J[self.support]
        units = np.flatnonzero(self.support)[:, None] == J
        solved = self.solve(np.where(inside, units, B))
        T = -self.multiply(solved)
        T[:, ~inside] += A_J[:, ~inside]
        T[self.support] = solved
        return T

    def exchanged(self, q: Array, changed: Array) -> Array:
        """Return q' after the samples ``changed`` change sides, in O(n m) for m of them."""
        T = self._remembered(changed)
        v = np.linalg.solve(T[changed], q[changed])
        after = q - T @ v
        after[changed] = v
        return after

    def remember(self, J: Array) -> None:
        """Compute and cache columns at level-3 speed, for `exchanged`."""
        self._kept.update(zip(J.tolist(), self.columns(J).T, strict=True))

    def forget(self, J: Array) -> None:
        """Remove columns from the cache."""
        for j in J.tolist():
            del self._kept[j]

    def _remembered(self, J: Array) -> Array:
        missing = np.array([j for j in J.tolist() if j not in self._kept], dtype=int)
        if len(missing):
            self.remember(missing)
        return np.column_stack([self._kept[j] for j in J.tolist()])


def left_out_solutions(
    tableau: Tableau, q: Array, y: Array, ridges: Array, largest: float
) -> Iterator[tuple[int, Array]]:
    """Yield each sample i of the support with the coefficients without it.

    Pivoting continues from the support without the sample. Removing a sample outside the support
    changes nothing. Where rounding errors keep pivoting from ending, the coefficients are NaN: a
    fit must find them.

    Parameters
    ----------
    tableau : Tableau
    q : ndarray of shape (n,)
        z on the support of the tableau, ρ elsewhere.
    y : ndarray of shape (n,)
        Signs.
    ridges : ndarray of shape (n,)
        λ_i.
    largest : float
        The largest k(x, x).
    """
    members = np.flatnonzero(tableau.support)
    for block in row_blocks(len(members), len(y), q.itemsize):
        tableau.remember(members[block])
        for i in members[block].tolist():
            yield i, _left_out(tableau, q, y, ridges, largest, i)
        tableau.forget(members[block])


def left_out_groups(
    tableau: Tableau, q: Array, y: Array, ridges: Array, largest: float, codes: Array
) -> Iterator[tuple[Array, Array]]:
    """Yield each group that has a sample in the support, with the coefficients without it.

    ``codes`` holds the number of each sample's group; the rest is as for `left_out_solutions`.
    """
    for group in np.unique(codes[tableau.support]):
        together = np.flatnonzero(codes == group)
        inside = together[tableau.support[together]]
        tableau.remember(inside)
        yield together, _left_out(tableau, q, y, ridges, largest, together)
        tableau.forget(inside)


def _left_out(
    tableau: Tableau, q: Array, y: Array, ridges: Array, largest: float, i: int | Array
) -> Array:

    def solve(support: Array) -> Solved:
        after = tableau.exchanged(q, np.flatnonzero(support != tableau.support))
        z = np.where(support, after, 0.0)
        xi = y * np.where(support, ridges * after, after)
        xi[i] = 0.0  # the removed sample must not return
        return Solved(z, xi, slack_tolerance(z, largest))

    support = tableau.support.copy()
    support[i] = False
    try:
        return principal_pivot(solve, support, y, ridges)[1]
    except np.linalg.LinAlgError:
        return np.full_like(q, np.nan)
