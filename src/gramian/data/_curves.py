"""Test losses along an order of forgetting, or along a strategy of labelling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples

from gramian.core.arrays import Array
from gramian.core.estimators import LOSSES, free_copy, output_loss, outputs
from gramian.data._suggest import STRATEGIES, suggest
from gramian.tables._model_rows import model_rows


@dataclass(frozen=True, eq=False)
class Curve:
    """Mean test loss after some edits of a copy of a model.

    Attributes
    ----------
    counts : ndarray of shape (k,)
        Number of samples forgotten or labelled, from 0.
    losses : ndarray of shape (k,)
    edited : {"forgotten", "labelled"}
    loss : str
    """

    counts: Array
    losses: Array
    edited: str
    loss: str


def forgetting_curve(
    model: Any, ids: Any, X: Any, y: Any = None, *, steps: int = 20, loss: str | None = None
) -> Curve:
    """Test loss while a copy of the model forgets samples in a given order.

    Parameters
    ----------
    model : estimator or TableModel
        It stays as it is.
    ids : array-like
        Samples to forget, the first one first, such as ``values.ranked()[:50]``.
    X, y : test samples, or a table that has the targets
    steps : int
        Number of points after the first.
    loss : str, optional
        "error" for classes, "squared" for numbers by default; see `sample_values`.

    Returns
    -------
    Curve
    """
    twin, test_loss, name = _prepared(model, X, y, loss)
    ids = np.asarray(ids)
    counts = np.unique(np.linspace(0, len(ids), steps + 1).astype(int))
    losses = [test_loss()]
    for start, end in pairwise(counts):
        twin.forget(ids[start:end])
        losses.append(test_loss())
    return Curve(counts, np.array(losses), "forgotten", name)


def labelling_curve(
    model: Any,
    pool: Any,
    y_pool: Any,
    X: Any,
    y: Any = None,
    *,
    k: int,
    batch: int = 1,
    strategy: str | None = None,
    loss: str | None = None,
    random_state: Any = None,
) -> Curve:
    """Test loss while a copy of the model learns samples of a pool that a strategy asks for.

    Parameters
    ----------
    model : estimator
        It stays as it is.
    pool, y_pool : array-like of shape (m, n_features) and (m,)
        Samples that can be asked for, and their targets.
    X, y : test samples
    k : int
        Number of samples to learn.
    batch : int
        Number of samples to ask for at a time.
    strategy : {"uncertainty", "variance", "expected-error", "random"}, optional
        As in `suggest`, or at random.
    loss : str, optional
        "error" for classes, "squared" for numbers by default.
    random_state : int, RandomState or None
        Draws at "random".

    Returns
    -------
    Curve
    """
    if strategy not in (None, *STRATEGIES, "random"):
        raise ValueError(f"strategy must be one of {(*STRATEGIES, 'random')}, got {strategy!r}.")
    twin, test_loss, name = _prepared(model, X, y, loss)
    rng, left = check_random_state(random_state), np.arange(_num_samples(pool))
    counts, losses = [0], [test_loss()]
    while counts[-1] < min(k, _num_samples(pool)):
        some = min(batch, k - counts[-1], len(left))
        if strategy == "random":
            chosen = rng.permutation(len(left))[:some]
        else:
            chosen = suggest(twin, _safe_indexing(pool, left), some, strategy=strategy).positions
        twin.partial_fit(
            _safe_indexing(pool, left[chosen]),
            _safe_indexing(y_pool, left[chosen]),
            ids=[f"pool {i}" for i in left[chosen]] if twin.ids_.dtype.kind == "U" else None,
        )
        left = np.delete(left, chosen)
        counts.append(counts[-1] + some)
        losses.append(test_loss())
    return Curve(np.array(counts), np.array(losses), "labelled", name)


def _prepared(model: Any, X: Any, y: Any, loss: str | None) -> tuple[Any, Callable[[], float], str]:
    """A copy to edit, its mean loss on the test samples as a function, and the name of the loss."""
    rows = model_rows(model)
    classifies = is_classifier(rows.estimator)
    measure = output_loss(rows.estimator, loss or LOSSES[classifies][classifies])
    twin, targets = free_copy(rows.estimator), measure.targets(rows.targets(X, y))
    queries = rows.features(X)

    def test_loss() -> float:
        return float(measure(outputs(twin, queries), targets).mean())

    return twin, test_loss, measure.name
