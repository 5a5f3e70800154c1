"""Orthogonal least squares over more rows than one machine holds: Dask arrays."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.arrays import Array
from gramian.estimators.orthogonal._base import OrthogonalEstimator
from gramian.estimators.orthogonal._basis import NOT_HELD, FixedBasis
from gramian.estimators.orthogonal._chunks import RowChunks, is_chunked, map_queries
from gramian.machines._normal_equations import Sums

# Centres of a Dask array are chosen on so many rows at most.
CHOSEN_ON = 20_000


@dataclass(frozen=True)
class Totals:
    """Sums for each basis, which add up."""

    sums: list[Sums]

    def __add__(self, other: Totals) -> Totals:
        return Totals([a + b for a, b in zip(self.sums, other.sums, strict=True)])


@dataclass(frozen=True)
class ChunkSums:
    """The sums over one chunk, for each basis. The sums so far do not travel with it."""

    bases: list[FixedBasis]
    targets: Any
    dtype: Any

    def __call__(self, X: Any, y: Array, weight: Array, numbers: Array) -> Totals:
        X = X.astype(self.dtype, copy=False)
        return Totals(
            [basis.sums(X, self.targets(y, basis.outputs), weight, numbers) for basis in self.bases]
        )


class ChunkedOrthogonal(OrthogonalEstimator):
    """Dask arrays for `fit`, `partial_fit` and predictions.

    Centres, width and U are chosen on rows that fit into memory; then the normal equations of that
    basis are summed over all chunks. The rows themselves are not held: they have no ids, and are
    forgotten by being given again, to `forget_rows`.
    """

    # -- the contract ---------------------------------------------------------------------------

    def fit(self, X, y, sample_weight=None, ids=None):
        """Learn from scratch.

        Parameters
        ----------
        X : array-like, CSR matrix or Dask array of shape (n_samples, n_features)
            Of a Dask array, width, centres and λ are chosen on 20,000 rows at random; with
            ``ridge`` ``"gcv"`` or ``"loo"``, λ is then estimated by generalised cross-validation
            over all rows. Its rows are not held.
        y : array-like of shape (n_samples,) or, for regressors, (n_samples, n_targets)
            A Dask array if X is one.
        sample_weight : array-like of shape (n_samples,), optional
            A Dask array if X is one.
        ids : array-like of shape (n_samples,), optional
            Unique integers or strings to forget samples by; 0, 1, 2, … by default. Rows of Dask
            arrays have none.

        Returns
        -------
        self
        """
        if not is_chunked(X):
            return super().fit(X, y, sample_weight, ids)
        with self._transaction():
            self._reset()
            self._check_parameters()
            self._begin_chunks(_aligned(X, y, sample_weight, ids))
        return self

    def forget_rows(self, X, y, sample_weight=None):
        """Forget rows of Dask arrays, which the model does not hold and must be given again.

        Exact, if they are given as they were learned; that they were learned cannot be checked. A
        centre that is among them leaves the basis.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
        y : array-like of shape (n_rows,) or (n_rows, n_targets)
        sample_weight : array-like of shape (n_rows,), optional

        Returns
        -------
        self
        """
        check_is_fitted(self)
        with self._transaction():
            X, y = self._check_samples(X, y, reset=False)
            weight = self._check_weight(sample_weight, X)
            unheld = self.n_rows_ - len(self._y)
            if len(y) >= self.n_rows_ or len(y) > unheld:
                raise ValueError(
                    f"forget_rows got {len(y)} rows, and the model has learned {unheld} that it "
                    f"does not hold, of {self.n_rows_}; one must stay. Samples that it holds are "
                    f"forgotten by `forget`."
                )
            self._bases = tuple(self._without_rows(basis, X, y, weight) for basis in self._bases)
            self._edits += len(y)
            self._changed()
        return self

    def loo_decision_function(self, X=None, y=None, sample_weight=None):
        """Leave-one-out values of the held samples, in the order of `ids_`.

        Parameters
        ----------
        X, y, sample_weight : Dask arrays, optional
            Rows that the model has learned and does not hold, given again. The values are then
            those of the model without each of them, as a lazy Dask array.
        """
        if X is None:
            return super().loo_decision_function()
        check_is_fitted(self)
        chunks = RowChunks.align(X, y, sample_weight)
        return chunks.map_rows(self._light()._loo_rows, self._width(), self._rows.dtype)

    # -- learning -------------------------------------------------------------------------------

    def _partial_fit(self, X, y, ids, sample_weight):
        if not is_chunked(X):
            return super()._partial_fit(X, y, ids, sample_weight)
        with self._transaction():
            chunks = _aligned(X, y, sample_weight, ids)
            if self.__sklearn_is_fitted__():
                self._extend_chunks(chunks)
            else:
                self._check_parameters()
                self._begin_chunks(chunks)
        return self

    def _begin_chunks(self, chunks: RowChunks) -> None:
        numbers, X, y, weight = chunks.sample(self._random(), CHOSEN_ON)
        X, y = self._check_samples(X, y[:, 0] if y.shape[1] == 1 else y, reset=True)
        weight = self._check_weight(weight, X)
        self._expect_first(chunks)
        self._choose(X, y, weight)
        self._rows = self._make_rows(X[:0])
        self._ids, self._y, self._weight = np.arange(0), y[:0], weight[:0]
        self._next_id = len(chunks)
        self._sum_over(chunks, numbers)
        self._changed()
        self._calibrate_on(X, y, weight)

    def _sum_over(self, chunks: RowChunks, numbers: Array) -> None:
        """Put the sums over all chunks in the place of those over the rows chosen on."""
        named = [replace(basis, samples=numbers[basis.samples]) for basis in self._bases]
        totals = chunks.add_up(ChunkSums(_unsummed(named), self._targets, self._rows.dtype))
        estimate = len(numbers) < len(chunks) and self.ridge in ("loo", "gcv")
        self._bases = tuple(
            _over(_nameless(basis), sums, estimate)
            for basis, sums in zip(self._bases, totals.sums, strict=True)
        )

    def _extend_chunks(self, chunks: RowChunks) -> None:
        bases = self._expect_more(chunks)
        strangers = [_nameless(basis) for basis in bases]
        totals = chunks.add_up(ChunkSums(_unsummed(strangers), self._targets, self._rows.dtype))
        pairs = zip(bases, totals.sums, strict=True)
        self._bases = tuple(basis.with_sums(basis.live.sums + sums) for basis, sums in pairs)
        self._edits += len(chunks)
        self._next_id += len(chunks)
        self._changed()

    @abstractmethod
    def _expect_first(self, chunks: RowChunks) -> None:
        """Take from all chunks what must be known before bases are chosen on some rows."""

    @abstractmethod
    def _expect_more(self, chunks: RowChunks) -> Any:
        """The present bases with outputs for the targets of more chunks."""

    @abstractmethod
    def _calibrate_on(self, X: Any, y: Array, weight: Array) -> None:
        """Take what probabilities need from rows that will not be held."""

    def _without_rows(self, basis: FixedBasis, X: Any, y: Array, weight: Array) -> FixedBasis:
        found = _find_rows(X, basis.centres)
        found[basis.samples >= 0] = NOT_HELD
        targets, numbers = self._targets(y, basis.outputs), np.arange(len(y))
        rest = replace(basis, samples=found).remove_rows(X, targets, weight, numbers)
        return replace(rest, samples=basis.samples).without_centres(found >= 0)

    # -- predicting -----------------------------------------------------------------------------

    def _lazily(self, name: str, X: Any, width: int | None, dtype: Any) -> Any:
        """A method of the model on each chunk of queries."""
        check_is_fitted(self)
        return map_queries(X, getattr(self._light(), name), width, dtype)

    def _light(self) -> Any:
        """This model without its samples, to be sent to where the queries are."""
        self._weights()
        twin = copy(self)
        twin._rows = self._make_rows(self._rows.rows[:0])
        twin._ids, twin._y, twin._weight = self._ids[:0], self._y[:0], self._weight[:0]
        twin._derived = {k: v for k, v in self._derived.items() if k in ("weights", "calibration")}
        return twin

    def _loo_rows(self, X: Any, y: Array, weight: Array, numbers: Array) -> Array:
        X = X.astype(self._rows.dtype, copy=False)
        blocks = [
            basis.loo_outputs(X, self._targets(y, basis.outputs), weight) for basis in self._bases
        ]
        return self._shown(self._ordered(blocks))

    def _width(self) -> int | None:
        """Columns of what is shown; None for one dimension."""
        shown = np.zeros((1, len(self._joined("outputs"))))
        found = self._shown(self._ordered([shown]))
        return None if found.ndim == 1 else found.shape[1]


def _aligned(X: Any, y: Any, sample_weight: Any, ids: Any) -> RowChunks:
    if ids is not None:
        raise ValueError("rows of Dask arrays are not held and have no ids; leave `ids` out.")
    return RowChunks.align(X, y, sample_weight)


def _nameless(basis: FixedBasis) -> FixedBasis:
    """A basis whose centres are no held samples."""
    return replace(basis, samples=np.full(len(basis), NOT_HELD))


def _unsummed(bases: list[FixedBasis]) -> list[FixedBasis]:
    """The bases with U alone of their regressions: what a chunk needs."""
    return [replace(basis, live=_OnlyU(basis.live.U)) for basis in bases]  # type: ignore[arg-type]


@dataclass(frozen=True)
class _OnlyU:
    U: Array


def _over(basis: FixedBasis, sums: Sums, estimate: bool) -> FixedBasis:
    """The basis over these sums, with λ estimated on them where asked."""
    basis = basis.with_sums(sums)
    return basis.with_sums(sums, basis.live.minimize_gcv()) if estimate else basis


def _find_rows(X: Any, centres: Any) -> Array:
    """For each centre the position of an equal row of X, or −1."""
    rows, wanted = (Z.toarray() if hasattr(Z, "toarray") else Z for Z in (X, centres))
    where = {row.tobytes(): i for i, row in reversed(list(enumerate(rows + 0.0)))}
    found = [where.get(row.tobytes(), NOT_HELD) for row in wanted + 0.0]
    return np.array(found, dtype=np.intp).reshape(-1)
