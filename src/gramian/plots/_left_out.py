"""Leave-one-out probabilities and losses of a classifier, for the figures."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.core.arrays import Array


def labels_of(model: Any) -> Array:
    """Class index of each held sample."""
    result: Array = np.searchsorted(model.classes_, model.y_fit_)
    return result


def loo_losses(model: Any) -> Array:
    """Minus log probability of each sample's own class, left out, of shape (n,)."""
    left_out = model.loo_predict_proba()
    result: Array = -np.log(np.take_along_axis(left_out, labels_of(model)[:, None], axis=1)[:, 0])
    return result
