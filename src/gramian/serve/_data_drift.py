"""Whether the rows that arrive are like those that are held: a bet that they are not.

The nonconformity of each held sample is taken from the model without it. If old and new samples
are exchangeable, so are these scores, and the ranks of the new ones among all before them, in the
order of their arrival, are independent and uniform. A martingale that bets on high ranks then ever
reaches 10² with a probability of at most 1/100, whatever the data and the model are.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from gramian.core.arrays import Array
from gramian.core.equations import nonconformity, p_values
from gramian.stream import Martingale

ALARM = 2.0
"""log₁₀ of the martingale at which there is an alarm."""
FALSE_ALARMS = 0.01
"""How probable it is that there is ever an alarm although nothing has changed."""


class DataDrift:
    """The martingale of the rows that have arrived since the service began."""

    def __init__(self) -> None:
        self._martingale, self._highest, self._rows = Martingale(), 0.0, 0
        self._new: dict[Any, None] = {}  # ids of rows that were not looked at, as they came
        self._lock, self._random = Lock(), np.random.default_rng()

    def arrive(self, ids: list[Any]) -> None:
        """Rows were learned."""
        with self._lock:
            self._new |= dict.fromkeys(ids)

    def leave(self, ids: list[Any]) -> None:
        """Rows were forgotten."""
        with self._lock:
            for name in ids:
                self._new.pop(name, None)

    def update(self, model: Any) -> None:
        """Bet on the rows that have arrived and that a model with leave-one-out values holds."""
        places = {name: place for place, name in enumerate(model.ids_.tolist())}
        with self._lock:
            names = [name for name in self._new if name in places]
            self._new = {name: None for name in self._new if name not in places}
            new = [places[name] for name in names]
            if not new or len(places) - len(new) < 2:
                return
            p = arrival_p_values(model, np.array(new), self._random)
            self._highest = max(self._highest, float(self._martingale.bet(p).max()))
            self._rows += len(new)

    def as_dict(self) -> dict[str, Any]:
        """The state, for people and programs."""
        return {
            "log10_martingale": self._martingale.value,
            "highest": self._highest,
            "rows": self._rows,
            "alarm": self._highest >= ALARM,
            "alarm_at": ALARM,
            "false_alarm_probability": FALSE_ALARMS,
        }


def arrival_p_values(model: Any, new: Array, random: np.random.Generator) -> Array:
    """Smoothed p-value of each of the samples at ``new`` among those before it."""
    scores, weight = _scores(model), model.sample_weight_
    old = np.setdiff1d(np.arange(len(scores)), new)
    order, ties = np.append(old, new), random.uniform(size=len(new))
    found = []
    for end, tie in zip(range(len(old), len(order)), ties, strict=True):
        before = order[:end]
        ranked = scores[np.append(before, order[end])]
        found.append(p_values(ranked[None], weight[before], np.array([tie]))[0])
    return np.array(found)


def _scores(model: Any) -> Array:
    """Nonconformity of each held sample to the model without it."""
    y = model.y_fit_
    if is_classifier(model):
        F = model.loo_decision_function().reshape(len(y), -1)
        return nonconformity(F, np.searchsorted(model.classes_, y))
    residuals = np.abs(y - model.loo_predict()).reshape(len(y), -1)
    return np.asarray(np.linalg.norm(residuals, axis=1))
