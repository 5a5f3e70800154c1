"""Least squares at ridge 0: the solution of minimum norm (kim2006)."""

from __future__ import annotations

import numpy as np

from gramian.core.arrays import Array


def minimum_norm(K: Array, Y: Array, weight: Array | None = None) -> tuple[Array, Array]:
    """Minimum-norm least-squares intercept and coefficients of ``[1, K] [b; Z] ≈ Y``.

    kim2006, eq. (14): ``[b; Z] = G⁺ Y`` with ``G = [1, K]``, by the singular value decomposition.
    Singular values below ``(n + 1) eps σ_max`` count as zero. O(n³).

    Weights multiply the squared errors, and the norm becomes ``b² + Σ z_i² / weight_i``, so a
    weight of k equals k copies: ``Z = √w U`` gives the unweighted problem.
    """
    root = np.sqrt(np.ones(len(K)) if weight is None else weight).astype(K.dtype)[:, None]
    G = root * np.column_stack([np.ones(len(K), dtype=K.dtype), K * root.T])
    left, sigma, right = np.linalg.svd(G, full_matrices=False)
    rank = int(np.sum(sigma > G.shape[1] * np.finfo(K.dtype).eps * sigma[0]))
    solution = right[:rank].T @ ((left[:, :rank].T @ (root * Y)) / sigma[:rank, None])
    return solution[0], root * solution[1:]


def minimum_norm_loo(K: Array, Y: Array, weight: Array | None = None) -> Array:
    """Leave-one-out values of `minimum_norm` by n real refits, O(n⁴).

    Row and column i are both removed; there is no closed form for a singular K.
    """
    n, weight = len(K), np.ones(len(K)) if weight is None else weight
    F = np.empty(Y.shape, dtype=K.dtype)
    for i in range(n):
        stay = np.arange(n) != i
        intercept, Z = minimum_norm(K[np.ix_(stay, stay)], Y[stay], weight[stay])
        F[i] = K[i, stay] @ Z + intercept
    return F
