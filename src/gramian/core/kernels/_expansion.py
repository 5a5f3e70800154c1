"""Functions that are weighted sums of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from gramian.core.arrays import Array, on_device, row_blocks
from gramian.core.kernels._base import Kernel

_FEW = 2**20  # kernel values that need no blocks


@dataclass(frozen=True, eq=False)
class KernelExpansion:
    """f(x) = Σᵢ k(x, centreᵢ) Zᵢ + b, with t outputs.

    Parameters
    ----------
    kernel : Kernel
    centres : samples
        Dense, CSR or `GramSamples`, n of them.
    coefficients : ndarray of shape (n, t)
        Z, one row per centre.
    intercept : ndarray of shape (t,) or float
        b.

    Examples
    --------
    >>> from gramian.core.kernels._products import Linear
    >>> f = KernelExpansion(Linear(), np.array([[1.0]]), np.array([[2.0]]), np.array([0.5]))
    >>> f.outputs(np.array([[3.0]]))
    array([[6.5]])
    """

    kernel: Kernel
    centres: Any
    coefficients: Array
    intercept: Any

    def terms(self) -> tuple[KernelExpansion, ...]:
        """The expansion itself."""
        return (self,)

    def outputs(self, X: Any) -> Array:
        """f(x) for each sample, of shape (len(X), t), in row blocks of bounded memory."""
        Z = self.coefficients
        if X.shape[0] * self.centres.shape[0] <= _FEW:
            result: Array = self.kernel(X, self.centres) @ Z + self.intercept
            return result
        like = X if on_device(X) else None
        values = np.empty((X.shape[0], Z.shape[1]), dtype=Z.dtype, like=like)
        for rows in row_blocks(X.shape[0], self.centres.shape[0], like=X):
            values[rows] = self.kernel(X[rows], self.centres) @ Z + self.intercept
        return values


@runtime_checkable
class SumOfExpansions(Protocol):
    """What predicts by kernel expansions and nothing else, so that it can be exported."""

    def outputs(self, X: Any) -> Array:
        """Decision values or predictions of shape (len(X), t)."""

    def terms(self) -> tuple[KernelExpansion, ...]:
        """The expansions whose outputs add up to the outputs, each of all t columns."""
