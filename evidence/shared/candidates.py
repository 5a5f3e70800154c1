"""Parts that a stack might have: features of a table, and a least squares SVM on them.

A part is fitted to rows and targets, and gives outputs at other rows. What a part learns besides
its estimator (ranks, slopes, means of levels) it learns from the rows it is fitted to.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
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
from gramian.core.kernels._thresholds import Thresholds
from gramian.tables import CategoryColumn, TableWarning

THRESHOLDS, QUANTILES, SMOOTHED = 16, 100, 5.0
WIDTHS = np.geomspace(0.05, 5.0, 5)
"""Of kernels with an exponent, in units of the median distance."""


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


class Part(NamedTuple):
    """One part: features, kernel and metric; ``exponent`` is that of |x − y|, of another kernel."""

    kernel: str
    metric: str | None = None
    features: str = "plain"
    exponent: float | None = None


Outputs = Callable[[Rows], Any]


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


def fit_part(part: Part, rows: Rows, y: Any, classes: int) -> Outputs | None:
    """The outputs (n, t) of a part that is fitted to these rows; None if it has no features."""
    features = FEATURES[part.features](rows, y, classes)
    if features is None:
        return None
    X = features(rows)
    if part.exponent is not None:
        model, widths = _with_exponent(part.exponent, X, y, classes)
        return lambda new: _outputs(model, widths(features(new)), classes)
    # A stack of one part: its metric is taken as it is found, since the weights judge it.
    kind = StackedKernelClassifier if classes else StackedKernelRegressor
    name = part.kernel if part.metric is None else f"{part.kernel}+{part.metric}"
    tuned = kind((name,), weights=1.0, random_state=SEED).fit(X, y)
    return lambda new: _outputs(tuned, features(new), classes)


def _outputs(model: Any, X: Any, classes: int) -> Any:
    """Decision values with a column for each class, or one for two; predictions of numbers."""
    if not classes:
        return np.asarray(model.predict(X))[:, None]
    found = np.asarray(model.decision_function(X))
    if classes == 2:
        return found.reshape(-1, 1)
    known = model.classes_.astype(int)
    if len(known) == 2:
        found = np.column_stack([-found, found])
    out = np.full((len(found), classes), -1.0)  # a class that the rows lack
    out[:, known] = found
    return out


def _with_exponent(exponent: float, X: Any, y: Any, classes: int) -> tuple[Any, Any]:
    """exp(−gamma Σ_f abs(x_f − z_f)^exponent): width and C by leave-one-out."""
    D = _powers(X, X, exponent)
    unit = np.median(D[np.triu_indices(len(D), 1)]) or 1.0
    best: tuple[float, Any, float] | None = None
    for width in WIDTHS / unit:
        kind = LeastSquaresSVC if classes else LeastSquaresSVR
        model = kind("precomputed", random_state=SEED).fit(np.exp(-width * D), y)
        if classes:
            loss = -np.mean(np.log(model.loo_predict_proba()[np.arange(len(y)), _codes(model, y)]))
        else:
            loss = float(np.mean((model.loo_predict() - y) ** 2))
        if best is None or loss < best[0]:
            best = loss, model, width
    assert best is not None
    return best[1], lambda new: np.exp(-best[2] * _powers(new, X, exponent))


def _codes(model: Any, y: Any) -> Any:
    return np.searchsorted(model.classes_, y)


def _powers(X: Any, Z: Any, exponent: float) -> Any:
    """Σ_f abs(x_f − z_f)^exponent for all pairs."""
    return cdist(X, Z, "minkowski", p=exponent) ** exponent


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
    "slopes": _full,
    "blocks": _blocks,
}
