"""The kernel Fisher discriminant (saadi2004): a ridge regression on the columns of K.

::

    min  Σ w_i (y_i − (Kα)_i − b)² + μ Σ α_i²/w_i + μ c b²          f(x) = k(x, X) α + b

with c = 0 for eq. (4) and c = 1 for eq. (5); a weight of k equals k copies. The **resolvent**
``P = (K + iσD)⁻¹``, D = diag(1/w), σ = √μ, solves it and supports edits. Its moments are
``R = P Y``, ``s = P 1`` and ``p = diag P``, complex. Leave-one-out values are the predictions of a
fit without the sample; those of the paper, which keeps it as a kernel centre, and its canonical
form (§2) are in evidence/shared/paper_algorithms.py. Derivations are in docs/maths/fisher.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gramian.core.arrays import Array, mirror_upper, weighted_square
from gramian.core.equations import BlocksOf, Equations, MomentsOf, Removals, loo_bordered
from gramian.core.equations._equations import Pull, symmetric
from gramian.core.equations._groups import bordered_residuals
from gramian.core.equations._least_squares import pull_bordered
from gramian.core.gram import Spectrum
from gramian.core.gram._resolvent import LiveResolvent


@dataclass(frozen=True)
class Fisher(Equations):
    """The discriminant with the bias penalty ``penalty · μ b²``: 0 for eq. (4), 1 for eq. (5).

    At small ridges the paper's leave-one-out has narrow valleys, in which a search by slopes ends.
    """

    climbs: ClassVar[bool] = False
    only_factor: ClassVar[str | None] = LiveResolvent.name
    name: str
    penalty: float

    def shift(self, ridge: float, weight: Array) -> Array:
        """``iσ / weight``: the resolvent has the square root of the condition of eq. (4)."""
        result: Array = 1j * ridge**0.5 / weight
        return result

    def intercepts(self, R: Array, s: Array, D: Array, ridge: float) -> Array:
        """``b = Im 1ᵀR / (Im 1ᵀs − c σ)``."""
        result: Array = R.sum(axis=0).imag / (s.sum().imag - self.penalty * ridge**0.5)
        return result

    def coefficients(self, R: Array, s: Array, D: Array, ridge: float) -> tuple[Array, Array]:
        """b, and ``α = Re (R − s b)``."""
        intercept, Z = super().coefficients(R, s, D, ridge)
        return intercept, Z.real

    def loo(self, Y: Array, moments: MomentsOf, ridge: float) -> Array:
        """Leave-one-out values of the discriminant without the sample: ``f₋ᵢ = y_i − Re θ_i``."""
        result: Array = Y - self.removals(Y, moments, ridge).residual.real
        return result

    def removals(self, Y: Array, moments: MomentsOf, ridge: float) -> Removals:
        """Complex residuals and real changes of the intercept.

        ::

            b₋ᵢ = Im (1ᵀR − s_i R_i/p_i) / (Im (1ᵀs − s_i²/p_i) − c σ)
            θ_i = (R_i − b₋ᵢ s_i) / p_i
        """
        R, s, p = moments(1)
        s, p, cost = s[..., None], p[..., None], self.penalty * ridge**0.5
        R1, s1 = R.sum(axis=-2, keepdims=True), s.sum(axis=-2, keepdims=True)
        intercept = R1.imag / (s1.imag - cost)
        left_out = (R1 - s * R / p).imag / ((s1 - s**2 / p).imag - cost)
        return Removals((R - left_out * s) / p, left_out - intercept)

    def group_removals(self, blocks: BlocksOf, ridge: float) -> Removals:
        """``b₋G = Im (1ᵀR − s_Gᵀ B R_G) / (Im (1ᵀs − s_Gᵀ B s_G) − c σ)``, ``B = (P_GG)⁻¹``."""
        block, cost = blocks(1), self.penalty * ridge**0.5
        V = np.concatenate([block.R, block.s], axis=-1)
        BV = np.linalg.solve(block.M, V)
        sums = np.concatenate([block.R_sum, block.s_sum], axis=-1)
        left = (sums - np.swapaxes(block.s, -1, -2) @ BV).imag
        left_out = left[..., :-1] / (left[..., -1:] - cost)
        intercept = block.R_sum.imag / (block.s_sum.imag - cost)
        return Removals(BV[..., :-1] - BV[..., -1:] * left_out, left_out - intercept)

    def variances(self, own: Array, cross: Array, solved: Array, s: Array, ridge: float) -> Array:
        """``μ kᵀ(K D⁻¹ K + μD)⁻¹k = −σ Im kᵀPk``: f is linear in k, so it is 0 where k is."""
        result: Array = -(ridge**0.5) * np.einsum("ij,ij->i", cross, solved.imag)
        return result

    # -- the path: a kernel model whose Gram matrix is K D⁻¹ K ------------------------------------

    def spectrum(self, spectrum: Spectrum) -> Spectrum:
        return spectrum.squared()

    def least_ridge(self, size: float, eps: float) -> float:
        """Where ``K D⁻¹ K + μD`` has a Cholesky factor; the resolvent itself needs less."""
        return 1e3 * eps * size**2

    def loo_on_path(self, Y: Array, moments: MomentsOf) -> Array:
        """The paper's leave-one-out (§2.4): a sample's row is removed, its column stays."""
        return loo_bordered(Y, moments(1), self.penalty)

    def residuals_on_path(self, blocks: BlocksOf) -> Array:
        """The paper's leave-one-out for groups: their rows are removed, their columns stay."""
        return bordered_residuals(blocks(1), self.penalty)

    def matrix(self, K: Array, weight: Array) -> Array:
        return mirror_upper(weighted_square(K, weight))

    def trace(self, K: Array) -> float:
        return float(np.sum(K**2))

    def pull(self, P: Array, Y: Array, weight: Array, codes: Array | None = None) -> Pull:
        return pull_bordered(P, Y, self.penalty, codes)

    def pull_matrix(self, S: Array, K: Array, weight: Array) -> Array:
        return 2.0 * symmetric((S @ K) * weight)


KFD = Fisher("KFD", 0.0)
KFD_PENALIZED = Fisher("KFD, penalised bias", 1.0)
