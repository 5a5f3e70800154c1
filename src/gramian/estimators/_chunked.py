"""Orthogonal least squares over more rows than one machine holds: Dask arrays.

Centres, width and U are chosen on rows that fit into memory; then the normal equations of that
basis are summed over all chunks. The rows themselves are not held: they have no ids, and are
forgotten by being given again, to `forget_rows`. Nothing of Dask is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from gramian.arrays import Array
from gramian.engines import Holdings, make_rows
from gramian.engines.orthogonal import BasisEngine, RowChunks, map_queries
from gramian.estimators._classifier import _calibrated
from gramian.estimators._live import Fitted, edits
from gramian.estimators._samples import with_weight

# Centres of a Dask array are chosen on so many rows at most.
CHOSEN_ON = 20_000


def begin_chunks(model: Any, X: Any, y: Any, sample_weight: Any, ids: Any) -> Fitted:
    """A model fitted to the rows of Dask arrays."""
    settings, chunks = model._settings(), _aligned(X, y, sample_weight, ids)
    numbers, X, y, weight = chunks.sample(check_random_state(settings.plan.random_state), CHOSEN_ON)
    X, y, names = settings.samples.first(model, X, y[:, 0] if y.shape[1] == 1 else y)
    y, rows = model._check_targets(y, None), numbers
    weight = np.ones(len(y)) if weight is None else weight
    X, y, weight, rows = with_weight(settings.samples, X, y, weight, rows)
    some = Holdings(make_rows(X), y, weight, rows, len(chunks))
    some = model._joined(None, some, model._labels_of(chunks, None))
    choice = settings.choose(some, None)
    engine, held = choice.engine(some), without_rows(some, version=object())
    sums = chunks.add_up(engine.chunk_sums(rows, X.dtype), len(engine.bases))
    estimate = len(numbers) < len(chunks) and settings.plan.ridge in ("loo", "gcv")
    engine = engine.over(held, sums, estimate)
    if some.classes is not None:
        engine = engine.calibrated(_calibrated(Fitted(settings, choice, some, engine))[1])
    return Fitted(settings, choice, held, engine, names)


def extend_chunks(model: Any, X: Any, y: Any, sample_weight: Any, ids: Any) -> Fitted:
    """The model with the rows of more Dask arrays."""
    now, chunks = model._serving(), _aligned(X, y, sample_weight, ids)
    labels = model._labels_of(chunks, now.held)
    n = len(chunks)
    held = replace(now.held, next_id=now.held.next_id + n, version=object())
    held = model._joined(now.held, held, labels)
    engine = now.engine.with_classes(held)
    sums = chunks.add_up(engine.chunk_sums(None, held.rows.dtype), len(engine.bases))
    return now.moved(held, engine.with_sums(held, sums, n))


@edits
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
    now = self._serving()
    X, y = now.settings.samples.more(self, now.held, X, y)
    y, n = self._check_targets(y, now.held), self.n_rows_
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    X, y, weight, _ = with_weight(now.settings.samples, X, y, weight, np.arange(len(y)))
    unheld = n - len(now.held)
    if len(y) >= n or len(y) > unheld:
        raise ValueError(
            f"forget_rows got {len(y)} rows, and the model has learned {unheld} that it does not "
            f"hold, of {n}; one must stay. Samples that it holds are forgotten by `forget`."
        )
    held = replace(now.held, version=object())
    self._now = now.moved(held, now.engine.remove_rows(held, X, y, weight))
    return self


def left_out_rows(model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Leave-one-out values of rows that were learned and are not held, a lazy Dask array."""
    now, chunks = model._serving(), RowChunks.align(X, y, sample_weight)
    dtype, width = now.held.rows.dtype, width_of(now)
    return chunks.map_rows(LeftOut(now.engine, dtype, width is None), width, dtype)


def lazily(model: Any, name: str, X: Any, width: int | None, dtype: Any) -> Any:
    """A method of the model on each chunk of queries, a lazy Dask array."""
    return map_queries(X, getattr(without_samples(model), name), width, dtype)


def without_samples(model: Any) -> Any:
    """The model without its samples, to be sent to where the queries are."""
    now = model._serving()
    engine = now.engine
    if now.held.classes is not None and engine.calibration is None and len(now.held):
        engine = engine.calibrated(model._derived("calibration", _calibrated)[1])
    twin = clone(model)
    twin._now = now.moved(without_rows(now.held), engine)
    return twin


def without_rows(held: Holdings, **changes: Any) -> Holdings:
    """The holdings without any sample."""
    rows, y = make_rows(held.rows.samples()[:0]), held.y[:0].copy()
    return replace(held, rows=rows, y=y, weight=np.empty(0), ids=np.arange(0), **changes)


def width_of(now: Fitted) -> int | None:
    """Columns of what is shown; None for one dimension."""
    t = len(now.engine.order())
    flat = t == 1 and (now.held.classes is not None or now.held.y.ndim == 1)
    return None if flat else t


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Leave-one-out values of the rows of a chunk, as they are shown."""

    engine: BasisEngine
    dtype: Any
    flat: bool

    def __call__(self, X: Any, y: Array, weight: Array, numbers: Array) -> Array:
        found = self.engine.loo_rows(X.astype(self.dtype, copy=False), y, weight)
        return (found[:, 0] if self.flat else found).astype(self.dtype)


def _aligned(X: Any, y: Any, sample_weight: Any, ids: Any) -> RowChunks:
    if ids is not None:
        raise ValueError("rows of Dask arrays are not held and have no ids; leave `ids` out.")
    return RowChunks.align(X, y, sample_weight)
