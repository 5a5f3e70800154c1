"""Kernels of what a tree sees: on which side of some thresholds each feature lies.

Feature c of a sample becomes a row of zeros and ones, one for each threshold e of that feature,

    φ_j(x) = 1 if x_c > e_j, else 0,

and a kernel of distances takes φ(x) in place of x. Two samples are as far apart as there are
thresholds between them, so that skewed numbers, gaps and outliers do not count. With factors for
each φ_j, a step at a threshold that matters is higher than one that does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gramian.core.arrays import Array, to_host
from gramian.core.kernels._base import Kernel, float_type

_SHARE = 0.382  # not half-way, where means of two samples are and rounding would decide


@dataclass(frozen=True, eq=False)
class Thresholds:
    """The map from samples to zeros and ones.

    Parameters
    ----------
    columns : ndarray of int of shape (D,)
        The feature that each threshold belongs to.
    edges : ndarray of shape (D,)
        The thresholds.

    Examples
    --------
    >>> found = Thresholds.of(np.array([[1.0, 0.0], [2.0, 1.0], [4.0, 0.0]]), most=8)
    >>> found.columns, found.edges.round(3)
    (array([0, 0, 1]), array([1.382, 2.764, 0.382]))
    >>> found(np.array([[2.0, 1.0]]))
    array([[1., 0., 1.]])
    """

    columns: Array
    edges: Array

    @classmethod
    def of(cls, X: Any, most: int, weight: Array | None = None) -> Thresholds:
        """Thresholds between neighbouring values of the samples: all, or ``most`` at quantiles.

        A sample of weight 2 counts as two. A constant feature has no threshold; if all are
        constant, the first has one, which no sample exceeds.
        """
        X = to_host(X)
        weight = np.ones(X.shape[0]) if weight is None else weight
        columns = X.tocsc() if sparse.issparse(X) else X
        found = [_edges(_column(columns, c), most, weight) for c in range(X.shape[1])]
        if not any(map(len, found)):
            found[0] = _column(columns, 0)[:1]
        sizes = [len(edges) for edges in found]
        return cls(np.repeat(np.arange(len(found)), sizes), np.concatenate(found))

    def __len__(self) -> int:
        return len(self.edges)

    def __call__(self, X: Any) -> Any:
        """φ(x) for each sample, dense, in the precision of X and where X is."""
        some = X[:, self.columns]
        some = some.toarray() if sparse.issparse(some) else some
        return (some > self.edges).astype(float_type(X))


@dataclass(frozen=True, eq=False)
class ThresholdKernel(Kernel):
    """k(φ(x), φ(y)): a kernel of distances on the sides of thresholds.

    Parameters
    ----------
    kernel : Kernel
        Of the zeros and ones, with its widths.
    thresholds : Thresholds

    Examples
    --------
    >>> from gramian.core.kernels import RBF
    >>> between = Thresholds(np.array([0, 0]), np.array([1.0, 10.0]))
    >>> kernel = ThresholdKernel(RBF(1.0), between)
    >>> kernel(np.array([[0.0]]), np.array([[0.9], [5.0], [1e9]])).round(3)
    array([[1.   , 0.368, 0.135]])
    """

    name: ClassVar[str] = "thresholds"

    kernel: Kernel
    thresholds: Thresholds

    def _values(self, X: Any, Y: Any) -> Array:
        sides = self.thresholds(X)
        return self.kernel(sides, sides if X is Y else self.thresholds(Y))

    def diagonal(self, X: Any) -> Array:
        return self.kernel.diagonal(X)  # 1, as of every kernel of distances


def _column(X: Any, c: int) -> Array:
    some = X[:, [c]]
    return np.asarray(some.toarray() if sparse.issparse(some) else some, dtype=float).ravel()


def _edges(x: Array, most: int, weight: Array) -> Array:
    """At most so many numbers, each between two neighbouring values of a feature."""
    values, place = np.unique(x, return_inverse=True)
    above = np.arange(1, len(values))
    if len(above) > most:
        shares = np.cumsum(np.bincount(place.ravel(), weight)) / weight.sum()
        cuts = np.searchsorted(shares, np.arange(1, most + 1) / (most + 1)) + 1
        above = np.unique(np.minimum(cuts, len(values) - 1))
    low, high = values[above - 1], values[above]
    between = (1.0 - _SHARE) * low + _SHARE * high
    return np.where(between < high, between, low)  # no number lies between some
