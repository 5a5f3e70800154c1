"""Writes what a model has learned or forgotten, with a receipt."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, NamedTuple

import gramian
from gramian.files import default_tolerance, difference_to_refit, user_name
from gramian.files.parts import estimator_of, following, follows_from_rows, rows_of, write_values
from gramian.store._book import Book, Opened, settings_digest, snapshot_checksum
from gramian.store._create import new_settings, write_whole
from gramian.store._database import Database, reach, read_all
from gramian.store._edits import columns_of
from gramian.store._errors import StoreBusyError, StoreError
from gramian.store._keys import Signer, signed
from gramian.store._receipts import StoreReceipt, hashed_id, now
from gramian.store._rows import pack, rows_from

MEASURED_UP_TO = 1_000
"""Rows up to which the drift is measured at every edit; it costs O(n²)."""

MEASURED_EVERY = 64


class Edit(NamedTuple):
    """What was done to the model."""

    action: str
    gone: list[Any]
    """Ids of rows that left their places."""

    numbered: bool
    """Whether the model gave numbers to new rows."""

    verify: bool

    user: str | None = None
    """Who asked for it; by default who runs this process."""


class Writer:
    """The side of a store that writes; `start` tells it what is there."""

    book: Book

    def __init__(self, path: str, signer: Signer | None) -> None:
        self.path, self._signer, self._user = path, signer, user_name()
        self._database: Database | None = None

    def start(self, model: Any, opened: Opened) -> None:
        """Go on from what was read.

        Raises
        ------
        StoreError
            If the store is signed with another key, or cannot be written to.
        """
        self.book, self._columns = opened.book, columns_of(model)
        self._has_snapshot = opened.known is not None
        self._check_signer()
        if self._database is None:
            self._database = Database(self.path)

    def write(self, model: Any, edit: Edit) -> StoreReceipt:
        """Write the edit that the model has made; it is on disk, and erased, at the end."""
        database, book = self._open(), self.book
        ids, columns, n = model.ids_, columns_of(model), book.last.n_after
        user = edit.user or self._user
        facts = {"action": edit.action, "user": user, "n_before": n, "n_after": len(ids)}
        facts |= self._measured(model, edit.verify)
        with database.transaction(erases=bool(edit.gone)):
            reach("begun")
            for name in edit.gone:
                database.wipe(*book.drop(name, database.row(book.places[name][0])))
            stayed = n - len(edit.gone)
            if len(ids) > stayed:
                self._put(database, model, stayed)
            if columns != self._columns or not follows_from_rows(model):
                settings = new_settings(model)
                book.settings_digest = settings_digest(*settings)
                database.set_settings(*settings)
            if edit.numbered:
                facts["next_id"] = int(ids[-1]) + 1
            receipt = self._receipt(ids[stayed:].tolist() or edit.gone, facts)
            database.add_receipt(receipt.number, receipt.content())
        book.last, self._columns, self._has_snapshot = receipt, columns, False
        return receipt

    def rewrite(self) -> None:
        """Replace the file by one without free places."""
        self._open().close()
        self._database = None
        contents, _ = read_all(self.path)
        if os.path.exists(f"{self.path}-wal"):
            self._database = Database(self.path)
            raise StoreBusyError(
                f"{self.path} is open in another process, which would lose sight of a new file. "
                f"Nothing was changed. Try again when that is done."
            )
        taken = [content for content in contents.rows.values() if any(content)]
        write_whole(self.path, contents._replace(rows=dict(enumerate(taken))))

    def close(self, model: Any) -> None:
        """Keep what follows from the rows, for the next process that opens the store, and end."""
        if self._database is None:
            return
        try:
            lacking = self.book.last.snapshots and not self._has_snapshot
            known = following(model) if lacking and model is not None else {}
            if known:
                content = write_values(known)
                with self._database.transaction():
                    checksum = snapshot_checksum(content, self.book.last)
                    self._database.set_snapshot(checksum, content)
        finally:
            self._database.close()
            self._database = None

    # -- inside ---------------------------------------------------------------------------------

    def _open(self) -> Database:
        if self._database is None:
            raise StoreError(f"the store {self.path} could not be opened again; open it anew.")
        return self._database

    def _put(self, database: Database, model: Any, start: int) -> None:
        """Write the rows from this position on."""
        for row in rows_from(rows_of(model), start, self.book.arrival):
            content = pack(row)
            place, is_new = self.book.take(len(content))
            database.put(place, content, new=is_new)
            self.book.note(place, content, row)

    def _measured(self, model: Any, verify: bool) -> dict[str, Any]:
        """Drift and difference to a refit, where they are asked for or cheap."""
        last, difference, tolerance, verified = self.book.last, None, None, None
        if verify:
            difference, tolerance = difference_to_refit(model), default_tolerance(model)
            verified = bool(difference <= tolerance)
        due = (last.number + 1) % MEASURED_EVERY == 0 or last.n_after <= MEASURED_UP_TO
        return {
            "drift": float(estimator_of(model).drift()) if verify or due else None,
            "difference": difference,
            "tolerance": tolerance,
            "verified": verified,
            "chosen_on_data": tuple(model.chosen_on_data_),
        }

    def _receipt(self, names: list[Any], facts: dict[str, Any]) -> StoreReceipt:
        """The next receipt of the chain, for rows of these ids."""
        book, last = self.book, self.book.last
        changes: dict[str, Any] = {
            "number": last.number + 1,
            "time": now(),
            "ids": tuple(hashed_id(book.id_key, name) for name in names),
            "count": len(names),
            "commitment": book.commitment.digest(),
            "settings": book.settings_digest,
            "previous": last.hash,
            "version": gramian.__version__,
        }
        return signed(replace(last, **changes, **facts), self._signer)

    def _check_signer(self) -> None:
        public, ours = self.book.last.public_key, self._signer and self._signer.public
        if public is None and ours is not None:
            raise StoreError(f"the store {self.path} does not sign its receipts; give no key.")
        if public != ours:
            seen = "no key was given" if ours is None else f"the key given is that of {ours}"
            raise StoreError(
                f"the store {self.path} signs its receipts, and {seen}. Open it with the key "
                f"whose public part is {public}, or with readonly=True."
            )
