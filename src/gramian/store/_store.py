"""A model on disk that learns and forgets: durable edits, real erasure, and receipts."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.files import Receipt, StrPath
from gramian.files._receipt import now
from gramian.store import _edits
from gramian.store._anchor import Anchor
from gramian.store._answers import StoreAnswers
from gramian.store._create import first_contents
from gramian.store._keys import Signer
from gramian.store._open import backend_of, is_address, new_keyring
from gramian.store._rows import held_from, unpack
from gramian.store._writer import Edit
from gramian.tables._model_rows import model_rows


class Store(StoreAnswers):
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
            opened._write_anchor(opened._last)
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
                backend.database.begin()
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
            Who the receipt names; by default the user of the operating system.

        Raises
        ------
        ValueError
            If the model refuses the rows. Nothing has changed.
        StoreError
            If they cannot be written; the message says what became of the edit.
        """

        def change(model: Any) -> Edit:
            rows = model_rows(model)
            new = rows.new(X, y, ids, groups, self._last.next_id or 0)
            model.partial_fit(new.X, new.y, ids=new.ids, groups=new.groups)
            came = model.ids_[self._last.n_after :].tolist()
            waiting = [name for name in came if name in self._index.withheld]
            if waiting:
                raise ValueError(
                    f"id {waiting[0]!s} is withheld until {self._index.withheld[waiting[0]]}: take "
                    f"it back, erase it now, or give the new row another id."
                )
            return Edit("learn", numbered=rows.numbers(ids), user=user)

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
        names, targets = _edits.as_ids(ids), np.atleast_1d(np.asarray(y))

        def change(model: Any) -> Edit:
            if len(targets) != len(names):
                raise ValueError(
                    f"relabel needs a target for each of {len(names)} ids, got {len(targets)}."
                )
            model.relabel(names, targets)
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
        """Rows that are out of the model and not erased yet, with the time when they will be."""
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

    # -- files ----------------------------------------------------------------------------------

    def compact(self) -> None:
        """Write the file anew without free places; the version stays.

        The new file replaces the old one when it is on disk. A process that reads the old one at
        that moment finishes with it.
        """
        with self._lock:
            self._writable()
            try:
                self._database.compact()
            finally:
                self._model = None
                self._load()


def _later(after: timedelta) -> str:
    """The time after this one, as receipts have it."""
    if after <= timedelta(0):
        raise ValueError(f"after must be a time > 0, got {after}.")
    return (datetime.now(UTC) + after).isoformat(timespec="milliseconds")
