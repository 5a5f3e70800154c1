"""How far decision values move when one sample leaves, exactly.

Let ``Δ_ji = f₋ᵢ(x_j) − f(x_j)``, the change at sample j when sample i leaves. For every machine of
`_paths`, with ``θ_i = y_i − f₋ᵢ(x_i)`` the left-out residual and b the intercept::

    Δ_ji = θ_i (λ d_j P_ji − δ_ji) + λ d_j s_j (b₋ᵢ − b)

Without sample i, ``P y`` becomes ``r − P e_i r_i/p_i`` and ``P 1`` becomes ``s − P e_i s_i/p_i``,
so that the coefficients ``z = r − b s`` change by ``−P e_i θ_i − (b₋ᵢ − b) s``, and
``A z₋ᵢ + b₋ᵢ 1 = y − e_i θ_i``. The decision values are ``y − λ D z`` before and
``y − e_i θ_i − λ D z₋ᵢ`` after. The diagonal ``Δ_ii`` is the step to the leave-one-out value.

The intercept moves by ``b₋ᵢ − b = −s_i θ_i / (c + 1ᵀs)`` where it costs c b² (LS-SVM: c = 0, kernel
ridge: c = ∞), and by the products of `left_out_products` for KDA/RMSE.

The kernel Fisher discriminant, fitted without the sample, follows the same formula with iσ in place
of λ and θ, P, s complex: its decision values are ``Re (y − iσ D z)``, so that Δ is the real part.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gramian.arrays import Array
from gramian.gram._spectrum import Moments
from gramian.machines._paths import Machine, left_out_products, loo_bordered, loo_min_norm


class Departures(NamedTuple):
    """What the departure of each sample brings about."""

    residual: Array
    """θ, of shape (n, t)."""
    intercept: Array
    """``b₋ᵢ − b``, of shape (n, t)."""


def departures(
    machine: Machine, Y: Array, first: Moments, second: Moments | None = None
) -> Departures:
    """Left-out residuals and intercept changes of all samples, in O(n t).

    Parameters
    ----------
    machine : Machine
    Y : ndarray of shape (n, t)
        Targets; those of the samples that stay must not depend on which one leaves.
    first, second : Moments
        Of P and of P D P; the second only for an intercept of least norm.
    """
    if machine.intercept_penalty is not None:
        theta = Y - loo_bordered(Y, first, machine.intercept_penalty)
        total = machine.intercept_penalty + first.s.sum()
        return Departures(theta, -first.s[:, None] * theta / total)
    assert second is not None
    theta = Y - loo_min_norm(Y, first, second)
    cross = left_out_products(first.R, second.R, first, second)
    squares = left_out_products(first.s[:, None], second.s[:, None], first, second)
    intercept = second.R.sum(axis=0) / (1.0 + second.s.sum())
    return Departures(theta, cross / (1.0 + squares) - intercept)


def fisher_departures(R: Array, s: Array, p: Array, *, sigma: float, penalty: float) -> Departures:
    """`departures` of the kernel Fisher discriminant, from the moments of its resolvent, O(n t).

    ::

        b₋ᵢ = Im (1ᵀR − s_i R_i/p_i) / (Im (1ᵀs − s_i²/p_i) − c σ),    θ_i = (R_i − b₋ᵢ s_i) / p_i
    """
    s, p = s[:, None], p[:, None]
    intercept = R.sum(axis=0).imag / (s.sum().imag - penalty * sigma)
    left_out = (R.sum(axis=0) - s * R / p).imag / ((s.sum() - s**2 / p).imag - penalty * sigma)
    return Departures((R - left_out * s) / p, left_out - intercept)


def decision_changes(
    leaving: Departures, at: Array, P_rows: Array, s: Array, ridge_diagonal: Array
) -> Array:
    """Δ at some samples j for every leaving sample i, of shape (m, n, t), in O(m n t).

    Parameters
    ----------
    leaving : Departures
    at : ndarray of shape (m,)
        The samples j.
    P_rows : ndarray of shape (m, n)
        Their rows of P.
    s : ndarray of shape (n,)
        ``P 1``.
    ridge_diagonal : ndarray of shape (n,)
        ``λ d``, the diagonal of λD; of iσD for a resolvent.
    """
    weights = ridge_diagonal[at, None] * P_rows
    weights[np.arange(len(at)), at] -= 1.0
    by_intercept = (ridge_diagonal * s)[at, None, None] * leaving.intercept
    return (weights[:, :, None] * leaving.residual + by_intercept).real
