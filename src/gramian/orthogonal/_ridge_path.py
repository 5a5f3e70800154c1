"""Ridge regression for many λ at once, from sums over rows.

In the principal axes of the features, ``G = V diag(s) Vᵀ``, ridge regression is one division per
axis, as in orthogonal columns. With ``c = Vᵀb`` and ``z = Vᵀψ(x)``::

    f(x) = Σ_j z_j c_j / (λ + s_j),    h_i = v_i Σ_j z_ij² / (λ + s_j)

Columns without a ridge (the bias) are first projected out of features and targets, and later added
to f and h. One decomposition, O(m³), serves every λ; a row then costs O(m² + m l) for l values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.core.arrays import Array, placed_like, to_host
from gramian.orthogonal._columns import leave_out
from gramian.orthogonal._normal_equations import Sums
from gramian.orthogonal._stopping import Shrinkage

# Values of λ to try, in octaves, in units of the largest s_j: from 1e-12 to complete shrinkage.
_RELATIVE_RIDGES = 2.0 ** np.arange(-40, 4)
# Errors within this relative distance of the smallest count as equally good.
_TOL = 1e-3


@dataclass(frozen=True)
class Axes:
    """Principal axes of the features, computed from sums over rows.

    Parameters
    ----------
    squares : ndarray of shape (p,)
        ``s_j``, without axes that the rows do not determine.
    vectors : ndarray of shape (m − free, p)
        V.
    moments : ndarray of shape (p, t)
        ``c_j``.
    cross : ndarray of shape (free, m − free)
        Coefficients of the other columns in the free columns, which have no ridge.
    means : ndarray of shape (free, t)
        Coefficients of the targets in the free columns.
    inverse : ndarray of shape (free, free)
        Inverse of the free columns' block of G.
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
    def of(cls, sums: Sums, free: int, like: Array | None = None) -> Axes:
        """Decompose the sums, O(m³); the first ``free`` columns have no ridge.

        The decomposition is computed on the device of ``like``, that of NumPy by default.
        """
        G = sums.gram
        inverse = np.linalg.inv(G[:free, :free])
        cross, means = inverse @ G[:free, free:], inverse @ sums.moments[:free]
        moments = sums.moments[free:] - cross.T @ sums.moments[:free]
        squares = float(sums.squares.sum() - np.einsum("jk,jk->", means, sums.moments[:free]))
        schur = G[free:, free:] - cross.T @ G[:free, free:]
        values, V = (to_host(part) for part in np.linalg.eigh(placed_like(schur, like)))
        # Directions that the rows do not determine have eigenvalues of rounding-error size.
        known = values > len(G) * np.finfo(float).eps * values.max(initial=0.0)
        s, V = values[known], V[:, known]
        c = V.T @ moments
        residual = max(0.0, squares - float(np.sum(np.square(c) / s[:, None])))
        return cls(s, V, c, cross, means, inverse, residual, sums.total)

    @property
    def shrinkage(self) -> Shrinkage:
        """The quantities from which GCV and BIC are computed."""
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
        """Values of λ to try, in octaves; only λ = 0 if there is no axis."""
        return _RELATIVE_RIDGES * self.squares.max() if len(self.squares) else np.zeros(1)

    def outputs(self, features: Array, ridges: Array) -> Array:
        """``f(x)`` for each λ, of shape (l, r, t), for rows ψ(x)."""
        coefficients = self.moments / (ridges[:, None, None] + self.squares[:, None])
        result: Array = (
            features[:, : len(self.cross)] @ self.means + self._along(features) @ coefficients
        )
        return result

    def press(self, features: Array, targets: Array, weight: Array, ridges: Array) -> Array:
        """``Σ v (y_i − f₋ᵢ(x_i))²`` for each λ, over rows that are part of the sums."""
        z, free = self._along(features), features[:, : len(self.cross)]
        h = np.einsum("ij,jk,ik->i", free, self.inverse, free)
        h = weight * (h + (1.0 / (ridges[:, None] + self.squares)) @ np.square(z).T)
        residuals = targets - self.outputs(features, ridges)
        left = leave_out(residuals.swapaxes(1, 2), 1.0 - h[:, None, :])
        result: Array = np.square(left).sum(axis=1) @ weight
        return result

    def _along(self, features: Array) -> Array:
        """z of shape (r, p): features without their part in the free columns, along the axes."""
        free = len(self.cross)
        result: Array = (features[:, free:] - features[:, :free] @ self.cross) @ self.vectors
        return result


def least(ridges: Array, errors: Array, tol: float = _TOL) -> float:
    """The largest λ whose error is within the relative tolerance ``tol`` of the smallest.

    If the error hardly depends on λ, as for a basis that is small compared with the rows, a
    smaller λ would only make the equations ill-conditioned.
    """
    return float(ridges[errors <= (1.0 + tol) * errors.min()].max())
