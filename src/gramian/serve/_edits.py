"""Edits of a store, as requests ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gramian.core.arrays import Array


@dataclass(frozen=True, eq=False)
class Learn:
    """Rows to learn: an array with targets and perhaps ids, or a table that has all in columns."""

    kind: ClassVar[str] = "learn"
    rows: Any
    targets: Array | None
    ids: list[Any] | None

    def __len__(self) -> int:
        return len(next(iter(self.rows.values()))) if self.targets is None else len(self.targets)

    def apply(self, store: Any) -> Any:
        """Learn them; the receipt."""
        return store.learn(self.rows, self.targets, ids=self.ids)

    def ids_in(self, model: Any) -> list[Any]:
        """The ids that they have in the model that has just learned them."""
        return model.ids_[-len(self) :].tolist()

    @property
    def form(self) -> Any:
        """What edits have in common that can be learned in one block."""
        if self.targets is None:
            return frozenset(self.rows)
        kind = self.targets.dtype.kind, self.targets.shape[1:]
        return self.rows.shape[1:], kind, None if self.ids is None else type(self.ids[0])

    @staticmethod
    def added(edits: Sequence[Learn]) -> Learn:
        """Edits of one form as one."""
        rows = [edit.rows for edit in edits]
        if edits[0].targets is None:
            table = {name: [cell for part in rows for cell in part[name]] for name in rows[0]}
            return Learn(table, None, None)
        targets = np.concatenate([edit.targets for edit in edits])
        named = edits[0].ids is not None
        ids = [name for edit in edits for name in edit.ids or ()] if named else None
        return Learn(np.vstack(rows), targets, ids)


@dataclass(frozen=True, eq=False)
class Forget:
    """Rows to forget."""

    kind: ClassVar[str] = "forget"
    ids: list[Any]

    def __len__(self) -> int:
        return len(self.ids)

    def apply(self, store: Any) -> Any:
        """Forget them; the receipt."""
        return store.forget(self.ids)

    def ids_in(self, model: Any) -> list[Any]:
        """The ids that they had."""
        return self.ids


@dataclass(frozen=True, eq=False)
class Relabel(Forget):
    """Rows to give other targets."""

    kind: ClassVar[str] = "relabel"
    targets: Array

    def apply(self, store: Any) -> Any:
        """Exchange the targets; the receipt."""
        return store.relabel(self.ids, self.targets)


Edit = Learn | Forget


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
