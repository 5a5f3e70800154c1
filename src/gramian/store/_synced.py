"""The model of a store, kept equal to what is on the disk or the server."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any

import numpy as np

from gramian.files import Receipt
from gramian.files.parts import follows_from_rows
from gramian.store import _edits
from gramian.store._anchor import Anchor
from gramian.store._backend import Backend, Changes
from gramian.store._commitment import Commitment
from gramian.store._errors import OldCopyError, StoreError, StoreReplacedError
from gramian.store._index import open_contents
from gramian.store._keys import Signer
from gramian.store._rows import held_from
from gramian.store._writer import Edit, Writer


class SyncedModel:
    """A live model and its place on disk: both are changed by an edit, or none of them.

    The live model is edited first, since it may refuse; then the file. If the file cannot be
    changed, the model is built anew from what the file holds.
    """

    path: str
    readonly: bool

    def __init__(
        self,
        backend: Backend,
        *,
        readonly: bool = False,
        signer: Signer | None = None,
        anchor: Anchor | None = None,
    ) -> None:
        self.path, self.readonly = backend.address, readonly
        self._backend, self._database = backend, backend.database
        self._anchor, self._lock = anchor, RLock()
        self._model: Any = None
        self._lost = False  # whether the model is to be read again when the server answers
        self._view: tuple[int, Any] | None = None
        self._writer = None if readonly else Writer(backend, signer)
        self._load()

    @property
    def version(self) -> int:
        """Number of the last edit that is on disk."""
        return int(self._last.number or 0)

    def _load(self) -> None:
        """Read everything, and build the model."""
        contents, _ = self._backend.read()
        if contents.erased is not None:
            raise OldCopyError(
                f"{self.path} is an old copy, of version {len(contents.receipts) - 1}: rows were "
                f"erased since, {contents.erased} of those that it has. `gramian store restore` "
                f"makes a store of the others."
            )
        opened = open_contents(contents, self.path)
        self._check_history(contents.receipts)
        if self._anchor is not None:
            hashes = [Receipt.read(content).hash for content in contents.receipts]
            self._anchor.check(hashes, self.path)
        model = opened.model()
        if self._writer is not None:
            self._writer.start(model, opened)
        self._index, self._parts = opened.index, opened.parts
        self._last, self._model, self._view = self._index.last, model, None
        self._lost = False

    def _check_history(self, contents: list[bytes]) -> None:
        """Raise OldCopyError if the last receipt that was seen is not among these."""
        seen = self.__dict__.get("_last")
        if seen is not None and contents[seen.number : seen.number + 1] != [seen.content()]:
            raise OldCopyError(
                f"{self.path} is an old copy, or has another history: receipt {seen.number} was "
                f"there before, and is not now."
            )

    def _present(self) -> Any:
        if self._lost:
            self._load()
        if self._model is None:
            raise StoreError(f"the store {self.path} is closed.")
        return self._model

    def _writable(self) -> Writer:
        self._present()
        if self._writer is None:
            raise StoreError(f"the store {self.path} is open for reading only.")
        return self._writer

    def _waiting(self, name: Any) -> int:
        """The place of a row that is withheld."""
        if name not in self._index.withheld:
            raise ValueError(f"id {name!s} is not withheld.")
        return self._index.places[name].number

    def _write_anchor(self, receipt: Receipt) -> None:
        if self._anchor is not None:
            self._anchor.write(receipt)

    def _edit(self, change: Callable[[Any], Edit], *, erases: bool = False) -> Receipt:
        """Change the model and the file, then what readers see; or nothing of that.

        The model refuses first, and is unchanged then. If the file cannot be changed, the model is
        built anew from the file.
        """
        with self._lock:
            writer, before, refused = self._writable(), self._last, False
            begun = not self._database.remote  # a file may have been replaced, or be in doubt
            try:
                with writer.transaction(erases=erases) as version:
                    begun = True
                    if version != self.version:
                        self._follow()
                        before = self._last
                        self._check_version(version)
                    held = self._model.ids_
                    try:
                        edit = change(self._model)
                    except ValueError:
                        refused = np.array_equal(self._model.ids_, held)
                        raise
                    receipt = writer.write(self._model, edit)
                writer.done(receipt)
                self._last, self._view = receipt, None
                self._write_anchor(receipt)
                return receipt
            except BaseException as error:
                if refused or self._last is not before or isinstance(error, OldCopyError):
                    raise
                if not begun and isinstance(error, StoreError):
                    raise type(error)(f"{error} Nothing was changed.") from error
                self._recover(error, before)
                raise

    def _check_version(self, found: int) -> None:
        if found != self.version:
            raise OldCopyError(
                f"{self.path} is an old copy: it is at version {found}, and was at {self.version}."
            )

    def _recover(self, error: BaseException, before: Receipt) -> None:
        """Go on from what is on disk after an edit failed, and say what became of it."""
        attempted = self._writer.attempted if self._writer is not None else None
        self._model = None  # if the file cannot be read, the store is closed
        if isinstance(error, StoreReplacedError):
            self._backend.close()
            return
        try:
            self._database.settle()
            self._load()
        except StoreError as worse:
            self._lost = self._database.remote
            raise type(worse)(
                f"{error} Whether the edit was made shows when the store is opened anew; this one "
                f"is closed{' until then' if self._lost else ''}, since {worse}"
            ) from error
        if not isinstance(error, StoreError):
            return
        if attempted is not None and attempted.hash in (self._last.hash, self._last.previous):
            said = f"The edit was made, and has receipt {attempted.number}."
        else:
            said = "Nothing was changed."
        raise type(error)(f"{error} {said}") from error

    def _follow(self) -> bool:
        """Apply what other processes have done since; returns whether there was anything."""
        found = self._backend.changes(self.version)
        if not found.receipts:
            return False
        try:
            followed = self._apply(found)
        except OldCopyError:
            raise
        except (ValueError, ArithmeticError):  # the model refuses what is between two versions
            followed = False
        except BaseException:
            self._reload()
            raise
        if not followed:
            self._reload()
        return True

    def _reload(self) -> None:
        """Read everything anew; where that fails, later, if the place may come back."""
        self._model, self._lost = None, self._database.remote
        self._load()

    def _apply(self, found: Changes) -> bool:
        """Make the same edits; False if the store has to be read anew."""
        receipts, model, index = [Receipt.read(c) for c in found.receipts], self._model, self._index
        last, previous = receipts[-1], self._last.hash
        for receipt in receipts:
            if receipt.previous != previous:
                raise OldCopyError(f"{self.path} has another history than before.")
            previous = receipt.hash
        if last.settings != index.settings_digest or not follows_from_rows(model):
            return False
        gone = index.leave(found.rows)
        came = [row for row in index.arrive(found.rows) if row.due is None]
        if gone:
            model.forget(gone)
            model.settle()
        if came and not _edits.learn_again(model, came, held_from(came, self._parts)):
            return False
        index.commitment = Commitment.from_sums(found.sums)
        if len(model.ids_) != last.n_after or index.commitment.digest() != last.commitment:
            return False
        for receipt in receipts:
            index.tree.add(receipt.hash)
        index.last = self._last = last
        self._view = None
        return True
