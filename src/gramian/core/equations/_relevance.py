"""How much each feature moves the outputs of a kernel estimator: average squared slopes.

For ``f(x) = Σ_j k(x, x_j) z_j + b`` with several outputs, the relevance of feature f is

    v_f = mean over samples of Σ_t (∂f_t/∂x_f)²,

the diagonal of the average gradient outer product (radhakrishnan2024). Features multiplied by
√(v_f d / Σv) have distances in which those that matter count more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gramian.core.arrays import Array, row_blocks
from gramian.core.kernels import Kernel

_BYTES = 2**26  # of slopes held at once


def feature_scales(kernel: Kernel, X: Any, Z: Array, weight: Array) -> Array:
    """The factor √(v_f d / Σv) of each feature, O(n² d t); all are 1 if the outputs are constant.

    Parameters
    ----------
    kernel : Kernel
        With one gamma for all features.
    X : ndarray or CSR matrix of shape (n, d)
    Z : ndarray of shape (n, t)
        Coefficients of the samples.
    weight : ndarray of shape (n,)
        Of the samples in the mean.

    Examples
    --------
    >>> from gramian.core.kernels import RBF
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.5], [1.0, 0.5]])
    >>> Z = np.array([[-1.0], [1.0], [-1.0], [1.0]])     # the second feature says nothing
    >>> feature_scales(RBF(1.0), X, Z, np.ones(4)).round(2)
    array([1.32, 0.5 ])
    """
    K = kernel(X, X).astype(float, copy=False)
    columns = X.tocsc() if sparse.issparse(X) else X
    v = np.empty(X.shape[1])
    for some in row_blocks(X.shape[1], Z.size, budget=_BYTES):
        part = columns[:, some]
        part = part.toarray() if sparse.issparse(part) else part
        squares = np.square(kernel.slopes(K, part, Z)).sum(axis=2)
        v[some] = weight @ squares
    return np.sqrt(v * (len(v) / v.sum())) if v.any() else np.ones(len(v))
