"""Orthogonal least squares over more rows than fit into memory: Dask arrays, and chunks.

Centres, width and U are chosen on a random part of the rows that fits into memory. The normal
equations of that basis are then summed over all chunks. The rows themselves are not stored and
have no ids; `forget_rows` forgets rows that are passed again. Dask is not imported here.

`learn_rows` adds chunks that a generator yields to a model with centres.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, Self, TypeVar, cast

import numpy as np
from sklearn.base import clone, is_classifier

from gramian.core.arrays import Array, on_device
from gramian.core.engines import Holdings, make_rows
from gramian.core.estimators import Fitted, calibrated, edits, is_chunked, sample_kind, with_weight
from gramian.core.search._order import repeatable
from gramian.orthogonal._attributes import BasisAttributes
from gramian.orthogonal._chunks import ChunkSums, RowChunks, RowStream, map_queries
from gramian.orthogonal._engine import BasisEngine

T = TypeVar("T")

# Largest number of rows of a Dask array on which centres are chosen.
CHOSEN_ON = 20_000


class ChunkedRows(BasisAttributes):
    """Learns and forgets rows that it does not hold: Dask arrays, and chunks of any source."""

    def _begin(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        ids: Any,
        classes: tuple[Any, ...],
        groups: Any = None,
    ) -> None:
        """Fit from scratch, to arrays or to Dask arrays."""
        if not is_chunked(X):
            super()._begin(X, y, sample_weight, ids, classes, groups)
            return
        spec, chunks = self._spec(), _aligned(self, X, y, sample_weight, ids, groups)
        if self.tuning_fraction is not None:
            raise ValueError(
                "tuning_fraction needs samples that the model holds, and those of Dask arrays are "
                "not held. Fit on one Dask array and give other samples to partial_fit."
            )
        kind, random = sample_kind(spec), repeatable(spec.random_state)
        numbers, X, y, weight = chunks.sample(random, CHOSEN_ON)
        X, y, names = kind.first(self, X, y[:, 0] if y.shape[1] == 1 else y)
        weight = np.ones(len(y)) if weight is None else weight
        y = self._check_targets(y, None)
        X, y, weight, rows = with_weight(kind, X, y, weight, numbers)
        some = Holdings(make_rows(X), y, weight, rows, len(chunks))
        some = self._classes_after_append(None, some, _labels_of(self, chunks, None))
        found = self._resolved(spec, some, None)
        engine, holdings = found.build(some), _without_rows(some, version=object())
        assert isinstance(engine, BasisEngine)
        sums = _added_up(chunks, engine, rows, X.dtype)
        estimate = len(numbers) < len(chunks) and spec.ridge in ("loo", "gcv")
        engine = engine.over(holdings, sums, estimate)
        if some.classes is not None:
            engine = engine.calibrated(calibrated(Fitted(found, some, engine, kind))[1])
        self._now = Fitted(found, holdings, engine, kind, names)

    def _learn(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        ids: Any,
        classes: tuple[Any, ...] = (),
        groups: Any = None,
    ) -> None:
        """Learn more samples, or more rows of Dask arrays."""
        if not (is_chunked(X) and self.__sklearn_is_fitted__()):
            super()._learn(X, y, sample_weight, ids, classes, groups)
            return
        now, chunks = self._serving(), _aligned(self, X, y, sample_weight, ids, groups)
        held = now.holdings
        holdings = replace(held, next_id=held.next_id + len(chunks), version=object())
        holdings = self._classes_after_append(held, holdings, _labels_of(self, chunks, held))
        engine = self._engine().with_classes(holdings)
        sums = _added_up(chunks, engine, None, holdings.rows.dtype)
        self._now = now.moved(holdings, engine.with_sums(holdings, sums, len(chunks)))

    @edits
    def learn_rows(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn rows without holding them: the model becomes that of one fit on its centres to all.

        Width, centres and λ stay. The rows are added to the sums of the normal equations, on the
        device of the model, and have no ids; pass them again to `forget_rows` to forget them. New
        classes stay in `classes_` even when their rows are forgotten. An exception, also one of the
        iterable, leaves the model as it was.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features), or iterable of chunks
            Without y, an iterable of ``(X, y)`` or ``(X, y, sample_weight)``, for example a
            generator. One chunk at a time is in memory, and chunks of 1,000 rows or more are best.
            With a device there are two, since a thread makes the next one, and chunks of 100,000
            rows are best.
        y : array-like of shape (n_rows,) or (n_rows, n_targets), optional
        sample_weight : array-like of shape (n_rows,), optional

        Returns
        -------
        self
        """
        if is_chunked(X):
            self._learn(X, y, sample_weight, None)
            return self
        now = self._serving()
        holdings, stream = now.holdings, RowStream(self._engine())
        chunks = _chunks(X, y, sample_weight)
        if on_device(holdings.rows.samples()):
            chunks = ahead(chunks)  # made while the device computes
        for chunk in chunks:
            rows, targets, weight = self._checked_rows(now, *chunk)
            labels = tuple(np.unique(targets).tolist()) if is_classifier(self) else ()
            holdings = self._classes_after_append(
                holdings, replace(holdings, version=object()), labels
            )
            stream.add(holdings, rows, targets, weight)
        holdings = replace(holdings, next_id=holdings.next_id + stream.rows)
        self._now = now.moved(holdings, stream.learned(holdings))
        return self

    @edits
    def forget_rows(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget rows that the model does not hold, of Dask arrays or `learn_rows`, passed again.

        The result is exact if the rows are the same as when they were learned; the model cannot
        check that they were learned. A centre that equals one of the rows leaves the basis.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
        y : array-like of shape (n_rows,) or (n_rows, n_targets)
        sample_weight : array-like of shape (n_rows,), optional

        Returns
        -------
        self
        """
        now, n = self._serving(), self.n_rows_
        X, y, weight = self._checked_rows(now, X, y, sample_weight)
        unheld = n - len(now.holdings)
        if len(y) >= n or len(y) > unheld:
            raise ValueError(
                f"forget_rows got {len(y)} rows, and the model has learned {unheld} that it does "
                f"not hold, of {n}; one must stay. Samples that it holds are forgotten by `forget`."
            )
        holdings = replace(now.holdings, version=object())
        self._now = now.moved(holdings, self._engine().remove_rows(holdings, X, y, weight))
        return self

    def loo_decision_function(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Any:
        """Leave-one-out values of the held samples, in the order of `ids_`.

        Parameters
        ----------
        X, y, sample_weight : Dask arrays, optional
            Learned rows that the model does not hold, passed again. The result is then a lazy Dask
            array with the value of each row by the model without it.
        """
        if X is None:
            return super().loo_decision_function()  # type: ignore[misc]  # of the class after it
        now, chunks = self._serving(), _aligned(self, X, y, sample_weight)
        dtype, width = now.holdings.rows.dtype, _outputs_width(now)
        left_out = partial(_left_out, _engine_of(now), dtype, width is None)
        return chunks.map_rows(left_out, width, dtype)

    # -- inside ---------------------------------------------------------------------------------

    def _checked_rows(
        self, now: Fitted, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, Array, Array]:
        """Samples, targets and weights of rows to learn or to forget, without those of weight 0."""
        X, y = now.samples.more(self, now.holdings, X, y)
        y = self._check_targets(y, now.holdings)
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        return with_weight(now.samples, X, y, weight, np.arange(len(y)))[:3]

    def _lazily(
        self, method: str, X: Any, width: int | None, dtype: Any, scale: float | None = None
    ) -> Array:
        """Apply a method of the model to each chunk of queries; returns a lazy Dask array.

        The workers receive the model without its samples, with this scale of the probabilities.
        """
        now = self._serving()
        engine = _engine_of(now)
        if scale is not None:
            engine = engine.calibrated(scale)
        twin = clone(self)
        twin._now = now.moved(_without_rows(now.holdings), engine)
        lazy: Array = map_queries(X, getattr(twin, method), width, dtype)
        return lazy

    def _lazy_outputs(self, method: str, X: Any) -> Array:
        """Decision values or predicted targets of each chunk of queries; see `_lazily`."""
        now = self._serving()
        return self._lazily(method, X, _outputs_width(now), now.holdings.rows.dtype)


def _engine_of(now: Fitted) -> BasisEngine:
    assert isinstance(now.engine, BasisEngine)
    return now.engine


def _outputs_width(now: Fitted) -> int | None:
    """Number of columns of the public outputs; None if they are one-dimensional."""
    t = len(_engine_of(now).order())
    flat = t == 1 and (now.holdings.classes is not None or now.holdings.y.ndim == 1)
    return None if flat else t


def _chunks(X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield samples, targets and weights (or None) of each chunk; ValueError for other items."""
    if y is not None:
        yield X, y, sample_weight
        return
    if hasattr(X, "shape") or sample_weight is not None:
        raise ValueError(
            "learn_rows takes X and y, or an iterable of (X, y) or (X, y, sample_weight) alone; "
            "got an array without y, or weights beside the iterable."
        )
    for chunk in X:
        if not (isinstance(chunk, tuple | list) and len(chunk) in (2, 3)):
            raise ValueError(
                f"learn_rows needs chunks (X, y) or (X, y, sample_weight), got one of type "
                f"{type(chunk).__name__}. Give X and y as two arguments to learn one chunk."
            )
        yield (*chunk, None)[:3]


def ahead(items: Iterable[T]) -> Iterator[T]:
    """Yield the items of an iterable, each taken from it by a thread while the last one is used."""
    source, end = iter(items), object()
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, source, end)
        while (item := coming.result()) is not end:
            coming = thread.submit(next, source, end)
            yield cast(T, item)


def _left_out(
    engine: BasisEngine, dtype: Any, flat: bool, X: Any, y: Array, weight: Array, numbers: Array
) -> Array:
    """Leave-one-out values of the rows of a chunk, in the public shape."""
    found = engine.loo_rows(X.astype(dtype, copy=False), y, weight)
    return (found[:, 0] if flat else found).astype(dtype)


def _without_rows(holdings: Holdings, **changes: Any) -> Holdings:
    rows, y = make_rows(holdings.rows.samples()[:0]), holdings.y[:0].copy()
    return replace(holdings, rows=rows, y=y, weight=np.empty(0), ids=np.arange(0), **changes)


def _aligned(
    model: Any, X: Any, y: Any, sample_weight: Any, ids: Any = None, groups: Any = None
) -> RowChunks:
    """The chunks of Dask arrays; ValueError if they come with ids or groups."""
    if groups is not None:
        raise ValueError(
            "groups are for samples that the model holds, and those of Dask arrays are not held. "
            "Leave groups=None."
        )
    if ids is not None:
        raise ValueError("rows of Dask arrays are not held and have no ids; leave `ids` out.")
    return RowChunks.align(X, y, sample_weight, numeric=not is_classifier(model))


def _added_up(chunks: RowChunks, engine: BasisEngine, rows: Array | None, dtype: Any) -> Any:
    """Sums over all chunks, one for each basis; ValueError if no row has a weight."""
    sums = chunks.add_up(ChunkSums.of(engine, rows, dtype), len(engine.bases))
    if sums[0].rows == 0:
        raise ValueError("sample_weight must be > 0 for at least one sample, got zeros only.")
    return sums


def _labels_of(model: Any, chunks: RowChunks, holdings: Holdings | None) -> tuple[Any, ...]:
    """All labels of the chunks, which stay declared classes as their rows are not held.

    Returns an empty tuple for a regressor. Raises ValueError if the targets do not match those
    held.
    """
    if is_classifier(model):
        return tuple(model._check_targets(chunks.labels(), holdings).tolist())
    like = np.zeros((1, chunks.y.shape[1]))
    one = holdings is not None and holdings.y.ndim == 1 and like.shape[1] == 1
    model._check_targets(like[:, 0] if one else like, holdings)
    return ()
