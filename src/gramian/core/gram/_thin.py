"""A whole path of ridges for the linear kernel with n ≫ d, from d eigenvalues.

With samples X, ``W = diag(weight)`` and ``XᵀWX = V diag(e) Vᵀ``, let ``T = W^½ X V``. Then, for
every ridge λ::

    P(λ) = (X Xᵀ + λW⁻¹)⁻¹ = W^½ (I − T diag(1/(e + λ)) Tᵀ) W^½ / λ

P·B costs O(n d) per column, where the spectrum of the Gram matrix needs O(n²).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from gramian.core.arrays import Array
from gramian.core.gram._spectrum import Moments


@dataclass(frozen=True)
class ThinSpectrum:
    """Eigenvalues e (ascending), T, and the square roots of the weights."""

    values: Array
    vectors: Array
    root: Array

    def moments(self, Y: Array, ridges: Array, *, power: int = 1) -> Moments:
        """``P Y``, ``P 1`` and ``diag P`` for every ridge; as `Spectrum.moments`, in O(n d L t)."""
        assert power == 1, "P D P is not a low-rank change of a diagonal"
        T, root, ridges = self.vectors, self.root, np.asarray(ridges)
        gains = 1.0 / (np.maximum(self.values, 0.0)[:, None] + ridges)
        B = root[:, None] * np.column_stack([Y, np.ones(len(T))])
        scaled = gains.T[:, :, None] * (T.T @ B)
        solved = root[:, None] * (B - T @ scaled) / ridges[:, None, None]
        p = root**2 * (1.0 - ((T * T) @ gains).T) / ridges[:, None]
        return Moments(solved[..., :-1], solved[..., -1], p)


def thin_spectrum(X: Array, weight: Array | None = None) -> ThinSpectrum:
    """Return the `ThinSpectrum` of these samples, O(n d²)."""
    root = np.ones(len(X)) if weight is None else np.sqrt(weight)
    T = root[:, None] * X
    values, V = eigh(T.T @ T)
    return ThinSpectrum(values, T @ V, root)
