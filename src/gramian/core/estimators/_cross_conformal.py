"""Sets and intervals of models that were tuned on the samples they hold: cross-conformal, CV+.

Full conformal prediction keeps its promise if nothing was chosen on the samples held. Here each
sample is judged by the model that was tuned and trained without its fold, and so is the query by
each of these models (barber2021): with ``s_i`` the score of sample i in fold k, and ``s_k(x, y)``
that of the query with label y,

    p(y) = (1 + #{i: s_i ≥ s_k(i)(x, y)}) / (n + 1)

The true label is in the set {p > α} with probability ≥ 1 − 2α, up to a term of √(2/n), and mostly
about 1 − α. Intervals are those of jackknife+ with folds in place of single samples. Samples of a
group count together as one: queries are then taken for samples of new groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.core.arrays import Array, row_blocks
from gramian.core.equations import (
    adaptive_scores,
    finite_outputs,
    jackknife_plus,
    margin_slope,
    nonconformity,
    p_values,
)
from gramian.core.estimators._doubts import LEAST
from gramian.core.estimators._fitted import Fitted
from gramian.core.estimators._local_widths import fold_scales, scales_out_of_fold
from gramian.core.estimators._nested import (
    MOST,
    choices_flatter,
    fold_predictors,
    out_of_fold_outputs,
)


def judged_by_folds(now: Any) -> bool:
    """Whether sets and intervals need folds: choices flatter, or samples have groups."""
    grouped = now.holdings.groups is not None and LEAST <= len(now.holdings) <= MOST
    return grouped or choices_flatter(now)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Uniform random numbers: those that break ties, and those of adaptive scores, if asked for.

    Parameters
    ----------
    ties, own : ndarray of shape (m,), optional
        Of the queries.
    held : ndarray of shape (n,), optional
        Of the held samples.
    """

    ties: Array | None
    held: Array | None
    own: Array | None

    @classmethod
    def of(cls, random: Any, n: int, m: int, smoothed: bool, adaptive: bool) -> Drawn:
        """Draw what is asked for; as many numbers for the ties as ever."""
        ties = random.uniform(size=m) if smoothed else None
        if not adaptive:
            return cls(ties, None, None)
        return cls(ties, random.uniform(size=n), random.uniform(size=m))

    def ties_of(self, rows: slice) -> Array | None:
        """Those of some queries."""
        return None if self.ties is None else self.ties[rows]

    def shares(self, rows: slice) -> Array | None:
        """Those (m, n + 1) of the held samples and, last, of some queries."""
        if self.held is None or self.own is None:
            return None
        own = self.own[rows, None]
        return np.hstack([np.broadcast_to(self.held, (len(own), len(self.held))), own])


def cross_label_p_values(model: Any, X: Any, mondrian: bool, drawn: Drawn) -> Array:
    """p-value of each class for each query, of shape (m, n_classes)."""
    now, _, queries = _read(model, X)
    holdings, F = now.holdings, out_of_fold_outputs(now)
    scores, slopes = nonconformity(F, holdings.labels), None
    if drawn.held is not None:
        slopes = now.derived("fold slopes", _fold_slopes)
        own = slopes[holdings.folds]
        scores = adaptive_scores(finite_outputs(F), holdings.labels, own, drawn.held)

    def reached(k: int, labels: Array) -> Array:
        """Scores (m,) of the queries with these labels by the model of fold k."""
        if slopes is None or drawn.own is None:
            return nonconformity(queries[k], labels)
        return adaptive_scores(finite_outputs(queries[k]), labels, slopes[k], drawn.own)

    m, c, weight = len(queries[0]), len(holdings.classes), group_weight(holdings)
    out = np.empty((m, c))
    for label in range(c):
        counts = weight * (holdings.labels == label) if mondrian else weight
        labels = np.full(m, label)
        at = np.stack([reached(k, labels) for k in range(len(queries))], axis=1)
        for rows in row_blocks(m, len(scores)):
            gaps = scores - at[rows][:, holdings.folds]
            both = np.pad(gaps, ((0, 0), (0, 1)))
            out[rows, label] = p_values(both, counts, drawn.ties_of(rows))
    return out


def _fold_slopes(now: Fitted) -> Array:
    """The slopes (K,) of the models of the folds, each from its own leave-one-out values."""
    found = []
    for spec, _, rest in now.without_folds():
        F = finite_outputs(np.asarray(spec.build(rest).loo(rest)))
        found.append(margin_slope(F, rest.labels))
    return np.array(found)


def cross_intervals(model: Any, X: Any, confidence_level: float, local: bool = False) -> Array:
    """Low and high ends for each query and target, of shape (m, t, 2).

    With a local scale ``s_k`` of each fold, scores are divided by it and ends multiplied.
    """
    scores, values, scales = cross_fold_scores(model, X, local)
    holdings = model._serving().holdings
    weight = group_weight(holdings)
    out = np.empty((len(values), scores.shape[1], 2))
    for rows in row_blocks(len(values), len(scores)):
        for j, left_out in enumerate(scores.T):
            each = values[rows][:, holdings.folds, j]
            sizes = scales[rows][:, holdings.folds, j] * left_out
            ends = jackknife_plus(each, sizes, weight, confidence_level)
            out[rows, j] = np.stack(ends, axis=1)
    return out


def cross_fold_scores(model: Any, X: Any, local: bool = False) -> tuple[Array, Array, Array]:
    """Scores (n, t) out of fold, and values and scales (m, K, t) of queries by each fold's model.

    Scores are the residuals over the scales of the fold's model; all scales are 1 unless local.
    """
    now, some, queries = _read(model, X)
    F = out_of_fold_outputs(now)
    residuals, values = np.abs(now.holdings.y.reshape(F.shape) - F), np.stack(queries, axis=1)
    if not local:
        return residuals, values, np.ones_like(values)
    parts = zip(now.derived("fold scales", fold_scales), some, strict=True)
    scales = np.stack([scale.at(part) for scale, part in parts], axis=1)
    return residuals / now.derived("scales out of fold", scales_out_of_fold), values, scales


def group_weight(holdings: Any) -> Array:
    """Counts of the samples; those of a group add up to one."""
    weight: Array = holdings.weight
    if holdings.codes is not None:
        weight = weight / np.bincount(holdings.codes, weight)[holdings.codes]
    return weight


def _read(model: Any, X: Any) -> tuple[Any, list[Any], list[Array]]:
    """One version of a model, the queries to each fold's model, and their outputs (m, t) there."""
    now, predictors = fold_predictors(model)
    holdings = now.holdings
    if now.spec.precomputed:
        X = now.samples.adding(model, holdings, X)[:, :-1]
        some = [np.delete(X, left, axis=1) for left, _ in predictors]
    else:
        X = now.samples.queries(model, holdings, X)
        some = [X] * len(predictors)
    pairs = zip(predictors, some, strict=True)
    return now, some, [np.asarray(predictor.outputs(part)) for (_, predictor), part in pairs]
