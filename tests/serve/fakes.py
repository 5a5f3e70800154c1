"""A store in memory."""

from dataclasses import asdict, dataclass
from threading import RLock

import numpy as np

from gramian.tables import TableModel


@dataclass(frozen=True)
class FakeReceipt:
    what: str
    n_before: int
    n_after: int
    as_dict = asdict


class FakeStore:
    """What the service uses of a store, without a disk."""

    def __init__(self, model):
        self._model, self.version, self._receipts, self.closed = model, 0, [], False
        self._lock = RLock()

    def read(self, question):
        with self._lock:
            return question(self._model)

    def learn(self, X, y=None, ids=None):
        return self._edit("learn", lambda model: learn(model, X, y, ids))

    def forget(self, ids):
        return self._edit("forget", lambda model: model.forget(ids))

    def relabel(self, ids, y):
        return self._edit("relabel", lambda model: relabel(model, ids, y))

    def receipts(self):
        return list(self._receipts)

    def audit(self, refit=False):
        return FakeReceipt("audit", len(self._model.ids_), len(self._model.ids_))

    def close(self):
        self.closed = True

    def _edit(self, what, edit):
        with self._lock:
            before = len(self._model.ids_)
            edit(self._model)
            self.version += 1
            self._receipts.append(FakeReceipt(what, before, len(self._model.ids_)))
            return self._receipts[-1]


def learn(model, X, y, ids):
    if isinstance(model, TableModel):
        named = {} if ids is None else {model.id_column: list(ids)}
        model.partial_fit({**X, model.target: np.asarray(y).tolist(), **named})
    else:
        model.partial_fit(X, y, ids=ids)


def relabel(model, ids, y):
    held = model.ids_.tolist()
    rows = model.X_fit_[[held.index(name) for name in ids]]
    model.forget(ids)
    model.partial_fit(rows, y, ids=ids)
