"""Parts that a stack might have: features of a table, and least squares SVMs on them.

A part is tuned as a stack of the library tunes its parts: with all rows, and without each of five
folds. What it learns of targets besides its estimator (slopes, means of levels) it learns from the
rows that it is fitted to; ranks, thresholds and marks, which need no targets, from all rows.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.preprocessing import QuantileTransformer

from evidence.shared.data import SEED
from evidence.shared.mixed import Columns
from gramian import (
    LeastSquaresSVC,
    LeastSquaresSVR,
    StackedKernelClassifier,
    StackedKernelRegressor,
    TableModel,
)
from gramian.core.engines import DenseSpec, Holdings, held_folds
from gramian.core.engines._crossfit import FOLDS, some_of
from gramian.core.engines._rows import make_rows
from gramian.core.kernels._thresholds import Thresholds
from gramian.stack._folds import TUNED_ON, fold_start, outputs_of, readable
from gramian.stack._spec import _key, _tuned, stack_spec
from gramian.tables import CategoryColumn, TableWarning

THRESHOLDS, QUANTILES, SMOOTHED = 16, 100, 5.0


class Rows(NamedTuple):
    """Rows as `TableModel` encodes them, and what is known of their features."""

    X: Any
    column: Any
    """Number of the column that each feature comes from."""
    is_number: Any
    is_mark: Any
    levels: Any
    """Codes of the text columns, of shape (n, number of text columns)."""

    def take(self, rows: Any) -> Rows:
        return self._replace(X=self.X[rows], levels=self.levels[rows])


class Parts(NamedTuple):
    """Kernels, as a stack names them, on features of the rows."""

    kernels: tuple[str, ...]
    features: str = "plain"
    degree: float = 3


class Outputs(NamedTuple):
    """Outputs of parts at their rows, each without its fold, and at new rows: (S, n, t)."""

    left_out: Any
    new: Any
    seconds: float
    """Processor seconds of the fits and of the features."""


def encoded(model: TableModel, part: Columns) -> Rows:
    """Features of a fitted `TableModel` with their origin."""
    blocks, number, mark, codes = [], [], [], []
    for column in model.columns_:
        values = column.read(_cells(part.values[column.name]))
        block = column.encode(values)
        if isinstance(column, CategoryColumn):
            codes.append(block.argmax(axis=1))
            number += [False] * block.shape[1]
            mark += [False] * block.shape[1]
        else:
            number += [True, *[False] * (block.shape[1] - 1)]
            mark += [False, *[True] * (block.shape[1] - 1)]
        blocks.append(block)
    origin = np.repeat(np.arange(len(blocks)), [block.shape[1] for block in blocks])
    levels = np.column_stack(codes) if codes else np.zeros((len(part.target), 0), dtype=int)
    return Rows(np.hstack(blocks), origin, np.array(number), np.array(mark), levels)


def _cells(values: Any) -> list[Any]:
    cells = values.tolist()
    return [None if isinstance(cell, float) and np.isnan(cell) else cell for cell in cells]


def encoding(part: Columns, y: Any, categorical: list[str]) -> TableModel:
    """A `TableModel` for its columns alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        model = TableModel(LeastSquaresSVR("linear", C=1.0), categorical=categorical)
        return model.fit(part.values, np.asarray(y, dtype=float))


def fit_parts(parts: Parts, rows: Rows, y: Any, new: Rows, classes: int) -> Outputs | None:
    """Fit parts with all rows and without each fold; None if they have no features."""
    start = process_time()
    features = FEATURES[parts.features](rows, y, classes)
    if features is None:
        return None
    kind = StackedKernelClassifier if classes else StackedKernelRegressor
    spec = stack_spec(kind(parts.kernels, degree=parts.degree, random_state=SEED))
    searches: dict[Any, list[DenseSpec]] = {}  # by what parts share that differ by a metric alone
    for part in spec.parts:
        searches.setdefault(_key(part), []).append(part)
    held = kind(("linear",), gamma=1.0, C=1.0, weights=1.0).fit(rows.X, y)._now.holdings
    whole = _on(held, features(rows))
    tuned = [_tuned(some, whole, None) for some in searches.values()]
    engines = [engine for _, pairs in tuned for _, engine in pairs]
    outputs = outputs_of(engines, whole, features(new))
    left_out = np.empty((len(outputs), len(y), outputs.shape[2]))
    fold = held_folds(held, FOLDS, SEED)
    for k in np.unique(fold):
        left, stay = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        known = features
        if parts.features in OF_TARGETS:
            known = FEATURES[parts.features](rows.take(stay), y[stay], classes)
        rest = _on(held, known(rows)).without(left)
        few = some_of(rest, TUNED_ON)
        found = [
            pair
            for some, (plain, _) in zip(searches.values(), tuned, strict=True)
            for pair in _tuned(some, few, fold_start(plain))[1]
        ]
        engines = [engine if few is rest else readable(part, rest) for part, engine in found]
        left_out[:, left] = outputs_of(engines, rest, known(rows.take(left)))
    return Outputs(left_out, outputs, process_time() - start)


def _on(holdings: Holdings, X: Any) -> Holdings:
    """The same holdings with these features."""
    return replace(holdings, rows=make_rows(X), version=object())


# -- features: each function sees rows and targets, and returns a map of rows --------------------


def _plain(rows: Rows, y: Any, classes: int) -> Any:
    return lambda new: new.X


def _ranks(rows: Rows, y: Any, classes: int) -> Any:
    """Numbers by their ranks, as quantiles of the normal distribution."""
    if not rows.is_number.any():
        return None
    count = min(QUANTILES, len(rows.X))
    ranks = QuantileTransformer(n_quantiles=count, output_distribution="normal", subsample=None)
    ranks.fit(rows.X[:, rows.is_number])

    def features(new: Rows) -> Any:
        X = new.X.copy()
        X[:, rows.is_number] = np.clip(ranks.transform(new.X[:, rows.is_number]), -3.0, 3.0)
        return X

    return features


def _thresholds(rows: Rows, y: Any, classes: int) -> Any:
    found = Thresholds.of(rows.X, THRESHOLDS)
    return lambda new: found(new.X)


def _marks(rows: Rows, y: Any, classes: int) -> Any:
    """Which cells are missing, and nothing else."""
    seen = rows.is_mark & (rows.X.std(axis=0) > 0)
    return (lambda new: new.X[:, seen]) if seen.any() else None


def _ordered(rows: Rows, y: Any, classes: int) -> Any:
    """Each text column as the mean target of its levels, drawn to the mean of all."""
    width = rows.levels.shape[1]
    if not width:
        return None
    targets = np.eye(classes)[y] if classes else np.asarray(y, dtype=float)[:, None]
    targets = targets[:, 1:] if classes == 2 else targets
    mean, numbers = targets.mean(axis=0), rows.is_number | rows.is_mark
    tables = []
    for j in range(width):
        codes = rows.levels[:, j]
        counts = np.bincount(codes)
        sums = np.stack([np.bincount(codes, column) for column in targets.T], axis=1)
        means = (sums + SMOOTHED * mean) / (counts + SMOOTHED)[:, None]
        spread = means[codes].std(axis=0)
        tables.append((means - mean) / np.where(spread > 0, spread, 1.0))

    def features(new: Rows) -> Any:
        found = [_looked_up(table, new.levels[:, j]) for j, table in enumerate(tables)]
        return np.hstack([new.X[:, numbers], *found])

    return features


def _ordered_ranks(rows: Rows, y: Any, classes: int) -> Any:
    """Levels by mean targets, numbers by ranks."""
    ordered, ranked = _ordered(rows, y, classes), _ranks(rows, y, classes)
    if ordered is None or ranked is None:
        return ordered
    return lambda new: ordered(new._replace(X=ranked(new)))


def _looked_up(table: Any, codes: Any) -> Any:
    """The line of each code; zeros, the mean, for codes that were not seen."""
    return np.where((codes < len(table))[:, None], table[np.minimum(codes, len(table) - 1)], 0.0)


def _slopes(rows: Rows, y: Any, classes: int) -> Any:
    """The mean outer product of gradients of a fit, normed to a mean of 1 on its diagonal."""
    kind = LeastSquaresSVC if classes else LeastSquaresSVR
    M = _outer(kind("exponential", random_state=SEED).fit(rows.X, y), rows.X)
    return M / (np.trace(M) / len(M) or 1.0)


def _outer(model: Any, X: Any) -> Any:
    """Σ over samples and outputs of ∇f ∇fᵀ / gamma², for exp(−gamma ‖x − z‖)."""
    alpha = np.asarray(model.dual_coef_, dtype=float)
    alpha = alpha.reshape(len(X), -1) if len(alpha) == len(X) else alpha.reshape(-1, len(X)).T
    D = cdist(X, X)
    pull = np.exp(-model.gamma_ * D) / np.where(D > 0, D, np.inf)
    found = np.zeros((X.shape[1], X.shape[1]))
    for a in alpha.T:
        W = pull * a
        G = X * W.sum(axis=1)[:, None] - W @ X
        found += G.T @ G
    return found


def _root(M: Any) -> Any:
    values, vectors = np.linalg.eigh(M)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def _full(rows: Rows, y: Any, classes: int) -> Any:
    root = _root(_slopes(rows, y, classes))
    return lambda new: new.X @ root


def _blocks(rows: Rows, y: Any, classes: int) -> Any:
    """One factor for each column of the table, from the slopes of its features."""
    slopes = np.diag(_slopes(rows, y, classes))
    counts = np.bincount(rows.column)
    factors = np.sqrt(np.bincount(rows.column, slopes) / counts)[rows.column]
    return lambda new: new.X * factors


FEATURES = {
    "plain": _plain,
    "ranks": _ranks,
    "thresholds": _thresholds,
    "marks": _marks,
    "ordered": _ordered,
    "ordered ranks": _ordered_ranks,
    "slopes": _full,
    "blocks": _blocks,
}
OF_TARGETS = ("ordered", "ordered ranks", "slopes", "blocks")
"""Features that are chosen by targets, and so again without each fold."""
