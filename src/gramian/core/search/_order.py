"""An order of samples that looks random and depends on what they are, not on how they came."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from gramian.core.arrays import Array, to_host
from gramian.core.kernels._precomputed import GramSamples

_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ over the golden ratio
_MIX = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def repeatable(random_state: Any) -> np.random.RandomState:
    """The generator of a `random_state`; None gives the same one each time."""
    result: np.random.RandomState = check_random_state(0 if random_state is None else random_state)
    return result


def fixed_seed(random_state: Any) -> Any:
    """A number that stands for a `RandomState`, drawn from it; None and numbers as they are.

    Searches that run side by side draw from a `RandomState` in any order.
    """
    if random_state is None or isinstance(random_state, Integral):
        return random_state
    return int(check_random_state(random_state).randint(2**31 - 1))


def content_order(samples: Any) -> Array:
    """Order the samples by a hash of their numbers, O(n d); equal ones stay in their order.

    Whatever the order in which samples come, the same ones come first. Dense and sparse samples
    with equal numbers have equal hashes; zeros do not count. Samples of a precomputed kernel are
    hashed by their kernel values to all samples, as a set.

    Examples
    --------
    >>> X = np.arange(10.0)[:, None]
    >>> X[content_order(X)].ravel().tolist() == X[::-1][content_order(X[::-1])].ravel().tolist()
    True
    """
    if isinstance(samples, GramSamples):
        hashes = _mixed(samples.K[samples.index]).sum(axis=1)
    elif issparse(samples):
        rows = np.repeat(np.arange(samples.shape[0]), np.diff(samples.indptr))
        hashes = np.zeros(samples.shape[0], dtype=np.uint64)
        np.add.at(hashes, rows, _mixed(samples.data, samples.indices))
    else:
        X = to_host(samples)
        hashes = _mixed(X, np.arange(X.shape[1])).sum(axis=1)
    return np.argsort(hashes, kind="stable")


def _mixed(values: Array, columns: Any = 0) -> Array:
    """A hash of each number and its column, 0 for a zero: the last steps of SplitMix64."""
    bits = np.asarray(values, dtype=np.float64).view(np.uint64)
    bits = bits + _ODD * (np.asarray(columns, dtype=np.uint64) + np.uint64(1))
    for shift, factor in zip((30, 27), _MIX, strict=True):
        bits = (bits ^ (bits >> np.uint64(shift))) * factor
    return np.where(values != 0, bits ^ (bits >> np.uint64(31)), np.uint64(0))
