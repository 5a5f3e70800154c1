"""Hyper-parameters chosen on samples that the model then sets aside."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gramian.core.engines import Holdings, make_rows
from gramian.core.estimators._ids import check_ids
from gramian.core.estimators._parameters import is_number
from gramian.core.estimators._progress import SearchProgress
from gramian.core.estimators._samples import is_chunked, with_weight
from gramian.core.search import repeatable


def tuned_apart(model: Any, X: Any, y: Any, sample_weight: Any, ids: Any, tune_on: Any) -> tuple:
    """Return the parts of a model of some samples, with what was chosen on the others.

    They are its settings, choice, holdings, engine and names of features.
    """
    if is_chunked(X):
        raise ValueError(
            "tune_on needs samples that the model holds, and those of Dask arrays are not held. "
            "Fit on one Dask array and give other samples to partial_fit."
        )
    spec = model._spec()
    kind = spec.samples
    X, y, names = kind.first(model, X, y)
    y, n = model._check_targets(y, None), X.shape[0]
    own = np.arange(n) if ids is None else check_ids(ids, n)
    aside = tuning_mask(tune_on, n, getattr(model, "random_state", None))
    weight = np.ones(n) if sample_weight is None else sample_weight
    X, y, weight, kept = with_weight(kind, X, y, weight, np.arange(n))

    def hold(some: Any) -> Holdings:
        rows = make_rows(kind.keep(X, some), precomputed=kind.precomputed)
        ours = np.array(own[kept][some])
        holdings = Holdings(rows, y[some], weight[some], ours, n if ids is None else 0)
        return model._joined(None, holdings, ())

    tuning, holdings = hold(aside[kept]), hold(~aside[kept])
    choice = (SearchProgress(model, spec) if model.verbose else spec).choose(tuning, None)
    engine = choice.engine_apart(tuning, holdings)
    return spec, replace(choice, chosen_on_data=()), holdings, engine, names


def tuning_mask(tune_on: Any, n: int, random_state: Any) -> Any:
    """Which of n samples to tune on: a mask as given, or a fraction drawn at random."""
    if is_number(tune_on):
        k = round(float(tune_on) * n) if 0.0 < tune_on < 1.0 else 0
        # Not by a permutation: samples may have been shuffled with that of the same seed.
        mask = np.argsort(np.argsort(repeatable(random_state).uniform(size=n))) < k
    else:
        mask = np.asarray(tune_on)
    if mask.shape != (n,) or mask.dtype != bool or mask.all() or not mask.any():
        raise ValueError(
            f"tune_on must be a fraction between 0 and 1, or a mask of the {n} samples, that "
            f"leaves some samples on both sides; got {tune_on!r}."
        )
    return mask
