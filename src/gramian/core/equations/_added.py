"""What a sample would change if it were added: leave-one-out values with a query among the samples.

Let k be the kernel values of a query x to the n samples, ``u = P k``, ``v = (−u, 1)`` and
``c = k(x, x) + shift − kᵀu``. With x added, P with a row and a column of zeros becomes::

    P'     = P + v vᵀ / c
    P'D'P' = P D P + (g vᵀ + v gᵀ) / c + δ v vᵀ / c²,      g = (−P D u, 0),   δ = vᵀD'v

so every moment that leave-one-out needs follows in O(n), for any target of x. The values are
linear in the targets: those for a target y of x are ``values + slope · y``. The query's own
left-out value is the prediction without it, so its slope is 0. See docs/maths/conformal.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gramian.core.arrays import Array
from gramian.core.gram import Moments

if TYPE_CHECKING:
    from gramian.core.equations._equations import MomentsOf


class Added(NamedTuple):
    """Left-out values of n samples and, last, of a query that joins them; for each of m queries."""

    values: Array
    """For a query with target 0, of shape (m, n + 1, t)."""
    slope: Array
    """What a unit of the query's target adds, (m, n + 1, t), or (m, n + 1, 1) for all columns."""
    spread: Array | None = None
    """Deviation of each left-out target as a Gaussian process has it, (m, n + 1), in units of that
    of the noise; None if the equations do not know it."""


@dataclass(frozen=True, eq=False)
class Queries:
    """Samples that could be added, each on its own.

    Parameters
    ----------
    cross : ndarray of shape (m, n)
        Kernel values k to the samples.
    solved : ndarray of shape (m, n)
        ``u = P k``.
    schur : ndarray of shape (m,)
        c.
    D : ndarray of shape (n + 1,)
        1 / weight of the samples and of a query.
    apply : callable
        Computes ``P B`` for the rows of an array (m, n).
    """

    cross: Array
    solved: Array
    schur: Array
    D: Array
    apply: Callable[[Array], Array]

    def targets(self, Y: Array) -> Array:
        """``[Y; 0]`` and a last column that is 1 for the query alone, of shape (n + 1, t + 1)."""
        return _bordered(Y, len(Y))

    def moments(self, moments: MomentsOf) -> MomentsOf:
        """The moments for `targets` with each query added, stacked, from those without."""
        u, c = self.solved, self.schur[:, None]
        first, v = moments(1), np.concatenate([-u, np.ones_like(c)], axis=1)
        R, s = self.cross @ first.R, self.cross @ first.s  # uᵀY and uᵀ1
        along = np.concatenate([-R, np.ones_like(c)], axis=1) / c  # vᵀ[Y; 0] and v_x, over c
        ones = (1.0 - s)[:, None] / c

        def added(power: int) -> Moments:
            n = len(first.s)
            if power == 1:
                return Moments(
                    _bordered(first.R, n, 0.0) + v[..., None] * along[:, None, :],
                    np.append(first.s, 0.0) + v * ones,
                    np.append(first.p, 0.0) + v**2 / c,
                )
            second, Du = moments(2), u * self.D[:-1]
            g = np.pad(-self.apply(Du), ((0, 0), (0, 1)))
            ratio = (v**2 @ self.D)[:, None] / c  # δ / c
            gY = np.concatenate([-(Du @ first.R), np.zeros_like(c)], axis=1) / c + ratio * along
            g1 = -(Du @ first.s)[:, None] / c + ratio * ones
            return Moments(
                _bordered(second.R, n, 0.0)
                + g[..., None] * along[:, None, :]
                + v[..., None] * gY[:, None, :],
                np.append(second.s, 0.0) + g * ones + v * g1,
                np.append(second.p, 0.0) + (2.0 * g + v * ratio) * v / c,
            )

        return added


def _bordered(V: Array, n: int, corner: float = 1.0) -> Array:
    """V (n, t) with a row and a column of zeros; ``corner`` where they meet."""
    out = np.zeros((n + 1, V.shape[1] + 1), dtype=V.dtype)
    out[:-1, :-1], out[-1, -1] = V, corner
    return out


def added_rows(
    residuals: Array,
    clearance: Array,
    weight: Array,
    crossed: Array,
    own: Array,
    outputs: Array,
    Y: Array,
    query_weight: float = 1.0,
) -> Added:
    """`Added` of least squares on fixed features ψ, where ``f(x) = ψ(x)ᵀB``, ``M B = Σ w ψ yᵀ``.

    With ``e_i = y_i − f(x_i)``, ``h_i = w_i ψ_iᵀM⁻¹ψ_i`` the left-out residuals are
    ``e_i / (1 − h_i)``. A query with target y and weight ω changes them by one step of Sherman and
    Morrison; with ``g_i = ψ_iᵀM⁻¹ψ`` and ``τ = ω / (1 + ω ψᵀM⁻¹ψ)``::

        e_i' = e_i − g_i τ (y − f(x)),      1 − h_i' = 1 − h_i + w_i τ g_i²

    Parameters
    ----------
    residuals : ndarray of shape (n, t)
        e.
    clearance, weight : ndarray of shape (n,)
        1 − h, and w.
    crossed : ndarray of shape (m, n)
        g.
    own : ndarray of shape (m,)
        ``ψᵀM⁻¹ψ`` of the queries.
    outputs : ndarray of shape (m, t)
        f(x) of the queries.
    Y : ndarray of shape (n, t)
    query_weight : float
        ω.
    """
    tau = (query_weight / (1.0 + query_weight * own))[:, None]
    room = clearance + weight * tau * crossed**2
    left = _reciprocal(room, len(Y))[..., None]
    steps = (crossed * tau)[..., None]
    values = Y - (residuals + steps * outputs[:, None, :]) * left
    values[left[..., 0] == 0.0] = -np.inf  # as `leave_out` has it
    zero = np.zeros((len(own), 1, 1))
    alone = 1.0 / (1.0 / query_weight + own)[:, None]  # ω (1 − h) of the query itself
    spread = 1.0 / np.sqrt(
        np.concatenate([weight * room.clip(np.finfo(float).tiny), alone], axis=1)
    )
    return Added(
        np.concatenate([values, outputs[:, None, :]], axis=1),
        np.concatenate([steps * left, zero], axis=1),
        spread,
    )


def rows_without_each(
    residuals: Array, clearance: Array, weight: Array, crossed: Array, outputs: Array
) -> Array:
    """Outputs at queries without each row, ``f₋ᵢ(x) = f(x) − g_i w_i e_i / (1 − h_i)``, (m, n, t).

    The arguments are those of `added_rows`. For a row with h_i = 1, whose left-out residual is
    infinite, f(x).
    """
    left = (weight * _reciprocal(clearance, len(weight)))[:, None] * residuals
    result: Array = outputs[:, None, :] - crossed[..., None] * left
    return result


def _reciprocal(clearance: Array, n: int) -> Array:
    """1 / (1 − h), or 0 where 1 − h is rounding error: a row that is fitted whatever it is."""
    known = clearance > n * np.finfo(float).eps
    return np.divide(1.0, clearance, out=np.zeros_like(clearance), where=known)
