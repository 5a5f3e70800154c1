"""Exact leave-one-out decision values along a path of ridges, for every machine.

f₋ᵢ is the decision value at sample i of the machine trained without i. Every machine here is linear
in its targets Y, and reads off ``P = A⁻¹``:

================  ==================  ==========================================================
machine           A                   intercept
================  ==================  ==========================================================
kernel ridge      K + λD              none
LS-SVM            K + λD              free: the coefficients sum to zero
KDA/RMSE          K + λD              the one that minimises β² + Σ z_i²/weight_i
KFD, eq. (4)      K D⁻¹ K + λD        free
KFD, eq. (5)      K D⁻¹ K + λD        penalised by λ, as every coefficient
================  ==================  ==========================================================

The kernel Fisher discriminant (saadi2004) is a ridge regression on the columns of K, hence a kernel
machine whose Gram matrix is K². Its leave-one-out leaves the row of a sample out and keeps its
column. With weights, everything equals repeating each sample that often; leaving sample i out
then means all its repetitions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.arrays import Array
from gramian.gram._spectrum import Moments, Spectrum


def loo_bordered(Y: Array, first: Moments, penalty: float) -> Array:
    """Leave-one-out values of machines whose intercept b costs ``penalty · b²``.

    With ``M = P − s sᵀ / (penalty + 1ᵀs)``, the inverse of ``A + 11ᵀ/penalty``::

        f₋ᵢ = y_i − (M Y)_i / M_ii

    A penalty of 0 leaves the intercept free (duan2008, eq. 7), ∞ means none. O(n t).
    """
    R, s, p = first
    total = penalty + s.sum(axis=-1, keepdims=True)
    intercept = R.sum(axis=-2, keepdims=True) / total[..., None]
    return Y - (R - s[..., None] * intercept) / (p - s**2 / total)[..., None]


def loo_min_norm(Y: Array, first: Moments, second: Moments) -> Array:
    """Leave-one-out values of KDA/RMSE, from the moments of P and of P D P.

    ::

        f₋ᵢ = y_i − (r_i − β₋ᵢ s_i) / p_i,    β₋ᵢ = (sᵀDr)₋ᵢ / (1 + (sᵀDs)₋ᵢ)
        (sᵀDv)₋ᵢ = sᵀDv − (v_i/p_i)(PDs)_i − (s_i/p_i)(PDv)_i + (s_i v_i/p_i²)(PDP)_ii

    In O(n t), where kim2006, Alg. 7 downdates n times in O(n²) each.
    """
    R, s, p = first
    cross = left_out_products(R, second.R, first, second)
    squares = left_out_products(s[..., None], second.s[..., None], first, second)
    intercepts = cross / (1.0 + squares)
    return Y - (R - intercepts * s[..., None]) / p[..., None]


def left_out_products(V: Array, V2: Array, first: Moments, second: Moments) -> Array:
    """``(sᵀDV)₋ᵢ`` for each sample i and column of ``V = P B``, given ``V2 = P D P B``."""
    s, p = first.s[..., None], first.p[..., None]
    s2, p2 = second.s[..., None], second.p[..., None]
    return V2.sum(axis=-2, keepdims=True) - (V * s2 + s * V2) / p + s * V * p2 / p**2


@dataclass(frozen=True)
class Machine:
    """One machine of the table above: which A it solves with, and how it sets its intercept.

    Parameters
    ----------
    name : str
    intercept_penalty : float or None
        0 for a free intercept, 1 for one penalised as the coefficients, ∞ for none; None for the
        intercept of least norm.
    squared : bool
        Whether A is made of ``K D⁻¹ K`` in place of K.
    """

    name: str
    intercept_penalty: float | None
    squared: bool = False

    def spectrum(self, spectrum: Spectrum) -> Spectrum:
        """The spectrum of this machine's A at ridge 0, given that of K."""
        return spectrum.squared() if self.squared else spectrum

    def loo_path(self, spectrum: Spectrum, Y: Array, ridges: Array) -> Array:
        """Exact leave-one-out decision values for every ridge, of shape (L, n, t), in O(n² L t).

        Parameters
        ----------
        spectrum : Spectrum
            Of K.
        Y : ndarray of shape (n, t)
            Targets; those of the samples that stay must not depend on which one leaves.
        ridges : ndarray of shape (L,)
        """
        spectrum = self.spectrum(spectrum)
        first = spectrum.moments(Y, ridges)
        if self.intercept_penalty is not None:
            return loo_bordered(Y, first, self.intercept_penalty)
        return loo_min_norm(Y, first, spectrum.moments(Y, ridges, power=2))


KERNEL_RIDGE = Machine("kernel ridge", np.inf)
LS_SVM = Machine("LS-SVM", 0.0)
KDA_RMSE = Machine("KDA/RMSE", None)
KFD = Machine("KFD", 0.0, squared=True)
KFD_PENALIZED = Machine("KFD, penalised bias", 1.0, squared=True)
