"""Coefficients and intercepts of the machines, read off P."""

from __future__ import annotations

import numpy as np

from gramian.arrays import Array
from gramian.machines._paths import Machine


def intercept_and_coefficients(
    machine: Machine, R: Array, s: Array, inverse_weight: Array
) -> tuple[Array, Array]:
    """Intercept b (t,) and coefficients ``Z = R − s b`` (n, t), from ``R = P Y`` and ``s = P 1``.

    With D the diagonal matrix of ``inverse_weight``::

        penalty c on b²      b = 1ᵀR / (c + 1ᵀs)         duan2008, eq. (7) for c = 0
        least norm           b = sᵀDR / (1 + sᵀDs)       minimises b² + Σ z_i² / weight_i

    The second is the minimum-norm solution of kim2006, eq. (16), which its eqs. (19) and (20) get
    from the QR decomposition of ``[1, K + λI]ᵀ``; weights there equal repeating a sample. O(n t).
    """
    if machine.intercept_penalty is None:
        Ds = inverse_weight * s
        intercept = Ds @ R / (1.0 + Ds @ s)
    else:
        intercept = R.sum(axis=0) / (machine.intercept_penalty + s.sum())
    return intercept, R - s[:, None] * intercept


def minimum_norm(K: Array, Y: Array, weight: Array | None = None) -> tuple[Array, Array]:
    """Minimum-norm least-squares intercept and coefficients of ``[1, K] [b; Z] ≈ Y``.

    kim2006, eq. (14): ``[b; Z] = G⁺ Y`` with ``G = [1, K]``, by the singular value decomposition,
    singular values below ``(n + 1) eps σ_max`` taken as zero. O(n³).

    With weights, squared errors count by them and the norm is ``b² + Σ z_i² / weight_i``, so that a
    weight of k is k copies: ``Z = √w U`` turns that into the problem above.
    """
    root = np.sqrt(np.ones(len(K)) if weight is None else weight).astype(K.dtype)[:, None]
    G = root * np.column_stack([np.ones(len(K), dtype=K.dtype), K * root.T])
    left, sigma, right = np.linalg.svd(G, full_matrices=False)
    rank = int(np.sum(sigma > G.shape[1] * np.finfo(K.dtype).eps * sigma[0]))
    solution = right[:rank].T @ ((left[:, :rank].T @ (root * Y)) / sigma[:rank, None])
    return solution[0], root * solution[1:]


def minimum_norm_loo(K: Array, Y: Array, weight: Array | None = None) -> Array:
    """Leave-one-out values of `minimum_norm` by n real refits, O(n⁴).

    Row and column i both leave, and where K is singular no closed form holds.
    """
    n, weight = len(K), np.ones(len(K)) if weight is None else weight
    F = np.empty(Y.shape, dtype=K.dtype)
    for i in range(n):
        stay = np.arange(n) != i
        intercept, Z = minimum_norm(K[np.ix_(stay, stay)], Y[stay], weight[stay])
        F[i] = K[i, stay] @ Z + intercept
    return F
