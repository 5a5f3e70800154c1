"""Exact changes of the decision values when one sample is removed.

Let ``Δ_ji = f₋ᵢ(x_j) − f(x_j)``, the change at sample j when sample i is removed. For every model
on the Gram matrix, with ``θ_i = y_i − f₋ᵢ(x_i)`` the left-out residual and b the intercept::

    Δ_ji = θ_i (λ d_j P_ji − δ_ji) + λ d_j s_j (b₋ᵢ − b)

Without sample i, ``P y`` becomes ``r − P e_i r_i/p_i`` and ``P 1`` becomes ``s − P e_i s_i/p_i``.
The coefficients ``z = r − b s`` thus change by ``−P e_i θ_i − (b₋ᵢ − b) s``, and
``A z₋ᵢ + b₋ᵢ 1 = y − e_i θ_i``. The decision values are ``y − λ D z`` before and
``y − e_i θ_i − λ D z₋ᵢ`` after. The diagonal ``Δ_ii`` is the step to the leave-one-out value.

The intercept changes by ``b₋ᵢ − b = −s_i θ_i / (c + 1ᵀs)`` if it costs c b² (LS-SVM: c = 0, kernel
ridge: c = ∞); for other estimators see `Equations.removals`.

The kernel Fisher discriminant follows the same formula with iσ in place of λ and complex θ, P and
s: its decision values are ``Re (y − iσ D z)``, so Δ is the real part.
"""

from __future__ import annotations

import numpy as np

from gramian.core.arrays import Array
from gramian.core.equations._equations import Removals


def decision_changes(
    leaving: Removals, at: Array, P_rows: Array, s: Array, ridge_diagonal: Array
) -> Array:
    """Δ at some samples j for every removed sample i, of shape (m, n, t), in O(m n t).

    Parameters
    ----------
    leaving : Removals
    at : ndarray of shape (m,)
        The samples j.
    P_rows : ndarray of shape (m, n)
        Their rows of P.
    s : ndarray of shape (n,)
        ``P 1``.
    ridge_diagonal : ndarray of shape (n,)
        ``λ d``, the diagonal of λD; that of iσD for a resolvent.
    """
    weights = ridge_diagonal[at, None] * P_rows
    weights[np.arange(len(at)), at] -= 1.0
    by_intercept = (ridge_diagonal * s)[at, None, None] * leaving.intercept
    result: Array = (weights[:, :, None] * leaving.residual + by_intercept).real
    return result


def values_without_each(
    leaving: Removals, values: Array, solved: Array, ones: Array, codes: Array | None = None
) -> Array:
    """Decision values at m queries without each of n samples, of shape (m, n, t).

    ::

        f₋ᵢ(x) = f(x) − u_i θ_i + (b₋ᵢ − b) (1 − kᵀs),      u = P k

    Parameters
    ----------
    leaving : Removals
    values : ndarray of shape (m, 1, t) or (m, n, t)
        f(x) with all samples; with the targets that each sample leaves behind, if those differ.
    solved : ndarray of shape (m, n)
        u; complex for a resolvent.
    ones : ndarray of shape (m,)
        kᵀs.
    codes : ndarray of shape (n,), optional
        Number of each sample's group; samples then leave with their groups.
    """
    by_intercept = (1.0 - ones)[:, None, None] * leaving.intercept
    by_sample = solved[..., None] * leaving.residual
    if codes is not None:
        by_sample = by_group(by_sample, codes)
    result: Array = values + (by_intercept - by_sample).real
    return result


def by_group(values: Array, codes: Array) -> Array:
    """The sum over each sample's group, in its place, of values (m, n, t)."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sums = np.add.reduceat(values[:, order], starts, axis=1)
    return sums[:, np.unique(codes, return_inverse=True)[1]]
