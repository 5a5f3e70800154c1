"""What the kernels of the distance between two samples share: exp(−gamma · distance)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import xlogy

from gramian.core.arrays import Array, each_block, on_device, row_blocks, to_host
from gramian.core.kernels._base import Kernel, checked_gamma, float_type
from gramian.core.kernels._blocks import Exponents, exp_in_blocks
from gramian.core.kernels._dense_squares import FEW_PAIRS, FEW_SAMPLES
from gramian.core.kernels._sparse_squares import as_csr

_GRADIENT_BYTES = 2**19
_DENSE_BYTES = 2**26  # of sparse features that are made dense at once


class DistanceKernel(Kernel):
    """What the three kernels share.

    A value has a relative error of about eps · (1 + gamma · distance), whatever the other samples.
    """

    parameters: ClassVar[tuple[str, ...]] = ("gamma",)
    takes_gamma: ClassVar[bool] = True
    has_width: ClassVar[bool] = True
    has_feature_widths: ClassVar[bool] = True
    gamma: Any = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", checked_gamma(self.gamma, self.name, per_feature=True))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and np.array_equal(self.gamma, other.gamma)

    def __hash__(self) -> int:
        return hash((self.name, np.asarray(self.gamma).tobytes()))

    def __call__(self, X: Any, Y: Any) -> Array:
        dtype = X.dtype if X.dtype.kind == "f" else np.dtype(float)
        m, n = X.shape[0], Y.shape[0]
        if m == 0 or n == 0:
            return super().__call__(X, Y)
        if not isinstance(self.gamma, float):  # one for each feature
            used = self._used(X)
            if not used.all():
                some = X[:, used]
                return self.with_gamma(self.gamma[used])(some, some if X is Y else Y[:, used])
        few = m * n <= FEW_PAIRS or min(m, n) < FEW_SAMPLES
        if few and type(X) is np.ndarray and type(Y) is np.ndarray:
            with np.errstate(all="ignore"):  # a distance that overflows gives the right value, 0
                values = self._direct(X, Y)
                if values.dtype == dtype:
                    return np.exp(values, out=values)
                return np.exp(values, dtype=dtype, casting="same_kind")
        return self._values(X, Y)

    def _used(self, X: Any) -> Array:
        """Which features have a width above 0."""
        if len(self.gamma) != X.shape[1]:
            raise ValueError(
                f"gamma must have one number for each of the {X.shape[1]} features, got "
                f"{len(self.gamma)}."
            )
        result: Array = self.gamma > 0
        return result

    def _values(self, X: Any, Y: Any) -> Array:
        if on_device(X):  # on a device
            values = self._on_device(X, Y)
            result: Array = np.exp(values, out=values)
            return result
        dtype, symmetric = float_type(X), X is Y
        if sparse.issparse(X) or sparse.issparse(Y):
            X = as_csr(X)
            Y = X if symmetric else as_csr(Y)
        with np.errstate(all="ignore"):  # a distance that overflows gives the right value, 0
            return exp_in_blocks(self._exponents(X, Y), X, Y, dtype)

    @abstractmethod
    def _direct(self, X: Array, Y: Array) -> Array:
        """−gamma · distance for a few dense samples, as a new array."""

    @abstractmethod
    def _on_device(self, X: Any, Y: Any) -> Any:
        """−gamma · distance for samples on a device, as a new array."""

    @abstractmethod
    def _exponents(self, X: Any, Y: Any) -> Exponents:
        """The function that gives −gamma · distance for some rows of X and of Y."""

    @abstractmethod
    def _distances(self, X: Any) -> Array:
        """The distance of each pair of samples, without gamma and without cancellation."""

    def diagonal(self, X: Any) -> Array:
        like = X if on_device(X) else None
        return np.ones(X.shape[0], dtype=float_type(X), like=like)

    def typical_gamma(self, X: Any) -> float:
        with np.errstate(all="ignore"):
            distances = self._distances(as_csr(X) if sparse.issparse(X) else to_host(X))
            apart = distances[(distances > 0) & (distances < np.inf)]
            gamma = 1.0 / np.median(apart) if apart.size else 1.0
        return float(gamma) if 0 < gamma < np.inf else 1.0

    def with_scales(self, scales: Array) -> Kernel:
        return self.with_gamma(self.gamma * scales)

    def gamma_gradient(self, K: Array, G: Array, X: Any) -> Array:
        """∂E/∂log gamma; for one gamma per feature the cost is O(n² n_features)."""
        if not np.ndim(self.gamma):
            return np.array([_along_logs(K, G)])
        if not sparse.issparse(X):
            return self._feature_gradient(K, G, X)
        columns, found = X.tocsc(), []
        for some in row_blocks(X.shape[1], X.shape[0], budget=_DENSE_BYTES):
            part = self.with_gamma(self.gamma[some])
            assert isinstance(part, DistanceKernel)
            found.append(part._feature_gradient(K, G, columns[:, some].toarray()))
        return np.concatenate(found)

    @abstractmethod
    def _feature_gradient(self, K: Array, G: Array, X: Array) -> Array:
        """∂E/∂log gamma_f for each feature."""


def _along_logs(K: Array, G: Array) -> float:
    """Σ_ij G_ij K_ij log K_ij, since ∂K/∂log gamma = K log K, whatever the distance.

    Both are symmetric, so that the upper triangle is enough; by blocks, which stay in the cache.
    """

    def add_up(rows: slice) -> float:
        right = slice(rows.start, None)
        slopes = G[rows, right] * _times_log(K[rows, right])
        return 2.0 * float(slopes.sum()) - float(slopes[:, : len(slopes)].sum())

    if on_device(K):  # on a device
        return sum(map(add_up, row_blocks(len(K), len(K), like=K)))
    n = len(K)
    return sum(each_block(add_up, row_blocks(n, n, budget=_GRADIENT_BYTES), n * n))


def _times_log(K: Any) -> Any:
    """``K log K``, 0 where K is 0."""
    return K.through("times_log") if on_device(K) else xlogy(K, K)
