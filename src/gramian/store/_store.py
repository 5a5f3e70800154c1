"""A model on disk that learns and forgets: durable edits, real erasure, and receipts."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import replace
from threading import RLock
from typing import Any, Self, TypeVar

from sklearn.utils.validation import check_is_fitted

import gramian
from gramian.files import StrPath, user_name
from gramian.io import (
    default_tolerance,
    difference_to_refit,
    following,
    follows_from_rows,
    machine_of,
    rows_of,
    save,
    write_values,
)
from gramian.store import _edits
from gramian.store._audit import AuditReport, audit
from gramian.store._book import open_contents, settings_digest, snapshot_checksum
from gramian.store._create import first_contents, lock_for_writing, new_settings, write_whole
from gramian.store._database import Contents, Database, reach, read_all
from gramian.store._errors import StoreBusyError, StoreError
from gramian.store._keys import Signer, signed
from gramian.store._receipts import StoreReceipt, hashed_id, now
from gramian.store._rows import pack, rows_from

T = TypeVar("T")

MEASURED_UP_TO = 1_000
"""Rows up to which the drift is measured at every edit; it costs O(n²)."""

MEASURED_EVERY = 64


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

    def __init__(self, path: StrPath, *, readonly: bool, signer: Signer | None, lock: ExitStack):
        self.path, self.readonly = os.path.abspath(path), readonly
        self._signer, self._held_lock, self._lock = signer, lock, RLock()
        self._database: Database | None = None
        self._model: Any = None
        self._view: tuple[int, Any] | None = None
        self._user = user_name()
        self._load()
        if not readonly:
            self._check_signer()
            self._database = Database(path)

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
            return cls(path, readonly=False, signer=signer, lock=lock.pop_all())

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
            return cls(path, readonly=readonly, signer=signer, lock=lock.pop_all())

    def close(self) -> None:
        """Write a snapshot if there is none of this version, and let other processes write."""
        with self._lock:
            try:
                if self._database is not None:
                    self._write_snapshot()
            finally:
                if self._database is not None:
                    self._database.close()
                self._database = self._model = self._view = None
                self._held_lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- edits ----------------------------------------------------------------------------------

    def learn(self, X: Any, y: Any = None, ids: Any = None) -> StoreReceipt:
        """Learn more rows; returns when they are on disk.

        Parameters
        ----------
        X : array-like, CSR matrix or, for a model of a table, a table
        y : array-like
            A table may have its target among its columns instead.
        ids : array-like, optional
            Unique integers or strings; the next free numbers by default.

        Raises
        ------
        ValueError
            If the model refuses the rows. Nothing has changed.
        StoreError
            If they cannot be written. The store is as it was.
        """
        return self._edit("learn", lambda model: _edits.learn(model, X, y, ids), given=ids)

    def forget(self, ids: Any, verify: bool = False) -> StoreReceipt:
        """Forget rows; returns when they are gone from the disk.

        Parameters
        ----------
        ids : id or array-like of ids
        verify : bool
            Whether to compare with a model that is built from scratch, O(n³); the receipt has the
            difference.
        """
        names = _edits.as_ids(ids)
        return self._edit("forget", lambda model: model.forget(ids), gone=names, verify=verify)

    def relabel(self, ids: Any, y: Any) -> StoreReceipt:
        """Give rows other targets; the old ones are forgotten. Returns when that is on disk."""
        names = _edits.as_ids(ids)
        return self._edit("relabel", lambda model: _edits.relabel(model, names, y), gone=names)

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

    def predict_set(self, X: Any, confidence: float) -> Any:
        """The labels that cannot be excluded, as the model says."""
        return self.read(lambda model: model.predict_set(X, confidence))

    def predict_interval(self, X: Any, confidence: float) -> Any:
        """The interval of each row's target, as the model says."""
        return self.read(lambda model: model.predict_interval(X, confidence))

    def refresh(self) -> bool:
        """Bring a store that is open for reading up to date; returns whether it changed."""
        with self._lock:
            before = self.version
            if self.readonly:
                self._load()
            return self.version != before

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
            self._writable().close()
            try:
                contents = self._contents()
                if os.path.exists(f"{self.path}-wal"):
                    raise StoreBusyError(
                        f"{self.path} is open in another process, which would lose sight of a new "
                        f"file. Nothing was changed. Try again when that is done."
                    )
                taken = [content for content in contents.rows.values() if any(content)]
                write_whole(self.path, contents._replace(rows=dict(enumerate(taken))))
            finally:
                self._load()
                self._database = Database(self.path)

    # -- inside ---------------------------------------------------------------------------------

    def _contents(self) -> Contents:
        return read_all(self.path)[0]

    def _load(self) -> None:
        """Read everything, and build the model."""
        opened = open_contents(self._contents(), self.path)
        model = opened.model()
        self._ids, self._columns = model.ids_, _edits.columns_of(model)
        self._has_snapshot = opened.known is not None
        self._model, self._book, self._view = model, opened.book, None

    def _present(self) -> Any:
        if self._model is None:
            raise StoreError(f"the store {self.path} is closed.")
        return self._model

    def _writable(self) -> Database:
        self._present()
        if self._database is None:
            raise StoreError(f"the store {self.path} is open for reading only.")
        return self._database

    def _check_signer(self) -> None:
        public, ours = self._book.last.public_key, self._signer and self._signer.public
        if public is None and ours is not None:
            raise StoreError(f"the store {self.path} does not sign its receipts; give no key.")
        if public != ours:
            seen = "no key was given" if ours is None else f"the key given is that of {ours}"
            raise StoreError(
                f"the store {self.path} signs its receipts, and {seen}. Open it with the key "
                f"whose public part is {public}, or with readonly=True."
            )

    def _edit(
        self,
        action: str,
        change: Callable[[Any], Any],
        gone: list[Any] | None = None,
        given: Any = None,
        verify: bool = False,
    ) -> StoreReceipt:
        """Change the model, then the file, then what readers see; or nothing of that.

        The model refuses first, and is unchanged then. If the file cannot be changed, the model is
        built anew from the file.
        """
        with self._lock:
            self._writable()
            model, n = self._model, len(self._ids)
            try:
                change(model)
                reach("changed")
                numbered = action == "learn" and _edits.numbers(model, given)
                receipt = self._commit(action, n, gone or [], numbered, verify)
            except BaseException:
                if not _same(model.ids_, self._ids) or action == "relabel":
                    self._give_up()
                raise
            self._view = None
            reach("seen")
            return receipt

    def _give_up(self) -> None:
        """Go back to what is on disk."""
        self._model = None  # if it cannot be read, the store is closed
        self._load()

    def _commit(
        self, action: str, n: int, gone: list[Any], numbered: bool, verify: bool
    ) -> StoreReceipt:
        """Write the edit that the model has made, and a receipt."""
        database, model, book = self._writable(), self._model, self._book
        ids, columns = model.ids_, _edits.columns_of(model)
        facts = {"action": action, "n_before": n, "n_after": len(ids), **self._measured(verify)}
        with database.transaction(erases=bool(gone)):
            reach("begun")
            for name in gone:
                database.wipe(*book.drop(name, database.row(book.places[name][0])))
            stayed = n - len(gone)
            if len(ids) > stayed:
                for row in rows_from(rows_of(model), stayed, book.arrival):
                    content = pack(row)
                    place, is_new = book.take(len(content))
                    database.put(place, content, new=is_new)
                    book.note(place, content, row)
            if columns != self._columns or not follows_from_rows(model):
                settings = new_settings(model)
                book.settings_digest = settings_digest(*settings)
                database.set_settings(*settings)
            if numbered:
                facts["next_id"] = int(ids[-1]) + 1
            receipt = self._receipt(ids[stayed:].tolist() or gone, facts)
            database.add_receipt(receipt.number, receipt.content())
        book.last, self._ids, self._columns = receipt, ids, columns
        self._has_snapshot = False
        return receipt

    def _measured(self, verify: bool) -> dict[str, Any]:
        """Drift and difference to a refit, where they are asked for or cheap."""
        model, difference, tolerance, verified = self._model, None, None, None
        if verify:
            difference, tolerance = difference_to_refit(model), default_tolerance(model)
            verified = bool(difference <= tolerance)
        due = (self.version + 1) % MEASURED_EVERY == 0
        measures = verify or due or len(self._ids) <= MEASURED_UP_TO
        return {
            "drift": float(machine_of(model).drift()) if measures else None,
            "difference": difference,
            "tolerance": tolerance,
            "verified": verified,
            "seen_by": tuple(model.seen_by_),
        }

    def _receipt(self, names: list[Any], facts: dict[str, Any]) -> StoreReceipt:
        """The next receipt of the chain, for rows of these ids."""
        book, last = self._book, self._book.last
        changes: dict[str, Any] = {
            "number": last.number + 1,
            "time": now(),
            "user": self._user,
            "ids": tuple(hashed_id(book.id_key, name) for name in names),
            "count": len(names),
            "commitment": book.commitment.digest(),
            "settings": book.settings_digest,
            "previous": last.hash,
            "version": gramian.__version__,
        }
        return signed(replace(last, **changes, **facts), self._signer)

    def _write_snapshot(self) -> None:
        """Keep what follows from the rows, for the next process that opens the store."""
        database, known = self._database, {}
        if self._book.last.snapshots and not self._has_snapshot and self._model is not None:
            known = following(self._model)
        if database is not None and known:
            content = write_values(known)
            with database.transaction():
                database.set_snapshot(snapshot_checksum(content, self._book.last), content)


def _same(one: Any, other: Any) -> bool:
    return one.shape == other.shape and bool((one == other).all())
