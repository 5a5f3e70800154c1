"""The samples of a window, with the times at which they came."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from math import isfinite
from typing import Any

import numpy as np
from scipy import sparse

from gramian.core.arrays import Array


@dataclass(frozen=True)
class Held:
    """Samples in order of arrival; edits give a new object, O(n n_features)."""

    X: Any
    y: Array
    ids: Array
    times: Array
    names: Any = None
    """Of the features, if they were all strings."""

    def __len__(self) -> int:
        return len(self.ids)

    def follows(self, before: Held) -> bool:
        """Whether these are the samples of a window that has moved on by one."""
        n = len(self.ids)
        return bool(
            1 < n == len(before.ids)
            and self.ids[0] == before.ids[1]
            and self.ids[-2] == before.ids[-1]
        )

    def take(self, index: Array) -> Held:
        """Some of the samples."""
        rows = self.X[index], self.y[index], self.ids[index], self.times[index]
        return Held(*rows, self.names)

    def join(self, other: Held, drop: int = 0) -> Held:
        """These samples without the first ``drop``, of which nothing stays, then the others."""
        stack = np.concatenate if type(self.X) is np.ndarray else sparse.vstack
        ids = np.concatenate([self.ids[drop:], other.ids])
        timed = self.times is not self.ids or other.times is not other.ids
        return Held(
            stack([self.X[drop:], other.X]),
            np.concatenate([self.y[drop:], other.y]),
            ids,
            np.concatenate([self.times[drop:], other.times]) if timed else ids,
            self.names,
        )

    def accepts(self, X: Any) -> bool:
        """Whether X needs no conversion: a finite dense array like the one that is held."""
        return self.is_like(X) and isfinite(np.add.reduce(X, axis=None))

    def is_like(self, X: Any) -> bool:
        """Whether X is a dense array like the one that is held, whatever its numbers."""
        return (
            type(X) is np.ndarray
            and type(self.X) is np.ndarray
            and self.names is None
            and X.dtype == self.X.dtype
            and X.ndim == 2
            and X.shape[1] == self.X.shape[1]
            and len(X) > 0
        )

    def accepts_targets(self, y: Any, n: int) -> bool:
        """Whether y needs no conversion: finite numbers or labels of the type that is held."""
        return (
            type(y) is np.ndarray
            and y.shape == (n, *self.y.shape[1:])
            and y.dtype == self.y.dtype
            and (
                y.dtype.kind in "iUb"
                or (y.dtype.kind == "f" and isfinite(np.add.reduce(y, axis=None)))
            )
        )


def check_age(max_age: Any) -> Any:
    """The greatest age as a number or numpy.timedelta64.

    Raises
    ------
    ValueError
        If it is neither, or not above zero.
    """
    age = np.timedelta64(max_age) if isinstance(max_age, timedelta) else max_age
    if np.ndim(age) or np.asarray(age).dtype.kind not in "iufm" or not age > np.zeros_like(age):
        raise ValueError(f"max_age must be a number or timedelta > 0, got {max_age!r}.")
    return age


def check_times(times: Any, n: int, age: Any) -> Array:
    """Time stamps of n samples, datetimes where the age is a timedelta; one stands for all.

    Raises
    ------
    ValueError
        If there are not n of them, or if they are not finite or of the wrong kind.
    """
    array = np.asarray(times)
    if array.dtype == object:  # datetime.datetime, for one
        array = array.astype("datetime64[us]")
    wanted = "M" if np.asarray(age).dtype.kind == "m" else "iuf"
    if array.dtype.kind not in wanted or not np.all(np.isfinite(array)):
        raise ValueError(
            f"times must be finite numbers, or datetimes where max_age is a timedelta; got "
            f"{times!r} and max_age={age!r}."
        )
    if array.shape not in ((), (n,)):
        raise ValueError(f"times must be one per sample: got {array.shape} for {n} samples.")
    return np.broadcast_to(array, n)
