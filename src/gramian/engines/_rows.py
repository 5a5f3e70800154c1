"""Storage of samples in order of arrival, as values that an edit never changes.

Three kinds of samples, one interface. `appended` and `without` return another store and leave the
old one readable, so that an edit that is interrupted has lost nothing. Stores of one model share a
buffer: new samples go behind the end of the old store, and a removed sample is overwritten by
`scrub` once nobody needs the store that still has it.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import sparse

from gramian.arrays import Array, row_blocks, without_rows
from gramian.kernels import GramSamples


class Rows(Protocol):
    """The samples that a model holds."""

    dtype: np.dtype
    width: int
    """Number of features; of a precomputed kernel, of samples."""

    def __len__(self) -> int: ...

    def samples(self, *, lend: bool = False) -> Any:
        """All samples, as a kernel takes them; with ``lend`` to be read also after later edits."""

    def shown(self) -> Any:
        """A copy for the caller."""

    def take(self, positions: Array) -> Any:
        """Some of the samples."""

    def adopt(self, X: Any) -> Any:
        """Other samples, dense or CSR, in the form of those held."""

    def appended(self, X: Any) -> Rows:
        """A store with more samples at its end."""

    def without(self, positions: Array) -> Rows:
        """A store without the samples at these positions."""

    def scrub(self) -> None:
        """Overwrite what has left."""


class DenseRows:
    """Dense samples in a buffer with spare room; O(k d) amortised to append and to remove.

    Removing leaves a gap, which `scrub` overwrites with zeros. Reading all samples closes the
    gaps in a new buffer. A buffer that was lent out is never written to again where a reader may
    look: removing from it copies what stays.
    """

    def __init__(self, buffer: Array, places: Array | None, end: int) -> None:
        # Places say where the samples stand; None: at the beginning, without a gap. One tuple, so
        # that it is replaced at once.
        self._store = buffer, places, end
        self.dtype, self.width = buffer.dtype, buffer.shape[1]
        self._lent = False
        self._scrubbed = True

    def __len__(self) -> int:
        _, places, end = self._store
        return end if places is None else len(places)

    def samples(self, *, lend: bool = False) -> Array:
        self._lent = self._lent or lend
        if self._store[1] is not None:
            self._store = self._compact(0), None, len(self)
        buffer, _, end = self._store
        view = buffer[:end]
        view.flags.writeable = False
        return view

    def shown(self) -> Array:
        return self.samples().copy()

    def take(self, positions: Array) -> Array:
        buffer, places, _ = self._store
        return buffer[positions if places is None else places[positions]]

    def adopt(self, X: Any) -> Array:
        return X.toarray() if sparse.issparse(X) else X

    def appended(self, X: Array) -> DenseRows:
        (buffer, places, end), n, k = self._store, len(self), len(X)
        room = places is None and end + k <= len(buffer)
        buffer = buffer if room else self._compact(max(n + k, 8) + k)
        buffer[n : n + k] = X
        after = DenseRows(buffer, None, n + k)
        after._lent = self._lent and room
        return after

    def without(self, positions: Array) -> DenseRows:
        buffer, places, end = self._store
        stay = without_rows(np.arange(end) if places is None else places, positions)
        after = DenseRows(buffer, stay, end)
        if self._lent or 2 * len(stay) < end:
            return DenseRows(after._compact(0), None, len(stay))
        after._scrubbed = False
        return after

    def scrub(self) -> None:
        if not self._scrubbed:
            buffer, places, end = self._store
            if places is not None:  # otherwise the gaps were closed in a new buffer
                gone = np.ones(end, dtype=bool)
                gone[places] = False
                buffer[:end][gone] = 0
            self._scrubbed = True

    def _compact(self, spare: int) -> Array:
        """The samples without gaps in a new buffer, with room for so many more."""
        (held, places, _), n = self._store, len(self)
        buffer = np.zeros((n + spare, self.width), dtype=self.dtype)
        for block in row_blocks(n, self.width, self.dtype.itemsize):
            buffer[block] = held[block if places is None else places[block]]
        return buffer

    def __getstate__(self) -> dict[str, Any]:
        """Without spare room and gaps, in which something may be left."""
        store = self.shown(), None, len(self)
        return {**vars(self), "_store": store, "_lent": False, "_scrubbed": True}


class SparseRows:
    """CSR samples; O(nnz) to append and to remove."""

    def __init__(self, X: Any) -> None:
        self._X, self.dtype, self.width = X, X.dtype, X.shape[1]

    def __len__(self) -> int:
        return self._X.shape[0]

    def samples(self, *, lend: bool = False) -> Any:
        return self._X

    def shown(self) -> Any:
        return self._X.copy()

    def take(self, positions: Array) -> Any:
        return self._X[positions]

    def adopt(self, X: Any) -> Any:
        return X if sparse.issparse(X) else sparse.csr_matrix(X)

    def appended(self, X: Any) -> SparseRows:
        return SparseRows(sparse.vstack([self._X, X], format="csr", dtype=self.dtype))

    def without(self, positions: Array) -> SparseRows:
        stay = np.ones(len(self), dtype=bool)
        stay[positions] = False
        return SparseRows(self._X[stay])

    def scrub(self) -> None:
        """Nothing to do: the store with the removed samples is gone."""


class GramRows:
    """Samples known by their kernel matrix, in a square buffer with spare room.

    New samples come as rows of their values to those held and then to each other. O(n k) to append
    within the spare room, O(n) to remove; reading with gaps copies the matrix.
    """

    def __init__(self, buffer: Array, places: Array) -> None:
        self._store = buffer, places  # one tuple, so that it is replaced at once
        self.dtype, self.width = buffer.dtype, len(places)
        self._lent = False
        self._scrubbed = True

    def __len__(self) -> int:
        return len(self._store[1])

    def samples(self, *, lend: bool = False) -> GramSamples:
        self._lent, n = self._lent or lend, len(self)
        if n and self._store[1][-1] != n - 1:
            self._store = self._compact(n), np.arange(n)
        return GramSamples(self._store[0][:n, :n], np.arange(n))

    def shown(self) -> Array:
        buffer, places = self._store
        return buffer[np.ix_(places, places)]

    def take(self, positions: Array) -> GramSamples:
        return self.samples()[positions]

    def adopt(self, X: Array) -> Array:
        return X

    def appended(self, X: Array) -> GramRows:
        (buffer, places), n, k = self._store, len(self), len(X)
        end = int(places[-1]) + 1 if n else 0
        if end + k > len(buffer):
            buffer, places, end = self._compact(n + k + max(8, n // 16)), np.arange(n), n
        places = np.concatenate([places, np.arange(end, end + k)])
        buffer[end : end + k, places] = X
        buffer[np.ix_(places[:n], places[n:])] = X[:, :n].T
        after = GramRows(buffer, places)
        after._lent = self._lent
        return after

    def without(self, positions: Array) -> GramRows:
        buffer, places = self._store
        after = GramRows(buffer, np.delete(places, positions))
        if self._lent:
            return GramRows(after._compact(len(after)), np.arange(len(after)))
        after._scrubbed = False
        return after

    def scrub(self) -> None:
        if not self._scrubbed:
            buffer, places = self._store
            gone = np.ones(len(buffer), dtype=bool)
            gone[places] = False
            buffer[gone] = 0
            buffer[:, gone] = 0
            self._scrubbed = True

    def _compact(self, capacity: int) -> Array:
        (held, places), n = self._store, len(self)
        buffer = np.zeros((capacity, capacity), dtype=self.dtype)
        for block in row_blocks(n, n, self.dtype.itemsize):
            buffer[block, :n] = held[np.ix_(places[block], places)]
        return buffer

    def __getstate__(self) -> dict[str, Any]:
        """Without spare room and gaps, in which something may be left."""
        store = self.shown(), np.arange(len(self))
        return {**vars(self), "_store": store, "_lent": False, "_scrubbed": True}


def make_rows(X: Any, *, precomputed: bool = False) -> Rows:
    """A store with a copy of validated samples: a kernel matrix, CSR, or dense."""
    if precomputed:
        return GramRows(np.array(X), np.arange(len(X)))
    return SparseRows(X.copy()) if sparse.issparse(X) else DenseRows(np.array(X), None, len(X))
