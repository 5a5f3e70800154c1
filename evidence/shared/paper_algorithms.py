"""The papers' own ways to values that the library gets in closed form: references for both.

`loo_by_removal` is the leave-one-out of kim2006; `canonical_form` and `fisher_loo_rows` are of
saadi2004.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, qr_delete, solve_triangular

from gramian.core.arrays import Array
from gramian.core.equations import loo_bordered
from gramian.core.gram import Moments


def loo_by_removal(K: Array, targets: Array, ridge: float) -> Array:
    """Leave-one-out decision values, by removing each sample in turn from one QR decomposition.

    ::

        G = [1, K + λI],   Gᵀ = Q [R; 0]        kim2006, eq. (17)
        f₋ᵢ = k(x_i, X₋ᵢ) z₋ᵢ + β₋ᵢ,            [β₋ᵢ; z₋ᵢ] of minimum norm without sample i

    O(n³) for the decomposition and O(n²) for each sample, in 4 n² of memory. `MinimumNorm.loo`
    gives the same values in O(n²) for all samples together, from P.

    Parameters
    ----------
    K : ndarray of shape (n, n)
    targets : ndarray of shape (n,) or (n, t)
        They do not change when a sample is removed; for Fisher targets pass the class indicators
        and combine the values by `ClassTargets.combine_left_out`.
    ridge : float
        λ > 0, or 0 if K is positive definite.

    Returns
    -------
    ndarray of the shape of ``targets``

    Raises
    ------
    numpy.linalg.LinAlgError
        If ``K + λI`` without some sample is exactly singular.
    """
    n = len(K)
    Gt = np.vstack([np.ones((1, n), dtype=K.dtype), K])
    Gt[np.arange(1, n + 1), np.arange(n)] += ridge
    Q, R = qr(Gt)  # Alg. 7, step 3
    values = np.empty(targets.shape, dtype=K.dtype)
    for i in range(n):  # Alg. 7, step 5
        intercept, Z = _without(Q, R, np.delete(targets, i, axis=0), i)
        values[i] = np.delete(K[i], i) @ Z + intercept  # Alg. 7, step 5 (c)
    return values


def _without(Q: Array, R: Array, targets: Array, i: int) -> tuple[Array, Array]:
    """Intercept and coefficients once sample i is removed (kim2006, Alg. 6), O(n²)."""
    Q, R = qr_delete(Q, R, i, which="col")  # Alg. 6, step 2, which is Alg. 3
    Q, R = qr_delete(Q, R, i + 1, which="row")  # Alg. 6, step 3, which is Alg. 4
    m = R.shape[1]
    r = solve_triangular(R[:m], targets, trans="T")  # eq. (19): y = Rᵀ r
    solution = Q[:, :m] @ r  # eq. (20)
    return solution[0], solution[1:]


def fisher_loo_rows(Y: Array, moments: Moments, *, sigma: float, penalty: float) -> Array:
    """The leave-one-out of saadi2004, §2.4: removes row i of Z = [K 1], keeps column i; O(n t).

    ::

        f₋ᵢ = y_i − (y_i − f_i) / (1 − h_ii)

    in the form of `loo_bordered` for ``(K D⁻¹ K + μD)⁻¹ = −Im P / σ``.
    """
    return loo_bordered(Y, Moments(*(-part.imag / sigma for part in moments)), penalty)


@dataclass(frozen=True)
class CanonicalForm:
    """The principal components of Z, in which a ridge scales each parameter separately (eq. 6).

    Z is [K 1] if the bias is penalised. A free bias is the mean of the residual, and Z is then K
    with its column means subtracted.

    Attributes
    ----------
    components : ndarray of shape (n, m)
        ``U = Z V``.
    eigenvalues : ndarray of shape (m,)
        Λ of ``Zᵀ Z = V Λ Vᵀ``, descending.
    axes : ndarray of shape (·, m)
        V.
    unregularised : ndarray of shape (m, t)
        α̂, the parameters at ridge 0; 0 along directions outside the range of Z.
    centre : tuple of ndarray, or None
        Means of the columns of K and of Y, if the bias is free.
    """

    components: Array
    eigenvalues: Array
    axes: Array
    unregularised: Array
    centre: tuple[Array, Array] | None

    def parameters(self, ridge: float) -> Array:
        """``α_i = λ_i / (λ_i + μ) α̂_i`` (saadi2004, §2.2), O(n t) per ridge."""
        return self._gains(ridge)[:, None] * self.unregularised

    def coefficients(self, ridge: float) -> tuple[Array, Array]:
        """Intercepts (t,) and coefficients (n, t) of the samples, ``β = V α``, O(n² t)."""
        beta = self.axes @ self.parameters(ridge)
        if self.centre is None:
            return beta[-1], beta[:-1]
        K_mean, Y_mean = self.centre
        return Y_mean - K_mean @ beta, beta

    def loo(self, Y: Array, ridge: float) -> Array:
        """``y_i − r_i / (1 − h_ii)`` (saadi2004, §2.4), keeping the sample's column; O(n² t).

        ``h_ii = Σ_j u_ij² / (λ_j + μ)``, plus 1/n for a free bias.
        """
        fitted = self.components @ self.parameters(ridge)
        leverage = self.components**2 @ (1.0 / (self.eigenvalues + ridge))
        if self.centre is not None:
            fitted += self.centre[1]
            leverage += 1.0 / len(Y)
        result: Array = Y - (Y - fitted) / (1.0 - leverage)[:, None]
        return result

    def _gains(self, ridge: float) -> Array:
        return self.eigenvalues / (self.eigenvalues + ridge)


def canonical_form(K: Array, Y: Array, *, penalize_bias: bool = False) -> CanonicalForm:
    """Return the canonical form of a kernel matrix and targets (n, t), O(n³).

    Uses the singular value decomposition of Z. The paper uses the eigenvectors of ZᵀZ, which are
    the same, but ZᵀZ squares the condition number.
    """
    if penalize_bias:
        Z, target, centre = np.column_stack([K, np.ones(len(K), dtype=K.dtype)]), Y, None
    else:
        centre = (K.mean(axis=0), Y.mean(axis=0))
        Z, target = K - centre[0], Y - centre[1]
    Q, singular, Vt = np.linalg.svd(Z, full_matrices=False)
    along = (Q.T @ target) / np.where(singular > 0, singular, np.inf)[:, None]
    return CanonicalForm(Q * singular, singular**2, Vt.T, along, centre)
