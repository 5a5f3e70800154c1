"""Samples that are known only by their kernel values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gramian.core.arrays import Array
from gramian.core.kernels._base import Kernel


class GramSamples:
    """Samples i, j, … of which only the kernel values ``K[i, j]`` are known.

    They take the place of the sample array of an estimator with a precomputed kernel: they have a
    length and can be indexed by a slice, an integer array or a mask. K itself is never copied.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The kernel values of all samples.
    index : array-like of int, optional
        Positions of these samples in K, from 0 to n − 1; by default all.

    Examples
    --------
    >>> samples = GramSamples(np.eye(3))
    >>> samples[1:].shape
    (2, 3)
    """

    index: Array

    ndim = 2

    def __init__(self, K: Array, index: Any = None) -> None:
        n = K.shape[0]
        if K.shape != (n, n):
            raise ValueError(f"a precomputed kernel must be a square matrix, got shape {K.shape}.")
        index = np.arange(n) if index is None else np.asarray(index)
        if index.ndim != 1 or (index.size and index.dtype.kind not in "iu"):
            raise ValueError("index must be a list of whole numbers.")
        if index.size and not 0 <= index.min() <= index.max() < n:
            raise IndexError(f"index must lie between 0 and {n - 1}, the samples of the kernel.")
        self.K = K
        self.index = index.astype(np.intp, copy=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples, and of the kernel values known for each."""
        return len(self.index), self.K.shape[0]

    @property
    def dtype(self) -> np.dtype:
        """Type of the kernel values."""
        return self.K.dtype

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, rows: Any) -> GramSamples:
        return GramSamples(self.K, self.index[rows])

    def __repr__(self) -> str:
        return f"GramSamples({len(self)} of {self.K.shape[0]})"


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Kernel values that were computed beforehand.

    The second set of samples is always a `GramSamples`. The first is another one, or an array with
    the kernel values of new samples (rows) and all n samples of the Gram matrix (columns). A block
    of neighbouring rows and columns comes as a read-only view of the given array, without a copy.

    Examples
    --------
    >>> samples = GramSamples(np.array([[2.0, 1.0], [1.0, 3.0]]))
    >>> Precomputed()(samples[:1], samples)
    array([[2., 1.]])
    """

    name: ClassVar[str] = "precomputed"

    def _values(self, X: Any, Y: Any) -> Array:
        if not isinstance(Y, GramSamples):
            raise TypeError(f"a precomputed kernel needs GramSamples, got {type(Y).__name__}.")
        if X.shape[1] != Y.shape[1]:
            raise ValueError(
                f"a precomputed kernel needs one value for each of the {Y.shape[1]} samples it "
                f"was computed for, got {X.shape[1]}."
            )
        if isinstance(X, GramSamples):
            return _block(X.K, _as_slice(X.index), _as_slice(Y.index))
        return _block(X, slice(None), _as_slice(Y.index))

    def diagonal(self, X: Any) -> Array:
        if not isinstance(X, GramSamples):
            raise ValueError(
                "k(x, x) of new samples is not among the values of a precomputed kernel."
            )
        return X.K[X.index, X.index]


def _as_slice(index: Array) -> slice | Array:
    """The same positions as a slice, which needs no copy, where they follow one another."""
    if index.size == 0:
        return slice(0, 0)
    first, last = int(index[0]), int(index[-1])
    if last - first == len(index) - 1 and np.all(np.diff(index) == 1):
        return slice(first, last + 1)
    return index


def _block(values: Array, rows: slice | Array, columns: slice | Array) -> Array:
    """Some rows and columns, as a read-only view where possible.

    Writing to a view would change the Gram matrix itself.
    """
    if isinstance(rows, slice) and isinstance(columns, slice):
        view = values[rows, columns]
        view.flags.writeable = False
        return view
    if not (isinstance(rows, slice) or isinstance(columns, slice)):
        rows = rows[:, None]
    return values[rows, columns]
