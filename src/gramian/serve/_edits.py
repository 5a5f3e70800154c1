"""Edits of a store, as requests ask for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gramian.core.arrays import Array
from gramian.files import Receipt
from gramian.store import Store
from gramian.store._edits import ids_of_groups


def row_count(rows: Any) -> int:
    """Number of rows of an array or of a table by columns."""
    return len(rows) if isinstance(rows, np.ndarray) else len(next(iter(rows.values())))


@dataclass(frozen=True, eq=False, kw_only=True)
class Edit(ABC):
    """A change of rows; ``user`` is whom the receipt names."""

    kind: ClassVar[str]
    user: str | None = None

    @abstractmethod
    def __len__(self) -> int:
        """Number of rows."""

    @abstractmethod
    def apply(self, store: Store) -> Receipt:
        """Change the store; the receipt."""

    @abstractmethod
    def try_on(self, model: Any) -> None:
        """Change a model that is no store's."""

    @abstractmethod
    def ids_in(self, model: Any) -> list[Any]:
        """The ids of the rows in the model that has just been changed."""


@dataclass(frozen=True, eq=False)
class Learn(Edit):
    """Rows to learn: an array with targets and perhaps ids, or a table that has all in columns."""

    kind: ClassVar[str] = "learn"
    rows: Any
    targets: Array | None
    ids: list[Any] | None
    groups: list[Any] | None = None

    def __len__(self) -> int:
        return row_count(self.rows)

    def apply(self, store: Store) -> Receipt:
        own = {"ids": self.ids, "groups": self.groups}
        return store.learn(self.rows, self.targets, **own, user=self.user)

    def try_on(self, model: Any) -> None:
        model.partial_fit(self.rows, self.targets, ids=self.ids, groups=self.groups)

    def ids_in(self, model: Any) -> list[Any]:
        return list(model.ids_[-len(self) :].tolist())

    @property
    def form(self) -> Any:
        """What edits have in common that can be learned in one block, with one receipt."""
        named = tuple(type(some[0]) if some else None for some in (self.ids, self.groups))
        if self.targets is None:
            return self.user, frozenset(self.rows), named
        kind = self.targets.dtype.kind, self.targets.shape[1:]
        return self.user, self.rows.shape[1:], kind, named

    @staticmethod
    def merged(edits: Sequence[Learn]) -> Learn:
        """Edits of one form as one."""
        rows, user = [edit.rows for edit in edits], edits[0].user
        ids, groups = (
            _concatenated([edit.ids for edit in edits]),
            _concatenated([edit.groups for edit in edits]),
        )
        if edits[0].targets is None:
            table = {name: [cell for part in rows for cell in part[name]] for name in rows[0]}
            return Learn(table, None, ids, groups, user=user)
        targets = np.concatenate([edit.targets for edit in edits])
        return Learn(np.vstack(rows), targets, ids, groups, user=user)


def _concatenated(parts: Sequence[list[Any] | None]) -> list[Any] | None:
    """The names of several edits in one list; None if these have none."""
    return None if parts[0] is None else [name for part in parts for name in part or ()]


@dataclass(frozen=True, eq=False)
class Forget(Edit):
    """Rows to forget: these, or all of some groups, which then fill the list of ids."""

    kind: ClassVar[str] = "forget"
    ids: list[Any]
    verify: bool = False
    groups: list[Any] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def apply(self, store: Store) -> Receipt:
        if self.groups is None:
            return store.forget(self.ids, verify=self.verify, user=self.user)
        self.ids[:] = store.read(lambda model: ids_of_groups(model, self.groups))
        return store.forget(groups=self.groups, verify=self.verify, user=self.user)

    def try_on(self, model: Any) -> None:
        if self.groups is not None:
            self.ids[:] = ids_of_groups(model, self.groups)
        model.forget(self.ids)

    def ids_in(self, model: Any) -> list[Any]:
        return self.ids


@dataclass(frozen=True, eq=False)
class Relabel(Edit):
    """Rows to give other targets."""

    kind: ClassVar[str] = "relabel"
    ids: list[Any]
    targets: Array

    def __len__(self) -> int:
        return len(self.ids)

    def apply(self, store: Store) -> Receipt:
        return store.relabel(self.ids, self.targets, user=self.user)

    def try_on(self, model: Any) -> None:
        model.relabel(self.ids, self.targets)

    def ids_in(self, model: Any) -> list[Any]:
        return self.ids


def blocks(edits: Sequence[tuple[Edit, Any]], most: int) -> list[list[tuple[Edit, Any]]]:
    """Neighbours that can be learned together, at most so many rows; others alone, in order."""
    found: list[list[tuple[Edit, Any]]] = []
    last: Any = None
    rows = 0
    for entry in edits:
        edit = entry[0]
        form = edit.form if isinstance(edit, Learn) else None
        rows += len(edit)
        if form is not None and form == last and rows <= most:
            found[-1].append(entry)
        else:
            found.append([entry])
            rows = len(edit)
        last = form
    return found
