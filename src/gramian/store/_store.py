"""A model on disk that learns and forgets: durable edits, real erasure, and receipts."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from copy import deepcopy
from threading import RLock
from typing import Any, Self, TypeVar

from sklearn.utils.validation import check_is_fitted

from gramian.files import StrPath, save
from gramian.store import _edits
from gramian.store._audit import AuditReport, audit
from gramian.store._book import open_contents
from gramian.store._create import first_contents, lock_for_writing, write_whole
from gramian.store._database import Contents, reach, read_all
from gramian.store._errors import StoreError
from gramian.store._keys import Signer
from gramian.store._receipts import StoreReceipt, hashed_id
from gramian.store._writer import Edit, Writer

T = TypeVar("T")


class Store:
    """A model in one file that is edited row by row.

    The file, an SQLite database, holds the rows, the settings of the model and a chain of receipts.
    `learn`, `forget` and `relabel` return when their edit is on disk. After `forget`, nothing of
    the row is in any file of the store, except for a keyed hash of its id in the receipt. One
    process at a time can write; any number can read. Within a process, threads may share a store:
    edits take turns, and predictions do not wait for them.

    Use `Store.create` and `Store.open`; a store is a context manager.

    Examples
    --------
    >>> import os, tempfile, gramian
    >>> from gramian.store import Store
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = gramian.KernelDiscriminant(gamma=0.1, ridge=1e-2).fit(X[1:], y[1:])
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Store.create(os.path.join(folder.name, "iris.store"), model) as store:
    ...     learned = store.learn(X[:1], y[:1])
    ...     forgotten = store.forget([3, 14, 15], verify=True)
    ...     report = store.audit()
    >>> learned.n_after, forgotten.n_after, forgotten.verified, report.passed
    (150, 147, True, True)
    >>> folder.cleanup()
    """

    def __init__(self, path: StrPath, *, readonly: bool, signer: Signer | None) -> None:
        self.path, self.readonly = os.path.abspath(path), readonly
        self._lock, self._held_lock = RLock(), ExitStack()
        self._model: Any = None
        self._view: tuple[int, Any] | None = None
        self._writer = None if readonly else Writer(self.path, signer)
        self._load()

    # -- life -----------------------------------------------------------------------------------

    @classmethod
    def create(cls, path: StrPath, model: Any, *, key: Any = None, snapshot: bool = True) -> Self:
        """Write a fitted model to a new store, and open it.

        Parameters
        ----------
        path : str or path
            Nothing may be there. The file is readable by its owner only.
        model : fitted estimator of this package or TableModel
            It is not changed, and the store does not change with it.
        key : Ed25519 private key, PEM bytes or path of a PEM file, optional
            Signs the receipts; needs ``cryptography``.
        snapshot : bool
            Whether to keep the coefficients of the last version, so that opening need not compute
            them. A snapshot is erased by the first edit and written anew by `close`.
        """
        check_is_fitted(model)
        signer = None if key is None else Signer(key)
        contents = first_contents(model, signer, snapshot)
        with ExitStack() as lock:
            lock_for_writing(path, lock, None)
            if os.path.lexists(path):
                raise StoreError(f"{os.fspath(path)} is there already; a new store needs a name.")
            write_whole(path, contents)
            opened = cls(path, readonly=False, signer=signer)
            opened._held_lock = lock.pop_all()
            return opened

    @classmethod
    def open(
        cls,
        path: StrPath,
        *,
        readonly: bool = False,
        key: Any = None,
        wait: float | None = None,
    ) -> Self:
        """Open a store that `create` made.

        The rows are checked against the last receipt, and the model is built from them, O(n³) if
        there is no snapshot.

        Parameters
        ----------
        path : str or path
        readonly : bool
            Whether the store only answers. It shows the version that was there when it was opened
            or last brought up to date by `refresh`.
        key : as for `create`
            Needed to write to a store whose receipts are signed.
        wait : float, optional
            Seconds to wait for another process that writes; 10 by default.

        Raises
        ------
        StoreBusyError
            If another process has it open for writing; the message says which.
        StoreError
            If it is damaged, or not a store.
        """
        with ExitStack() as lock:
            if not os.path.exists(path):
                raise FileNotFoundError(f"there is no store {os.fspath(path)}.")
            if not readonly:
                lock_for_writing(path, lock, wait)
            signer = None if key is None else Signer(key)
            opened = cls(path, readonly=readonly, signer=signer)
            opened._held_lock = lock.pop_all()
            return opened

    def close(self) -> None:
        """Write a snapshot if there is none of this version, and let other processes write."""
        with self._lock:
            try:
                if self._writer is not None:
                    self._writer.close(self._model)
            finally:
                self._writer = self._model = self._view = None
                self._held_lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- edits ----------------------------------------------------------------------------------

    def learn(
        self, X: Any, y: Any = None, ids: Any = None, *, user: str | None = None
    ) -> StoreReceipt:
        """Learn more rows; returns when they are on disk.

        Parameters
        ----------
        X : array-like, CSR matrix or, for a model of a table, a table
        y : array-like
            A table may have its target among its columns instead.
        ids : array-like, optional
            Unique integers or strings; the next free numbers by default.
        user : str, optional
            Whom the receipt names; by default the user of this process.

        Raises
        ------
        ValueError
            If the model refuses the rows. Nothing has changed.
        StoreError
            If they cannot be written. The store is as it was.
        """
        return self._edit(
            "learn", lambda model: _edits.learn(model, X, y, ids), given=ids, user=user
        )

    def forget(self, ids: Any, verify: bool = False, *, user: str | None = None) -> StoreReceipt:
        """Forget rows; returns when they are gone from the disk.

        Parameters
        ----------
        ids : id or array-like of ids
        verify : bool
            Whether to compare with a model that is built from scratch, O(n³); the receipt has the
            difference.
        user : str, optional
            Whom the receipt names; by default the user of this process.
        """
        names = _edits.as_ids(ids)
        return self._edit(
            "forget", lambda model: model.forget(ids).settle(), gone=names, verify=verify, user=user
        )

    def relabel(self, ids: Any, y: Any, *, user: str | None = None) -> StoreReceipt:
        """Give rows other targets; the old ones are forgotten. Returns when that is on disk."""
        names = _edits.as_ids(ids)
        return self._edit(
            "relabel", lambda model: _edits.relabel(model, names, y), gone=names, user=user
        )

    # -- answers --------------------------------------------------------------------------------

    @property
    def version(self) -> int:
        """Number of the last edit that is on disk."""
        return self._book.last.number

    @property
    def model(self) -> Any:
        """A copy of the model as of the present version, which later edits do not change.

        Predictions from it need no lock. What needs the factor of the matrix (leave-one-out, drift)
        is faster by `read`.
        """
        view = self._view
        if view is not None and view[0] == self.version:
            return view[1]
        with self._lock:
            if self._view is None or self._view[0] != self.version:
                self._view = self.version, deepcopy(self._present())
            return self._view[1]

    def read(self, question: Callable[[Any], T]) -> T:
        """``question(model)``, asked of the live model between two edits; it must not change it."""
        with self._lock:
            return question(self._present())

    def predict(self, X: Any) -> Any:
        """Predicted class or number of each row."""
        return self.model.predict(X)

    def decision_function(self, X: Any) -> Any:
        """Decision values of each row."""
        return self.model.decision_function(X)

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities of each row."""
        return self.read(lambda model: model.predict_proba(X))

    def predict_set(self, X: Any, confidence_level: float) -> Any:
        """The labels that cannot be excluded, as the model says."""
        return self.read(lambda model: model.predict_set(X, confidence_level))

    def predict_interval(self, X: Any, confidence_level: float) -> Any:
        """The interval of each row's target, as the model says."""
        return self.read(lambda model: model.predict_interval(X, confidence_level))

    def refresh(self) -> bool:
        """Bring a store that is open for reading up to date; returns whether it changed."""
        with self._lock:
            if not self.readonly or self._contents().receipts[-1] == self._book.last.content():
                return False
            self._load()
            return True

    def receipts(self) -> list[StoreReceipt]:
        """All receipts up to the present version, the oldest first."""
        return [StoreReceipt.read(content) for content in self._contents().receipts][
            : self.version + 1
        ]

    def find(self, id: int | str) -> list[StoreReceipt]:
        """The receipts that are about the row with this id."""
        wanted = hashed_id(self._book.id_key, id)
        return [receipt for receipt in self.receipts() if wanted in receipt.ids]

    def audit(self, public_key: Any = None, refit: bool = False) -> AuditReport:
        """Check the file, the receipts, their signatures, the rows and, with ``refit``, the model.

        Parameters
        ----------
        public_key : Ed25519 public key, its PEM bytes, path or 64 hexadecimal digits, optional
            That of who should have signed. Without it, signatures are checked against the key that
            the store itself names.
        refit : bool
            Whether to compare the model with one that is built from scratch, O(n³).
        """
        with self._lock:
            return audit(self.path, public_key, self._present() if refit else None)

    # -- files ----------------------------------------------------------------------------------

    def export(self, path: StrPath, *, overwrite: bool = False) -> None:
        """Write the model as it is now to a model file, as `gramian.save` does."""
        self.read(lambda model: save(model, path, overwrite=overwrite))

    def compact(self) -> None:
        """Write the file anew without free places; the version stays.

        The new file replaces the old one when it is on disk. A process that reads the old one at
        that moment finishes with it.
        """
        with self._lock:
            self._writable().rewrite()
            self._load()

    # -- inside ---------------------------------------------------------------------------------

    def _contents(self) -> Contents:
        return read_all(self.path)[0]

    def _load(self) -> None:
        """Read everything, and build the model."""
        opened = open_contents(self._contents(), self.path)
        model = opened.model()
        if self._writer is not None:
            self._writer.start(model, opened)
        self._ids, self._model, self._book, self._view = model.ids_, model, opened.book, None

    def _present(self) -> Any:
        if self._model is None:
            raise StoreError(f"the store {self.path} is closed.")
        return self._model

    def _writable(self) -> Writer:
        self._present()
        if self._writer is None:
            raise StoreError(f"the store {self.path} is open for reading only.")
        return self._writer

    def _edit(
        self,
        action: str,
        change: Callable[[Any], Any],
        gone: list[Any] | None = None,
        given: Any = None,
        verify: bool = False,
        user: str | None = None,
    ) -> StoreReceipt:
        """Change the model, then the file, then what readers see; or nothing of that.

        The model refuses first, and is unchanged then. If the file cannot be changed, the model is
        built anew from the file.
        """
        with self._lock:
            writer, model, changed = self._writable(), self._model, False
            before, ids = writer.book.last, self._ids
            try:
                change(model)
                changed = True
                reach("changed")
                numbered = action == "learn" and _edits.numbers(model, given)
                receipt = writer.write(model, Edit(action, gone or [], numbered, verify, user))
                self._ids, self._view = model.ids_, None
                reach("seen")
                return receipt
            except BaseException as error:
                refused = isinstance(error, ValueError) and not changed
                done = writer.book.last is not before and self._ids is not ids
                if not done and not (refused and _same(model.ids_, ids)):
                    self._model = None  # if the file cannot be read, the store is closed
                    self._load()
                raise


def _same(one: Any, other: Any) -> bool:
    return one.shape == other.shape and bool((one == other).all())
