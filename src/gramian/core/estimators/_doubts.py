"""Warnings that the error which a model reports of itself may be too small.

`fit` looks at what costs next to nothing: samples that repeat others, a width for each feature of
few samples, and what a stack knows out of fold. What needs left-out values is said where these are
computed, by `nested_score`: reading them costs 1 to 85 % of a tuned fit of 1,000 samples, and more
of one with given hyper-parameters.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramian.core.arrays import Array
from gramian.core.engines import Holdings
from gramian.core.engines._crossfit import ChoiceWarning

LEAST = 20
"""Samples from which on a choice is judged by folds, and a doubt raised: of fewer, none can be set
aside."""

MANY_REPEATED, AGREEING = 0.1, 0.9
"""The share of samples that repeat another, and of those with the same target, from which on it is
said: copies with targets of their own do no harm."""

_CELL = 1e-3  # of a deviation: samples that differ by much less are near-duplicates
_DIRECTIONS = 3
_MIXED = np.array([1, 1_000_003, 998_244_353_000_009])  # a number for each cell of three
_SCALED_BY = 200  # samples that are enough for the deviations of features
_ROOM = 10  # so many possible samples for each held one, and none repeats another by chance
_FEW = 5  # samples of a class below which nobody expects to see it predicted


def repeated_samples(X: Any, targets: Array) -> tuple[int, int]:
    """How many samples repeat another one up to rounding, and how many with the same target.

    Samples are compared by three random projections in units of the features' deviations, so that
    one pass over X is enough.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((6, 4))
    >>> repeated_samples(np.vstack([X, X[:2] + 1e-9]), np.array([0, 1, 0, 1, 0, 1, 0, 0]))
    (4, 2)
    """
    few = X[:: max(1, X.shape[0] // _SCALED_BY)]
    with np.errstate(all="ignore"):  # numbers beyond all measure are not compared
        spread = np.sqrt(few.power(2).mean(axis=0)) if issparse(few) else few.std(axis=0)
        unit = np.asarray(spread).ravel()  # of a sparse matrix, it is a matrix
        unit = np.where(np.isfinite(unit) & (unit > 0), unit, 1.0).astype(float)
        drawn = np.random.default_rng(0).standard_normal((X.shape[1], _DIRECTIONS))
        near = np.asarray(X @ (drawn / unit[:, None]).astype(X.dtype), dtype=float)
        near = near / (_CELL * np.sqrt(X.shape[1])) + np.pi
        cells = np.floor(near).astype(np.int64) @ _MIXED
    repeated = _shared(cells) if np.isfinite(near).all() else 0
    if repeated == 0:
        return 0, 0
    cell = np.unique(cells, return_inverse=True)[1]
    return repeated, _shared(np.column_stack([cell, targets.reshape(len(cell), -1)]))


def _shared(rows: Array) -> int:
    """How many numbers, or rows of numbers, are there more than once."""
    counts = np.unique(rows, axis=0, return_counts=True)[1]
    return int(counts[counts > 1].sum())


def repeats_by_nature(X: Any) -> bool:
    """Whether the columns have so few values that samples must repeat one another."""
    possible, n = 1.0, X.shape[0]
    for j in range(X.shape[1]):
        column = X[:, [j]].toarray() if issparse(X) else X[:, j]
        possible *= len(np.unique(column))
        if possible >= _ROOM * n:
            return False
    return True


def doubt_of_copies(holdings: Holdings) -> str | None:
    """What to say of samples that repeat others and have no groups; None if nothing."""
    n = len(holdings)
    if holdings.groups is not None or n < LEAST:
        return None
    X = holdings.rows.samples()
    if not (isinstance(X, np.ndarray) or issparse(X)):
        return None  # a kernel matrix, or on a device
    targets = holdings.y if holdings.classes is None else holdings.labels
    repeated, agreeing = repeated_samples(X, targets)
    many = agreeing > MANY_REPEATED * n and agreeing >= AGREEING * repeated
    if not many or repeats_by_nature(X):
        return None
    return (
        f"{agreeing} of {n} samples repeat another one, target included. Left out alone, each is "
        f"answered by its copy, so that leave-one-out errors are too good. Pass `groups` to fit "
        f"(--subject COLUMN) if they belong to one person or thing, so that they are left out "
        f"together; else drop the copies."
    )


def doubt_of_widths(now: Any) -> str | None:
    """What to say of a width for each feature that was fitted to fewer samples; None if nothing."""
    d, n = now.holdings.rows.width, len(now.holdings)
    gamma: Any = getattr(now.spec, "gamma", None)
    if not (np.ndim(gamma) > 0 and "gamma" in now.spec.chosen_on_data and d > n):
        return None
    return (
        f'metric="ard" fitted {d} widths, one for each feature, to {n} samples. The '
        f"leave-one-out error with these choices says little of new samples: ask nested_score(), "
        f"set some samples aside with tuning_fraction=0.3, or leave metric at its default."
    )


def doubts_of_fit(now: Any) -> list[str | None]:
    """What a fit says of its samples and choices."""
    return [doubt_of_copies(now.holdings), doubt_of_widths(now)]


def doubt_of_classes(holdings: Holdings, predicted: Array, how: str) -> str | None:
    """What to say of classes that are never predicted; None if all are."""
    if len(holdings) < LEAST:
        return None
    counts = np.bincount(holdings.labels, minlength=len(holdings.classes))
    missing = np.flatnonzero((counts >= _FEW) & ~np.isin(np.arange(len(counts)), predicted))
    if not len(missing):
        return None
    k = missing[0]
    others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    return (
        f"the class {holdings.classes[k]!s}{others} is never predicted {how}, though "
        f"{counts[k]} of {len(holdings)} samples have it: the features tell little of it, or it is "
        f'rare; class_weight="balanced" counts all classes alike, where the estimator has it.'
    )


def doubt_of_choices(honest: float, margin: float, left_out: float) -> str | None:
    """What to say if a score out of fold contradicts that of leave-one-out; None if it does not."""
    if left_out - honest <= max(0.01, 2.0 * margin):
        return None
    return (
        f"the leave-one-out score with these choices, {left_out:.3f}, is contradicted by samples "
        f"that the choices have not seen: {honest:.3f} ± {margin:.3f}. Expect the latter of new "
        f"samples; nested_score() returns it."
    )


def warn(doubts: list[str | None], stacklevel: int) -> None:
    """Raise each doubt as a warning."""
    for doubt in doubts:
        if doubt is not None:
            warnings.warn(doubt, ChoiceWarning, stacklevel=stacklevel)
