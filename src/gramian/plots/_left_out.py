"""Leave-one-out probabilities and losses of a classifier, for the figures."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.arrays import Array
from gramian.machines._calibration import probabilities


def labels_of(model: Any) -> Array:
    """Class index of each held sample."""
    return np.searchsorted(model.classes_, model.y_fit_)


def columns(F: Any) -> Array:
    """Decision values as an array of shape (n, t), infinite ones as the largest finite."""
    F = np.asarray(F)
    largest = np.abs(F[np.isfinite(F)]).max(initial=1.0)
    return np.nan_to_num(F.reshape(len(F), -1), posinf=largest, neginf=-largest)


def loo_probabilities(model: Any) -> Array:
    """What `predict_proba` says of each held sample without it, of shape (n, c).

    The decision values are left out; the few parameters of the calibration are those of the model.
    """
    return probabilities(columns(model.loo_decision_function()), model._calibration())


def loo_losses(model: Any) -> Array:
    """Minus log probability of each sample's own class, left out, of shape (n,)."""
    own = np.take_along_axis(loo_probabilities(model), labels_of(model)[:, None], axis=1)[:, 0]
    return -np.log(own)
