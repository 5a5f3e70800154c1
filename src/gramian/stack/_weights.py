"""Weights of several estimators, from their values out of fold.

A stack predicts ``Σ_s a_s F_s + b`` from the outputs F_s of its parts. What a part says of a sample
that it was trained on is no measure of its worth, nor is its leave-one-out value where much was
tuned on the sample, so the weights are fitted to values of parts tuned and trained without it:

    classes      min over a ≥ 0 of the log-loss of softmax(Σ_s a_s z_s) against smoothed labels,
    responses    min over a ≥ 0 of ‖(Y − ȳ) − Σ_s a_s (F_s − ȳ)‖²,    b = ȳ (1 − Σ a_s).

Weights that are not negative are breiman1996's: a few of them hardly over-fit n left-out samples.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize, nnls
from scipy.special import log_softmax, softmax

from gramian.core.arrays import Array
from gramian.core.equations import ClassTargets, class_scores
from gramian.core.equations._calibration import fit_scale, smoothed_labels, without_rounding

_NEXT_TO_NOTHING = 1e-6  # all classes are equally probable, and one is still the largest


def class_weights(F: Array, targets: ClassTargets, plain: Array | None = None) -> Array:
    """Weights of the parts of a classifier, by L-BFGS on centred and scaled values out of fold.

    Where none of them is any better than a guess, all parts weigh the same and next to nothing, or
    all that are ``plain``, to which little was fitted.

    Parameters
    ----------
    F : ndarray of shape (S, n, t)
        Decision values of each part, out of fold.
    targets : ClassTargets

    Returns
    -------
    ndarray of shape (S,)
        Its scale is such that ``softmax(Σ_s a_s z_s)`` are probabilities.
    """
    Z = class_scores(without_rounding(F.astype(float)))
    Z = Z - Z.mean(axis=-1, keepdims=True)
    unit = np.sqrt(np.mean(Z**2, axis=(1, 2)))
    unit[unit == 0] = 1.0
    Z /= unit[:, None, None]
    q = smoothed_labels(targets.labels, targets.n_classes, targets.weight)
    shares = _shares(targets.weight, len(q))
    start = fit_scale(Z.mean(axis=0), q, shares)

    def loss(a: Array) -> tuple[float, Array]:
        scores = np.tensordot(a, Z, 1)
        value = -np.sum(q * log_softmax(scores, axis=1), axis=1) @ shares
        return value, np.einsum("snc,nc->s", Z, shares[:, None] * (softmax(scores, axis=1) - q))

    first, bounds = np.full(len(Z), start / len(Z)), [(0.0, None)] * len(Z)
    precise = {"ftol": 1e-13, "gtol": 1e-8}
    found = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=bounds, options=precise).x
    if not found.any():
        simple = np.ones(len(Z)) if plain is None or not plain.any() else plain.astype(float)
        found = _NEXT_TO_NOTHING * simple
    result: Array = found / unit
    return result


def response_weights(F: Array, Y: Array, weight: Array) -> tuple[Array, Array]:
    """Weights (S,) of the parts of a regression, by non-negative least squares, and b (t,).

    Targets count in units of their deviation.

    Parameters
    ----------
    F : ndarray of shape (S, n, t)
        Predictions of each part, out of fold.
    Y : ndarray of shape (n, t)
    weight : ndarray of shape (n,)
    """
    shares = _shares(weight, len(Y))
    mean = shares @ Y
    deviation = np.sqrt(shares @ (Y - mean) ** 2)
    unit = np.where(deviation > 0, deviation, 1.0) / np.sqrt(shares)[:, None]
    columns = ((F - mean) / unit).reshape(len(F), -1)
    a, _ = nnls(columns.T, ((Y - mean) / unit).ravel())
    return a, mean * (1.0 - a.sum())


def _shares(weight: Array | None, n: int) -> Array:
    return np.full(n, 1.0 / n) if weight is None else weight / weight.sum()
