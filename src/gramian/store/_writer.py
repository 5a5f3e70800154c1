"""Writes what a model has learned or forgotten, with a receipt."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gramian.files import (
    ModelFileError,
    Receipt,
    default_tolerance,
    difference_to_refit,
    user_name,
)
from gramian.files._receipt import now, versions
from gramian.files.parts import (
    Held,
    Parts,
    derived_state,
    follows_from_rows,
    rows_of,
    write_values,
)
from gramian.store._anchor import Mark
from gramian.store._backend import Backend
from gramian.store._create import new_settings
from gramian.store._errors import StoreError
from gramian.store._index import Id, Opened, RowIndex, hashed_id, settings_digest, snapshot_checksum
from gramian.store._keys import Signer, signed
from gramian.store._rows import Row, pack, rows_from, unpack
from gramian.tables._model_rows import model_rows

MEASURED_UP_TO = 1_000
"""Rows up to which the drift is measured at every edit; it costs O(n²)."""

MEASURED_EVERY = 64
_NO_ROWS = Held(np.empty(0), np.empty(0), np.empty(0), np.empty((0, 0)))


@dataclass(frozen=True)
class Edit:
    """What was done to the model."""

    action: str
    gone: list[Id] = field(default_factory=list)
    """Ids of rows that left their places."""

    named: list[Id] = field(default_factory=list)
    """Ids that the receipt names, where these are not the rows that came or else those gone."""

    numbered: bool = False
    """Whether the model gave numbers to new rows."""

    verify: bool = False
    user: str | None = None
    due: str | None = None
    """When rows that are withheld are to be erased."""


class Writer:
    """The side of a store that writes; `start` gives it what was read."""

    index: RowIndex

    def __init__(self, backend: Backend, signer: Signer | None) -> None:
        self._backend, self._signer, self._user = backend, signer, user_name()
        self.attempted: Mark | None = None
        self._erases = False  # whether the present edit does

    def start(self, model: Any, opened: Opened) -> None:
        """Go on from what was read.

        Raises
        ------
        StoreError
            If the store is signed with another key, or cannot be written to.
        """
        self.index, self._parts = opened.index, opened.parts
        self._columns = model_rows(model).columns
        self._has_snapshot = opened.known is not None
        self._check_signer()
        self._backend.database.begin()

    def transaction(self, *, erases: bool) -> AbstractContextManager[int]:
        """An edit, from the version that is on disk; on disk, and erased, at the end."""
        self.attempted, self._erases = None, erases
        return self._backend.transaction(erases=erases)

    def write(self, model: Any, edit: Edit) -> Receipt:
        """Write the edit that the model has made, within a transaction."""
        backend, index = self._backend, self.index
        ids, columns, n = model.ids_, model_rows(model).columns, index.last.n_after
        stayed = n - sum(name not in index.withheld for name in edit.gone)
        dropped = [self._drop(name) for name in edit.gone]
        if edit.due is not None:
            for content in dropped:
                self._put(unpack(content)._replace(due=edit.due))
        new, came = _NO_ROWS, []
        if len(ids) > stayed:
            new = rows_of(model, stayed)
            came = [self._put(row) for row in rows_from(new, index.arrival)]
        next_id = int(ids[-1]) + 1 if edit.numbered else int(index.last.next_id or 0)
        anew = edit.action == "reselect" or columns != self._columns
        anew = anew or not follows_from_rows(model)
        if anew:
            settings = new_settings(model)
            index.settings_digest, self._parts = settings_digest(*settings), Parts(settings[1])
            backend.set_settings(*settings)
        self._check(model, None if anew else new, next_id)
        names, epoch = edit.named or came or edit.gone, backend.epoch
        receipt = next_receipt(
            index,
            self._signer,
            action=edit.action,
            user=edit.user or self._user,
            ids=tuple(hashed_id(index.id_key, name) for name in names),
            count=len(names),
            n_after=len(ids),
            next_id=next_id,
            settings=index.settings_digest,
            epoch=None if epoch is None else epoch + self._erases,
            **self._measured(model, edit.verify),
        )
        self.attempted = Mark(int(receipt.number or 0), receipt.hash)
        backend.add_receipt(self.attempted.number, receipt.content(), index.commitment.sums())
        self._columns, self._has_snapshot = columns, False
        return receipt

    def done(self, receipt: Receipt) -> None:
        """The edit is on disk."""
        self.index.last = receipt
        self.index.tree.add(receipt.hash)

    def close(self, model: Any) -> None:
        """Keep what follows from the rows, for the next process that opens the store."""
        lacking = self.index.last.snapshots and not self._has_snapshot
        known = derived_state(model) if lacking else {}
        if not known:
            return
        content = write_values(known)
        with self._backend.transaction() as version:
            if version == self.index.last.number:
                self._backend.set_snapshot(snapshot_checksum(content, self.index.last), content)

    # -- inside ---------------------------------------------------------------------------------

    def _drop(self, name: Id) -> bytes:
        """Overwrite a row; returns what was there."""
        content = self._backend.row(self.index.places[name].number)
        place = self.index.drop(name)
        self.index.commitment.remove(content)
        self._backend.wipe(place.number, place.size)
        return content

    def _put(self, row: Row) -> Id:
        """Write a row; returns its id."""
        content = pack(row)
        place, is_new = self.index.take(len(content))
        self._backend.put(place, content, new=is_new)
        self.index.add(place, content, row)
        self.index.commitment.add(content)
        return row.id

    def _check(self, model: Any, new: Held | None, next_id: int) -> None:
        """Raise StoreError unless what the edit leaves could be opened again.

        Without ``new``, the rows that came, all rows are checked: the settings are others.
        """
        try:
            if new is None:
                self._parts.check_model(model, next_id)
            else:
                self._parts.check_new_rows(model, new, next_id)
            if len(self.index.places) - len(self.index.withheld) != len(model.ids_):
                raise ModelFileError("has two rows of one id.")
        except ModelFileError as error:
            raise StoreError(
                f"the edit was refused: what it leaves could not be opened again, as it {error}"
            ) from error

    def _measured(self, model: Any, verify: bool) -> dict[str, Any]:
        """Drift and difference to a refit, where they are asked for or cheap."""
        last, difference, tolerance, verified = self.index.last, None, None, None
        if verify:
            difference, tolerance = difference_to_refit(model), default_tolerance(model)
            verified = bool(difference <= tolerance)
        number = int(last.number or 0) + 1
        due = number % MEASURED_EVERY == 0 or last.n_after <= MEASURED_UP_TO
        return {
            "drift": float(model.drift()) if verify or due else None,
            "difference": difference,
            "tolerance": tolerance,
            "verified": verified,
            "chosen_on_data": tuple(model.chosen_on_data_),
        }

    def _check_signer(self) -> None:
        public, ours = self.index.last.public_key, self._signer and self._signer.public
        address = self._backend.address
        if public is None and ours is not None:
            raise StoreError(f"the store {address} does not sign its receipts; give no key.")
        if public != ours:
            seen = "no key was given" if ours is None else f"the key given is that of {ours}"
            raise StoreError(
                f"the store {address} signs its receipts, and {seen}. Open it with the key whose "
                f"public part is {public}, or with readonly=True."
            )


def next_receipt(index: RowIndex, signer: Signer | None, **facts: Any) -> Receipt:
    """The next receipt of the chain, signed if there is a key, with these facts of the edit."""
    last = index.last
    receipt = replace(
        last,
        number=int(last.number or 0) + 1,
        time=max(now(), last.time),  # where the clock went back, time stands still
        n_before=last.n_after,
        commitment=index.commitment.digest(),
        previous=last.hash,
        tree=index.tree.root(),
        versions=versions(),
        **facts,
    )
    return signed(receipt, signer)
