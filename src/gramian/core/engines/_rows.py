"""Storage of samples in order of arrival, in objects that edits do not change.

Three kinds of samples share one interface. `appended` and `without` return a new store and leave
the old one readable, so an interrupted edit loses nothing. The stores of one model share a buffer:
new samples are written behind the end of the old store, and `scrub` overwrites removed samples
once the store that contains them is no longer needed.

A buffer has one owner. Of the stores that follow one store, only the first may write behind its
end; the others, as those of a copied model or after an edit that failed, copy the samples. A lent
store loses no sample to `scrub`: a removal from it copies the others.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import sparse

from gramian.core.arrays import Array, find_device, row_blocks, to_device, without_rows
from gramian.core.kernels._precomputed import GramSamples


class Rows(Protocol):
    """The samples that a model holds."""

    dtype: np.dtype
    width: int
    """Number of features; number of samples for a precomputed kernel."""
    answer: Any
    """The function that makes a tensor of an answer, for samples that came as tensors; or None."""

    def __len__(self) -> int: ...

    def samples(self, *, lend: bool = False) -> Any:
        """All samples as a kernel takes them; with ``lend``, they stay readable after edits."""

    def samples_copy(self) -> Any:
        """A copy of the samples for the caller."""

    def take(self, positions: Array) -> Any:
        """The samples at these positions."""

    def adopt(self, X: Any) -> Any:
        """Convert other samples, dense or CSR, to the form of those held."""

    def appended(self, X: Any) -> Rows:
        """Return a store with more samples at its end."""

    def without(self, positions: Array) -> Rows:
        """Return a store without the samples at these positions."""

    def scrub(self) -> None:
        """Overwrite removed samples."""

    def copied(self) -> Rows:
        """Return a store with a copy of the samples."""


class SpareRoom:
    """The rows of a buffer behind the end of a store, which one following store may write to."""

    def __init__(self) -> None:
        self._claims = [None]

    def claim(self) -> bool:
        """Whether the caller is the first to ask: the rows are then its own."""
        try:
            self._claims.pop()  # atomic: models that share the buffer have a lock each
        except IndexError:
            return False
        return True


class DenseRows:
    """Dense samples in a buffer with spare room; O(k d) amortised to append and to remove.

    A removal leaves a gap, which `scrub` overwrites with zeros; if the first or the last sample
    leaves, the samples begin one row later or end one earlier. Reading all samples closes the gaps
    in a new buffer. Rows of a lent buffer that a reader may access are never overwritten: a removal
    from it copies the remaining samples.
    """

    dtype: np.dtype[Any]
    width: int

    answer: Any = None

    def __init__(
        self,
        buffer: Any,
        places: Array | None,
        end: int,
        start: int = 0,
        gone: tuple[int, ...] = (),
    ) -> None:
        # `places` holds the row of each sample; None means the rows from `start` without gaps.
        # `gone` are rows of removed samples, not yet overwritten. A single tuple, so that one
        # assignment replaces all of it.
        self._store = buffer, places, start, end, gone
        self.dtype, self.width = buffer.dtype, buffer.shape[1]
        self._lent, self._spare = False, SpareRoom()

    def __len__(self) -> int:
        _, places, start, end, _ = self._store
        return end - start if places is None else len(places)

    def samples(self, *, lend: bool = False) -> Array:
        self._lent = self._lent or lend
        if self._store[1] is not None:
            self._store = self._compact(0), None, 0, len(self), ()
        buffer, _, start, end, _ = self._store
        view: Array = buffer[start:end]
        if isinstance(view, np.ndarray):
            view.flags.writeable = False
        return view

    def samples_copy(self) -> Array:
        return self.samples().copy()

    def take(self, positions: Array) -> Array:
        buffer, places, start, end, _ = self._store
        found: Array = buffer[start:end][positions] if places is None else buffer[places[positions]]
        return found

    def adopt(self, X: Any) -> Array:
        result: Array = X.toarray() if sparse.issparse(X) else X
        return result

    def appended(self, X: Array) -> DenseRows:
        (buffer, places, start, end, gone), n, k = self._store, len(self), len(X)
        # What is gone may still be read by the store before, and follow the last sample here.
        room = places is None and not gone and end + k <= len(buffer) and self._spare.claim()
        if not room:
            buffer, start, end = self._compact(max(n + k, 8) + k), 0, n
        buffer[end : end + k] = X
        after = type(self)(buffer, None, end + k, start)
        after._lent = self._lent and room
        return after

    def without(self, positions: Array) -> DenseRows:
        buffer, places, start, end, gone = self._store
        if places is None and len(positions) == 1 and positions[0] in (0, end - start - 1):
            first = int(positions[0] == 0)
            gone = *gone, start if first else end - 1
            after = type(self)(buffer, None, end - 1 + first, start + first, gone)
            after._spare = self._spare
        else:
            rows = np.arange(start, end) if places is None else places
            gone = *gone, *rows[positions].tolist()
            after = type(self)(buffer, without_rows(rows, positions), end, gone=gone)
        n = len(after)
        if self._lent or 2 * n < end:
            return type(self)(after._compact(max(8, n // 16) if self._lent else 0), None, n)
        return after

    def scrub(self) -> None:
        *store, gone = self._store
        if gone:
            self._store[0][[*gone]] = 0
            self._store = *store, ()

    def copied(self) -> DenseRows:
        return type(self)(self.samples().copy(), None, len(self))

    def _compact(self, spare: int) -> Any:
        """Copy the samples without gaps into a new buffer with ``spare`` free rows."""
        (old, places, start, end, _), n = self._store, len(self)
        buffer = np.zeros((n + spare, self.width), dtype=self.dtype, like=old)
        if places is None:
            buffer[:n] = old[start:end]
            return buffer
        for block in row_blocks(n, self.width, self.dtype.itemsize):
            buffer[block] = old[places[block]]
        return buffer

    def __getstate__(self) -> dict[str, Any]:
        """Omit spare rows and gaps, which may still contain removed samples."""
        store = self.samples_copy(), None, 0, len(self), ()
        return {**vars(self), "_store": store, "_lent": False, "_spare": SpareRoom()}


class DeviceRows(DenseRows):  # on a device
    """Dense samples on a device, for callers with arrays of NumPy."""

    def samples_copy(self) -> Array:
        return np.asarray(self.samples()).copy()

    def adopt(self, X: Any) -> Any:
        return to_device(super().adopt(X), self._store[0].tensor.device)

    def __getstate__(self) -> dict[str, Any]:
        return {"X": np.asarray(self.samples()), "device": str(self._store[0].tensor.device)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        X = to_device(state["X"], find_device(state["device"]))
        self.__init__(X, None, len(X))  # type: ignore[misc]


class TensorRows(DeviceRows):  # on a device
    """Dense samples on a device, for callers with tensors: answers are tensors on that device."""

    def answer(self, values: Array) -> Any:
        """Return numbers as a tensor; labels that are strings stay an array of NumPy."""
        if values.dtype.kind not in "fiub":
            return values
        return to_device(values, self._store[0].tensor.device).tensor


class SparseRows:
    """CSR samples; O(nnz) to append and to remove."""

    dtype: np.dtype[Any]
    width: int

    answer: Any = None

    def __init__(self, X: Any) -> None:
        self._X, self.dtype, self.width = X, X.dtype, X.shape[1]

    def __len__(self) -> int:
        return int(self._X.shape[0])

    def samples(self, *, lend: bool = False) -> Any:
        return self._X

    def samples_copy(self) -> Any:
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
        """Do nothing: the store with the removed samples no longer exists."""

    def copied(self) -> SparseRows:
        return SparseRows(self._X.copy())


class GramRows:
    """Samples of which the kernel matrix is known, in a square buffer with spare room.

    A new sample comes as a row of kernel values to the held samples and then to the new ones.
    O(n k) to append within the spare room, O(n) to remove; reading with gaps copies the matrix.
    """

    dtype: np.dtype[Any]
    width: int

    answer: Any = None

    def __init__(self, buffer: Array, places: Array) -> None:
        self._store = buffer, places  # one tuple, so that one assignment replaces both
        self.dtype, self.width = buffer.dtype, len(places)
        self._lent, self._spare = False, SpareRoom()
        self._scrubbed = True

    def __len__(self) -> int:
        return len(self._store[1])

    def samples(self, *, lend: bool = False) -> GramSamples:
        self._lent, n = self._lent or lend, len(self)
        if n and self._store[1][-1] != n - 1:
            self._store = self._compact(n), np.arange(n)
        return GramSamples(self._store[0][:n, :n], np.arange(n))

    def samples_copy(self) -> Array:
        buffer, places = self._store
        result: Array = buffer[np.ix_(places, places)]
        return result

    def take(self, positions: Array) -> GramSamples:
        return self.samples()[positions]

    def adopt(self, X: Array) -> Array:
        return X

    def appended(self, X: Array) -> GramRows:
        (buffer, places), n, k = self._store, len(self), len(X)
        end = int(places[-1]) + 1 if n else 0
        if end + k > len(buffer) or not self._spare.claim():
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
        after._scrubbed, after._spare = False, self._spare
        return after

    def scrub(self) -> None:
        if not self._scrubbed:
            buffer, places = self._store
            gone = np.ones(len(buffer), dtype=bool)
            gone[places] = False
            buffer[gone] = 0
            buffer[:, gone] = 0
            self._scrubbed = True

    def copied(self) -> GramRows:
        return GramRows(self.samples_copy(), np.arange(len(self)))

    def _compact(self, capacity: int) -> Array:
        (old, places), n = self._store, len(self)
        buffer = np.zeros((capacity, capacity), dtype=self.dtype)
        for block in row_blocks(n, n, self.dtype.itemsize):
            buffer[block, :n] = old[np.ix_(places[block], places)]
        return buffer

    def __getstate__(self) -> dict[str, Any]:
        """Omit spare rows and gaps, which may still contain removed samples."""
        store = self.samples_copy(), np.arange(len(self))
        state = {**vars(self), "_store": store, "_lent": False, "_scrubbed": True}
        return {**state, "_spare": SpareRoom()}


def make_rows(X: Any, *, precomputed: bool = False, tensors: bool = False) -> Rows:
    """Store a copy of validated samples: a kernel matrix, CSR, dense, or dense on a device."""
    if precomputed:
        return GramRows(np.array(X), np.arange(len(X)))
    if sparse.issparse(X):
        return SparseRows(X.copy())
    if isinstance(X, np.ndarray):
        return DenseRows(np.array(X), None, len(X))
    return (TensorRows if tensors else DeviceRows)(X.copy(), None, len(X))  # on a device
