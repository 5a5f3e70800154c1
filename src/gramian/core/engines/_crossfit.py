"""Outputs at samples that a choice has not seen: tuned without a fold, read on the fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines._holdings import Holdings
from gramian.core.kernels import GramSamples
from gramian.core.search import Problem, fold_numbers

FOLDS = 5


class ChoiceWarning(UserWarning):
    """Something that was chosen on samples may not hold for others."""


def warn_of_width(what: str, holdings: Holdings) -> None:
    """Say that there are more numbers to fit than samples to fit them to."""
    warnings.warn(
        f"{what} fits {holdings.rows.width} numbers, one for each feature, to {len(holdings)} "
        f"samples. "
        f"The leave-one-out error of what is chosen in this way says little of new samples; set "
        f"some aside, with tuning_fraction=0.3, or leave {what} at its default.",
        ChoiceWarning,
        stacklevel=6,
    )


def held_folds(holdings: Holdings, folds: int, random_state: Any = None) -> Array:
    """The fold of each held sample; see `gramian.core.search.fold_numbers`."""
    labels = None if holdings.classes is None else holdings.labels
    return fold_numbers(holdings.rows.samples(), labels, min(folds, len(holdings)), random_state)


def some_of(holdings: Holdings) -> Holdings:
    """The holdings, or as many of them as a search has at most, at even distances."""
    most = Problem.largest
    if len(holdings) <= most:
        return holdings
    stay = np.linspace(0, len(holdings) - 1, most).astype(int)
    return holdings.without(np.delete(np.arange(len(holdings)), stay))


def out_of_fold(
    choose: Callable[[Holdings], tuple[Any, ...]], holdings: Holdings, fold: Array
) -> Array:
    """Outputs (S, n, t) of S specs at each sample, all chosen and trained without its fold.

    Parameters
    ----------
    choose : callable
        Returns the S resolved specs for given holdings.
    held : Holdings
    fold : ndarray of shape (n,)
        Number of each sample's fold.
    """
    out: Array | None = None
    for k in np.unique(fold):
        left = np.flatnonzero(fold == k)
        rest, queries = holdings.without(left), left_queries(holdings, left)
        found = [spec.build(rest).predictor(rest).outputs(queries) for spec in choose(rest)]
        outputs = np.stack([np.asarray(values) for values in found])
        if out is None:
            out = np.empty((len(outputs), len(holdings), outputs.shape[2]))
        out[:, left] = outputs
    assert out is not None
    return out


def left_queries(holdings: Holdings, positions: Array) -> Any:
    """Held samples as queries to a model of all the others."""
    samples = holdings.rows.samples()
    if isinstance(samples, GramSamples):
        return np.delete(samples.K[samples.index[positions]], positions, axis=1)
    return holdings.rows.take(positions)


def clearly_lower(losses: Array, than: Array, weight: Array) -> bool:
    """Whether mean losses are lower by more than two standard errors of their paired difference."""
    shares = weight / weight.sum()
    gain = than - losses
    mean = float(shares @ gain)
    error = float(np.sqrt(np.sum(shares**2 * (gain - mean) ** 2)))
    return mean > max(2.0 * error, 1e-9 * float(shares @ np.abs(than)))
