"""Kernel ridge regression and the least-squares support vector machine (duan2008).

::

    min ½‖w‖² + ½ c b² + C/2 Σ weight_i (y_i − w·φ(x_i) − b)²,      λ = 1/C

With ``P = (K + λD)⁻¹``, ``R = P Y`` and ``s = P 1`` all results have closed forms. The penalty c =
0 leaves the intercept b free, which is LS-SVM; c = ∞ means no intercept, which is kernel ridge.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from gramian.core.arrays import Array, add_cross, mirror_upper, to_host, weighted_square
from gramian.core.equations._added import Added, Queries
from gramian.core.equations._equations import Equations, MomentsOf, Pull, Removals
from gramian.core.equations._groups import BlocksOf, bordered_residuals, pull_bordered_groups
from gramian.core.gram import Moments


@dataclass(frozen=True)
class LeastSquares(Equations):
    """Least squares with an intercept b that costs ``penalty · b²``."""

    name: str
    penalty: float

    def intercepts(self, R: Array, s: Array, D: Array, ridge: float) -> Array:
        """``b = 1ᵀR / (c + 1ᵀs)``; duan2008, eq. (7) for c = 0."""
        result: Array = R.sum(axis=0) / (self.penalty + s.sum())
        return result

    def slot_intercepts(self, S: Array, held: Array, D: Array, ridge: float) -> list[float]:
        """All sums by one product."""
        s, *sums = held.dot(S).tolist()
        return [total / (self.penalty + s) for total in sums]

    def loo(self, Y: Array, moments: MomentsOf, ridge: float) -> Array:
        """``f₋ᵢ = y_i − (M Y)_i / M_ii``, see `loo_bordered`."""
        return loo_bordered(Y, moments(1), self.penalty)

    def removals(self, Y: Array, moments: MomentsOf, ridge: float) -> Removals:
        """``b₋ᵢ − b = −s_i θ_i / (c + 1ᵀs)``."""
        first = moments(1)
        theta = Y - loo_bordered(Y, first, self.penalty)
        total = self.penalty + first.s.sum()
        return Removals(theta, -first.s[:, None] * theta / total)

    def group_removals(self, blocks: BlocksOf, ridge: float) -> Removals:
        first = blocks(1)
        theta = bordered_residuals(first, self.penalty)
        change = np.sum(first.s * theta, axis=-2, keepdims=True)
        return Removals(theta, -change / (self.penalty + first.s_sum))

    def added(self, Y: Array, moments: MomentsOf, queries: Queries, ridge: float) -> Added:
        """With the deviations ``1 / √(λ M_ii)`` of left-out targets."""
        known = cache(queries.moments(moments))
        F, (_, s, p) = self.loo(queries.targets(Y), known, ridge), known(1)
        m = p - s**2 / (self.penalty + s.sum(axis=-1, keepdims=True))
        return Added(F[..., :-1], F[..., -1:], 1.0 / np.sqrt(ridge * m))

    def pair_border(self, first: Moments) -> float:
        """``1 / (c + 1ᵀs)``."""
        return float(1.0 / (self.penalty + first.s.sum()))

    def variances(self, own: Array, cross: Array, solved: Array, s: Array, ridge: float) -> Array:
        """That of a process whose mean b is estimated, too: ``… + (1 − kᵀs)² / (c + 1ᵀs)``."""
        by_intercept = (1.0 - cross @ s) ** 2 / (self.penalty + s.sum())
        result: Array = super().variances(own, cross, solved, s, ridge) + by_intercept
        return result

    def pull(self, P: Array, Y: Array, weight: Array, codes: Array | None = None) -> Pull:
        return pull_bordered(P, Y, self.penalty, codes)


KERNEL_RIDGE = LeastSquares("kernel ridge", np.inf)
LS_SVM = LeastSquares("LS-SVM", 0.0)


def loo_bordered(Y: Array, first: Moments, penalty: float) -> Array:
    """Leave-one-out values of estimators whose intercept b costs ``penalty · b²``.

    With ``M = P − s sᵀ / (penalty + 1ᵀs)``, the inverse of ``A + 11ᵀ/penalty``::

        f₋ᵢ = y_i − (M Y)_i / M_ii

    A penalty of 0 leaves the intercept free (duan2008, eq. 7); ∞ means no intercept. O(n t).
    """
    R, s, p = first
    total = penalty + s.sum(axis=-1, keepdims=True)
    intercept = R.sum(axis=-2, keepdims=True) / total[..., None]
    result: Array = Y - (R - s[..., None] * intercept) / (p - s**2 / total)[..., None]
    return result


def pull_bordered(P: Array, Y: Array, penalty: float, codes: Array | None = None) -> Pull:
    """F = Y − MY / diag M with ``M = P − s sᵀ / (c + 1ᵀs)``, and its pullback; ``dM = −M dA M``.

    M overwrites P.
    """
    s = P.sum(axis=0)[:, None]
    W = s / np.sqrt(penalty + s.sum())
    M = np.subtract(P, W @ W.T, out=P)
    if codes is not None:
        return _pull_groups(M, Y, codes)
    U, m = M @ Y, np.diagonal(M)[:, None]

    def pullback(G: Array) -> Array:
        S = weighted_square(M, -np.sum(G * U / m**2, axis=1))  # −M [U_bar Yᵀ + diag m_bar] M
        add_cross(S, M @ (G / m), U, 0.5)
        return mirror_upper(S)

    return Y - U / m, pullback


def _pull_groups(M: Array, Y: Array, codes: Array) -> Pull:
    """The same for groups, in host memory; see `pull_bordered_groups`."""
    there, M = M, to_host(M)
    F, blocks = pull_bordered_groups(M, Y, codes)

    def pullback(G: Array) -> Array:
        T, BM = blocks(G)
        S = M @ BM
        S -= (M @ T) @ (M @ Y).T
        return np.asarray(0.5 * (S + S.T), like=there)

    return F, pullback
