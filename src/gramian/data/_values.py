"""What each held sample is worth: how it changes the loss on test samples."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from gramian.core.arrays import Array
from gramian.core.estimators import output_loss, outputs, outputs_without_each
from gramian.data._coalitions import Coalitions
from gramian.tables._model_rows import model_rows

METHODS = ("loo", "banzhaf", "shapley")
_AT_LEAST = 10  # draws before the standard errors are believed


@dataclass(frozen=True, eq=False)
class SampleValues:
    """What each held sample is worth, in units of the mean test loss; > 0 means it helps.

    Attributes
    ----------
    ids : ndarray of shape (n,)
        In the order of the model's ``ids_``.
    values : ndarray of shape (n,)
        By how much the sample lowers the mean loss of the test samples.
    standard_errors : ndarray of shape (n,)
        Of the Monte Carlo estimates; 0 for "loo", which is exact.
    base : float
        Mean test loss of the model with all samples.
    method, loss : str
    draws : int
        Number of draws, each of which visits every sample; 0 for "loo".
    converged : bool
        Whether the standard errors are as small as asked.
    """

    ids: Array
    values: Array
    standard_errors: Array
    base: float
    method: str
    loss: str
    draws: int = 0
    converged: bool = True

    def ranked(self) -> Array:
        """The ids, from the most harmful sample to the most useful."""
        return self.ids[np.argsort(self.values, kind="stable")]

    def to_dict(self) -> dict[str, list[Any]]:
        """A table: one list for each column."""
        return {
            "id": self.ids.tolist(),
            "value": self.values.tolist(),
            "standard_error": self.standard_errors.tolist(),
        }


def sample_values(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    method: str = "loo",
    loss: str | None = None,
    tol: float = 0.1,
    max_draws: int = 200,
    random_state: Any = None,
    callback: Callable[[SampleValues], None] | None = None,
) -> SampleValues:
    """How much each held sample lowers the mean loss of a model on test samples.

    ========= ======================================================================================
    method    value of sample i
    ========= ======================================================================================
    loo       loss without i minus loss with all: exact, in closed form for all samples at once
    banzhaf   the same difference, averaged over all coalitions of the other samples
    shapley   the same difference, averaged over all orders of arrival: over all sizes of a
              coalition, and over the coalitions of each size
    ========= ======================================================================================

    The averages are estimated from random coalitions, which a copy of the model visits by learning
    and forgetting. Each coalition gives the differences of all its members in closed form.

    Hyper-parameters, the scale of the probabilities and the classes stay as they are in the model;
    balanced class weights are those of the samples that are left. A coalition that has no model
    (fewer than two classes, or no sample) predicts 0, which for classes is a guess among all.

    Parameters
    ----------
    model : estimator or TableModel
        "banzhaf" and "shapley" take no model that chooses centres among its samples.
    X : array-like of shape (m, n_features), or a table
        Test samples, which the model should not hold.
    y : array-like of shape (m,) or (m, t)
        Their targets; a table has them.
    method : {"loo", "banzhaf", "shapley"}
    loss : {"log", "error"} or {"squared", "absolute"}, optional
        The first of its kind by default.
    tol : float
        Sampling ends when the root mean square of the standard errors falls below ``tol`` times the
        standard deviation of the values over the samples.
    max_draws : int
        At most so many draws; a warning says if they were too few.
    random_state : int, RandomState or None
    callback : callable, optional
        Gets the `SampleValues` so far after every draw.

    Returns
    -------
    SampleValues

    Examples
    --------
    >>> from gramian import LeastSquaresSVC
    >>> from gramian.data import sample_values
    >>> from gramian.datasets import make_banana
    >>> X, y = make_banana(300, random_state=0)
    >>> y[:5] *= -1  # wrong labels
    >>> model = LeastSquaresSVC(gamma=1.0, C=1.0).fit(X[:100], y[:100])
    >>> values = sample_values(model, X[100:], y[100:])
    >>> sorted(values.ranked()[:4].tolist())
    [0, 1, 2, 3]
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}, got {method!r}.")
    taken = model_rows(model)
    estimator, y, X = taken.estimator, taken.targets(X, y), taken.features(X)
    with estimator._lock:
        counted = output_loss(estimator, loss)
        targets, ids = counted.targets(y), estimator.ids_
        if len(targets) != np.shape(X)[0]:
            raise ValueError(f"y must have a target for each sample: {len(targets)} of {len(X)}.")
        base = float(counted(outputs(estimator, X), targets).mean())
        if method == "loo":
            left_out = np.zeros(len(ids))
            for rows, F in outputs_without_each(estimator, X):
                left_out += counted(F, targets[rows, None]).sum(axis=0)
            values = left_out / len(targets) - base
            return SampleValues(ids, values, np.zeros(len(ids)), base, method, counted.name)
        coalitions = Coalitions.of(estimator, X, targets, counted)
    rng = check_random_state(random_state)
    draws = coalitions.banzhaf(rng) if method == "banzhaf" else coalitions.shapley(rng)
    for found in _averaged(draws, tol, max_draws):
        so_far = SampleValues(ids, *found[:2], base, method, counted.name, *found[2:])
        if callback is not None:
            callback(so_far)
    if not so_far.converged:
        warnings.warn(
            f"the standard errors are above tol={tol:g} after max_draws={max_draws}. Raise "
            f"max_draws, or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return so_far


def _averaged(
    draws: Iterator[Array], tol: float, most: int
) -> Iterator[tuple[Array, Array, int, bool]]:
    """Yield means, standard errors, number of draws and whether these are enough, after each."""
    mean = squares = np.zeros(())
    for count, values in enumerate(draws, 1):
        step = values - mean
        mean = mean + step / count
        squares = squares + step * (values - mean)  # Welford
        errors = np.sqrt(squares / (count - 1) / count) if count > 1 else np.full_like(mean, np.inf)
        enough = count >= _AT_LEAST and np.sqrt(np.mean(errors**2)) <= tol * np.std(mean)
        yield mean, errors, count, bool(enough)
        if enough or count >= most:
            return
