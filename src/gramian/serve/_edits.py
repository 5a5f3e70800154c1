"""Edits of a store, as requests ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gramian.arrays import Array


@dataclass(frozen=True, eq=False)
class Learn:
    """Rows to learn: an array, or for a model of a table its columns by name."""

    kind: ClassVar[str] = "learn"
    rows: Any
    targets: Array
    ids: list[int | str] | None

    def __len__(self) -> int:
        return len(self.targets)

    def apply(self, store: Any) -> Any:
        """Learn them; the receipt."""
        return store.learn(self.rows, self.targets, ids=self.ids)

    def ids_in(self, model: Any) -> list[int | str]:
        """The ids that they have in the model that has just learned them."""
        return model.ids_[-len(self) :].tolist()

    def joins(self, other: Any) -> bool:
        """Whether both can be learned in one block."""
        return (
            isinstance(other, Learn)
            and (self.ids is None) == (other.ids is None)
            and _form(self.rows) == _form(other.rows)
            and self.targets.dtype.kind == other.targets.dtype.kind
            and self.targets.shape[1:] == other.targets.shape[1:]
        )

    @staticmethod
    def joined(edits: Sequence[Learn]) -> Learn:
        """The edits as one."""
        rows = [edit.rows for edit in edits]
        table: Any
        if isinstance(rows[0], dict):
            table = {name: [c for part in rows for c in part[name]] for name in rows[0]}
        else:
            table = np.vstack(rows)
        ids = None if edits[0].ids is None else [i for edit in edits for i in edit.ids or ()]
        return Learn(table, np.concatenate([edit.targets for edit in edits]), ids)


@dataclass(frozen=True, eq=False)
class Forget:
    """Rows to forget."""

    kind: ClassVar[str] = "forget"
    ids: list[int | str]

    def __len__(self) -> int:
        return len(self.ids)

    def apply(self, store: Any) -> Any:
        """Forget them; the receipt."""
        return store.forget(self.ids)

    def ids_in(self, model: Any) -> list[int | str]:
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
    rows = 0
    for edit, waiting in edits:
        size = len(edit) if isinstance(edit, Learn) else most
        last = found[-1][-1][0] if found else None
        if isinstance(last, Learn) and last.joins(edit) and rows + size <= most:
            found[-1].append((edit, waiting))
            rows += size
        else:
            found.append([(edit, waiting)])
            rows = size
    return found


def _form(rows: Any) -> Any:
    """What rows must have in common to be joined."""
    return set(rows) if isinstance(rows, dict) else rows.shape[1]
