"""Probabilities from decision values: softmax(a·z), the scale a fitted to leave-one-out values.

For two classes z = (0, f), which gives the sigmoid 1 / (1 + exp(−a f)). There are no biases: the
most probable class is the one with the largest decision value. Labels are smoothed as Platt
proposes, extended to c classes: a sample of class k with N_k members has the target

    q_k = (N_k + 1) / (N_k + 2),    q_j = 1 / ((N_k + 2) (c − 1)) for j ≠ k

The fit thus stays finite for separable decision values and for classes of one sample.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, softmax

from gramian.core.arrays import Array

_MAX_STEPS = 100


def probabilities(F: Array, scale: float) -> Array:
    """``softmax(a·z)``, of shape (m, c), from decision values F of shape (m, t)."""
    result: Array = softmax(scale * class_scores(F), axis=-1)
    return result


def class_scores(F: Array) -> Array:
    """One score per class: F itself, or (0, f) if two classes share one output."""
    return np.concatenate([np.zeros_like(F), F], axis=-1) if F.shape[-1] == 1 else F


def class_of(F: Array) -> Array:
    """Index of the class with the largest output (..., t); of two classes, 0 is the first."""
    return (F[..., 0] > 0).astype(int) if F.shape[-1] == 1 else np.argmax(F, axis=-1)


def without_rounding(F: Array, size: float = 1.0) -> Array:
    """F with zeros in place of values that are rounding error for n targets of this size.

    The fitted scale adapts to decision values of any size, and must not amplify rounding error.
    """
    return np.where(np.abs(F) > F.shape[-2] * np.finfo(F.dtype).eps * size, F, 0.0)


def smoothed_labels(labels: Array, n_classes: int, weight: Array | None = None) -> Array:
    """The smoothed targets q, of shape (n, c)."""
    rest = 1.0 / (np.bincount(labels, weight, n_classes)[labels] + 2.0)[:, None]
    return np.where(np.eye(n_classes, dtype=bool)[labels], 1.0 - rest, rest / (n_classes - 1))


def fit_calibration(
    F: Array, labels: Array, n_classes: int, weight: Array | None = None, start: float | None = None
) -> float:
    """The scale a ≥ 0 that minimises the log-loss against the smoothed labels.

    The scale is 0 if the left-out decision values point away from the labels: all classes are
    then equally probable.

    Parameters
    ----------
    F : ndarray of shape (n, t)
        Leave-one-out decision values.
    labels : ndarray of shape (n,)
        Class indices.
    weight : ndarray of shape (n,), optional
    start : float, optional
        A scale > 0 that is near, from which fewer steps lead to the same one.
    """
    Z, q = class_scores(without_rounding(F)), smoothed_labels(labels, n_classes, weight)
    w = np.full(len(labels), 1.0 / len(labels)) if weight is None else weight / weight.sum()
    return float(fit_scale(Z, q, w, tol=1e-12, start=start))


def fit_scale(
    Z: Array, q: Array, weight: Array, tol: float = 1e-5, start: float | None = None
) -> Array:
    """The scale a ≥ 0 for each entry of a stack of class scores (..., n, c).

    Minimises ``Σ w_i (logsumexp(a z_i) − a q_i·z_i)`` by Newton's method within a bracket. The
    loss is flat at its minimum, so ``tol=1e-5`` in a is 1e-10 in the loss. If the scores point
    away from the labels, the loss increases from a = 0, and a is exactly 0.
    """
    linear = np.sum(q * Z, axis=-1) @ weight
    unit = np.sqrt(np.mean(Z**2, axis=(-2, -1)))
    unit = np.where(unit > 0, unit, 1.0)
    rises = Z.mean(axis=-1) @ weight >= linear
    two = Z.shape[-1] == 2
    Z = np.ascontiguousarray(np.moveaxis(Z, -1, 0))  # sums over few classes are fast this way
    if two:  # of two scores their difference is enough
        apart, rest = Z[1] - Z[0], Z[0] @ weight - linear
        first = weight * apart
        second = first * apart
    a = np.where(rises, 0.0, start or 2.0 / unit)
    low, high = np.zeros_like(a), np.full_like(a, np.inf)
    for _ in range(_MAX_STEPS):
        # Mean and variance of the scores under softmax(a z) are the first and second derivative of
        # Σ w_i logsumexp(a z_i).
        if two:
            p = expit(a[..., None] * apart)
            slope = np.einsum("...i,...i->...", p, first) + rest
            curvature = np.einsum("...i,...i->...", p - p * p, second)
        else:
            pZ = softmax(a[..., None] * Z, axis=0) * Z
            mean = pZ.sum(axis=0)
            variance = np.sum(pZ * Z, axis=0) - mean**2
            slope, curvature = mean @ weight - linear, variance @ weight
        low, high = np.where(slope < 0, a, low), np.where(slope >= 0, a, high)
        newton = a - slope / np.maximum(curvature, np.finfo(a.dtype).tiny)
        halfway = np.where(np.isinf(high), 4.0 * a, 0.5 * (low + high))
        before, a = a, np.where((newton > low) & (newton < high), newton, halfway)
        if np.all(np.abs(a - before) <= tol * np.maximum(a, 1e-3 / unit)):
            break
    return a
