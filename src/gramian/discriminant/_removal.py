"""Leave-one-out of KDA/RMSE by removal (kim2006, Alg. 7), the reference for the closed form."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, qr_delete, solve_triangular

from gramian.core.arrays import Array


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
