"""Adaptive scores of classes: how much probability the classes before the own one have.

With probabilities ``π = softmax(a z)`` of left-out decision values z and a uniform random number U
of each sample (romano2020, eq. (5))::

    score(y) = Σ_{c: π_c > π_y} π_c + U π_y

A set then takes class after class until their probabilities reach the confidence: it grows where
the sample is hard. The slope a makes probabilities of the values. It is that of two normal
distributions with the mean and the variance of the differences d = z_own − z_other, over all
samples and all their other classes::

    a = 2 mean(d) / var(d)

This is one number that treats all samples alike, so that with a query among them the scores stay
exchangeable. Where the model is no better than chance, a is 0 and all classes are as probable.
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from gramian.core.arrays import Array
from gramian.core.equations._calibration import class_scores

_TIED = 1.0 + 1e-9  # classes are as probable as each other up to rounding
_LEAST_SPREAD = 1e-6  # of the variance, in units of the squared mean: a stays finite


def finite_outputs(F: Array) -> Array:
    """Decision values (..., n, t), those that are infinite as large as the largest that is not."""
    known = np.isfinite(F)
    if known.all():
        return F
    largest = np.where(known, np.abs(F), 0.0).max(axis=(-2, -1), keepdims=True)
    return np.where(known, F, np.where(np.isnan(F), 0.0, np.sign(F) * largest))


def margin_slope(F: Array, labels: Array) -> Array:
    """The slope a of samples with finite left-out values (..., n, t), of shape (...)."""
    Z = class_scores(F)
    apart = Z[..., np.arange(len(labels)), labels][..., None] - Z  # 0 for the own class
    count = len(labels) * (Z.shape[-1] - 1)
    mean = apart.sum(axis=(-2, -1)) / count
    spread = np.square(apart).sum(axis=(-2, -1)) / count - mean**2
    spread = np.maximum(spread, _LEAST_SPREAD * mean**2 + np.finfo(float).tiny)
    return np.asarray(2.0 * np.maximum(mean, 0.0) / spread)


def adaptive_scores(F: Array, labels: Array, slope: Array, shares: Array) -> Array:
    """Scores (..., n) of samples with these labels; the larger, the less a label fits.

    Parameters
    ----------
    F : ndarray of shape (..., n, t)
        Finite left-out decision values.
    labels : ndarray of shape (n,)
        Index of each sample's class.
    slope, shares : ndarray that broadcasts to (..., n)
        a, and the random numbers U.
    """
    P = softmax(np.asarray(slope)[..., None] * class_scores(F), axis=-1)
    own = P[..., np.arange(len(labels)), labels]
    above = np.where(_TIED * own[..., None] < P, P, 0.0).sum(axis=-1)
    return np.asarray(above + shares * own)
