"""Outputs of a model without each of its samples, and losses of outputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from gramian.core.arrays import Array
from gramian.core.equations import class_of
from gramian.core.estimators._estimator import LiveEstimator

LOSSES = {True: ("log", "error"), False: ("squared", "absolute")}
"""Names of the losses of classifiers and of regressors, the default first."""


@dataclass(frozen=True, eq=False)
class OutputLoss:
    """The loss of outputs of shape (..., t), as one version of a model counts it.

    ======== ====================================================================
    name     loss
    ======== ====================================================================
    log      −log of the probability of the class, ``softmax(a z)``
    error    1 where another class has the largest output, else 0
    squared  squared error, summed over the targets
    absolute absolute error, summed over the targets
    ======== ====================================================================

    Parameters
    ----------
    name : str
    classes : ndarray of shape (c,) or None
    scale : float
        The scale a of the model's probabilities.
    largest : float
        Takes the place of infinite outputs.
    """

    name: str
    classes: Any = None
    scale: float = 1.0
    largest: float = 1.0

    def targets(self, y: Any) -> Array:
        """Targets for `__call__`: indices of classes (n,), or numbers (n, t).

        Raises
        ------
        ValueError
            If a label is not a class of the model.
        """
        y = np.asarray(y)
        if self.classes is None:
            return np.asarray(y.reshape(len(y), -1), dtype=float)
        unknown = ~np.isin(y, self.classes)
        if unknown.any():
            raise ValueError(
                f"y has the label {y[unknown][0]!s}, which is none of the model's classes: "
                f"{', '.join(map(str, self.classes))}."
            )
        return np.asarray(np.searchsorted(self.classes, y))

    def __call__(self, F: Array, targets: Array) -> Array:
        """Losses (...) of outputs (..., t), the targets broadcast against them."""
        losses: Array
        if self.name == "squared":
            losses = np.sum((F - targets) ** 2, axis=-1)
        elif self.name == "absolute":
            losses = np.sum(np.abs(F - targets), axis=-1)
        elif self.name == "error":
            losses = (class_of(F) != targets).astype(float)
        else:
            Z = self.scale * np.nan_to_num(F, posinf=self.largest, neginf=-self.largest)
            if F.shape[-1] == 1:  # two classes share an output
                losses = np.logaddexp(0.0, np.where(targets == 1, -1.0, 1.0) * Z[..., 0])
            else:
                own = np.take_along_axis(Z, np.broadcast_to(targets, Z.shape[:-1])[..., None], -1)
                losses = np.logaddexp.reduce(Z, axis=-1) - own[..., 0]
        return losses

    def guess(self, targets: Array) -> Array:
        """Losses of no model at all: outputs of 0, and a class drawn among all with equal chance.

        For numbers, this is a prediction of 0.
        """
        if self.name == "error":
            return np.full(len(targets), 1.0 - 1.0 / len(self.classes))
        if self.name == "log":
            return np.full(len(targets), np.log(len(self.classes)))
        return self(np.zeros_like(targets), targets)


def output_loss(model: Any, name: str | None = None) -> OutputLoss:
    """The loss of outputs by name, with the probabilities of the present version of a model.

    Raises
    ------
    ValueError
        If the name is not one of `LOSSES` for this kind of model.
    """
    known = LOSSES[is_classifier(model)]
    name = known[0] if name is None else name
    if name not in known:
        kind = "a classifier" if is_classifier(model) else "a regressor"
        raise ValueError(f"loss must be one of {known} for {kind}, got {name!r}.")
    if not is_classifier(model):
        return OutputLoss(name)
    with model._lock:
        largest, scale = model._calibration()
        return OutputLoss(name, model.classes_, scale, largest)


def outputs_without_each(model: LiveEstimator, X: Any) -> Iterator[tuple[slice, Array]]:
    """Yield blocks of queries with their outputs (m, n, t) without each held sample, exactly.

    O(m n²) in all where there is a closed form; see `Engine.without_each`. The model must not be
    edited until the last block.
    """
    now = model._serving()
    return now.engine.without_each(now.holdings, now.samples.queries(model, now.holdings, X))


def outputs_without_pairs(model: LiveEstimator) -> Iterator[tuple[Array, Array]]:
    """Yield positions i (k,) with the outputs (k, n, t) at all held samples j without both.

    See ``Engine.without_pairs``. The model must not be edited until the last block.
    """
    now = model._serving()
    return now.engine.without_pairs(now.holdings)


def coded_targets(model: LiveEstimator) -> Array:
    """Targets of the held samples as numbers (n, t): those of a regressor, or ±1 for classes."""
    return model._fitted().holdings.coded_targets()


def output_pair_effects(model: LiveEstimator, X: Any) -> Array:
    """What outputs at queries lose without each pair of held samples, (m, n, n, t)."""
    now = model._serving()
    queries = now.samples.queries(model, now.holdings, X)
    return now.engine.pair_effects(now.holdings, queries)


def added_queries(model: LiveEstimator, X: Any) -> Iterator[tuple[slice, Any]]:
    """Yield blocks of queries with the left-out outputs of all samples if one of them were added.

    See ``Engine.added``. The model must not be edited until the last block.
    """
    now = model._serving()
    return now.engine.added(now.holdings, now.samples.adding(model, now.holdings, X))


def output_variances(model: LiveEstimator, X: Any) -> Array:
    """Variances (m,) of the outputs at queries, in the unit in which that of the noise is λ.

    Raises
    ------
    ValueError
        If the estimator is no least-squares estimator, or its ridge is 0: it has no variance.
    """
    now = model._serving()
    X = now.samples.adding(model, now.holdings, X)
    return np.concatenate([found for _, found in now.engine.variances(now.holdings, X)])


def outputs(model: LiveEstimator, X: Any) -> Array:
    """Outputs (m, t) at queries; one column for two classes."""
    return model._outputs(X)[1]


def free_copy(model: Any) -> Any:
    """An independent copy, which keeps its classes when they lose their samples."""
    twin = model.refitted()
    now = twin._now
    if now.holdings.classes is not None:
        declared = tuple(now.holdings.classes.tolist())
        twin._now = replace(now, holdings=replace(now.holdings, declared=declared))
    return twin
