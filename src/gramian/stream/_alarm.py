"""When the hyper-parameters of a window should be chosen again: its own leave-one-out error says.

They were chosen on n samples with a mean loss e₀, each sample left out: the squared error of a
number, or 1 for a wrong label. They are due when n/3 new samples have come since then, or when the
mean loss e has risen beyond chance::

    e − e₀ > 2 √(s²/n + s₀²/n₀),    s² the variance of the losses

Samples that move through the window bring the error of a drift with them, and so the alarm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from gramian.core.arrays import Array

SHARE = 1 / 3
"""New samples after which a choice is due, in units of those that it was made on."""

LOOKS = 4
"""How often the error is looked at while as many samples come as the window holds."""


@dataclass(frozen=True)
class Alarm:
    """The leave-one-out losses when the hyper-parameters were chosen."""

    n: int
    mean: float
    uncertainty: float
    """Variance of the mean."""

    @classmethod
    def set(cls, model: Any) -> Alarm:
        """From a model whose hyper-parameters were chosen just now."""
        losses = loo_losses(model)
        return cls(len(losses), float(losses.mean()), float(losses.var() / len(losses)))

    def rings(self, model: Any, new: int) -> bool:
        """Whether to choose the hyper-parameters again, so many samples later; O(n²) at most."""
        losses = loo_losses(model)
        if new >= SHARE * self.n:
            return True
        spread = np.sqrt(losses.var() / len(losses) + self.uncertainty)
        return bool(losses.mean() - self.mean > 2.0 * spread)


def loo_losses(model: Any) -> Array:
    """Squared leave-one-out error of each held sample; 0 or 1 for labels."""
    y, left_out = model.y_fit_, model.loo_predict()
    if is_classifier(model):
        result: Array = (left_out != y).astype(float)
        return result
    result = np.square(left_out - y).reshape(len(y), -1).mean(axis=1)
    return result
