"""Kernel discriminant analysis by regularised least squares, KDA/RMSE (kim2006).

The minimum-norm solution of ``[1, K + λI] [β; z] ≈ y``. With ``P = (K + λD)⁻¹``, ``r = P y`` and
``s = P 1`` it is ``β = sᵀDr / (1 + sᵀDs)`` and ``z = r − β s``. A weight of k equals k copies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gramian.core.arrays import Array, add_cross, mirror_upper, weighted_square
from gramian.core.equations import LS_SVM, BlocksOf, Equations, MomentsOf, Removals
from gramian.core.equations._equations import Pull
from gramian.core.gram import Moments


@dataclass(frozen=True)
class MinimumNorm(Equations):
    """The estimator whose intercept minimises ``β² + Σ z_i² / weight_i``.

    At small ridges this intercept jumps about, and the criterion has narrow valleys. LS-SVM, which
    differs in the intercept alone, has not.
    """

    guide: ClassVar[Equations | None] = LS_SVM
    name: str = "KDA/RMSE"

    def intercepts(self, R: Array, s: Array, D: Array, ridge: float) -> Array:
        """``β = sᵀDR / (1 + sᵀDs)``; kim2006, eq. (16), which eqs. (19) and (20) compute by QR."""
        Ds = D * s
        return Ds @ R / (1.0 + Ds @ s)

    def slot_intercepts(self, S: Array, held: Array, D: Array, ridge: float) -> list[float]:
        """All sums by one product."""
        s, *sums = (D * S[:, 0]).dot(S).tolist()
        return [total / (1.0 + s) for total in sums]

    def loo(self, Y: Array, moments: MomentsOf, ridge: float) -> Array:
        """Leave-one-out in O(n t) given P D P; kim2006, Alg. 7 downdates n times in O(n²) each.

        ::

            f₋ᵢ = y_i − (r_i − β₋ᵢ s_i) / p_i,    β₋ᵢ = (sᵀDr)₋ᵢ / (1 + (sᵀDs)₋ᵢ)
            (sᵀDv)₋ᵢ = sᵀDv − (v_i/p_i)(PDs)_i − (s_i/p_i)(PDv)_i + (s_i v_i/p_i²)(PDP)_ii
        """
        residual, _ = _left_out(moments(1), moments(2))
        result: Array = Y - residual
        return result

    def removals(self, Y: Array, moments: MomentsOf, ridge: float) -> Removals:
        second = moments(2)
        residual, left_out = _left_out(moments(1), second)
        intercept = second.R.sum(axis=0) / (1.0 + second.s.sum())
        return Removals(residual, left_out - intercept)

    def group_removals(self, blocks: BlocksOf, ridge: float) -> Removals:
        """θ and the change of β for groups; products with D follow from ``P D P``.

        ::

            (sᵀDv)₋G = sᵀDv − s_Gᵀ B (PDv)_G − (PDs)_Gᵀ B v_G + s_Gᵀ B (PDP)_GG B v_G,
            B = (P_GG)⁻¹
        """
        first, second = blocks(1), blocks(2)
        V, V2 = (np.concatenate([block.R, block.s], axis=-1) for block in (first, second))
        BV = np.linalg.solve(first.M, V)
        Bs = np.swapaxes(BV[..., -1:], -1, -2)
        sums = np.concatenate([second.R_sum, second.s_sum], axis=-1)
        products = sums - Bs @ V2 - np.swapaxes(second.s, -1, -2) @ BV + Bs @ (second.M @ BV)
        left_out = products[..., :-1] / (1.0 + products[..., -1:])
        theta = BV[..., :-1] - BV[..., -1:] * left_out
        return Removals(theta, left_out - second.R_sum / (1.0 + second.s_sum))

    def least_ridge(self, size: float, eps: float) -> float:
        """Larger than for other estimators: the intercept comes from ``P D P``, the square of P."""
        return float(4.0 * eps**0.5 * size)

    def pull(self, P: Array, Y: Array, weight: Array, codes: Array | None = None) -> Pull:
        """Leave-one-out values F, and their pullback through ``P`` and ``Q = P D P``."""
        assert codes is None, "where groups are left out, the slopes are those of the guide"
        Q = mirror_upper(weighted_square(P, 1.0 / weight))
        B = np.column_stack([Y, np.ones(len(Y))])
        V, V2 = P @ B, Q @ B
        first = Moments(V[:, :-1], V[:, -1], np.diagonal(P))
        second = Moments(V2[:, :-1], V2[:, -1], np.diagonal(Q))

        def pullback(G: Array) -> Array:
            V_bar, p_bar, V2_bar, p2_bar = _pull_moments(G, V, V2, first, second)
            spread = (2.0 * p2_bar)[:, None] * Q
            spread += p_bar[:, None] * P
            S = np.zeros_like(P, order="F")
            add_cross(S, P, spread.T, -0.5)
            add_cross(S, V, P @ V_bar + Q @ V2_bar, -0.5)
            add_cross(S, V2, P @ V2_bar, -0.5)
            return mirror_upper(S)

        return self.loo(Y, lambda power: (first, second)[power - 1], 0.0), pullback


KDA_RMSE = MinimumNorm()


def left_out_products(V: Array, V2: Array, first: Moments, second: Moments) -> Array:
    """``(sᵀDV)₋ᵢ`` for each sample i and column of ``V = P B``, given ``V2 = P D P B``."""
    s, p = first.s[..., None], first.p[..., None]
    s2, p2 = second.s[..., None], second.p[..., None]
    result: Array = V2.sum(axis=-2, keepdims=True) - (V * s2 + s * V2) / p + s * V * p2 / p**2
    return result


def _left_out(first: Moments, second: Moments) -> tuple[Array, Array]:
    """Residuals ``y_i − f₋ᵢ`` and intercepts ``β₋ᵢ`` without each sample; see `MinimumNorm.loo`."""
    s, p = first.s[..., None], first.p[..., None]
    cross = left_out_products(first.R, second.R, first, second)
    squares = left_out_products(s, second.s[..., None], first, second)
    intercepts = cross / (1.0 + squares)
    return (first.R - intercepts * s) / p, intercepts


def _pull_moments(
    G: Array, V: Array, V2: Array, first: Moments, second: Moments
) -> tuple[Array, ...]:
    """∂E/∂ of ``V = P [Y 1]``, ``diag P``, ``V2 = Q [Y 1]`` and ``diag Q`` in `MinimumNorm.loo`."""
    s, p, s2, p2 = (x[:, None] for x in (first.s, first.p, second.s, second.p))
    products = left_out_products(V, V2, first, second)  # (sᵀD[R s])₋ᵢ
    norms = 1.0 + products[:, -1:]
    intercepts = products[:, :-1] / norms
    U_bar = -G / p
    p_bar = -np.sum(U_bar * (first.R - intercepts * s), axis=1, keepdims=True) / p
    s_bar = -np.sum(U_bar * intercepts, axis=1, keepdims=True)
    b_bar = -U_bar * s / norms
    X_bar = np.column_stack([b_bar, -np.sum(b_bar * intercepts, axis=1)])  # ∂E/∂products

    V_bar = X_bar * (s * p2 / p - s2) / p
    V_bar[:, :-1] += U_bar
    V2_bar = X_bar.sum(axis=0) - X_bar * s / p
    XV, XV2 = (np.sum(X_bar * values, axis=1, keepdims=True) for values in (V, V2))
    V_bar[:, -1:] += s_bar + (XV * p2 / p - XV2) / p
    V2_bar[:, -1:] -= XV / p
    p_bar += (XV * s2 + s * XV2) / p**2 - 2.0 * s * XV * p2 / p**3
    return V_bar, p_bar[:, 0], V2_bar, (s * XV / p**2)[:, 0]
