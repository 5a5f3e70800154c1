"""Ridge regression on a fixed basis, updated when rows are added or removed.

The basis is fixed: the centres, λ, and the U of the penalty λ‖U w‖² on the weights w of the
columns. U does not depend on the present rows. After any edits the estimator therefore *exactly*
equals the one solved from the present rows, and leave-one-out equals removing the row.

There are two choices of U. That of the selection makes the columns orthogonal (andelic2007) on the
rows of the selection, and retains m²/2 numbers computed from them. To make the columns orthogonal
on the present rows, repeat the selection starting with these centres (``start`` of
`forward_select`). The Cholesky factor of the centres' kernel matrix, ``UᵀU = K_mm``, gives the
penalty λ‖f‖² in the kernel's own space, and depends on the centres alone.
"""

from __future__ import annotations

from copy import copy

import numpy as np
from scipy.linalg import block_diag, solve_triangular

from gramian.core.arrays import Array, device_like, to_host
from gramian.core.gram._normal import LiveNormal
from gramian.orthogonal._equations import OrthogonalRegression, leave_out, penalties
from gramian.orthogonal._normal_equations import Axes, Sums, basis_features

_ADVICE = "raise `ridge`, or hold more rows than columns"


class LiveRidge:
    """The normal equations of a fixed basis, solved again after rows are added or removed.

    A `LiveNormal` over the features ψ = U⁻ᵀ[1, k] of the rows, and U.

    Parameters
    ----------
    U : ndarray of shape (m, m)
        Upper triangular, the bias first.
    sums : Sums
        Sums over the present rows.
    ridge : float
    free : int
        Number of leading columns without a ridge.
    like : array, optional
        An array on the device that solves large systems; host memory by default.

    Raises
    ------
    numpy.linalg.LinAlgError
        Here and in every edit, if M would not be positive definite, for example with ``ridge=0``
        and fewer rows than columns. The object stays as it was.
    """

    def __init__(
        self, U: Array, sums: Sums, ridge: float, free: int = 0, like: Array | None = None
    ) -> None:
        self._like = None if like is None else np.empty(0, like=like)
        self._assign(np.asarray(U, dtype=float), _joint(sums), sums.rows, float(ridge), free)

    @classmethod
    def from_regression(
        cls, regression: OrthogonalRegression, targets: Array, weight: Array | None = None
    ) -> LiveRidge:
        """Build the estimator that `forward_select` found, over its rows and weights."""
        basis = regression.basis
        weight = np.ones(len(targets)) if weight is None else weight
        sums = Sums(
            gram=np.diag(basis.squares.astype(float)),
            moments=regression.moments.astype(float),
            squares=weight @ np.square(targets.astype(float)),
            total=float(weight.sum()),
            rows=len(targets),
        )
        U, like = basis.U.copy(), device_like(basis.Q)
        return cls(U, sums, regression.ridge, regression.free, like)

    def copy(self) -> LiveRidge:
        """Return a copy with independent edits."""
        twin = copy(self)
        twin.normal = self.normal.copy()
        return twin

    # -- edits ----------------------------------------------------------------------------------

    def append(self, rows: Array, targets: Array, weight: Array | None = None) -> None:
        """Add r rows: O(m²) for one, level-3 products for more.

        Parameters
        ----------
        rows : ndarray of shape (r, m − 1)
            Kernel values with the centres, plus the selection's ``epsilon`` where the sample itself
            is the centre.
        targets : ndarray of shape (r, t)
        weight : ndarray of shape (r,), optional
        """
        self._edit(rows, targets, weight, 1)

    def remove(self, rows: Array, targets: Array, weight: Array | None = None) -> None:
        """Remove r rows, given as they were added; costs as much as `append`."""
        self._edit(rows, targets, weight, -1)

    def append_output(self, value: float) -> None:
        """Add an output whose target is ``value`` for every present row; O(m²)."""
        self.normal.append_multiples(0, np.array([value]))  # ψ_0 is 1 in every row

    def remove_output(self, output: int) -> None:
        """Remove one output, O(m²)."""
        self.normal.select_columns(np.delete(np.arange(self.normal.n_targets), output))

    def remove_centre(self, centre: int) -> None:
        """Remove one column from the basis and keep the penalty on the others; O(m³).

        ``U`` without the column is ``V U'`` with orthonormal columns in V, so
        ``λ‖U w‖² = λ‖U' w‖²``: the features become Vᵀψ and nothing else changes.
        """
        V, R = np.linalg.qr(np.delete(self.U, centre + 1, axis=1))
        signs = np.sign(np.diagonal(R))
        joint = self.normal.sums()
        T = block_diag(V * signs, np.eye(len(joint) - len(V)))
        joint = T.T @ joint @ T
        joint = 0.5 * (joint + joint.T)  # symmetric to the last bit
        self._assign(R * signs[:, None], joint, self.rows, self.ridge, self.free, self.worn())

    def worn(self) -> bool:
        """Whether the sums should be computed again from the rows; see `LiveNormal.worn`."""
        return self._worn or self.normal.worn()

    # -- reads ----------------------------------------------------------------------------------

    @property
    def sums(self) -> Sums:
        """Sums over the present rows."""
        S, m = self.normal.sums(), len(self.U)
        squares = S.diagonal()[m:].copy()
        return Sums(S[:m, :m].copy(), S[:m, m:].copy(), squares, float(S[0, 0]), self.rows)

    @property
    def orthogonal_weights(self) -> Array:
        """a of shape (m, t), ``f(x) = ψ(x)ᵀa``; O(m² t) after an edit."""
        return self.normal.solution()

    @property
    def weights(self) -> Array:
        """w = U⁻¹a of shape (m, t): the bias and the weight of each centre."""
        result: Array = solve_triangular(self.U, self.orthogonal_weights, check_finite=False)
        return result

    def drift(self) -> float:
        """Largest residual of the solution in ``M a = b``, relative to √M_jj √Σ v y²."""
        return self.normal.drift()

    def loo_residuals(self, rows: Array, targets: Array, weight: Array | None = None) -> Array:
        """``y_i − f₋ᵢ(x_i) = e_i / (1 − h_i)`` of present rows; O(m²) each.

        Infinite if h_i = 1: the columns fit such a row whatever its target is.
        """
        features = basis_features(self.U, rows)
        residuals = targets - features @ self.orthogonal_weights
        return leave_out(residuals.T, 1.0 - self._leverages(features, weight)).T

    def minimize_gcv(self) -> float:
        """λ at the minimum of GCV over the present rows, from the spectrum of G; O(m³).

        Does not change the estimator.
        """
        return Axes.of(self.sums, self.free).shrinkage.minimize_gcv()

    # -- inside ---------------------------------------------------------------------------------

    def _leverages(self, features: Array, weight: Array | None) -> Array:
        """``h_i = v_i ψ_iᵀ M⁻¹ ψ_i`` of present rows; O(m²) each."""
        h = np.einsum("ij,ij->i", features @ self.normal.present_inverse(), features)
        result: Array = h if weight is None else weight * h
        return result

    def _assign(
        self, U: Array, joint: Array, rows: int, ridge: float, free: int, worn: bool = False
    ) -> None:
        """Factor first, then assign all attributes: an error leaves the object as it was."""
        diagonal = penalties(len(U), ridge, free)
        normal = LiveNormal(diagonal, len(joint) - len(U), joint, _ADVICE, self._like)
        normal.inverse()
        self.U, self.rows, self.ridge, self.free = U, rows, ridge, free
        self._penalties, self.normal, self._worn = diagonal, normal, worn

    def _edit(self, rows: Array, targets: Array, weight: Array | None, sign: int) -> None:
        weight = np.ones(len(rows)) if weight is None else weight
        normal, left = self.normal.copy(), self.rows + sign * len(rows)
        expected = (len(rows), normal.n_targets)
        if targets.shape != expected:
            raise ValueError(f"targets must be of shape {expected}, got {targets.shape}.")
        if left == 0:  # start from zero, so that no rounding error of removed rows remains
            normal = LiveNormal(self._penalties, expected[1], advice=_ADVICE, like=self._like)
        else:
            enter = normal.append if sign > 0 else normal.remove
            enter(basis_features(self.U, to_host(rows)), targets, weight)
        normal.present_inverse()
        self.normal, self.rows = normal, left


def _joint(sums: Sums) -> Array:
    """``Σ v [ψ; y] [ψ; y]ᵀ``, without products of different targets, which are not needed."""
    return np.block([[sums.gram, sums.moments], [sums.moments.T, np.diag(sums.squares)]])
