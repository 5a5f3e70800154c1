"""Growing and shrinking storage of samples, in order of arrival.

Three kinds of samples, one interface: ``rows`` gives what is held, ``append`` adds at the end,
``remove`` closes the gaps and leaves nothing of the removed rows behind.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gramian._arrays import Array


class DenseRows:
    """Dense samples in a buffer that doubles; O(k d) amortised to append, O(n d) to remove."""

    def __init__(self, X: Array) -> None:
        self._buffer = np.array(X)
        self._n = len(X)

    @property
    def rows(self) -> Array:
        view = self._buffer[: self._n]
        view.flags.writeable = False
        return view

    def append(self, X: Array) -> None:
        n, k = self._n, len(X)
        if n + k > len(self._buffer):
            grown = np.zeros((2 * (n + k), *self._buffer.shape[1:]), dtype=self._buffer.dtype)
            grown[:n] = self._buffer[:n]
            self._buffer = grown
        self._buffer[n : n + k] = X
        self._n = n + k

    def remove(self, positions: Array) -> None:
        n = self._n
        first, kept = positions.min(), n - len(positions)
        stay = np.ones(n - first, dtype=bool)
        stay[positions - first] = False
        self._buffer[first:kept] = self._buffer[first:n][stay]
        self._buffer[kept:n] = 0
        self._n = kept


class SparseRows:
    """CSR samples; O(nnz) to append and to remove."""

    def __init__(self, X: Any) -> None:
        self.rows = X.copy()

    def append(self, X: Any) -> None:
        self.rows = sparse.vstack([self.rows, X], format="csr", dtype=self.rows.dtype)

    def remove(self, positions: Array) -> None:
        stay = np.ones(self.rows.shape[0], dtype=bool)
        stay[positions] = False
        self.rows = self.rows[stay]


def make_rows(X: Any) -> DenseRows | SparseRows:
    """Storage for validated samples: CSR stays CSR, everything else is dense."""
    return SparseRows(X) if sparse.issparse(X) else DenseRows(X)
