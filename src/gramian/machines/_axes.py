"""Ridge regression for many λ at once, from sums over rows.

In the principal axes of the features, ``G = V diag(s) Vᵀ``, ridge regression is one division for
each axis, as it is in orthogonal columns. With ``c = Vᵀb`` and ``z = Vᵀψ(x)``::

    f(x) = Σ_j z_j c_j / (λ + s_j),    h_i = v_i Σ_j z_ij² / (λ + s_j)

Columns without a ridge (the bias) are projected out of features and targets first, and put back
into f and h. One decomposition, O(m³), serves every λ; a row then costs O(m² + m l) for l of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.arrays import Array
from gramian.machines._normal_equations import Sums
from gramian.machines._orthogonal import leave_out
from gramian.machines._stopping import Shrinkage

# λ is tried in octaves from next to nothing (1e-12) up to where nothing is left.
_RELATIVE_RIDGES = 2.0 ** np.arange(-40, 4)
# An error within this of the least is as good, relatively.
_TOL = 1e-3


@dataclass(frozen=True)
class Axes:
    """The principal axes of features that the rows behind some sums have.

    Parameters
    ----------
    squares : ndarray of shape (p,)
        ``s_j``; axes that the rows do not determine are left out.
    vectors : ndarray of shape (m − free, p)
        V.
    moments : ndarray of shape (p, t)
        ``c_j``.
    cross : ndarray of shape (free, m − free)
        Coefficients of the other columns in the free ones.
    means : ndarray of shape (free, t)
        Coefficients of the targets in the free ones.
    inverse : ndarray of shape (free, free)
        Of the free columns' part of G.
    residual : float
        Squared residual at λ = 0, summed over the outputs.
    total : float
        Sum of the weights.
    """

    squares: Array
    vectors: Array
    moments: Array
    cross: Array
    means: Array
    inverse: Array
    residual: float
    total: float

    @classmethod
    def of(cls, sums: Sums, free: int) -> Axes:
        """Decompose, O(m³); the first ``free`` columns have no ridge."""
        G = sums.gram
        inverse = np.linalg.inv(G[:free, :free])
        cross, means = inverse @ G[:free, free:], inverse @ sums.moments[:free]
        moments = sums.moments[free:] - cross.T @ sums.moments[:free]
        squares = float(sums.squares.sum() - np.einsum("jk,jk->", means, sums.moments[:free]))
        values, V = np.linalg.eigh(G[free:, free:] - cross.T @ G[:free, free:])
        # Directions that the rows do not determine have eigenvalues that are rounding error.
        known = values > len(G) * np.finfo(float).eps * values.max(initial=0.0)
        s, V = values[known], V[:, known]
        c = V.T @ moments
        residual = max(0.0, squares - float(np.sum(np.square(c) / s[:, None])))
        return cls(s, V, c, cross, means, inverse, residual, sums.total)

    @property
    def shrinkage(self) -> Shrinkage:
        """What GCV and BIC are computed from."""
        return Shrinkage(
            squares=self.squares,
            moments=np.einsum("jk,jk->j", self.moments, self.moments),
            residual=self.residual,
            total=self.total,
            outputs=self.moments.shape[1],
            free=len(self.cross),
        )

    @property
    def ridges(self) -> Array:
        """Values of λ to try, in octaves; λ = 0 alone where there is no axis."""
        return _RELATIVE_RIDGES * self.squares.max() if len(self.squares) else np.zeros(1)

    def outputs(self, features: Array, ridges: Array) -> Array:
        """``f(x)`` for each λ, of shape (l, r, t), for rows ψ(x)."""
        coefficients = self.moments / (ridges[:, None, None] + self.squares[:, None])
        return features[:, : len(self.cross)] @ self.means + self._along(features) @ coefficients

    def press(self, features: Array, targets: Array, weight: Array, ridges: Array) -> Array:
        """``Σ v (y_i − f₋ᵢ(x_i))²`` for each λ, over rows that the sums contain."""
        z, free = self._along(features), features[:, : len(self.cross)]
        h = np.einsum("ij,jk,ik->i", free, self.inverse, free)
        h = weight * (h + (1.0 / (ridges[:, None] + self.squares)) @ np.square(z).T)
        residuals = targets - self.outputs(features, ridges)
        left = leave_out(residuals.swapaxes(1, 2), 1.0 - h[:, None, :])
        return np.square(left).sum(axis=1) @ weight

    def _along(self, features: Array) -> Array:
        """z of shape (r, p): the features less their part in the free ones, along the axes."""
        free = len(self.cross)
        return (features[:, free:] - features[:, :free] @ self.cross) @ self.vectors


def least(ridges: Array, errors: Array, tol: float = _TOL) -> float:
    """The largest λ whose error is within ``tol`` of the least one, relatively.

    Where the error does not depend on λ, as in a basis that is small against the rows, a λ that
    shrinks nothing would only make the equations ill-conditioned.
    """
    return float(ridges[errors <= (1.0 + tol) * errors.min()].max())
