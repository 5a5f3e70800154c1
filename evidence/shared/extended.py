"""Linear systems in extended precision, the yardstick of fits in double precision."""

from __future__ import annotations

import numpy as np


def solve_extended(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """``A⁻¹ B`` by a Cholesky factorisation in the precision of A, which LAPACK does not offer."""
    L = A.copy()
    n = len(L)
    for j in range(n):
        L[j:, j] -= L[j:, :j] @ L[j, :j]
        L[j:, j] /= np.sqrt(L[j, j])
    X = B.copy()
    for j in range(n):
        X[j] = (X[j] - L[j, :j] @ X[:j]) / L[j, j]
    for j in reversed(range(n)):
        X[j] = (X[j] - L[j + 1 :, j] @ X[j + 1 :]) / L[j, j]
    return X
