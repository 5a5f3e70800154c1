"""When a window chooses its hyper-parameters again; `reselect_every` says."""

from __future__ import annotations

from math import inf

from gramian.stream._alarm import LOOKS, Alarm
from gramian.stream._state import WindowState

ALARM = "alarm"


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
    looked_at = selected_at = state.next_id
    alarm = Alarm.set(state.model)
    return state._replace(alarm=alarm, looked_at=looked_at, selected_at=selected_at)
