"""Steps of a window: a model while one sample comes and the oldest leaves, over and over."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.core.arrays import Array, one_blas_thread
from gramian.core.engines import DenseEngine, MovingModel
from gramian.core.estimators._fitted import Fitted


class Moving:
    """What stands in place of a `Fitted` while samples move through a model.

    A window moves by steps of one sample in and, if it is full, the oldest out. They are made here,
    and a `Fitted` when somebody reads the model, which ends the movement: what a step is asked for
    then, it refuses. `left` then says what the model held.

    Parameters
    ----------
    now : Fitted
        Whose engine and holdings are fit for it, see `MovingModel.moves`.
    lock : RLock
        Of the estimator.
    most : float
        Samples that a full window holds.
    """

    left: tuple[Array, Array, Array, object] | None = None
    """X, y and ids at the end of the movement, and the version of the holdings with them."""

    def __init__(self, now: Fitted, lock: Any, most: float) -> None:
        assert isinstance(now.engine, DenseEngine)
        self._rest = now.spec, now.samples, now.names
        self._flat = now.holdings.y.ndim == 1
        self._lock, self._model = lock, MovingModel(now.engine, now.holdings, most)

    @property
    def count(self) -> int:
        """Number of samples held."""
        return self._model.count

    @property
    def steps(self) -> int:
        """Samples that have come since the start."""
        return self._model.steps

    def samples(self) -> tuple[Array, Array, Array]:
        """X, y and ids of the held samples, in order of arrival."""
        with self._lock:
            return self._model.samples() if self.left is None else self.left[:3]

    def used(self) -> Array:
        """Which features of the held samples are not 0 in all of them."""
        with self._lock:
            if self.left is None:
                return self._model.used()
            return np.asarray(self.left[0].any(axis=0))

    def decide(self, X: Any) -> Array | None:
        """Predictions or decision values for one row; None if they must go the long way."""
        with self._lock:
            values = self._model.outputs(X) if self.left is None else None
        if values is None:
            return None
        flat = self._flat if self._model.classes is None else len(values) == 1
        return np.array(values if flat else [values])

    def predict(self, X: Any) -> Array | None:
        """What the estimator predicts for one row; None if it must go the long way."""
        classes = self._model.classes
        if classes is None:
            return self.decide(X)
        with self._lock:
            values = self._model.outputs(X) if self.left is None else None
        if values is None:
            return None
        best = int(values[0] > 0) if len(values) == 1 else values.index(max(values))
        found: Array = classes[best : best + 1].copy()
        return found

    def step(self, X: Any, y: Any, new_id: int) -> bool:
        """Learn one sample, forget the oldest if need be; False, nothing done, if not plain."""
        model = self._model
        with self._lock, one_blas_thread(model.size):
            return self.left is None and model.step(X, y, new_id)

    def settled(self) -> Fitted:
        """End the movement, and return the model as it is now."""
        spec, samples, names = self._rest
        holdings, engine = self._model.settled()
        self.left = *self._model.samples(), holdings.version
        return Fitted(spec, holdings, engine, samples, names)
