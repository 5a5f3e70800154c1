"""Probabilities from decision values: softmax(a·z + b), fitted to leave-one-out values.

For two classes z = (0, f), and this is Platt's sigmoid 1 / (1 + exp(−(a f + b))). The labels are
smoothed as Platt proposes, here for c classes: a sample of class k with N_k members has the target

    q_k = (N_k + 1) / (N_k + 2),    q_j = 1 / ((N_k + 2) (c − 1)) for j ≠ k

so that separable decision values, and classes of one sample, keep a finite fit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax, softmax

from gramian.arrays import Array

_MAX_STEPS = 100
_TOLERANCE = 1e-13


class Calibration(NamedTuple):
    """The map from decision values to probabilities."""

    scale: float
    """a ≥ 0, the inverse temperature."""
    bias: Array
    """b, of shape (c,), with b_0 = 0."""


def probabilities(F: Array, calibration: Calibration) -> Array:
    """``softmax(a·z + b)``, of shape (m, c), from decision values F of shape (m, t)."""
    return softmax(calibration.scale * class_scores(F) + calibration.bias, axis=-1)


def class_scores(F: Array) -> Array:
    """One score per class: F itself, or (0, f) where two classes share one output."""
    return np.concatenate([np.zeros_like(F), F], axis=-1) if F.shape[-1] == 1 else F


def without_rounding(F: Array, size: float = 1.0) -> Array:
    """F with zeros for values that are the rounding error of n targets of this size.

    A scale is fitted to decision values, however small they are; it must not amplify these.
    """
    return np.where(np.abs(F) > F.shape[-2] * np.finfo(F.dtype).eps * size, F, 0.0)


def smoothed_labels(labels: Array, n_classes: int, weight: Array | None = None) -> Array:
    """The targets q, of shape (n, c)."""
    rest = 1.0 / (np.bincount(labels, weight, n_classes)[labels] + 2.0)[:, None]
    return np.where(np.eye(n_classes, dtype=bool)[labels], 1.0 - rest, rest / (n_classes - 1))


def fit_calibration(
    F: Array, labels: Array, n_classes: int, weight: Array | None = None, *, biases: bool = True
) -> Calibration:
    """The scale and biases that minimise the log-loss against the smoothed labels.

    A convex problem in c variables, solved by Newton steps that are halved until the loss falls.
    A negative scale would mean that the left-out decision values point away from the labels; the
    best constant probabilities (scale 0) are returned then.

    Parameters
    ----------
    F : ndarray of shape (n, t)
        Leave-one-out decision values.
    labels : ndarray of shape (n,)
        Class indices.
    biases : bool
        Whether biases are fitted, or zero: then the order of the classes stays that of F.
    """
    Z, q = class_scores(without_rounding(F)), smoothed_labels(labels, n_classes, weight)
    w = np.full(len(labels), 1.0) if weight is None else weight
    unit = np.sqrt(np.mean(Z**2)) or 1.0
    theta = _minimize(Z / unit, q, w / w.sum(), slice(0, None if biases else 1))
    if theta[0] < 0.0:
        theta = _minimize(Z / unit, q, w / w.sum(), slice(1, None if biases else 1))
    return Calibration(float(theta[0] / unit), np.append(0.0, theta[1:]))


def _minimize(Z: Array, q: Array, w: Array, free: slice) -> Array:
    """θ = (a, b_1 … b_{c-1}) by damped Newton, from equal probabilities; the others stay zero."""
    theta = np.zeros(Z.shape[1])
    loss = _loss(theta, Z, q, w)
    for _ in range(_MAX_STEPS):
        gradient, hessian = _derivatives(theta, Z, q, w)
        step = np.zeros_like(theta)
        step[free] = -np.linalg.lstsq(hessian[free, free], gradient[free])[0]
        slope = gradient @ step
        if -slope <= _TOLERANCE * (1.0 + loss):
            break
        while _loss(theta + step, Z, q, w) > loss + 0.25 * slope:  # a quarter of what it promises
            step, slope = 0.5 * step, 0.5 * slope
        theta = theta + step
        loss = _loss(theta, Z, q, w)
    return theta


def _loss(theta: Array, Z: Array, q: Array, w: Array) -> float:
    return float(-np.sum(w[:, None] * q * log_softmax(_logits(theta, Z), axis=1)))


def _derivatives(theta: Array, Z: Array, q: Array, w: Array) -> tuple[Array, Array]:
    """Gradient and Hessian in θ, whose features per class are (z_k, [k = 1], …, [k = c−1])."""
    p = softmax(_logits(theta, Z), axis=1)
    residual, wp = w[:, None] * (p - q), w[:, None] * p
    mean = np.sum(p * Z, axis=1)
    gradient = np.append(np.sum(residual * Z), residual.sum(axis=0)[1:])
    cross = np.sum(wp * (Z - mean[:, None]), axis=0)
    hessian = np.empty((len(theta), len(theta)))
    hessian[0, 0] = np.sum(wp * Z * (Z - mean[:, None]))
    hessian[0, 1:] = hessian[1:, 0] = cross[1:]
    hessian[1:, 1:] = (np.diag(wp.sum(axis=0)) - p.T @ wp)[1:, 1:]
    return gradient, hessian


def _logits(theta: Array, Z: Array) -> Array:
    return theta[0] * Z + np.append(0.0, theta[1:])


def fit_scale(Z: Array, q: Array, weight: Array) -> Array:
    """The scale a ≥ 0 alone, for a whole stack of class scores (..., n, c) at once.

    Minimises ``Σ w_i (logsumexp(a z_i) − a q_i·z_i)`` by Newton's method, held in a bracket. The
    loss is flat at its minimum, so that 1e-5 in a is 1e-10 in the loss. Scores that point away from
    the labels, so that the loss rises from a = 0 on, have a = 0 exactly.
    """
    linear = np.sum(q * Z, axis=-1) @ weight
    unit = np.sqrt(np.mean(Z**2, axis=(-2, -1)))
    unit = np.where(unit > 0, unit, 1.0)
    Z = np.ascontiguousarray(np.moveaxis(Z, -1, 0))  # sums over few classes are fast this way
    rises = Z.mean(axis=0) @ weight >= linear
    a = np.where(rises, 0.0, 2.0 / unit)
    low, high = np.zeros_like(a), np.full_like(a, np.inf)
    for _ in range(_MAX_STEPS):
        mean, curvature = _score_moments(a, Z, weight)
        slope = mean - linear
        low, high = np.where(slope < 0, a, low), np.where(slope >= 0, a, high)
        newton = a - slope / np.maximum(curvature, np.finfo(a.dtype).tiny)
        halfway = np.where(np.isinf(high), 4.0 * a, 0.5 * (low + high))
        before, a = a, np.where((newton > low) & (newton < high), newton, halfway)
        if np.all(np.abs(a - before) <= 1e-5 * np.maximum(a, 1e-3 / unit)):
            break
    return a


def _score_moments(a: Array, Z: Array, weight: Array) -> tuple[Array, Array]:
    """Mean and variance of the class scores (c, ..., n) under softmax(a z), averaged over samples.

    They are the first and second derivative of ``Σ w_i logsumexp(a z_i)``.
    """
    p = softmax(a[..., None] * Z, axis=0)
    pZ = p * Z
    mean = pZ.sum(axis=0)
    return mean @ weight, np.sum(pZ * Z, axis=0) @ weight - mean**2 @ weight
