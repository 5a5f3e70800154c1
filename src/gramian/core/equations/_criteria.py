"""Criteria on leave-one-out decision values, which estimate the loss on a new sample.

With ``f`` the leave-one-out values, ``y`` the targets of `own`, and weighted averages:

========= ====================================================================== ==============
name      formula                                                                for
========= ====================================================================== ==============
error     mean [the class of largest f is not the sample's]                      classification
squared   mean Σ_j (f_j − y_j)², as Allen's PRESS                                 both
hinge     mean Σ_j max(0, (y_j − f_j) sign y_j)²                                 classification
log       min over a ≥ 0 of the mean of −Σ_k q_k log softmax(a z)_k              classification
========= ====================================================================== ==============

``log`` is the log-loss at the best temperature 1/a, so the scale of f does not matter; z are the
class scores and q the smoothed labels of `_calibration`. All but ``error`` are smooth. Values keep
the leading axes of f, so one call evaluates a whole path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, softmax

from gramian.core.arrays import Array
from gramian.core.equations._calibration import (
    class_scores,
    fit_scale,
    smoothed_labels,
    without_rounding,
)
from gramian.core.equations._targets import ClassTargets, Targets


def error_rate(F: Array, targets: ClassTargets) -> Array:
    """Share of samples whose left-out value predicts another class; 0 predicts the first."""
    result: Array = (class_scores(F).argmax(axis=-1) != targets.labels) @ _shares(targets)
    return result


def squared_error(F: Array, targets: Targets) -> Array:
    """Mean over samples of the squared distance to the targets."""
    result: Array = np.sum((F - targets.own) ** 2, axis=-1) @ _shares(targets)
    return result


def squared_error_gradient(F: Array, targets: Targets) -> Array:
    """Gradient of `squared_error` with respect to F."""
    result: Array = 2.0 * _shares(targets)[:, None] * (F - targets.own)
    return result


def squared_hinge(F: Array, targets: ClassTargets) -> Array:
    """`squared_error` in which values beyond their target cost nothing."""
    result: Array = np.sum(_shortfall(F, targets) ** 2, axis=-1) @ _shares(targets)
    return result


def squared_hinge_gradient(F: Array, targets: ClassTargets) -> Array:
    """Gradient of `squared_hinge` with respect to F."""
    return -2.0 * _shares(targets)[:, None] * _shortfall(F, targets) * np.sign(targets.own)


def log_loss(F: Array, targets: ClassTargets) -> Array:
    """Log-loss against smoothed labels at the best temperature."""
    Z, q, shares = _exact_scores(F, targets), _smoothed(targets), _shares(targets)
    scaled = fit_scale(Z, q, shares)[..., None, None] * Z
    losses: Array
    if Z.shape[-1] == 2:  # log(1 + exp(z₁ − z₀)) − q₁ (z₁ − z₀)
        apart = scaled[..., 1] - scaled[..., 0]
        losses = np.logaddexp(0.0, apart) - q[:, 1] * apart
    else:
        losses = -np.sum(q * log_softmax(scaled, axis=-1), axis=-1)
    return losses @ shares


def log_loss_gradient(F: Array, targets: ClassTargets) -> Array:
    """Gradient of `log_loss` with respect to F; the optimal temperature adds no term."""
    Z, q, shares = _exact_scores(F, targets), _smoothed(targets), _shares(targets)
    a = fit_scale(Z, q, shares)
    G = a * shares[:, None] * (softmax(a * Z, axis=-1) - q)
    result: Array = G[:, -F.shape[1] :]
    return result


def sample_losses(F: Array, targets: Targets) -> Array:
    """The loss of each sample (n,): its log-loss at the best temperature, or its squared error."""
    if not isinstance(targets, ClassTargets):
        result: Array = np.sum((F - targets.own) ** 2, axis=-1)
        return result
    Z, q = _exact_scores(F, targets), _smoothed(targets)
    scale = fit_scale(Z, q, _shares(targets))
    result = -np.sum(q * log_softmax(scale * Z, axis=-1), axis=-1)
    return result


@dataclass(frozen=True)
class Criterion:
    """A criterion with its name, its value, and its gradient if it is smooth.

    A prior is measured in nats, as a negative log density. ``log`` and ``error`` are in nats per
    sample (an error counts as one). Squared losses are relative: with Gaussian residuals of unknown
    variance, a mean square E is ``½ log E`` nats per sample.
    """

    name: str
    value: Callable[..., Array]
    gradient: Callable[..., Array] | None = None
    relative: bool = False

    def penalized(self, value: float, penalty: float, n: int) -> float:
        """The criterion plus a prior that costs ``penalty`` nats, for n samples."""
        if self.relative:
            return float(value * np.exp(2.0 * penalty / n))
        return value + penalty / n

    def nats(self, value: float, n: int) -> float:
        """A criterion of n samples, penalised or not, in nats."""
        if self.relative:
            return 0.5 * n * float(np.log(max(value, np.finfo(float).tiny)))
        return n * value

    def nats_slope(self, value: float, n: int) -> float:
        """Derivative of `nats` with respect to ``value``."""
        return 0.5 * n / max(value, np.finfo(float).tiny) if self.relative else float(n)

    def penalized_slopes(self, value: float, penalty: float, n: int) -> tuple[float, float]:
        """Derivatives of `penalized` with respect to ``value`` and ``penalty``."""
        if self.relative:
            factor = np.exp(2.0 * penalty / n)
            return factor, 2.0 / n * value * factor
        return 1.0, 1.0 / n


CRITERIA = {
    criterion.name: criterion
    for criterion in (
        Criterion("error", error_rate),
        Criterion("squared", squared_error, squared_error_gradient, relative=True),
        Criterion("hinge", squared_hinge, squared_hinge_gradient, relative=True),
        Criterion("log", log_loss, log_loss_gradient),
    )
}


def _shares(targets: Targets) -> Array:
    """Weights that sum to one."""
    weight = np.ones(len(targets.own)) if targets.weight is None else targets.weight
    result: Array = weight / weight.sum()
    return result


def _shortfall(F: Array, targets: ClassTargets) -> Array:
    result: Array = np.maximum(0.0, (targets.own - F) * np.sign(targets.own))
    return result


def _exact_scores(F: Array, targets: ClassTargets) -> Array:
    """Class scores with zeros in place of rounding errors."""
    return class_scores(without_rounding(F, float(np.abs(targets.own).max())))


def _smoothed(targets: ClassTargets) -> Array:
    return smoothed_labels(targets.labels, targets.n_classes, targets.weight)
