"""What to label next: the samples of a pool that would help most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import entr
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from gramian.core.arrays import Array
from gramian.core.estimators import (
    added_queries,
    free_copy,
    output_loss,
    output_variances,
    outputs,
)
from gramian.data._models import classifier_of
from gramian.tables import estimator_of
from gramian.tables._model_rows import model_rows

STRATEGIES = ("uncertainty", "variance", "expected-error")
"""The default for classes, the default for numbers, and what is asked for by name."""


@dataclass(frozen=True, eq=False)
class Suggestions:
    """Samples of a pool to label, the first one first.

    Attributes
    ----------
    positions : ndarray of shape (k,)
        Rows of the pool.
    scores : ndarray of shape (k,)
        What each was chosen for, when it was chosen: the expected leave-one-out loss, of which less
        is better; the entropy of the class probabilities, or the variance.
    strategy : str
    """

    positions: Array
    scores: Array
    strategy: str

    def __len__(self) -> int:
        return len(self.positions)


def suggest(
    model: Any, pool: Any, k: int = 1, *, strategy: str | None = None, loss: str | None = None
) -> Suggestions:
    """Choose the samples of a pool to label next.

    ============== =================================================================================
    strategy       takes the sample
    ============== =================================================================================
    uncertainty    with the largest entropy of the class probabilities
    variance       whose output has the largest variance; its target does not matter
    expected-error after which the leave-one-out loss of the held samples is expected to be least:
                   the mean over its classes, weighted by ``predict_proba``, of the exact loss if
                   it had that class. For numbers, over a target with the predicted mean and the
                   variance of the leave-one-out residuals
    ============== =================================================================================

    "expected-error" judges by the held samples, so it serves a model that holds samples from all
    over the pool; with few samples it looks only where they are.

    Its leave-one-out losses come in closed form: m candidates with c classes cost O(m n²) for one
    product and O(m n c²), in place of m c refits. A Lagrangian or fuzzy estimator, balanced class
    weights and ridge 0 need an edit for each candidate and class instead.

    A batch is chosen one by one: a copy of the model learns the chosen sample with the target that
    it predicts, and the rest of the pool is ranked again. The batch thus does not gather in one
    place.

    Parameters
    ----------
    model : estimator or TableModel
    pool : array-like of shape (m, n_features), or a table
        Samples without targets. With a precomputed kernel, kernel values to the held samples and
        k(x, x) in a last column, and k=1.
    k : int
        Size of the batch.
    strategy : {"uncertainty", "variance", "expected-error"}, optional
        "uncertainty" for classes and "variance" for numbers by default.
    loss : {"log", "error"} or {"squared"}, optional
        Of "expected-error"; the first of its kind by default.

    Returns
    -------
    Suggestions

    Examples
    --------
    >>> from gramian import LeastSquaresSVC
    >>> from gramian.data import suggest
    >>> from gramian.datasets import make_banana
    >>> X, y = make_banana(200, random_state=0)
    >>> model = LeastSquaresSVC(gamma=1.0, C=1.0).fit(X[:20], y[:20])
    >>> chosen = suggest(model, X[20:], k=5)
    >>> model = model.partial_fit(X[20:][chosen.positions], y[20:][chosen.positions])
    """
    if strategy is None:
        strategy = STRATEGIES[0] if is_classifier(model) else STRATEGIES[1]
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy must be one of {STRATEGIES}, got {strategy!r}.")
    if strategy == "uncertainty":
        classifier_of(model, 'strategy="uncertainty"', 'Take strategy="variance" instead.')
    estimator, X = estimator_of(model), model_rows(model).features(pool)
    m = _num_samples(X)
    if not 1 <= k <= m:
        raise ValueError(f"k must be between 1 and the {m} samples of the pool, got {k}.")
    if k > 1 and estimator.__sklearn_tags__().input_tags.pairwise:
        raise ValueError(
            "a batch learns samples of the pool, whose kernel values to each other are not known: "
            "take k=1, or pass the kernel as a function."
        )
    left, positions, scores = np.arange(m), [], []
    for step in range(k):
        found = _scores(estimator, _safe_indexing(X, left), strategy, loss)
        best = int(np.argmin(found) if strategy == "expected-error" else np.argmax(found))
        positions.append(int(left[best]))
        scores.append(float(found[best]))
        if step + 1 < k:
            chosen = _safe_indexing(X, left[[best]])
            estimator = free_copy(estimator) if step == 0 else estimator
            estimator.partial_fit(chosen, estimator.predict(chosen), ids=_new_id(estimator, step))
            left = np.delete(left, best)
    return Suggestions(np.array(positions), np.array(scores), strategy)


def _scores(estimator: Any, X: Any, strategy: str, loss: str | None) -> Array:
    """What each candidate is chosen for."""
    with estimator._lock:
        if strategy == "variance":
            return output_variances(estimator, X)
        pairwise = estimator.__sklearn_tags__().input_tags.pairwise
        queries = np.asarray(X)[:, :-1] if pairwise else X
        if strategy == "uncertainty":
            result: Array = entr(estimator.predict_proba(queries)).sum(axis=1)
            return result
        if is_classifier(estimator):
            return _expected_losses(estimator, X, estimator.predict_proba(queries), loss)
        if loss not in (None, "squared"):
            raise ValueError(f'the expected loss of numbers is "squared", got {loss!r}.')
        return _expected_squares(estimator, X, outputs(estimator, queries))


def _expected_losses(estimator: Any, X: Any, chances: Array, name: str | None) -> Array:
    """Mean leave-one-out loss of the held samples, over the classes of each candidate."""
    loss = output_loss(estimator, name)
    labels, weight = loss.targets(estimator.y_fit_), estimator.sample_weight_
    out = np.zeros(len(chances))
    for rows, block in added_queries(estimator, X):
        for label in range(len(loss.classes)):
            losses = loss(block.decisions(label)[:, :-1], labels)
            out[rows] += chances[rows, label] * (losses @ weight)
    result: Array = out / weight.sum()
    return result


def _expected_squares(estimator: Any, X: Any, predicted: Array) -> Array:
    """Mean squared leave-one-out residual, if the target is the prediction with its usual error.

    Left-out residuals are ``e − slope · y``: their expected square is that at the mean of y, and
    slope² times the variance of y.
    """
    weight = estimator.sample_weight_
    Y = estimator.y_fit_.reshape(len(weight), -1)
    noise = np.average((Y - estimator.loo_predict().reshape(Y.shape)) ** 2, axis=0, weights=weight)
    out = np.empty(len(predicted))
    for rows, block in added_queries(estimator, X):
        added = block.lines()
        values, slope = added.values[:, :-1], added.slope[:, :-1]
        residuals = Y - values - slope * predicted[rows, None, :]
        out[rows] = np.sum(residuals**2 + slope**2 * noise, axis=2) @ weight
    result: Array = out / weight.sum()
    return result


def _new_id(estimator: Any, step: int) -> list[Any] | None:
    """An id that the copy does not hold; None where it numbers samples itself."""
    ids = estimator.ids_
    return None if ids.dtype.kind != "U" else [f"{max(ids.tolist(), key=len)} {step}"]
