"""A model on the Gram matrix through which samples move, one in and the oldest out at a time.

What an edit makes anew, such as holdings and a predictor, is not made here: samples and targets lie
in the slots of the Gram matrix, and become holdings when somebody wants to see them. See
`MovingSystem` for the arithmetic.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines._dense import DenseEngine
from gramian.core.engines._engine import Engine
from gramian.core.engines._holdings import Holdings
from gramian.core.engines._rows import DenseRows, make_rows
from gramian.core.gram._moving import MovingSystem


class MovingModel:
    """An engine and its samples by slot, for one number to predict or two classes.

    Until `settled`, the engine serves no holdings. The samples are those of one version at any
    time: `steps` of them have come, and nothing else says so. After an interrupt the engine is
    built again from them.

    Parameters
    ----------
    engine : DenseEngine
    holdings : Holdings
        Which `moves` says are fit for it.
    """

    def __init__(self, engine: DenseEngine, holdings: Holdings) -> None:
        self._engine, self._spec = engine, engine.spec
        # Of the holdings, what stays; they themselves have the samples that leave.
        self._next_id, self.classes = holdings.next_id, holdings.classes
        self._weight, self._declared = holdings.weight, holdings.declared
        self._seen: tuple[bytes, Array, Array] | None = None  # the last query, k and kᵀS
        engine.serves = None
        self._system = system = MovingSystem(engine.system)
        slots, capacity = system.slots, len(system.held)
        self._X = np.zeros((capacity, holdings.rows.width))
        self._X[slots] = holdings.rows.samples()
        self._ids = np.zeros(capacity, dtype=holdings.ids.dtype)
        self._ids[slots] = holdings.ids
        self._y = np.zeros(capacity, dtype=holdings.y.dtype)
        self._y[slots] = holdings.y
        self._shape = (1, holdings.rows.width)
        self._labels: dict[Any, int] | None = None
        if holdings.classes is not None:
            self._labels = {label: code for code, label in enumerate(holdings.classes.tolist())}
        self._rows = [np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 1.0])]  # of B, by class

    @staticmethod
    def moves(engine: Engine, holdings: Holdings) -> bool:
        """Whether all is plain: a kernel with a width, weights of 1, one number or two classes."""
        if type(engine) is not DenseEngine or engine.serves is not holdings.version:
            return False
        y, classes = holdings.y, holdings.classes
        if classes is None:
            single = y.ndim == 1
        else:
            single = len(classes) == 2 and y.dtype.kind in "ibU" and len(np.unique(y)) == 2
        return bool(
            single
            and type(holdings.rows) is DenseRows
            and holdings.rows.dtype == np.float64
            and holdings.ids.dtype.kind == "i"
            and holdings.groups is None
            and holdings.folds is None
            and engine.spec.class_weight is None
            and engine.spec.predicts_with.has_width
            and (holdings.weight == 1.0).all()
            and MovingSystem.moves(engine.checked())
        )

    @property
    def steps(self) -> int:
        """Samples that have come since the start."""
        return self._system.start

    @property
    def size(self) -> int:
        """Numbers in the Gram matrix."""
        return int(self._system.P.size)

    def output(self, X: Any) -> float | None:
        """Prediction or decision value for one row; None if it must go the long way."""
        system, row = self._system, self._row(X)
        if row is None or not system.whole:
            return None
        b = self._spec.equations.slot_intercepts(system.S, system.held, self._spec.shift)
        ks, *kR = row[2].tolist()
        values = [kr + (1.0 - ks) * bias for kr, bias in zip(kR, b.tolist(), strict=True)]
        if self._labels is None:
            return float(values[0])
        if self._spec.kind_of_targets == "signs":
            return float(values[1] - values[0])
        second = float(system.B[:, 2].sum())
        return float(system.n / second * values[1] - system.n / (system.n - second) * values[0])

    def step(self, X: Any, y: Any, new_id: int) -> bool:
        """Learn one row, forget the oldest; False if they are not plain enough.

        ``X`` and ``y`` are arrays of one row and of one target or label. After False nothing has
        changed, and the model must be settled.
        """
        b, system = self._targets(y), self._system
        if b is None or not (system.whole and self._checked()):
            return False
        i, j = system.places()
        seen, self._seen = self._row(X), None
        if seen is None:
            return False
        self._X[j], self._y[j], self._ids[j] = X[0], y[0], new_id
        if not system.step(*seen[1:], b):
            return False
        system.start += 1  # from here on the new sample is held, and the oldest is not
        self._X[i], self._y[i], self._ids[i] = 0.0, y[0], 0  # a label that is held anyway
        system.whole = True
        return True

    def samples(self) -> tuple[Array, Array, Array]:
        """X, y and ids of the held samples, in order of arrival, as new arrays."""
        slots = self._system.slots
        return self._X[slots], self._y[slots], self._ids[slots]

    def used(self) -> Array:
        """Which features of the held samples are not 0 in all of them."""
        return np.asarray(self._X.any(axis=0))

    def settled(self) -> tuple[Holdings, Engine]:
        """The holdings of now, and the engine, which serves them unless a step was interrupted."""
        X, y, ids = self.samples()
        more = self._next_id, self.classes, self._declared
        holdings = Holdings(make_rows(X), y, self._weight, ids, *more)
        if self._system.whole:
            self._system.settle()
            self._engine.serves = holdings.version
        return holdings, self._engine

    # -- inside ---------------------------------------------------------------------------------

    def _checked(self) -> bool:
        """Whether steps may go on, after a check of the system if one is due."""
        if not self._system.due:
            return True
        self._seen = None  # of which kᵀS changes
        return self._system.check()

    def _row(self, X: Any) -> tuple[bytes, Array, Array] | None:
        """A row with its kernel values by slot and ``kᵀS``, computed once; None if it is not plain.

        One that was just predicted is mostly the one that is learned next.
        """
        if type(X) is not np.ndarray or X.shape != self._shape or X.dtype != np.float64:
            return None
        row, seen = X.tobytes(), self._seen
        if seen is not None and seen[0] == row:
            return seen
        x = X[0]
        if not isfinite(x.dot(x)):
            return None
        k = self._spec.predicts_with(X, self._X)[0]
        k *= self._system.held
        self._seen = seen = row, k, k @ self._system.S
        return seen

    def _targets(self, y: Any) -> Array | None:
        """The row of B for a new target; None if it is of another kind, or if a class vanishes."""
        if type(y) is not np.ndarray or y.shape != (1,) or y.dtype.kind != self._y.dtype.kind:
            return None
        target = y.item()
        if self._labels is None:
            return np.array([1.0, target]) if isfinite(target) else None
        code = self._labels.get(target)
        if code is None:
            return None
        system = self._system
        leaving = int(system.B.item(system.places()[0], 2))
        if leaving != code and system.B[:, 1 + leaving].sum() == 1.0:
            return None
        return self._rows[code]
