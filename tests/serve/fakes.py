"""A store in memory."""

from dataclasses import asdict, dataclass

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
        self.model, self.version, self._receipts, self.closed = model, 0, [], False

    def learn(self, X, y, ids=None):
        return self._edit("learn", lambda: self._learn(X, y, ids))

    def forget(self, ids):
        return self._edit("forget", lambda: self.model.forget(ids))

    def relabel(self, ids, y):
        held = self.model.ids_.tolist()
        rows = self.model.X_fit_[[held.index(name) for name in ids]]
        self.model.forget(ids)
        return self._edit("relabel", lambda: self.model.partial_fit(rows, y, ids=ids))

    def receipts(self):
        return list(self._receipts)

    def audit(self, refit=False):
        return FakeReceipt("audit", len(self.model.ids_), len(self.model.ids_))

    def close(self):
        self.closed = True

    def __getattr__(self, name):
        return getattr(self.model, name)

    def _learn(self, X, y, ids):
        if isinstance(self.model, TableModel):
            table = {**X, self.model.target: np.asarray(y).tolist()}
            if ids is not None:
                table[self.model.id_column] = list(ids)
            self.model.partial_fit(table)
        else:
            self.model.partial_fit(X, y, ids=ids)

    def _edit(self, what, edit):
        before = len(self.model.ids_)
        edit()
        self.version += 1
        self._receipts.append(FakeReceipt(what, before, len(self.model.ids_)))
        return self._receipts[-1]
