"""Ridge regression on a fixed basis, from sums over rows.

A row is a sample x with its targets y and its weight v. Forward selection has chosen m columns (the
bias and the centres) and the U that makes them orthogonal on its rows. The features of a row are

    ψ(x) = U⁻ᵀ [1, k(x, centre_1), …]

The estimator is ``f(x) = ψ(x)ᵀa`` with ``(G + diag(λ)) a = b``, where rows can be added to the sums
and subtracted from them in any order and in chunks of any size::

    G = Σ v ψ ψᵀ,    b = Σ v ψ yᵀ

Without U, the condition number of the sums would be the square of that of the columns. On the rows
of the selection G is diag(s), and it stays nearly diagonal for similar rows. All sums are float64,
whatever the dtype of the rows.

`Axes` solves for many λ at once. In the principal axes of the features, ``G = V diag(s) Vᵀ``, ridge
regression is one division per axis, as in orthogonal columns. With ``c = Vᵀb`` and ``z = Vᵀψ(x)``::

    f(x) = Σ_j z_j c_j / (λ + s_j),    h_i = v_i Σ_j z_ij² / (λ + s_j)

Columns without a ridge (the bias) are first projected out of features and targets, and later added
to f and h. One decomposition, O(m³), serves every λ; a row then costs O(m² + m l) for l values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.core.arrays import (
    Array,
    add_outer,
    mirror_upper,
    placed_like,
    solve_transposed,
    to_host,
)
from gramian.orthogonal._equations import Shrinkage, leave_out

# Values of λ to try, in octaves, in units of the largest s_j: from 1e-12 to complete shrinkage.
_RELATIVE_RIDGES = 2.0 ** np.arange(-40, 4)
# Errors within this relative distance of the smallest count as equally good.
_TOL = 1e-3


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over rows, from which the normal equations and their criteria are computed.

    They are additive: the sums over two sets of rows are ``a + b``, up to rounding.

    Attributes
    ----------
    gram : ndarray of shape (m, m)
        ``G = Σ v ψ ψᵀ``.
    moments : ndarray of shape (m, t)
        ``Σ v ψ yᵀ``.
    squares : ndarray of shape (t,)
        ``Σ v y²``.
    total : float
        ``Σ v``.
    rows : int
        Number of rows of weight > 0.
    """

    gram: Array
    moments: Array
    squares: Array
    total: float = 0.0
    rows: int = 0

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            self.gram + other.gram,
            self.moments + other.moments,
            self.squares + other.squares,
            self.total + other.total,
            self.rows + other.rows,
        )

    def distance(self, other: Sums) -> float:
        """Largest difference in G relative to its diagonal; the drift, if ``other`` is fresh."""
        scale = np.sqrt(np.diagonal(other.gram))
        scale = np.where(scale > 0, scale, 1.0)
        difference = (self.gram - other.gram) / np.outer(scale, scale)
        return float(np.abs(difference).max(initial=0.0))


def basis_features(U: Array, rows: Array) -> Array:
    """``ψ = U⁻ᵀ [1, k]`` for each row k of kernel values with the centres; O(m²) per row.

    Parameters
    ----------
    U : ndarray of shape (m, m)
        Upper triangular.
    rows : ndarray of shape (r, m − 1)

    Returns
    -------
    ndarray of shape (r, m)
    """
    columns = np.ones((len(rows), len(U)), like=rows).T
    columns[1:] = rows.T
    return solve_transposed(U, columns).T


class RunningSums:
    """`Sums` in the making, on the device of the rows; G is summed in its upper triangle alone.

    Parameters
    ----------
    U : ndarray of shape (m, m)
        Upper triangular; moved to the device of the rows once.
    n_targets : int
    like : array, optional
        An array on the device of the rows; host memory by default.
    """

    def __init__(self, U: Array, n_targets: int, like: Array | None = None) -> None:
        self._U = np.asarray(U, like=like)
        self._gram = np.zeros((len(U), len(U)), order="F", like=like)
        self._moments = np.zeros((len(U), n_targets), like=like)
        self._squares, self._total, self._rows = np.zeros(n_targets), 0.0, 0

    def add(self, rows: Array, targets: Array, weight: Array | None = None) -> None:
        """Add rows, given by their kernel values with the centres; 2 m² operations for each."""
        weight = np.ones(len(rows)) if weight is None else weight
        roots = np.sqrt(weight.astype(float))[:, None]
        scaled, wanted = basis_features(self._U, rows), targets * roots
        scaled *= roots
        add_outer(self._gram, scaled.T, 1.0)
        self._moments += scaled.T @ wanted
        self._squares += np.einsum("ik,ik->k", wanted, wanted)
        self._total += float(weight.sum())
        self._rows += int(np.count_nonzero(weight))

    def widen(self, n_targets: int) -> None:
        """Add outputs until there are so many; a new one has the target −1 for all rows so far."""
        new = n_targets - len(self._squares)
        means = -self._gram[:1].T  # ψ_0 is 1 in every row
        self._moments = np.concatenate([self._moments, *[means] * new], axis=1)
        self._squares = np.append(self._squares, np.full(new, self._total))

    def total(self) -> Sums:
        """The sums over the rows so far, in host memory."""
        gram, moments = to_host(mirror_upper(self._gram)), to_host(self._moments)
        return Sums(gram, moments, self._squares, self._total, self._rows)


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


def best_ridge(ridges: Array, errors: Array, tol: float = _TOL) -> float:
    """The largest λ whose error is within the relative tolerance ``tol`` of the smallest.

    If the error hardly depends on λ, as for a basis that is small compared with the rows, a
    smaller λ would only make the equations ill-conditioned.
    """
    return float(ridges[errors <= (1.0 + tol) * errors.min()].max())
