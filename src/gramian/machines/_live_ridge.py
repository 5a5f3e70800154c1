"""Ridge regression on a fixed basis, solved, while rows enter and leave.

The basis stays: centres, λ, and the U of the penalty λ‖U w‖² on the weights w of the columns. U
does not follow the rows. Hence a machine that rows have entered and left is *exactly* the one
solved anew from the rows present, and leave-one-out is exactly what removing the row gives.

Two U are in use. That of the selection makes the columns orthogonal (andelic2007) on the rows that
it saw, and remembers them in m²/2 numbers for all of them together; making the columns orthogonal
on the rows present is a new selection that starts with these centres (``start`` of
`forward_select`). The Cholesky factor of the centres' kernel matrix, ``UᵀU = K_mm``, makes the
penalty λ‖f‖² in the kernel's own space, and knows the centres alone.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from gramian.arrays import (
    Array,
    add_outer,
    factor_cholesky,
    invert_cholesky,
    scale_by_cholesky,
    small_cholesky,
    symmetric_product,
)
from gramian.machines._axes import Axes
from gramian.machines._forward import ForwardSelection
from gramian.machines._normal_equations import Sums, basis_features, weighted_columns
from gramian.machines._orthogonal import leave_out, penalties

# Rows with 1 − h below this leave by a fresh factorisation: the update would lose these digits.
_STEEP = 1e-3
# A solution whose residual is larger than this, after refinement, asks for a fresh factorisation.
_DRIFT = 2.0**12 * float(np.finfo(float).eps)


class LiveRidge:
    """The normal equations of a fixed basis, solved, while rows enter and leave.

    G and b are the truth: sums with nothing but rounding error in them. P = M⁻¹ follows each edit
    by a low-rank update and only helps to solve: the solution is refined once against M when it
    is read, and P is rebuilt from G if that does not suffice.

    Parameters
    ----------
    U : ndarray of shape (m, m)
        Upper triangular, the bias first.
    sums : Sums
        Over the rows present. Owned by this object from now on.
    ridge : float
    free : int
        This many columns, the first, have no ridge.

    Attributes
    ----------
    sums : Sums
    refactorizations : int
        How often P has been rebuilt.

    Raises
    ------
    numpy.linalg.LinAlgError
        Here and in every edit: if M would not be positive definite, as with ``ridge=0`` and
        fewer rows than columns. The object stays as it was.
    """

    def __init__(self, U: Array, sums: Sums, ridge: float, free: int = 0) -> None:
        self.refactorizations = 0
        self._solution: Array | None = None
        self._assign(np.asarray(U, dtype=float), sums, float(ridge), free)

    @classmethod
    def from_selection(
        cls, selection: ForwardSelection, targets: Array, weight: Array | None = None
    ) -> LiveRidge:
        """The machine that `forward_select` has found, over the rows and weights given to it."""
        weight = np.ones(len(targets)) if weight is None else weight
        sums = Sums(
            gram=np.asfortranarray(np.diag(selection.squares), dtype=float),
            moments=selection.moments.astype(float),
            squares=weight @ np.square(targets.astype(float)),
            total=float(weight.sum()),
            rows=len(targets),
        )
        return cls(selection.U, sums, selection.ridge, selection.free)

    # -- edits ----------------------------------------------------------------------------------

    def append(self, rows: Array, targets: Array, weight: Array | None = None) -> None:
        """Enter r rows: O(m²) for one, level-3 products for more.

        Parameters
        ----------
        rows : ndarray of shape (r, m − 1)
            Kernel values with the centres; plus the selection's ``epsilon`` where the sample is
            itself the centre.
        targets : ndarray of shape (r, t)
        weight : ndarray of shape (r,), optional
        """
        self._edit(rows, targets, weight, 1.0)

    def remove(self, rows: Array, targets: Array, weight: Array | None = None) -> None:
        """Let r rows leave, given as they entered; the cost of `append`."""
        self._edit(rows, targets, weight, -1.0)

    def append_output(self, value: float) -> None:
        """Another output, whose target is ``value`` for every row present; O(m)."""
        sums, moments = self.sums, value * self.sums.gram[:1].T  # ψ_0 is 1 in every row
        sums.moments = np.column_stack([sums.moments, moments])
        sums.squares = np.append(sums.squares, value**2 * sums.total)
        self._solution = None

    def remove_output(self, output: int) -> None:
        """Forget one output, O(m t)."""
        self.sums.moments = np.delete(self.sums.moments, output, axis=1)
        self.sums.squares = np.delete(self.sums.squares, output)
        self._solution = None

    def remove_centre(self, centre: int) -> None:
        """Take one column out of the basis, the penalty on the others kept; O(m³).

        ``U`` without the column is ``V U'`` with orthonormal columns in V, so that
        ``λ‖U w‖² = λ‖U' w‖²``: the features become Vᵀψ and nothing else changes.
        """
        V, R = np.linalg.qr(np.delete(self.U, centre + 1, axis=1))
        signs = np.sign(np.diagonal(R))
        V, R = V * signs, R * signs[:, None]
        G = np.asfortranarray(V.T @ symmetric_product(self.sums.gram, np.asfortranarray(V)))
        old = self.sums
        sums = Sums(G, V.T @ old.moments, old.squares, old.total, old.rows)
        self._assign(R, sums, self.ridge, self.free)

    def set_ridge(self, ridge: float) -> None:
        """Change λ and solve anew, O(m³)."""
        self._assign(self.U, self.sums, ridge, self.free)

    def refactor(self) -> None:
        """Rebuild P from G, O(m³)."""
        self._assign(self.U, self.sums, self.ridge, self.free)

    # -- what is asked of it --------------------------------------------------------------------

    @property
    def orthogonal_weights(self) -> Array:
        """a of shape (m, t), ``f(x) = ψ(x)ᵀa``; O(m² t) after an edit."""
        if self._solution is None:
            solution = self._solve()
            if self._drift(solution) > _DRIFT:
                self.refactor()
                solution = self._solve()
            self._solution = solution
        return self._solution

    @property
    def weights(self) -> Array:
        """w = U⁻¹a of shape (m, t): the bias and the weight of each centre."""
        return solve_triangular(self.U, self.orthogonal_weights, check_finite=False)

    def drift(self) -> float:
        """Largest residual of the solution in ``M a = b``, relative to √M_jj √Σ v y²."""
        return self._drift(self.orthogonal_weights)

    def leverages(self, rows: Array, weight: Array | None = None) -> Array:
        """``h_i = v_i ψ_iᵀ M⁻¹ ψ_i`` of rows that are present; O(m²) each."""
        features, weight = self._prepared(rows, weight)
        columns = weighted_columns(features, weight)
        return np.einsum("ji,ji->i", columns, symmetric_product(self._P, columns))

    def loo_residuals(self, rows: Array, targets: Array, weight: Array | None = None) -> Array:
        """``y_i − f₋ᵢ(x_i) = e_i / (1 − h_i)`` for rows that are present; O(m²) each.

        Infinite where h_i = 1: such a row is fitted whatever its target is.
        """
        residuals = targets - basis_features(self.U, rows) @ self.orthogonal_weights
        return leave_out(residuals.T, 1.0 - self.leverages(rows, weight)).T

    def df(self) -> float:
        """Effective number of parameters, the trace of the hat matrix: ``m − Σ λ_j P_jj``."""
        return len(self.U) - float(self._penalties @ np.diagonal(self._P))

    def rss(self) -> float:
        """Squared residual over all rows and outputs, from the sums; known to eps Σ v y²."""
        a = self.orthogonal_weights
        fitted = np.einsum("jk,jk->", a, self.sums.moments + self._penalties[:, None] * a)
        return max(0.0, float(self.sums.squares.sum() - fitted))

    def gcv(self) -> float:
        """Generalised cross-validation over the rows present, ``N RSS / (N − df)²``; O(m t)."""
        left = self.sums.total - self.df()
        if left <= len(self.U) * np.finfo(float).eps * self.sums.total:
            return np.inf
        return self.sums.total * self.rss() / left**2

    def minimize_gcv(self) -> float:
        """λ at the minimum of GCV over the rows present, from the spectrum of G; O(m³).

        Does not change the machine: give the result to `set_ridge`.
        """
        return Axes.of(self.sums, self.free).shrinkage.minimize_gcv()

    # -- inside ---------------------------------------------------------------------------------

    def _prepared(self, rows: Array, weight: Array | None) -> tuple[Array, Array]:
        weight = np.ones(len(rows)) if weight is None else weight
        return basis_features(self.U, rows), weight

    def _assign(self, U: Array, sums: Sums, ridge: float, free: int) -> None:
        """Factor, then take over all that is given: an error leaves the object as it was."""
        diagonal = penalties(len(U), ridge, free)
        self._P = inverse(sums.gram, diagonal)
        self.U, self.sums, self.ridge, self.free = U, sums, ridge, free
        self._penalties = diagonal
        self._solution = None
        self.refactorizations += 1

    def _edit(self, rows: Array, targets: Array, weight: Array | None, sign: float) -> None:
        expected = (len(rows), self.sums.moments.shape[1])
        if targets.shape != expected:
            raise ValueError(f"targets must be of shape {expected}, got {targets.shape}.")
        features, weight = self._prepared(rows, weight)
        W = weighted_columns(features, weight)
        update = None if 2 * len(features) > len(self.U) else self._update(W, sign)
        if update is None:
            sums = self.sums.copy()
            sums.add(features, targets, weight, sign)
            self._assign(self.U, sums, self.ridge, self.free)
        else:
            self.sums.add(features, targets, weight, sign)
            add_outer(self._P, update, -sign)
            self._solution = None

    def _update(self, W: Array, sign: float) -> Array | None:
        """Z with ``(M ± W Wᵀ)⁻¹ = P ∓ Z Zᵀ``; None if it would lose digits."""
        products = symmetric_product(self._P, W)
        L, info = small_cholesky(np.eye(W.shape[1]) + sign * (W.T @ products))
        if info or np.square(np.diagonal(L)).min() < _STEEP:
            return None
        return scale_by_cholesky(products, L)

    def _residual(self, a: Array) -> Array:
        fitted = symmetric_product(self.sums.gram, a) + self._penalties[:, None] * a
        return self.sums.moments - fitted

    def _solve(self) -> Array:
        """``P b``, refined once against M."""
        a = symmetric_product(self._P, self.sums.moments)
        return a + symmetric_product(self._P, self._residual(a))

    def _drift(self, a: Array) -> float:
        lengths = np.sqrt(np.diagonal(self.sums.gram) + self._penalties)
        scale = np.outer(lengths, np.sqrt(np.abs(self.sums.squares)))
        relative = np.divide(self._residual(a), scale, out=np.zeros_like(a), where=scale > 0)
        return float(np.abs(relative).max(initial=0.0))


def inverse(gram: Array, diagonal: Array) -> Array:
    """``(G + diag)⁻¹`` in the upper triangle of a new Fortran array; O(m³).

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not positive definite.
    """
    P = gram.copy(order="F")
    P[np.diag_indices(len(P))] += diagonal
    bad = factor_cholesky(P)
    if bad:
        raise np.linalg.LinAlgError(
            f"The rows do not determine the weight of column {bad - 1} of {len(P)}. Raise `ridge`, "
            f"or hold more rows than columns."
        )
    invert_cholesky(P)
    return P
