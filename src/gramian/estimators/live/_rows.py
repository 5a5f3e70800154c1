"""Growing and shrinking storage of samples, in order of arrival.

Three kinds of samples, one interface: ``rows`` gives what is held, ``take`` some of it, ``adopt``
brings other samples into the same form, ``reserve`` makes room, ``append`` adds at the end, and
``remove`` leaves nothing of the removed rows behind.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gramian.arrays import Array, row_blocks


class DenseRows:
    """Dense samples in a buffer that doubles; O(k d) amortised to append and to remove.

    A removed row is zeroed where it stands. The gaps are closed when all rows are read, when the
    buffer grows, and when they take up half of it.
    """

    _places: Array | None  # where the held rows stand; None: at the beginning, without a gap

    def __init__(self, X: Array) -> None:
        self._buffer = np.array(X)
        self._places, self._end = None, len(X)

    @property
    def dtype(self) -> np.dtype:
        return self._buffer.dtype

    @property
    def rows(self) -> Array:
        self._close_gaps()
        view = self._buffer[: self._end]
        view.flags.writeable = False
        return view

    def take(self, positions: Array) -> Array:
        return self._buffer[positions if self._places is None else self._places[positions]]

    def adopt(self, X: Any) -> Array:
        """Samples in the form of those held."""
        return X.toarray() if sparse.issparse(X) else X

    def reserve(self, k: int) -> None:
        """Make room, so that the next append of k samples cannot fail."""
        if self._end + k > len(self._buffer):
            self._grow(k)

    def append(self, X: Array) -> None:
        self.reserve(len(X))
        start, self._end = self._end, self._end + len(X)
        self._buffer[start : self._end] = X
        if self._places is not None:
            self._places = np.append(self._places, np.arange(start, self._end))

    def remove(self, positions: Array) -> None:
        places = np.arange(self._end) if self._places is None else self._places
        self._buffer[places[positions]] = 0
        self._places = np.delete(places, positions)
        if 2 * len(self._places) < self._end:
            self._close_gaps()

    def _grow(self, k: int) -> None:
        held = np.arange(self._end) if self._places is None else self._places
        n = len(held)
        grown = np.zeros((2 * (n + k), self._buffer.shape[1]), dtype=self._buffer.dtype)
        for block in row_blocks(n, grown.shape[1], grown.itemsize):
            grown[block] = self._buffer[held[block]]
        self._buffer, self._places, self._end = grown, None, n

    def _close_gaps(self) -> None:
        if self._places is None:
            return
        n = len(self._places)
        for block in row_blocks(n, self._buffer.shape[1], self._buffer.itemsize):
            self._buffer[block] = self._buffer[self._places[block]]  # from further down, always
        self._buffer[n : self._end] = 0
        self._places, self._end = None, n


class SparseRows:
    """CSR samples; O(nnz) to append and to remove."""

    def __init__(self, X: Any) -> None:
        self.rows = X.copy()

    @property
    def dtype(self) -> np.dtype:
        return self.rows.dtype

    def take(self, positions: Array) -> Any:
        return self.rows[positions]

    def adopt(self, X: Any) -> Any:
        """Samples in the form of those held."""
        return X if sparse.issparse(X) else sparse.csr_matrix(X)

    def reserve(self, k: int) -> None:
        """Nothing to do: the new matrix takes the place of the old one when it is whole."""

    def append(self, X: Any) -> None:
        self.rows = sparse.vstack([self.rows, X], format="csr", dtype=self.rows.dtype)

    def remove(self, positions: Array) -> None:
        stay = np.ones(self.rows.shape[0], dtype=bool)
        stay[positions] = False
        self.rows = self.rows[stay]


def make_rows(X: Any) -> DenseRows | SparseRows:
    """Storage for validated samples: CSR stays CSR, everything else is dense."""
    return SparseRows(X) if sparse.issparse(X) else DenseRows(X)
