"""When a window chooses its hyper-parameters again: `reselect_every` says, or its own error.

With ``reselect_every="alarm"``, the leave-one-out error decides. The last choice was made on n₀
samples with a mean loss e₀, each sample left out: the squared error of a number, or 1 for a wrong
label. Another one is due when n₀/3 new samples have come, or when the mean loss e of the n samples
now in the window has risen beyond chance::

    e − e₀ > 2 √(s²/n + s₀²/n₀),    s² the variance of the losses

Samples that move through the window bring the error of a drift with them, and so the alarm.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from gramian.core.arrays import Array

if TYPE_CHECKING:
    from gramian.stream._state import WindowState

ALARM = "alarm"
SHARE = 1 / 3
"""New samples after which a choice is due, in units of those that it was made on."""

LOOKS = 4
"""How often the error is looked at while as many samples come as the window holds."""


def due(state: WindowState, every: int | str | None) -> float:
    """The number of samples at which the hyper-parameters are looked at."""
    if every is None:
        return inf
    if every == ALARM:
        return 0 if state.alarm is None else state.looked_at + len(state.holdings) / LOOKS
    return state.selected_at + int(every)


def reselected(state: WindowState, every: int | str | None) -> WindowState:
    """Choose the hyper-parameters again if it is time for it, and note when that was."""
    if every is None or state.model is None:
        return state
    if every == ALARM:
        return _follow_alarm(state)
    if state.next_id < due(state, every):
        return state
    state.model.reselect()
    return state._replace(selected_at=state.next_id)


def _follow_alarm(state: WindowState) -> WindowState:
    """Look at the leave-one-out error from time to time, and choose again if it rings."""
    alarm, new = state.alarm, state.next_id - state.selected_at
    if alarm is None or new == 0:  # a new model
        return state._replace(alarm=Alarm.set(state.model), looked_at=state.next_id)
    if state.next_id < due(state, ALARM):
        return state
    if not state.model.chosen_on_data_ or not alarm.rings(state.model, new):
        return state._replace(looked_at=state.next_id)
    state.model.reselect()
    now = state.next_id
    return state._replace(alarm=Alarm.set(state.model), looked_at=now, selected_at=now)


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
        if new >= SHARE * self.n:
            return True
        losses = loo_losses(model)
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
