"""What a path is to the commands: a model file or a store, by one interface.

A command that reads uses `reading`, one that changes the model `editing`. An edit of a file is
saved before the method returns; an edit of a store is on disk, and has its receipt, likewise.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

import gramian
from gramian.cli._options import OPENING, is_address
from gramian.files import file_facts, locked
from gramian.tables import TableModel

if TYPE_CHECKING:
    from gramian.store import Store

Facts = dict[str, Any]
_DATABASE = b"SQLite format 3\x00"


def opening() -> dict[str, Any]:
    """Keyring and anchor that the command was given, as `gramian.store` takes them."""
    given = click.get_current_context().meta.get(OPENING, {})
    return {name: value for name, value in given.items() if value is not None}


def open_store(path: str, **options: Any) -> Store:
    """A store, with the keyring and the anchor that the command was given."""
    from gramian.store import Store  # a model file needs no database

    return Store.open(path, **options, **opening())


class Opened(ABC):
    """A model, and the file that holds it."""

    def __init__(self, path: str, saved: str) -> None:
        self.path = path
        self.saved = saved
        """The file that holds the model after an edit."""

    @property
    @abstractmethod
    def model(self) -> Any:
        """The present model."""

    @property
    def table_model(self) -> TableModel:
        """The present model; ValueError if it knows no columns."""
        if not isinstance(self.model, TableModel):
            raise ValueError(
                f"{self.path} holds a {type(self.model).__name__} that was saved from Python and "
                f"knows no columns. Use it from Python, or make a model with `gramian fit`."
            )
        return self.model

    @abstractmethod
    def facts(self) -> Facts:
        """Version, size and the like."""

    @abstractmethod
    def learn(self, table: Any) -> Facts | None:
        """Learn the rows of a table; the receipt, where there is one."""

    @abstractmethod
    def relabel(self, ids: list[Any], cells: list[Any]) -> Facts | None:
        """Give rows other targets; the receipt, where there is one."""

    @abstractmethod
    def forget(self, ids: list[Any], *, verify: bool, **options: Any) -> Facts:
        """Forget rows; the receipt.

        A store takes the option ``after``, a file ``receipts``, ``reselect`` and ``tolerance``.
        """


class ModelFile(Opened):
    """A model file; an edit writes it, or another one."""

    def __init__(self, path: str, saved: str) -> None:
        super().__init__(path, saved)
        self._model = gramian.load(path)

    @property
    def model(self) -> Any:
        return self._model

    def facts(self) -> Facts:
        return file_facts(self.path)

    def learn(self, table: Any) -> None:
        self._model.partial_fit(table)
        gramian.save(self._model, self.saved)

    def relabel(self, ids: list[Any], cells: list[Any]) -> None:
        self._model.relabel(ids, cells)
        gramian.save(self._model, self.saved)

    def forget(
        self,
        ids: list[Any],
        *,
        verify: bool,
        after: Any = None,
        receipts: str | None = None,
        **options: Any,
    ) -> Facts:
        from gramian.files import _ledger  # what only predicts is faster without

        if after is not None:
            raise ValueError(f"{self.path} is a model file; --after is for a store.")
        receipt = gramian.forget(self._model, ids, verify=verify, **options)
        record = _ledger.new_record(receipt, self.saved)
        if receipts is None:
            gramian.save(self._model, self.saved)
            return {**record, "status": _ledger.DONE}
        _ledger.append_record(receipts, record, _ledger.PENDING)
        try:
            gramian.save(self._model, self.saved)
        except Exception:
            note = "the model could not be saved"
            _ledger.append_record(receipts, record, _ledger.VOID, note=note)
            raise
        return _ledger.append_record(receipts, record, _ledger.DONE)


class OpenStore(Opened):
    """A store, which changes in place and writes its own receipts."""

    def __init__(self, path: str, store: Store) -> None:
        super().__init__(path, path)
        self._store = store

    @property
    def model(self) -> Any:
        return self._store.read(lambda model: model)

    def facts(self) -> Facts:
        last = self._store.receipts()[-1]
        return {
            "class": "store",
            "version": last.number,
            "last_edit": f"{last.action}, {last.time}",
            "receipts": "not signed" if last.public_key is None else f"signed by {last.public_key}",
            "last_receipt": last.hash,
            "copies": "not reached" if last.epoch is None else f"reached, epoch {last.epoch}",
            **({} if is_address(self.path) else {"bytes": os.stat(self.path).st_size}),
        }

    def learn(self, table: Any) -> Facts:
        return self._store.learn(table).as_dict()

    def relabel(self, ids: list[Any], cells: list[Any]) -> Facts:
        return self._store.relabel(ids, cells).as_dict()

    def forget(self, ids: list[Any], *, verify: bool, after: Any = None, **_: Any) -> Facts:
        receipt = self._store.forget(ids, verify=verify, after=after)
        return {**receipt.as_dict(), "ids": ids, "hashed_ids": list(receipt.ids)}


@contextmanager
def reading(path: str) -> Iterator[Opened]:
    """Open what this path is, to read."""
    if not _is_store(path):
        yield ModelFile(path, path)
        return
    with open_store(path, readonly=True) as store:
        yield OpenStore(path, store)


@contextmanager
def editing(
    path: str, *, key: str | None = None, output: str | None = None, **file_only: Any
) -> Iterator[Opened]:
    """Open what this path is, to change it; ``file_only`` has options that stores do not take.

    Raises
    ------
    ValueError
        If an option was given that does not go with what the path is.
    """
    if _is_store(path):
        _check_options(path, **file_only, output=output)
        with open_store(path, key=key) as store:
            yield OpenStore(path, store)
        return
    if key is not None:
        raise ValueError(f"{path} is a model file; a key signs the receipts of a store.")
    with locked(output or path):  # from the start: who waits for it need not wait in vain
        yield ModelFile(path, output or path)


def _is_store(path: str) -> bool:
    """As `gramian.store.is_store`, which takes long to import."""
    if is_address(path):
        return True
    with open(path, "rb") as stream:
        return stream.read(len(_DATABASE)) == _DATABASE


def _check_options(path: str, **options: Any) -> None:
    given = [f"--{name}" for name, value in options.items() if value]
    if given:
        raise ValueError(
            f"{path} is a store, which writes its own receipts and changes in place: it does not "
            f"take {' and '.join(given)}. For another file, `gramian store export` it first; "
            f"`gramian store reselect` chooses anew."
        )
