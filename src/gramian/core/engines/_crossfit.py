"""Outputs at samples that a choice has not seen: tuned without a fold, read on the fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines._holdings import Holdings
from gramian.core.engines._removed import held_queries
from gramian.core.engines._side_by_side import map_side_by_side
from gramian.core.search import Problem
from gramian.core.search._folds import fold_numbers

FOLDS = 5


class ChoiceWarning(UserWarning):
    """The error that a model reports, or a choice that it made, may not hold for new samples."""


def warn_of_width(what: str, holdings: Holdings) -> None:
    """Say that there are more numbers to fit than samples to fit them to."""
    warnings.warn(
        f"{what} fits {holdings.rows.width} numbers, one for each feature, to {len(holdings)} "
        f"samples. The leave-one-out error of what is chosen in this way says little of new "
        f"samples; set some aside, with tuning_fraction=0.3, or leave {what} at its default.",
        ChoiceWarning,
        stacklevel=6,
    )


@dataclass(frozen=True, eq=False)
class FoldChoices:
    """What is chosen without each fold of the samples.

    Parameters
    ----------
    specs : tuple of Spec
        Resolved without each fold.
    fold : ndarray of shape (n,)
        Number of each sample's fold, for the samples of the choice.
    outputs : ndarray of shape (n, t), optional
        Those of each sample without its fold, where all samples took part in the choice.
    """

    specs: tuple[Any, ...]
    fold: Array
    outputs: Array | None = None


@runtime_checkable
class Calibrated(Protocol):
    """A spec that may know the scale of its probabilities."""

    scale: float | None


@runtime_checkable
class CrossFitted(Protocol):
    """A spec that knows what is chosen without each fold."""

    folds: FoldChoices | None


def held_folds(holdings: Holdings, folds: int, random_state: Any = None) -> Array:
    """The fold of each held sample; see `gramian.core.search.fold_numbers`."""
    holdings.require_groups()
    labels = None if holdings.classes is None else holdings.labels
    codes = holdings.codes
    number = len(holdings) if codes is None else int(codes.max()) + 1
    samples = holdings.rows.samples()
    return fold_numbers(samples, labels, min(folds, number), random_state, codes)


def spread_folds(fold: Array, some: Holdings, holdings: Holdings) -> Array:
    """The fold of each of the holdings, given that of `some_of` them; the others are dealt out."""
    out = np.arange(len(holdings)) % (int(fold.max()) + 1)
    out[np.isin(holdings.ids, some.ids)] = fold
    return out


def some_of(holdings: Holdings, most: int | None = None) -> Holdings:
    """The holdings, or ``most`` of them at even distances; as many as a search has by default."""
    most = Problem.largest if most is None else most
    if len(holdings) <= most:
        return holdings
    return holdings.take(np.linspace(0, len(holdings) - 1, most).astype(int))


def out_of_fold(
    choose: Callable[[Holdings], tuple[Any, ...]], holdings: Holdings, fold: Array
) -> Array:
    """Outputs (S, n, t) of S specs at each sample, all chosen and trained without its fold.

    Parameters
    ----------
    choose : callable
        Returns the S resolved specs for given holdings.
    holdings : Holdings
    fold : ndarray of shape (n,)
        Number of each sample's fold.
    """

    def outputs(k: int) -> Array:
        left = np.flatnonzero(fold == k)
        rest, queries = holdings.without(left), held_queries(holdings, left)
        found = [spec.build(rest).predictor(rest).outputs(queries) for spec in choose(rest)]
        return np.stack([np.asarray(values) for values in found])

    folds = np.unique(fold).tolist()
    found = map_side_by_side(outputs, folds, holdings)
    out = np.empty((len(found[0]), len(holdings), found[0].shape[2]))
    for k, values in zip(folds, found, strict=True):
        out[:, fold == k] = values
    return out


def clearly_lower(losses: Array, than: Array, weight: Array) -> bool:
    """Whether mean losses are lower by more than two standard errors of their paired difference."""
    shares = weight / weight.sum()
    gain = than - losses
    mean = float(shares @ gain)
    error = float(np.sqrt(np.sum(shares**2 * (gain - mean) ** 2)))
    return mean > max(2.0 * error, 1e-9 * float(shares @ np.abs(than)))
