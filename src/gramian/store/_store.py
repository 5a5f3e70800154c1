"""A model on disk that learns and forgets: durable edits, real erasure, and receipts."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Self, TypeVar

from sklearn.utils.validation import check_is_fitted

from gramian.files import Proof, Receipt, StrPath, save
from gramian.files._receipt import now
from gramian.store import _edits
from gramian.store._anchor import Anchor
from gramian.store._audit import AuditReport, Check, audit_backend
from gramian.store._create import first_contents
from gramian.store._errors import StoreReplacedError
from gramian.store._following import LEASE, Following
from gramian.store._index import hashed_id
from gramian.store._keys import Signer
from gramian.store._open import backend_of, is_address, new_keyring
from gramian.store._rows import held_from, unpack
from gramian.store._synced import SyncedModel
from gramian.store._writer import Edit
from gramian.tables import model_rows

T = TypeVar("T")


class Store(SyncedModel):
    """A model in one file, or on a PostgreSQL server, that is edited row by row.

    The file, an SQLite database, holds the rows, the settings of the model and a chain of receipts.
    `learn`, `forget` and `relabel` return when their edit is on disk. After `forget`, nothing of
    the row is in any file of the store, except for a keyed hash of its id in the receipt; with a
    keyring, nothing can be read of it in any copy. One process at a time can write to a file, any
    number on a server; any number can read. Within a process, threads may share a store: edits take
    turns, and predictions do not wait for them.

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

    # -- life -----------------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        path: StrPath,
        model: Any,
        *,
        key: Any = None,
        snapshot: bool = True,
        keyring: Any = None,
        anchor: StrPath | None = None,
    ) -> Self:
        """Write a fitted model to a new store, and open it.

        Parameters
        ----------
        path : str or path
            Nothing may be there. The file is readable by its owner only. Or the address of a
            PostgreSQL database, ``postgresql://…``; the store is in its schema ``gramian``, or
            ``NAME`` with ``…#NAME`` at the end.
        model : fitted estimator of this package or TableModel
            It is not changed, and the store does not change with it.
        key : Ed25519 private key, PEM bytes or path of a PEM file, optional
            Signs the receipts; needs ``cryptography``.
        snapshot : bool
            Whether to keep the coefficients of the last version, so that opening need not compute
            them. A snapshot is erased by the first edit and written anew by `close`.
        keyring : path of a new file, or Keyring, optional
            Where the key is that opens the rows: they are encrypted, and what is erased is gone
            from every copy and backup. A server needs one.
        anchor : path, optional
            File for the number and hash of the last receipt, by which an old copy is recognised.
        """
        check_is_fitted(model)
        signer = None if key is None else Signer(key)
        ring = new_keyring(keyring)
        backend = backend_of(path, ring)
        try:
            epoch = None if ring is None else max(ring.keys())
            backend.create(first_contents(model, signer, snapshot, epoch))
            opened = cls(backend, signer=signer, anchor=None if anchor is None else Anchor(anchor))
            opened._note(opened._last)
            return opened
        except BaseException:
            backend.close()
            raise

    @classmethod
    def open(
        cls,
        path: StrPath,
        *,
        readonly: bool = False,
        key: Any = None,
        wait: float | None = None,
        keyring: Any = None,
        anchor: StrPath | None = None,
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
        keyring : path or Keyring, optional
            Needed for a store that was created with one.
        anchor : path, optional
            If the receipt that it names is not in the chain, the store is an old copy: it is not
            opened. Edits keep it up to date.

        Raises
        ------
        StoreBusyError
            If another process has it open for writing; the message says which.
        StoreError
            If it is damaged, not a store, or an old copy.
        """
        if not is_address(path) and not os.path.exists(path):
            raise FileNotFoundError(f"there is no store {os.fspath(path)}.")
        signer = None if key is None else Signer(key)
        backend = backend_of(path, keyring, wait)
        try:
            if not readonly:
                backend.begin()
            mark = None if anchor is None else Anchor(anchor)
            opened = cls(backend, readonly=readonly, signer=signer, anchor=mark)
            if not readonly:
                opened.erase_due()
            return opened
        except BaseException:
            backend.close()
            raise

    def close(self) -> None:
        """Write a snapshot if there is none of this version, and let other processes write."""
        with self._lock:
            writer, model = self._writer, self._model
            self._writer = self._model = self._view = None
            self._lost = False
            try:
                if writer is not None and model is not None:
                    writer.close(model)
            finally:
                self._backend.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- edits ----------------------------------------------------------------------------------

    def learn(
        self,
        X: Any,
        y: Any = None,
        ids: Any = None,
        *,
        groups: Any = None,
        user: str | None = None,
    ) -> Receipt:
        """Learn more rows; returns when they are on disk.

        Parameters
        ----------
        X : array-like, CSR matrix or, for a model of a table, a table
            A table may hold the target, the ids and the subjects.
        y : array-like, optional
            Targets.
        ids : array-like, optional
            As the model takes them.
        groups : array-like, optional
            To whom each row belongs, of a model that was fitted with groups or with subjects.
        user : str, optional
            Who the receipt names; by default the user as the system calls him.

        Raises
        ------
        ValueError
            If the model refuses the rows. Nothing has changed.
        StoreError
            If they cannot be written; the message says what became of the edit.
        """

        def change(model: Any) -> Edit:
            _edits.learn(model, X, y, ids, self._last.next_id or 0, groups)
            came = model.ids_[self._last.n_after :].tolist()
            waiting = [name for name in came if name in self._index.withheld]
            if waiting:
                raise ValueError(
                    f"id {waiting[0]!s} is withheld until {self._index.withheld[waiting[0]]}: take "
                    f"it back, erase it now, or give the new row another id."
                )
            return Edit("learn", numbered=model_rows(model).numbers(ids), user=user)

        return self._edit(change)

    def forget(
        self,
        ids: Any = None,
        verify: bool = False,
        *,
        groups: Any = None,
        after: timedelta | None = None,
        user: str | None = None,
    ) -> Receipt:
        """Forget rows; returns when they are gone from the disk.

        Parameters
        ----------
        ids : id or array-like of ids
        verify : bool
            Whether to compare with a model that is built from scratch, O(n³); the receipt has the
            difference.
        groups : group or array-like of groups, in place of ids
            All rows of these groups that the model holds, such as those of one person: one edit
            and one receipt.
        after : timedelta, optional
            Take the rows out of the model and all of its answers now, but erase them only after
            this time: until then, `take_back` brings them back. `erase_due` erases, which opening
            the store for writing calls.
        user : as for `learn`
        """
        if (ids is None) == (groups is None):
            raise ValueError("forget needs ids, or groups=…, one of the two.")
        given = None if ids is None else _edits.as_ids(ids)
        due = None if after is None else _later(after)

        def change(model: Any) -> Edit:
            names = _edits.ids_of_groups(model, groups) if given is None else given
            model.forget(names if ids is None else ids)
            model.settle()
            action = "forget" if due is None else "withhold"
            return Edit(action, gone=names, verify=verify, user=user, due=due)

        return self._edit(change, erases=due is None)

    def relabel(self, ids: Any, y: Any, *, user: str | None = None) -> Receipt:
        """Give rows other targets; the old ones are forgotten. Returns when that is on disk."""
        names = _edits.as_ids(ids)

        def change(model: Any) -> Edit:
            _edits.relabel(model, names, y)
            return Edit("relabel", gone=names, user=user)

        return self._edit(change, erases=True)

    def reselect(self, *, fresh: bool = True, user: str | None = None) -> Receipt:
        """Make all choices again on the rows held now; with ``fresh``, from scratch.

        The receipt's ``chosen_on_data`` then names nothing that has seen a row that is gone.
        """

        def change(model: Any) -> Edit:
            model.reselect(fresh=fresh)
            return Edit("reselect", user=user)

        return self._edit(change, erases=True)

    def withheld(self) -> dict[int | str, str]:
        """The rows that are out of the model and not erased yet, with the time when they will."""
        with self._lock:
            return dict(self._index.withheld)

    def take_back(self, ids: Any, *, user: str | None = None) -> Receipt:
        """Learn rows again that are withheld."""
        names = _edits.as_ids(ids)

        def change(model: Any) -> Edit:
            rows = [unpack(self._backend.row(self._waiting(name))) for name in names]
            held = held_from(rows, self._parts)
            if not _edits.learn_again(model, rows, held):
                raise ValueError("this model cannot learn rows again as it held them.")
            return Edit("return", gone=names, user=user)

        return self._edit(change)

    def erase_due(self, ids: Any = None, *, user: str | None = None) -> Receipt | None:
        """Erase the withheld rows whose time has come, or these; None if there are none."""
        with self._lock:
            present = now()
            due = [name for name, time in self._index.withheld.items() if time <= present]
            names = due if ids is None else _edits.as_ids(ids)
            if not names:
                return None

        def change(model: Any) -> Edit:
            for name in names:
                self._waiting(name)
            return Edit("erase", gone=names, named=names, user=user)

        return self._edit(change, erases=True)

    # -- answers --------------------------------------------------------------------------------

    @property
    def epoch(self) -> int | None:
        """Number of the keyring's epoch; None without a keyring: copies are not reached."""
        return self._last.epoch

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

    def predict_set(self, X: Any, confidence_level: float, **options: Any) -> Any:
        """The labels that cannot be excluded, as the model says; it takes the options."""
        return self.read(lambda model: model.predict_set(X, confidence_level, **options))

    def predict_interval(self, X: Any, confidence_level: float, width: str = "auto") -> Any:
        """The interval of each row's target, as the model says."""
        return self.read(lambda model: model.predict_interval(X, confidence_level, width=width))

    def refresh(self) -> bool:
        """Bring the store up to date with edits of other processes; returns whether it changed."""
        with self._lock:
            self._present()
            return self._follow()

    def follow(
        self,
        *,
        name: str | None = None,
        seconds: float = LEASE,
        on_change: Callable[[int], None] | None = None,
    ) -> Following:
        """Apply the edits of other processes as they are made, from now on, in the background.

        On a server, this process gets a lease as one that answers: receipts of erasures are open
        until it has confirmed their version. Close what this returns before the store.

        Parameters
        ----------
        name : str, optional
            Of the lease; by default machine, process and a random number.
        seconds : float
            How long a lease lasts. If the server is out of reach for so long, this process must
            not answer: `Following.answering` is False.
        on_change : callable, optional
            Called with each new version before it is confirmed, edits of this process included:
            when it returns, readers see that version.
        """
        twins = (self._backend.twin(), self._backend.twin()) if self._backend.remote else None
        return Following(self, twins, name, seconds, on_change)

    def receipts(self) -> list[Receipt]:
        """All receipts up to the present version, the oldest first."""
        with self._lock:
            contents = self._backend.receipts()
        return [Receipt.read(content) for content in contents][: self.version + 1]

    def find(self, id: int | str) -> list[Receipt]:
        """The receipts that are about the row with this id."""
        wanted = hashed_id(self._index.id_key, id)
        return [receipt for receipt in self.receipts() if wanted in receipt.ids]

    def proof(self, number: int) -> Proof:
        """A receipt with what shows that it is in the chain of the last one.

        It can be checked without the store: `gramian.files.Proof.check`, ``gramian verify``.
        """
        receipts = self.receipts()
        if not 0 <= number < len(receipts):
            raise ValueError(f"there is no receipt {number}; the last is {len(receipts) - 1}.")
        head = receipts[-1]
        with self._lock:
            path = self._index.tree.path(number, len(receipts) - 1) if number < self.version else ()
        return Proof(receipts[number], path, head)

    def open_receipts(self) -> set[int]:
        """Numbers of receipts that a process which answers has not confirmed yet.

        A receipt is closed when no process that may answer holds an older version.
        """
        with self._lock:
            behind = [lease.version for lease in self._backend.leases() if lease.seconds > 0]
        return set(range(min(behind, default=self.version) + 1, self.version + 1))

    def audit(self, public_key: Any = None, refit: bool = False) -> AuditReport:
        """Check the file, the receipts, their signatures, the rows, the settings and the model.

        The model is built from the rows, O(n³).

        Parameters
        ----------
        public_key : Ed25519 public key, its PEM bytes, path or 64 hexadecimal digits, optional
            That of who should have signed. Without it, signatures are checked against the key that
            the store itself names.
        refit : bool
            Whether to compare the live model, too, with one that is built from scratch.
        """
        with self._lock:
            self._present()
            twin = self._backend.twin()
        try:
            self._backend.check_place()
            return audit_backend(twin, public_key, self.model if refit else None, self._anchor)
        except StoreReplacedError as error:
            return AuditReport((Check("file", False, str(error)),))
        finally:
            twin.close()

    # -- files ----------------------------------------------------------------------------------

    def export(self, path: StrPath, *, overwrite: bool = False) -> None:
        """Write the model as it is now to a model file, as `gramian.save` does."""
        self.read(lambda model: save(model, path, overwrite=overwrite))

    def backup(self, path: StrPath) -> None:
        """Write a copy as of now to a new file, beside edits and readers.

        With a keyring, the copy can be opened with the keyring as it is then: rows that are erased
        later are gone from it, too. Without one, it holds every row that the store holds now.
        """
        self._backend.backup(os.path.abspath(path))

    def compact(self) -> None:
        """Write the file anew without free places; the version stays.

        The new file replaces the old one when it is on disk. A process that reads the old one at
        that moment finishes with it.
        """
        with self._lock:
            self._writable()
            try:
                contents, _ = self._backend.read()
                taken = [content for content in contents.rows.values() if any(content)]
                self._backend.rewrite(replace(contents, rows=dict(enumerate(taken))))
            finally:
                self._model = None
                self._load()


def _later(after: timedelta) -> str:
    """The time after this one, as receipts have it."""
    if after <= timedelta(0):
        raise ValueError(f"after must be a time > 0, got {after}.")
    return (datetime.now(UTC) + after).isoformat(timespec="milliseconds")
