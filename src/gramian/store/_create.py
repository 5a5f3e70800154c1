"""New files for stores: written whole under another name, then renamed."""

from __future__ import annotations

import os
import secrets
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import gramian
from gramian.files import FileInUseError, StrPath, locked, remove_leftovers, sync_folder, user_name
from gramian.files.parts import (
    estimator_of,
    following,
    next_id_of,
    rows_of,
    settings_of,
    write_values,
)
from gramian.store._book import key_digest, settings_digest, snapshot_checksum
from gramian.store._commitment import Commitment
from gramian.store._database import Contents, file_mode, write_new
from gramian.store._errors import StoreBusyError, StoreError
from gramian.store._keys import Signer, signed
from gramian.store._receipts import FIRST, StoreReceipt, now
from gramian.store._rows import pack, rows_from

_writers: set[str] = set()  # stores that this process writes to


def new_settings(model: Any) -> tuple[bytes, bytes]:
    """A new salt, and the settings of the model."""
    return secrets.token_bytes(32), settings_of(model)


def first_contents(model: Any, signer: Signer | None, snapshots: bool) -> Contents:
    """The contents of a new store: the model's rows, its settings and a receipt."""
    if model.__sklearn_tags__().input_tags.pairwise:
        raise StoreError(
            "a store holds rows, and a model of a precomputed kernel has none: forgetting one "
            "sample would change the row of every other. Save it with gramian.save."
        )
    id_key, settings, commitment = secrets.token_bytes(32), new_settings(model), Commitment()
    rows = [pack(row) for row in rows_from(rows_of(model), 0, 0)]
    for content in rows:
        commitment.add(content)
    estimator = estimator_of(model)
    receipt = signed(
        StoreReceipt(
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
            snapshots=bool(snapshots),
            public_key=None if signer is None else signer.public,
            previous=FIRST,
            version=gramian.__version__,
        ),
        signer,
    )
    snapshot, known = None, following(model)
    if snapshots and known:
        content = write_values(known)
        snapshot = snapshot_checksum(content, receipt), content
    places = dict(enumerate(rows))
    return Contents(id_key, settings, places, [receipt.content()], snapshot)


def write_whole(path: StrPath, contents: Contents) -> None:
    """Write a file, and give it its name when it is on disk; replaces one that is there."""
    target = Path(os.path.realpath(path))
    remove_leftovers(target.parent)
    temporary = target.with_name(f".gramian-{secrets.token_hex(8)}")
    mode = file_mode(target) if target.exists() else 0o600
    try:
        write_new(temporary, contents, mode)
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise
    sync_folder(target.parent)


def lock_for_writing(path: StrPath, lock: ExitStack, wait: float | None) -> None:
    """Be the only one who writes to the store until ``lock`` is closed.

    Raises
    ------
    StoreBusyError
        If another process has it, after waiting, or this one, at once.
    """
    target = os.path.realpath(path)
    if target in _writers:
        raise StoreBusyError(f"{os.fspath(path)} is open for writing in this process already.")
    try:
        lock.enter_context(locked(target, wait=wait))
    except FileInUseError as error:
        raise StoreBusyError(str(error)) from error
    except OSError as error:
        raise StoreError(
            f"{os.fspath(path)} cannot be written to: its folder takes no lock ({error}). Open it "
            f"with readonly=True."
        ) from error
    _writers.add(target)
    lock.callback(_writers.discard, target)
