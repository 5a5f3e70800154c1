"""Row chunks of Dask arrays, through the arrays' own methods: Dask is not imported here.

The caller's scheduler decides where work on chunks runs. Every task is a pure function of its
chunk, so the scheduler can repeat a task that is lost with its worker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, check_array

from gramian.arrays import Array

# Number of partial sums that are added at once.
_SPLIT = 8


def is_chunked(X: Any) -> bool:
    """Whether X is a Dask array."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "map_blocks")


@dataclass(frozen=True)
class RowChunks:
    """Samples, targets and weights in chunks of the same rows, never all in memory at once."""

    X: Any
    y: Any
    weight: Any | None

    @classmethod
    def align(cls, X: Any, y: Any, weight: Any | None = None) -> RowChunks:
        """Rechunk Dask arrays into whole rows, with the row chunks of X.

        Raises
        ------
        ValueError
            If one is not a Dask array, or if their numbers of rows differ or are unknown.
        """
        for name, array in (("y", y), ("sample_weight", weight)):
            if array is not None and not is_chunked(array):
                raise ValueError(
                    f"{name} must be a Dask array, as X is, got {type(array).__name__}. Wrap it "
                    f"with dask.array.from_array."
                )
        X = _whole_rows(X)
        if y.shape[0] != X.shape[0]:
            raise ValueError(f"X and y must have as many rows, got {X.shape[0]} and {y.shape[0]}.")
        y, weight = (
            None
            if a is None
            else (a[:, None] if a.ndim == 1 else a).rechunk({0: X.chunks[0], 1: -1})
            for a in (y, weight)
        )
        return cls(X, y, weight)

    def __len__(self) -> int:
        return self.X.shape[0]

    def sample(self, rng: np.random.RandomState, size: int) -> tuple[Array, Array, Array, Any]:
        """Indices of ``size`` random rows, ascending, with their X, y and weight in memory."""
        numbers: Any = np.arange(len(self))
        if len(self) > size:
            numbers = np.sort(rng.choice(len(self), size, replace=False))
        take = slice(None) if len(self) == len(numbers) else numbers
        weight = None if self.weight is None else self.weight[take].compute()[:, 0]
        return numbers, self.X[take].compute(), self.y[take].compute(), weight

    def labels(self) -> Array:
        """All distinct values of y, sorted."""
        blocks = self.y.map_blocks(lambda y: _box([np.unique(y)]), **self._boxes(1)).compute()
        return np.unique(np.concatenate([*blocks.ravel()]))

    def add_up(self, function: Callable[..., Sequence[Any]], k: int) -> Array:
        """The k results of ``function(X, y, weight, numbers)``, summed over the chunks."""
        boxes = self._map(_OnChunk(function, boxed=True), **self._boxes(k))
        return boxes.sum(axis=0, split_every=_SPLIT).compute()

    def map_rows(self, function: Callable[..., Array], width: int | None, dtype: Any) -> Any:
        """``function(X, y, weight, numbers)`` of each chunk, as a lazy Dask array."""
        return self._map(_OnChunk(function), **_shape(self.X, width, dtype))

    def _map(self, function: Callable[..., Any], **options: Any) -> Any:
        arrays = [self.y] if self.weight is None else [self.y, self.weight]
        return self.X.map_blocks(function, *arrays, **options)

    def _boxes(self, k: int) -> dict[str, Any]:
        chunks = ((1,) * len(self.X.chunks[0]), (k,))
        return {"chunks": chunks, "dtype": object, "meta": np.empty((0, 0), dtype=object)}


@dataclass(frozen=True)
class _OnChunk:
    """Applies a function to the checked rows of a chunk and to their indices.

    Boxed results are objects in an array of one row, which Dask can add up.
    """

    function: Callable[..., Any]
    boxed: bool = False

    def __call__(self, X: Any, y: Array, *weight: Array, block_info: Any = None) -> Any:
        X = check_array(X, dtype=[np.float64, np.float32])
        y = check_array(y, dtype=None, input_name="y")
        given = weight[0][:, 0] if weight else None
        given = _check_sample_weight(given, X, dtype=np.float64, ensure_non_negative=True)
        found = self.function(X, y, given, np.arange(*block_info[0]["array-location"][0]))
        return _box(found) if self.boxed else found


def map_queries(X: Any, function: Callable[[Any], Array], width: int | None, dtype: Any) -> Any:
    """``function`` of each chunk of rows, as a lazy Dask array of as many rows."""
    X = _whole_rows(X)
    return X.map_blocks(function, **_shape(X, width, dtype))


def _whole_rows(X: Any) -> Any:
    """Return a Dask array with all features of a row in one chunk."""
    if X.ndim != 2 or any(np.isnan(size) for size in X.shape):
        raise ValueError(
            f"a Dask array of samples must have two dimensions of known size, got shape {X.shape}. "
            f"Call its compute_chunk_sizes() first."
        )
    return X.rechunk({1: -1})


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
