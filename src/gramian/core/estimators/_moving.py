"""Steps of a window: a model while one sample comes and the oldest leaves, over and over.

An edit makes new holdings and a new predictor; a step does not. Samples and targets lie in the
slots of the Gram matrix, and become holdings when the model is read. See `MovingSystem` for the
arithmetic.
"""

from __future__ import annotations

from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from gramian.core.arrays import Array, one_blas_thread
from gramian.core.engines import DenseEngine, DenseRows, Holdings, make_rows
from gramian.core.engines._slot_targets import SlotTargets
from gramian.core.equations._targets import combine_one
from gramian.core.estimators._fitted import Fitted
from gramian.core.gram._moving import MovingSystem


class _Query(NamedTuple):
    """The last row that was asked for, with its kernel values by slot and ``kᵀS``."""

    row: bytes
    k: Array
    kS: Array


class Moving:
    """What stands in place of a `Fitted` while samples move through a model.

    A window moves by steps of one sample in and, if it is full, the oldest out, which are made
    here. Whoever reads the model gets a `Fitted`, which ends the movement: later steps are refused,
    and `left` says what the model held.

    Until the end, the engine serves no holdings. The samples are those of one version at any time:
    the `span` of the system says which, and nothing else does. After an interrupt the engine is
    built again from them.

    Parameters
    ----------
    now : Fitted
        Which `moves` says is fit for it.
    lock : RLock
        Of the estimator.
    most : float
        Samples that a full window holds: the oldest leaves when another one comes.
    """

    left: tuple[Array, Array, Array, object] | None = None
    """X, y and ids at the end of the movement, and the version of the holdings with them."""

    def __init__(self, now: Fitted, lock: Any, most: float) -> None:
        engine, holdings = now.engine, now.holdings
        assert isinstance(engine, DenseEngine)
        self._lock, self._engine, self._most = lock, engine, most
        self._rest = now.spec, now.samples, now.names
        self._kernel, self._ridge = engine.spec.predicts_with, engine.spec.shift
        self._equations, self._kind = engine.spec.equations, engine.spec.kind_of_targets
        # Of the holdings, what stays; they themselves have the samples that leave.
        self._classes, self._first = holdings.classes, len(holdings)
        self._next_id, self._declared = holdings.next_id, holdings.declared
        self._flat = holdings.y.ndim == 1
        self._seen: _Query | None = None
        engine.serves = None
        self._system = system = MovingSystem(engine.system, most)
        self._size = int(system.P.size)
        slots, capacity = system.slots, len(system.ring)
        self._targets = SlotTargets(engine.spec, holdings, slots, capacity)
        # A free slot lies infinitely far away: its kernel values are 0.
        self._X = np.full((capacity, holdings.rows.width), inf)
        self._X[slots] = holdings.rows.samples()
        self._shape = (1, holdings.rows.width)
        self._ids = np.zeros(capacity, dtype=holdings.ids.dtype)
        self._ids[slots] = holdings.ids

    @staticmethod
    def moves(now: Fitted) -> bool:
        """Whether all is plain: a kernel with a width, weights of 1, every class with samples."""
        engine, holdings = now.engine, now.holdings
        if type(engine) is not DenseEngine or engine.serves is not holdings.version:
            return False
        y, classes, spec = holdings.y, holdings.classes, engine.spec
        if classes is not None and (
            y.dtype.kind not in "ibU"
            or isinstance(spec.class_weight, str)
            or len(np.unique(y)) < len(classes)
        ):
            return False
        return bool(
            type(holdings.rows) is DenseRows
            and holdings.rows.dtype == np.float64
            and holdings.ids.dtype.kind == "i"
            and holdings.groups is None
            and holdings.folds is None
            and spec.predicts_with.has_width
            and (holdings.weight == 1.0).all()
            and MovingSystem.moves(engine.checked())
        )

    @property
    def count(self) -> int:
        """Number of samples held."""
        return self._system.n

    @property
    def steps(self) -> int:
        """Samples that have come since the start."""
        return self._system.span[1] - self._first

    def samples(self) -> tuple[Array, Array, Array]:
        """X, y and ids of the held samples, in order of arrival."""
        with self._lock:
            return self._present() if self.left is None else self.left[:3]

    def used(self) -> Array:
        """Which features of the held samples are not 0 in all of them."""
        with self._lock:
            X = self._X[self._system.slots] if self.left is None else self.left[0]
            return np.asarray(X.any(axis=0))

    def decide(self, X: Any) -> Array | None:
        """Predictions or decision values for one row; None if they must go the long way."""
        values = self._outputs(X)
        if values is None:
            return None
        flat = self._flat if self._classes is None else len(values) == 1
        return np.array(values if flat else [values])

    def predict(self, X: Any) -> Array | None:
        """What the estimator predicts for one row; None if it must go the long way."""
        classes = self._classes
        if classes is None:
            return self.decide(X)
        values = self._outputs(X)
        if values is None:
            return None
        best = int(values[0] > 0) if len(values) == 1 else values.index(max(values))
        found: Array = classes[best : best + 1].copy()
        return found

    def step(self, X: Any, y: Any, new_id: int) -> bool:
        """Learn one row and, if there are too many, forget the oldest; False if they are not plain.

        ``X`` and ``y`` are arrays of one row and of its targets or label. After False nothing has
        changed, and the movement must end.
        """
        with self._lock, one_blas_thread(self._size):
            return self.left is None and self._step(X, y, new_id)

    def settled(self) -> Fitted:
        """End the movement, and return the model; its engine serves unless a step broke off."""
        X, y, ids = self._present()
        more = self._next_id, self._classes, self._declared
        holdings = Holdings(make_rows(X), y, np.ones(len(ids)), ids, *more)
        if self._system.whole:
            self._system.settle()
            self._engine.serving(holdings)
        self.left = *self._present(), holdings.version
        spec, samples, names = self._rest
        return Fitted(spec, holdings, self._engine, samples, names)

    # -- inside ---------------------------------------------------------------------------------

    def _present(self) -> tuple[Array, Array, Array]:
        """X, y and ids of the held samples, in order of arrival, as new arrays."""
        slots = self._system.slots
        return self._X[slots], self._targets.values(slots, self._system.B), self._ids[slots]

    def _outputs(self, X: Any) -> list[float] | None:
        """Outputs for one row; None after the end, or if it must go the long way."""
        with self._lock:
            if self.left is not None:
                return None
            system, row, targets = self._system, self._query(X), self._targets
            if row is None or not system.whole:
                return None
            b = self._equations.slot_intercepts(system.S, system.held, targets.D, self._ridge)
            ks, *kR = row.kS.tolist()
            values = [kr + (1.0 - ks) * bias for kr, bias in zip(kR, b, strict=True)]
            if self._classes is None:
                return values
            return combine_one(values, targets.counts, self._kind)

    def _step(self, X: Any, y: Any, new_id: int) -> bool:
        system, targets, (code, b) = self._system, self._targets, self._targets.read(y)
        if b is None or not (system.whole and self._checked()):
            return False
        (gone, come), (i, j) = system.span, system.places()
        leaves = come - gone == self._most
        seen, self._seen = self._query(X), None
        if seen is None or come - gone == len(system.ring) or (leaves and targets.ends(i, code)):
            return False
        self._X[j], self._ids[j] = X[0], new_id
        targets.write(j, code)
        if not system.step(i if leaves else None, j, seen.k, seen.kS, b, targets.own[code]):
            return False
        system.span = gone + leaves, come + 1  # from here on the new sample is held
        targets.counts[code] += 1
        if leaves:  # and the oldest is not
            self._X[i], self._ids[i] = inf, 0
            targets.wipe(i)
            system.wipe(i)
        system.whole = True
        return True

    def _checked(self) -> bool:
        """Whether steps may go on, after a check of the system if one is due."""
        if not self._system.due:
            return True
        self._seen = None  # of which kᵀS changes
        return self._system.check()

    def _query(self, X: Any) -> _Query | None:
        """A row with its kernel values, computed once; None if it is not plain.

        One that was just predicted is mostly the one that is learned next.
        """
        if type(X) is not np.ndarray or X.shape != self._shape or X.dtype != np.float64:
            return None
        row, seen = X.tobytes(), self._seen
        if seen is not None and seen.row == row:
            return seen
        x = X[0]
        if not isfinite(x.dot(x)):
            return None
        k = self._kernel(X, self._X)[0]
        self._seen = seen = _Query(row, k, k.dot(self._system.S))
        return seen
