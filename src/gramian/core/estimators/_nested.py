"""Scores on samples that were not there when a model was tuned: one honest number.

A leave-one-out error is exact for given hyper-parameters. If they were chosen on the same samples,
it is too small: hardly for two numbers chosen on a thousand samples, very much for one number for
each of a thousand features. Here everything is chosen again without each fold, and the fold is
predicted by what was chosen and trained without it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import is_classifier

from gramian.core.arrays import Array, one_blas_thread
from gramian.core.engines import Holdings, Predictor, is_number
from gramian.core.engines._crossfit import ChoiceWarning, held_folds
from gramian.core.engines._removed import held_queries
from gramian.core.equations import class_of
from gramian.core.estimators._doubts import LEAST, doubt_of_choices, doubt_of_classes, warn
from gramian.core.estimators._fitted import Fitted
from gramian.core.progress import counted

FOLDS_AFRESH = 10
FEWEST = 5
"""Folds from which on models without a fold are as good as those with all samples, nearly."""

MOST, ENOUGH = 2048, 10
"""Samples up to which a choice is judged by folds; beyond that, how many there must be for each
number that was chosen."""


def choices_flatter(now: Any) -> bool:
    """Whether something was chosen on the samples, and they are too few to make up for it.

    A few numbers that are chosen on more samples than a search uses change nothing that one could
    measure; a number for each feature may. With fewer than 20 samples nothing can be set aside.
    """
    chosen, n = now.spec.chosen_on_data or now.engine.chosen_on_data, len(now.holdings)
    enough = ENOUGH * now.spec.fitted_numbers(now.holdings.rows.width)
    return bool(chosen) and LEAST <= n <= max(MOST, enough)


@dataclass(frozen=True)
class NestedScore:
    """A score out of fold, tuning included.

    Attributes
    ----------
    score : float
        Accuracy, or R² averaged over the targets.
    standard_error : float
        Of the score; samples of a group count together.
    folds : int
        0 where leave-one-out values serve; see ``nested_score(folds="auto")``.
    values : ndarray
        Decision values, or predictions, of each held sample by the model that was tuned and
        trained without its fold, in the order of `ids_`.
    fold : ndarray
        Number of each held sample's fold.
    classifies : bool
        Whether the score is an accuracy.
    """

    score: float
    standard_error: float
    folds: int
    values: Array = field(repr=False, compare=False)
    fold: Array = field(repr=False, compare=False)
    classifies: bool = True

    def __str__(self) -> str:
        name = "error" if self.classifies else "R²"
        name += " on new rows, tuning included" if self.folds else " on new rows"
        how = f"{self.folds} folds" if self.folds else "leave-one-out"
        if self.classifies:
            error, margin = 100.0 * (1.0 - self.score), 100.0 * self.standard_error
            return f"{name}: {error:.1f} % ± {margin:.1f} ({how})"
        return f"{name}: {self.score:.3f} ± {self.standard_error:.3f} ({how})"


def nested_score(model: Any, folds: Any, n_jobs: Any) -> NestedScore:
    """The score of a fitted estimator; see ``LiveEstimator.nested_score``."""
    now: Any = model._serving()
    if isinstance(folds, str) and folds == "auto":
        folds = None
        if now.fold_specs is None and not choices_flatter(now):
            F = model._loo_outputs()
            warn([_doubt_of_classes(now, F, "by leave-one-out")], stacklevel=4)
            return _scored(model, now, F, np.arange(len(now.holdings)), 0)
    known = now.fold_specs
    with model._lock:
        now = _chosen_without_folds(model, folds, n_jobs)
        F = out_of_fold_outputs(now)
    if now.fold_specs is not known:
        warn(_doubts(model, now, F, model._loo_outputs()), stacklevel=4)
    return _scored(model, now, F, now.holdings.folds, len(now.fold_specs))


def known_doubts(model: Any, now: Any) -> list[str | None]:
    """What speaks against a fit that knows its outputs out of fold; nothing if it does not."""
    if "out of fold" not in now.cache:
        return []
    return _doubts(model, now, now.cache["out of fold"], now.loo())


def _doubts(model: Any, now: Any, F: Array, left_out: Array) -> list[str | None]:
    """A class that is never predicted out of fold; leave-one-out values that are contradicted."""
    honest, flattered = (_scored(model, now, some, now.holdings.folds, 1) for some in (F, left_out))
    contradicted = doubt_of_choices(honest.score, honest.standard_error, flattered.score)
    # with few folds, the others are too few samples to learn from, not to tune on
    few = len(now.holdings) < LEAST or len(now.fold_specs) < FEWEST
    return [_doubt_of_classes(now, F, "out of fold"), None if few else contradicted]


def _doubt_of_classes(now: Any, F: Array, how: str) -> str | None:
    return (
        None if now.holdings.classes is None else doubt_of_classes(now.holdings, class_of(F), how)
    )


def _scored(model: Any, now: Any, F: Array, fold: Array, folds: int) -> NestedScore:
    """The score of outputs (n, t) of the held samples."""
    holdings = now.holdings
    if is_classifier(model):
        scores = class_of(F) == holdings.labels
        score, error = _averaged(scores[:, None].astype(float), holdings)
        values = F[:, 0] if F.shape[1] == 1 else F
    else:
        Y, shares = holdings.y.reshape(F.shape), holdings.weight / holdings.weight.sum()
        spread = shares @ (Y - shares @ Y) ** 2
        score, error = _averaged(1.0 - (Y - F) ** 2 / np.where(spread > 0, spread, 1.0), holdings)
        values = F.reshape(holdings.y.shape)
    return NestedScore(score, error, folds, values.copy(), fold.copy(), is_classifier(model))


def known_score(model: Any) -> NestedScore | None:
    """The score out of fold if the present version of a fitted model has it already."""
    now = getattr(model, "_now", None)
    if now is None or now.fold_specs is None or "out of fold" not in now.cache:
        return None
    return _scored(model, now, now.cache["out of fold"], now.holdings.folds, len(now.fold_specs))


def out_of_fold_outputs(now: Fitted) -> Array:
    """Outputs (n, t) of each held sample by the model tuned and trained without its fold.

    ``now`` must know what is chosen without each fold.
    """
    return now.derived("out of fold", _read_out_of_fold)


def fold_predictors(model: Any) -> tuple[Fitted, list[tuple[Array, Predictor]]]:
    """One version of a model, and for each fold its positions and the predictor without it."""
    with model._lock:
        now = _chosen_without_folds(model, None, None)
        return now, now.derived("fold predictors", lambda now: list(_predictors(now)))


def _chosen_without_folds(model: Any, folds: Any, n_jobs: Any) -> Fitted:
    """The present version, with what is chosen without each fold; chosen now if it is not known."""
    now: Fitted = model._serving()
    if now.fold_specs is not None and folds in (None, len(now.fold_specs)):
        return now
    holdings = now.holdings
    folds = FOLDS_AFRESH if folds is None else folds
    number = len(holdings) if holdings.codes is None else int(holdings.codes.max()) + 1
    if not (is_number(folds) and folds == int(folds) and folds >= 2):
        raise ValueError(f"folds must be a whole number of at least 2, got {folds!r}.")
    if number < 2 or len(holdings) < 4:
        raise ValueError(
            f"nested_score needs samples to tune on and others to judge by: at least 4 that the "
            f"model holds, of at least 2 groups; got {len(holdings)}."
        )
    fold = held_folds(holdings, int(folds), model.random_state)
    leaving = [np.flatnonzero(fold == k) for k in range(int(fold.max()) + 1)]
    spec = model._spec()

    def chosen(left: Array) -> Any:
        return spec.resolve(holdings.without(left))

    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore", ChoiceWarning)  # a choice that is dropped, fold by fold
        choose = counted(chosen, len(leaving), "folds")
        specs = Parallel(n_jobs=n_jobs, prefer="threads")(map(delayed(choose), leaving))
    holdings = replace(holdings, folds=fold)
    now = model._now = replace(now, holdings=holdings, fold_specs=tuple(specs), cache={})
    return now


def fold_choices(now: Any) -> dict[str, Any]:
    """What was chosen without each fold, and each sample's fold, for model files."""
    chosen = [_without_paths(spec.choices()) for spec in now.fold_specs]
    return {"folds": now.holdings.folds, "chosen": chosen}


def _without_paths(values: dict[str, Any]) -> dict[str, Any]:
    """The choices without the settings that their search tried."""
    parts = {"parts": [_without_paths(p) for p in values["parts"]]} if "parts" in values else {}
    return {**values, **({"selection": None} if "selection" in values else {}), **parts}


def _predictors(now: Fitted) -> Iterator[tuple[Array, Predictor]]:
    for spec, left, rest in now.without_folds():
        yield left, spec.build(rest).predictor(rest)


def _read_out_of_fold(now: Fitted) -> Array:
    out: Array | None = None
    for left, predictor in now.cache.get("fold predictors") or _predictors(now):
        if len(left) == 0:
            continue
        outputs = np.asarray(predictor.outputs(held_queries(now.holdings, left)))
        if out is None:
            out = np.empty((len(now.holdings), outputs.shape[1]))
        out[left] = outputs
    assert out is not None
    return out


def _averaged(scores: Array, holdings: Holdings) -> tuple[float, float]:
    """Mean of scores (n, t) and its standard error, over groups where there are some."""
    shares = holdings.weight / holdings.weight.sum()
    each = scores.mean(axis=1)
    mean = float(shares @ each)
    parts = shares * (each - mean)
    if holdings.codes is not None:
        parts = np.bincount(holdings.codes, parts)
    m = len(parts)
    return mean, float(np.sqrt(m / max(m - 1, 1) * np.sum(parts**2)))
