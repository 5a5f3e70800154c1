"""Prediction sets and intervals with a guarantee, from what a query would change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from gramian.core.arrays import Array, one_blas_thread, using_jobs
from gramian.core.engines import check_choice, is_number
from gramian.core.equations import conformal_regions, jackknife_plus, p_values
from gramian.core.estimators._cross_conformal import (
    Drawn,
    cross_intervals,
    cross_label_p_values,
    group_weight,
    judged_by_folds,
)
from gramian.core.estimators._local_widths import query_scales

WIDTHS = ("auto", "constant", "local", "density")
METHODS = ("auto", "full", "jackknife+", "cv+")
SET_METHODS = ("auto", "full", "cv+")
SCORES = ("margin", "adaptive")


def label_p_values(
    model: Any,
    X: Any,
    mondrian: bool,
    smoothed: bool,
    random_state: Any,
    method: str = "full",
    score: str = "margin",
) -> Array:
    """p-value of each class for each query, of shape (m, n_classes)."""
    check_choice("method", method, SET_METHODS)
    check_choice("score", score, SCORES)
    random = check_random_state(random_state)
    with model._lock, one_blas_thread(), using_jobs(model.n_jobs):
        now = model._serving()
        holdings = now.holdings
        if method == "cv+" or (method == "auto" and judged_by_folds(now)):
            drawn = Drawn.of(random, len(holdings), np.shape(X)[0], smoothed, score == "adaptive")
            return cross_label_p_values(model, X, mondrian, drawn)
        X = now.samples.adding(model, holdings, X)
        m, classes = X.shape[0], range(len(holdings.classes))
        drawn = Drawn.of(random, len(holdings), m, smoothed, score == "adaptive")
        out = np.empty((m, len(classes)))
        for rows, block in now.engine.added(holdings, X):
            shares, ties = drawn.shares(rows), drawn.ties_of(rows)
            for label in classes:
                counted = holdings.labels == label if mondrian else 1.0
                if shares is None:
                    scores = block.scores(label)
                else:
                    scores = block.adaptive_scores(label, shares)
                out[rows, label] = p_values(scores, holdings.weight * counted, ties)
        return out


def answer_p_values(
    model: Any,
    X: Any,
    y: Any,
    *,
    smoothed: bool = False,
    random_state: Any = None,
    width: str = "constant",
    score: str = "margin",
    mondrian: bool = False,
) -> Array:
    """p-value of the given label or target of each sample, of shape (m,) or (m, n_targets).

    For a classifier, the column of `p_values` for the label; a label that the model does not know
    fits less well than any sample held. For a regressor, the p-value that `predict_region`
    compares with 1 − confidence.

    Parameters
    ----------
    model : fitted estimator
    X : array-like or CSR matrix of shape (m, n_features)
    y : array-like of shape (m,) or (m, n_targets)
    smoothed : bool
        Break ties by random numbers, which makes the p-values uniform.
    random_state : int, RandomState or None
    width : {"constant", "density", "local"}
        For a regressor, how residuals are scaled. "local" counts the held samples whose scaled
        residuals are at least that of the query in the model without them, as jackknife+ does.
    score, mondrian
        For a classifier, see `p_values`.
    """
    check_choice("width", width, ("constant", "density", "local"))
    random = check_random_state(random_state)
    if is_classifier(model):
        with model._lock, one_blas_thread(), using_jobs(model.n_jobs):
            P = label_p_values(model, X, mondrian, smoothed, random, score=score)
            classes = model.classes_
            total = 1.0 if mondrian else 1.0 + model.sample_weight_.sum()
        y = np.asarray(y)
        known = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        least = (random.uniform(size=len(y)) if smoothed else 1.0) / total
        return np.where(classes[known] == y, P[np.arange(len(y)), known], least)
    with model._lock, one_blas_thread(), using_jobs(model.n_jobs):
        now = model._serving()
        holdings, local = now.holdings, width == "local"
        X = (now.samples.queries if local else now.samples.adding)(model, holdings, X)
        t = holdings.y.reshape(len(holdings), -1).shape[1]
        wanted = np.asarray(y, dtype=float).reshape(X.shape[0], t)
        out, weight = np.empty(wanted.shape), group_weight(holdings) if local else holdings.weight
        ties = random.uniform(size=len(out)) if smoothed else None
        blocks = _gaps(model, X, wanted) if local else _sizes(now, X, wanted, width == "density")
        for rows, scores in blocks:
            drawn = None if ties is None else ties[rows]
            for j in range(t):
                out[rows, j] = p_values(scores[..., j], weight, drawn)
    return out[:, 0] if holdings.y.ndim == 1 else out


def _gaps(model: Any, X: Any, wanted: Array) -> Iterator[tuple[slice, Array]]:
    """Yield queries with what the scores of the samples exceed theirs by, (m, n + 1, t), last 0."""
    for rows, values, scores, scales in _judged(model, X, local=True):
        gaps = scores - np.abs(wanted[rows, None] - values) / scales
        yield rows, np.pad(gaps, ((0, 0), (0, 1), (0, 0)))


def _sizes(now: Any, X: Any, wanted: Array, density: bool) -> Iterator[tuple[slice, Array]]:
    """Yield queries with the sizes (m, n + 1, t) of left-out residuals if they had these targets.

    The query's come last. With ``density``, they are divided by the deviations of the targets.
    """
    Y = now.holdings.y.reshape(len(now.holdings), -1)
    for rows, block in now.engine.added(now.holdings, X):
        values, slope, spread = block.lines()
        held = np.broadcast_to(Y, values[:, :-1].shape)
        goal = np.concatenate([held, wanted[rows, None]], axis=1)
        sizes = np.abs(goal - (values + slope * wanted[rows, None]))
        yield rows, sizes / spread[..., None] if density else sizes


def regions(model: Any, X: Any, confidence_level: Any, width: str = "auto") -> list[list[Any]]:
    """Intervals (r, 2) that make up the conformal region, for each query and target.

    With width "density", residuals are divided by the deviations of left-out targets.
    """
    confidence_level, width = check_confidence(confidence_level), width_for("full", width)
    with model._lock, one_blas_thread(), using_jobs(model.n_jobs):
        now = model._serving()
        holdings, out = now.holdings, []
        X = now.samples.adding(model, holdings, X)
        Y = holdings.y.reshape(len(holdings), -1)
        for _, block in now.engine.added(holdings, X):
            values, slope, spread = block.lines()
            slope = np.broadcast_to(slope, values.shape)
            ratio = np.ones(values.shape[:2]) if width == "constant" else spread[:, -1:] / spread
            ratio = ratio[:, :-1]
            each = [
                conformal_regions(
                    (Y[:, j] - values[:, :-1, j]) * ratio,
                    slope[:, :-1, j] * ratio,
                    values[:, -1, j],
                    holdings.weight,
                    confidence_level,
                )
                for j in range(Y.shape[1])
            ]
            out += [list(targets) for targets in zip(*each, strict=True)]
        return out


def intervals(model: Any, X: Any, confidence_level: Any, method: str, width: str) -> Array:
    """Low and high ends for each query and target, of shape (m, t, 2)."""
    check_choice("method", method, METHODS)
    check_choice("width", width, WIDTHS)
    if method == "auto":
        method = _method_for(model._serving(), width)
    width = width_for(method, width)
    if method == "cv+":
        with model._lock:
            confidence_level = check_confidence(confidence_level)
            return cross_intervals(model, X, confidence_level, width == "local")
    if method == "full":
        found = regions(model, X, confidence_level, width)
        return np.array([[(part[0, 0], part[-1, 1]) for part in parts] for parts in found])
    confidence_level = check_confidence(confidence_level)
    with model._lock, one_blas_thread(), using_jobs(model.n_jobs):
        return _jackknife_ends(model, X, confidence_level, width == "local")


def _jackknife_ends(model: Any, X: Any, confidence_level: float, local: bool) -> Array:
    """Ends (m, t, 2) of jackknife+ intervals."""
    now = model._serving()
    X = now.samples.queries(model, now.holdings, X)
    counts, t = group_weight(now.holdings), now.holdings.y.reshape(len(now.holdings), -1).shape[1]
    out = np.empty((X.shape[0], t, 2))
    for rows, values, scores, scales in _judged(model, X, local):
        reach = scores * scales
        for j in range(t):
            ends = jackknife_plus(values[..., j], reach[..., j], counts, confidence_level)
            out[rows, j] = np.stack(ends, axis=1)
    return out


def _judged(model: Any, X: Any, local: bool) -> Iterator[tuple[slice, Array, Array, Array]]:
    """Yield queries with their values (m, n, t) without each sample, scores (n, t) and scales.

    Scores are the left-out residuals of the samples over their scales ``s₋ᵢ(x_i)``; scales those
    of the queries, ``s₋ᵢ(x)`` (m, n, t). All scales are 1 unless they are local.
    """
    left_out, now = model._loo_outputs(), model._serving()
    holdings = now.holdings
    sizes = np.abs(holdings.y.reshape(left_out.shape) - left_out)
    everyone, alike = slice(0, X.shape[0]), np.broadcast_to(1.0, (X.shape[0], *sizes.shape))
    parts = query_scales(now, X) if local else iter([(everyone, alike, np.ones_like(sizes))])
    for block, scales, own in parts:
        for rows, values in now.engine.without_each(holdings, X[block]):
            some = slice(block.start + rows.start, block.start + rows.stop)
            yield some, values, sizes / own, scales[rows]


def _method_for(now: Any, width: str) -> str:
    """The method that "auto" stands for."""
    if width == "density":
        return "full"
    if judged_by_folds(now):
        return "cv+"
    return "jackknife+" if width == "local" else "full"


def width_for(method: str, width: str) -> str:
    """The width that is meant, "local" by default where the method has it.

    Raises
    ------
    ValueError
        If the method does not have this width.
    """
    known = ("constant", "density") if method == "full" else ("local", "constant")
    if width == "auto":
        return known[0]
    if width not in known:
        raise ValueError(
            f'width="{width}" is not for method="{method}", which has {known}. Take '
            f'method="{"jackknife+" if method == "full" else "full"}", or leave method at "auto".'
        )
    return width


def check_confidence(confidence_level: Any) -> float:
    """The confidence level, if it is a number between 0 and 1."""
    if not (is_number(confidence_level) and 0.0 < confidence_level < 1.0):
        raise ValueError(
            f"confidence_level must be a number between 0 and 1, got {confidence_level!r}."
        )
    return float(confidence_level)
