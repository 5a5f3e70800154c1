"""Members of a class: samples in order of arrival, and the kernel between them.

Members are never changed: `append` and `remove` return new ones. Samples are float64.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from gramian.arrays import Array
from gramian.estimators.live._base import LiveEstimator
from gramian.estimators.live._precomputed import check_precomputed, check_precomputed_queries


@dataclass(frozen=True, eq=False)
class Members:
    """Dense or CSR samples X with a `gramian.kernels.Kernel`."""

    X: Any
    kernel: Any

    def __len__(self) -> int:
        return self.X.shape[0]

    def diagonal(self, X: Any = None) -> Array:
        """``k(x, x)`` for each member, or for each sample of X."""
        return self.kernel.diagonal(self.X if X is None else X)

    def column(self, j: int) -> Array:
        """``k(x, x_j)`` for each member x."""
        return self.cross(self.X, slice(j, j + 1))[:, 0]

    def cross(self, X: Any, positions: Any = slice(None)) -> Array:
        """``k(x, m)`` for each sample x of X and the members m at ``positions``."""
        return self.kernel(X, self.X[positions])

    def append(self, X: Any) -> Self:
        stack = sparse.vstack if sparse.issparse(self.X) else np.vstack
        return replace(self, X=stack([self.X, X]))

    def remove(self, positions: Array) -> Self:
        return replace(self, X=self.X[np.delete(np.arange(len(self)), positions)])

    def unit_vectors(self) -> Any:
        """The basis of the input space, as samples of the same kind."""
        d = self.X.shape[1]
        return sparse.eye_array(d, format="csr") if sparse.issparse(self.X) else np.eye(d)


@dataclass(frozen=True, eq=False)
class GramMembers(Members):
    """Samples known by their kernel matrix X alone.

    Another sample is the row of its kernel values to all members; one that enters has its values
    to the others that enter with it at the end.
    """

    kernel: Any = None

    def diagonal(self, X: Any = None) -> Array:
        assert X is None, "k(x, x) of a sample that is no member is not known"
        return self.X.diagonal().copy()

    def cross(self, X: Any, positions: Any = slice(None)) -> Array:
        return X[:, positions]

    def append(self, X: Array) -> Self:
        return replace(self, X=np.block([[self.X, X[:, : len(self)].T], [X]]))

    def remove(self, positions: Array) -> Self:
        stay = np.delete(np.arange(len(self)), positions)
        return replace(self, X=self.X[np.ix_(stay, stay)])


class GramRows:
    """A kernel matrix as the store of an estimator's samples; O(n²) to append and to remove."""

    def __init__(self, K: Array) -> None:
        self._members = GramMembers(np.array(K))

    @property
    def dtype(self) -> np.dtype:
        return self._members.X.dtype

    @property
    def rows(self) -> Array:
        view = self._members.X.view()
        view.flags.writeable = False
        return view

    def adopt(self, X: Array) -> Array:
        """Kernel values are dense."""
        return X

    def reserve(self, k: int) -> None:
        """Nothing to do: the new matrix takes the place of the old one when it is whole."""

    def append(self, X: Array) -> None:
        self._members = self._members.append(X)

    def remove(self, positions: Array) -> None:
        self._members = self._members.remove(positions)


class MatrixSamples(LiveEstimator):
    """For estimators that take ``kernel="precomputed"`` and hold the matrix as `GramRows`."""

    kernel: Any

    @property
    def _precomputed(self):
        """Whether samples come as kernel values; of a fitted model, whether they came so."""
        if hasattr(self, "_rows"):
            return isinstance(self._rows, GramRows)
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _reset(self):
        super()._reset()
        self.__dict__.pop("_rows", None)

    def _make_rows(self, X):
        return GramRows(X) if self._precomputed else super()._make_rows(X)

    def _keep(self, X, some):
        if not self._precomputed:
            return super()._keep(X, some)
        held = np.ones(X.shape[1] - len(X), dtype=bool)
        return X[np.ix_(some, np.concatenate([held, some]))]

    def _check_samples(self, X, y, *, reset):
        if not self._precomputed:
            return super()._check_samples(X, y, reset=reset)
        X = check_precomputed(X, 0) if reset else self._check_extension(X)
        y = check_array(y, ensure_2d=False, allow_nd=False, dtype=None, input_name="y")
        check_consistent_length(X, y)
        return X, self._check_targets(y)

    def _check_extension(self, X):
        """Kernel values of new samples, with which the whole matrix is semi-definite, O(n³)."""
        X = check_precomputed(X, len(self._ids), dtype=self._rows.dtype)
        check_precomputed(GramMembers(self._rows.rows).append(X).X, 0)
        return X

    def _check_queries(self, X):
        if not self._precomputed:
            return super()._check_queries(X)
        check_is_fitted(self)
        return check_precomputed_queries(X, len(self._ids), dtype=self._rows.dtype)
