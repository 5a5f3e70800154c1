"""Rows in chunks that a model does not hold: those of Dask arrays, and sums over chunks.

Dask is not imported here: its arrays' own methods do the work. The caller's scheduler decides where
work on chunks runs. Every task is a pure function of its chunk, so the scheduler can repeat a task
that is lost with its worker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_array

from gramian.core.arrays import Array, device_like
from gramian.core.engines import Holdings, check_weight
from gramian.core.estimators import is_chunked
from gramian.orthogonal._engine import BasisEngine
from gramian.orthogonal._fixed_basis import Centres, target_columns
from gramian.orthogonal._normal_equations import RunningSums, Sums

# Number of partial sums that are added at once.
_SPLIT = 8


@dataclass(frozen=True)
class RowChunks:
    """Samples, targets and weights in chunks of the same rows, never all in memory at once."""

    X: Any
    y: Any
    weight: Any | None
    numeric: bool

    @classmethod
    def align(cls, X: Any, y: Any, weight: Any | None = None, *, numeric: bool) -> RowChunks:
        """Rechunk Dask arrays into whole rows, with the row chunks of X.

        ``numeric`` says whether the targets must be numbers.

        Raises
        ------
        ValueError
            If one is not a Dask array, or if their numbers of rows differ or are unknown.
        """
        X = _whole_rows(X)
        if X.shape[0] == 0:
            raise ValueError(f"X must have one row or more, got shape {X.shape}.")
        y = _aligned_with(X, y, "y", columns=numeric)
        if weight is not None:
            weight = _aligned_with(X, weight, "sample_weight", columns=False)
        return cls(X, y, weight, numeric)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def sample(self, rng: np.random.RandomState, size: int) -> tuple[Array, Array, Array, Any]:
        """Indices of ``size`` random rows, ascending, with their X, y and weight in memory."""
        numbers: Any = np.arange(len(self))
        if len(self) > size:
            numbers = np.sort(rng.choice(len(self), size, replace=False))
        take = slice(None) if len(self) == len(numbers) else numbers
        weight = None if self.weight is None else self.weight[take].compute()[:, 0]
        return numbers, self.X[take].compute(), self.y[take].compute(), weight

    def labels(self) -> Array:
        """All distinct values of y in rows of weight > 0, those of each chunk after one another."""
        weight = () if self.weight is None else (self.weight,)
        blocks = self.y.map_blocks(_distinct, *weight, **self._boxes(1)).compute()
        found = [labels for labels in blocks.ravel() if len(labels)] or [*blocks.ravel()]
        same = len({labels.dtype.kind for labels in found}) == 1
        return np.concatenate(found if same else [np.arange(0, dtype=object), *found])

    def add_up(self, function: Callable[..., Sequence[Any]], k: int) -> Array:
        """The k results of ``function(X, y, weight, numbers)``, summed over the chunks."""
        boxes = self._map(_OnChunk(function, self.numeric, boxed=True), **self._boxes(k))
        result: Array = boxes.sum(axis=0, split_every=_SPLIT).compute()
        return result

    def map_rows(self, function: Callable[..., Array], width: int | None, dtype: Any) -> Any:
        """``function(X, y, weight, numbers)`` of each chunk, as a lazy Dask array."""
        return self._map(_OnChunk(function, self.numeric), **_shape(self.X, width, dtype))

    def _map(self, function: Callable[..., Any], **options: Any) -> Any:
        arrays = [self.y] if self.weight is None else [self.y, self.weight]
        return self.X.map_blocks(function, *arrays, **options)

    def _boxes(self, k: int) -> dict[str, Any]:
        chunks = ((1,) * len(self.X.chunks[0]), (k,))
        return {"chunks": chunks, "dtype": object, "meta": np.empty((0, 0), dtype=object)}


@dataclass(frozen=True, eq=False)
class ChunkSums:
    """Computes the sums over one chunk for each basis, from centres, outputs and U."""

    bases: list[tuple[Centres, Array, Array]]
    classified: bool
    dtype: Any

    @classmethod
    def of(cls, engine: BasisEngine, numbers: Array | None, dtype: Any) -> Self:
        """Return the sums for the bases of an engine, which can be computed in another process.

        ``numbers`` holds, for each position to which the centres refer, the row number over all
        chunks; None if no centre is one of the rows.
        """
        bases = [
            b.unheld() if numbers is None else b.with_positions(numbers[b.centres.samples])
            for b in engine.bases
        ]
        parts = [(basis.centres, basis.outputs, basis.live.U) for basis in bases]
        return cls(parts, engine.classified, dtype)

    def __call__(self, X: Any, y: Array, weight: Array, numbers: Array) -> list[Sums]:
        X = X.astype(self.dtype, copy=False)
        return [
            centres.sums(U, X, target_columns(y, outputs, self.classified), weight, numbers)
            for centres, outputs, U in self.bases
        ]


class RowStream:
    """Sums over chunks of samples that are not held, on the device of the centres until the end."""

    def __init__(self, engine: BasisEngine) -> None:
        self._engine, self.rows = engine, 0
        self._sums = [
            RunningSums(b.live.U, len(b.outputs), device_like(b.centres.points))
            for b in engine.bases
        ]

    def add(self, holdings: Holdings, X: Any, y: Array, weight: Array) -> None:
        """Add a chunk, given holdings with all classes so far; O(m²) for each sample."""
        self._engine = self._engine.with_classes(holdings)
        for basis, sums in zip(self._engine.bases, self._sums, strict=True):
            sums.widen(len(basis.outputs))
            targets = target_columns(y, basis.outputs, self._engine.classified)
            basis.centres.add_to(sums, X, targets, weight)
        self.rows += len(y)

    def learned(self, holdings: Holdings) -> BasisEngine:
        """Return the engine that has learned all chunks, O(m³)."""
        return self._engine.with_sums(holdings, [sums.total() for sums in self._sums], self.rows)


@dataclass(frozen=True)
class _OnChunk:
    """Applies a function to the checked rows of a chunk and to their indices.

    Boxed results are objects in an array of one row, which Dask can add up.
    """

    function: Callable[..., Any]
    numeric: bool
    boxed: bool = False

    def __call__(self, X: Any, y: Array, *weight: Array, block_info: Any = None) -> Any:
        (start, stop), (_, width) = block_info[0]["array-location"]
        _check_shape("X", X.shape, (stop - start, width))
        _check_shape("y", y.shape[:1], (len(X),))
        X = check_array(X, dtype=[np.float64, np.float32], ensure_min_samples=0, input_name="X")
        y = check_array(
            y, dtype=np.float64 if self.numeric else None, ensure_min_samples=0, input_name="y"
        )
        given = _check_column(weight[0], len(X))[:, 0] if weight else np.ones(len(X))
        found = self.function(X, y, given, np.arange(start, stop))
        return _box(found) if self.boxed else found


def map_queries(X: Any, function: Callable[[Any], Array], width: int | None, dtype: Any) -> Any:
    """``function`` of each chunk of rows, as a lazy Dask array of as many rows."""
    X, shape = _whole_rows(X), () if width is None else (width,)
    return X.map_blocks(_OnQueries(function, shape, dtype), **_shape(X, width, dtype))


@dataclass(frozen=True)
class _OnQueries:
    """Applies a function to a chunk; a chunk without rows has none in the result."""

    function: Callable[[Any], Array]
    shape: tuple[int, ...]
    dtype: Any

    def __call__(self, X: Any) -> Array:
        return self.function(X) if len(X) else np.empty((0, *self.shape), dtype=self.dtype)


def _whole_rows(X: Any) -> Any:
    """Return a Dask array with all features of a row in one chunk."""
    if X.ndim != 2 or any(np.isnan(size) for size in X.shape):
        raise ValueError(
            f"a Dask array of samples must have two dimensions of known size, got shape {X.shape}. "
            f"Call its compute_chunk_sizes() first."
        )
    return X.rechunk({1: -1})


def _aligned_with(X: Any, array: Any, name: str, columns: bool) -> Any:
    """Return a Dask array of targets or weights as columns, with the row chunks of X.

    ``columns`` says whether it may have several.
    """
    if not is_chunked(array):
        raise ValueError(
            f"{name} must be a Dask array, as X is, got {type(array).__name__}. Wrap it with "
            f"dask.array.from_array."
        )
    if array.ndim not in ((1, 2) if columns else (1,)) or any(map(np.isnan, array.shape)):
        raise ValueError(
            f"{name} must have one dimension{' or two' if columns else ''}, of known size; got "
            f"shape {array.shape}. Call its compute_chunk_sizes() first if a size is not known."
        )
    if array.shape[0] != X.shape[0]:
        raise ValueError(
            f"X and {name} must have as many rows, got {X.shape[0]} and {array.shape[0]}."
        )
    return (array[:, None] if array.ndim == 1 else array).rechunk({0: X.chunks[0], 1: -1})


def _check_shape(name: str, found: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """Raise ValueError if a chunk is not what its Dask array says of it."""
    if found != expected:
        raise ValueError(
            f"a chunk of {name} has shape {found} where {expected} was declared. Call "
            f"compute_chunk_sizes() on the Dask array, or correct what makes the chunk."
        )


def _check_column(weight: Array, n: int) -> Array:
    """Weights of the rows of a chunk, as a column of numbers that may be weights."""
    _check_shape("sample_weight", weight.shape, (n, 1))
    weight = check_array(weight, dtype=np.float64, ensure_min_samples=0, input_name="sample_weight")
    check_weight(weight)
    return weight


def _distinct(y: Array, *weight: Array) -> Array:
    """The distinct values of the rows of weight > 0, in a box; objects need have no order."""
    some = y if not weight else y[_check_column(weight[0], len(y))[:, 0] > 0]
    if some.dtype.kind != "O":
        return _box([np.unique(some)])
    found = np.empty(len(values := dict.fromkeys(some.ravel().tolist())), dtype=object)
    found[:] = list(values)
    return _box([found])


def _shape(X: Any, width: int | None, dtype: Any) -> dict[str, Any]:
    """Options of `map_blocks` for a result with ``width`` columns, or one-dimensional if None."""
    if width is None:
        return {"drop_axis": 1, "dtype": dtype, "meta": np.empty(0, dtype=dtype)}
    chunks = (X.chunks[0], (width,))
    return {"chunks": chunks, "dtype": dtype, "meta": np.empty((0, 0), dtype=dtype)}


def _box(values: Sequence[Any]) -> Array:
    box = np.empty((1, len(values)), dtype=object)
    box[0, :] = values
    return box
