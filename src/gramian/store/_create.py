"""The first contents of a store."""

from __future__ import annotations

import secrets
from typing import Any

from gramian.files import Receipt, user_name
from gramian.files._chain import Tree
from gramian.files._receipt import FIRST, now, versions
from gramian.files.parts import (
    derived_state,
    next_id_of,
    rows_of,
    settings_of,
    write_values,
)
from gramian.store._backend import Contents, Settings
from gramian.store._commitment import Commitment
from gramian.store._errors import StoreError
from gramian.store._index import key_digest, settings_digest, snapshot_checksum
from gramian.store._keys import Signer, signed
from gramian.store._rows import pack, rows_from
from gramian.tables import estimator_of


def new_settings(model: Any) -> Settings:
    """A new salt, and the settings of the model."""
    return secrets.token_bytes(32), settings_of(model)


def first_contents(
    model: Any, signer: Signer | None, snapshots: bool, epoch: int | None
) -> Contents:
    """The contents of a new store: the model's rows, its settings and a receipt."""
    if model.__sklearn_tags__().input_tags.pairwise:
        raise StoreError(
            "a store holds rows, and a model of a precomputed kernel has none: forgetting one "
            "sample would change the row of every other. Save it with gramian.save."
        )
    id_key, settings, commitment = secrets.token_bytes(32), new_settings(model), Commitment()
    rows = [pack(row) for row in rows_from(rows_of(model), 0)]
    for content in rows:
        commitment.add(content)
    estimator = estimator_of(model)
    receipt = signed(
        Receipt(
            number=0,
            action="create",
            time=now(),
            user=user_name(),
            model=type(estimator).__name__,
            ids=(),
            count=len(rows),
            n_before=0,
            n_after=len(rows),
            next_id=next_id_of(model),
            drift=float(estimator.drift()),
            difference=None,
            tolerance=None,
            verified=None,
            chosen_on_data=tuple(model.chosen_on_data_),
            commitment=commitment.digest(),
            settings=settings_digest(*settings),
            key_id=key_digest(id_key),
            epoch=epoch,
            snapshots=bool(snapshots),
            public_key=None if signer is None else signer.public,
            previous=FIRST,
            tree=Tree().root(),
            versions=versions(),
        ),
        signer,
    )
    snapshot, known = None, derived_state(model)
    if snapshots and known:
        content = write_values(known)
        snapshot = snapshot_checksum(content, receipt), content
    places, sums = dict(enumerate(rows)), commitment.sums()
    return Contents(id_key, settings, places, [receipt.content()], snapshot, sums)
