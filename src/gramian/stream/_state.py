"""What a window holds, and how its model is brought to hold the same."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from gramian.core.arrays import Array
from gramian.core.estimators._moving import Moving
from gramian.stream._choices import Alarm
from gramian.stream._holdings import Held

BRIEF, PAUSE = 2, 16
"""Steps below which a movement costs more than it saves, and samples until one begins again."""


class WindowState(NamedTuple):
    """All that a window knows, replaced by one assignment.

    The model follows by edits of its own. Where one of them was interrupted it holds other samples
    than `held`, and is brought there before it is used again.
    """

    holdings: Held
    model: Any
    now: Any
    next_id: int
    selected_at: int
    classifies: bool
    alarm: Alarm | None = None
    looked_at: int = 0
    version: object = None
    """Of the model that holds the samples of `holdings`."""
    moving: Moving | None = None
    """Steps that the model has made since, of which nothing else here knows yet."""
    due: float = inf
    """The number of samples at which the hyper-parameters are looked at."""
    resume_at: int = 0
    """The number of samples from which on the model may move."""

    def held(self) -> Held:
        """The samples of now."""
        if self.moving is None:
            return self.holdings
        X, y, ids = self.moving.samples()
        return Held(X, y, ids, ids)

    def settled(self) -> WindowState:
        """The window of now, with a model that moves no more."""
        self.model._now  # noqa: B018 - whoever reads it ends the movement
        assert self.moving is not None and self.moving.left is not None
        X, y, ids, version = self.moving.left
        next_id = self.next_id + self.moving.steps
        now = ids[-1] if self.moving.steps else self.now
        # One whose model is read after every step is faster by plain edits.
        resume_at = next_id + PAUSE if self.moving.steps < BRIEF else self.resume_at
        return self._replace(
            holdings=Held(X, y, ids, ids),
            now=now,
            next_id=next_id,
            version=version,
            moving=None,
            resume_at=resume_at,
        )

    def stored(self) -> dict[str, Any]:
        """What a model file stores of a settled window, besides its model."""
        times, now = np.asarray(self.holdings.times), np.asarray(self.now)
        dated = times.dtype.kind == "M"
        return {
            "X": self.holdings.X,
            "y": self.holdings.y,
            "ids": self.holdings.ids,
            "times": times.astype("datetime64[us]").astype(np.int64) if dated else times,
            "now": int(now.astype("datetime64[us]").astype(np.int64)) if dated else now.item(),
            "dated": dated,
            "names": self.holdings.names,
            "next_id": self.next_id,
            "selected_at": self.selected_at,
        }

    @classmethod
    def loaded(cls, values: dict[str, Any], classifies: bool) -> WindowState:
        """What `stored` gave, with the model."""
        times, now = np.asarray(values["times"]), np.asarray(values["now"])
        if values["dated"]:
            times, now = times.astype("datetime64[us]"), now.astype("datetime64[us]")
        holdings = Held(values["X"], values["y"], values["ids"], times, values["names"])
        model, next_id = values["estimator_"], values["next_id"]
        return cls(holdings, model, now[()], next_id, values["selected_at"], classifies)


def version_of(model: Any) -> object:
    """Token of what a fitted model holds, another one after every edit."""
    return model._now.holdings.version


def follow(model: Any, holdings: Held) -> None:
    """Bring a model to hold these samples: learn the new ones, forget those that are gone.

    In one edit, so that a call that fails leaves the model where it was.
    """
    ids = model.ids_
    if ids.shape == holdings.ids.shape and (ids == holdings.ids).all():
        return
    if ids.shape == holdings.ids.shape and (ids[1:] == holdings.ids[:-1]).all():  # a step by one
        new, gone = np.array([len(ids) - 1]), ids[:1]
    else:
        new, gone = _absent(holdings.ids, ids), ids[_absent(ids, holdings.ids)]
    if len(new) == 0:
        model.forget(gone)
    else:
        rows = holdings.take(new)
        model.exchange(gone, rows.X, rows.y, new_ids=rows.ids)


def _absent(ids: Array, among: Array) -> Array:
    """Positions of the ids that are not among others, which an interrupt may have disordered."""
    if len(among) == 0:
        return np.arange(len(ids))
    among = np.sort(among)
    places = np.searchsorted(among, ids)
    return np.flatnonzero(among[np.minimum(places, len(among) - 1)] != ids)
