"""Stores that move: to another kind of place, or back from a copy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

from gramian.files import Receipt, StrPath, user_name
from gramian.files.parts import Parts
from gramian.store._anchor import Anchor
from gramian.store._backend import Contents, Settings
from gramian.store._create import new_settings
from gramian.store._errors import OldCopyError, StoreError
from gramian.store._index import RowIndex, open_contents, read_receipts, read_rows, settings_digest
from gramian.store._keys import Signer
from gramian.store._open import backend_of
from gramian.store._open import new_keyring as make_keyring
from gramian.store._rows import Row, held_from, is_free
from gramian.store._writer import next_receipt


def convert(
    source: StrPath,
    target: StrPath,
    *,
    keyring: Any = None,
    new_keyring: Any = None,
) -> Receipt:
    """Copy a store to another place, with its chain of receipts; returns the last one.

    The old store stays as it is: delete it, and its keyring, when the new one is in use.

    Parameters
    ----------
    source, target : str or path
        File or address; nothing may be at the target.
    keyring : path or Keyring, optional
        Of the source, if it has one.
    new_keyring : path of a new file, or Keyring, optional
        For the target. Without one, a file is not encrypted; a server needs one.
    """
    with closing(backend_of(source, keyring)) as backend:
        backend.database.begin()  # nobody edits a file meanwhile; on a server, it is one moment
        contents, _ = backend.read()
        if contents.erased is not None:
            raise OldCopyError(
                f"{backend.address} is an old copy: rows were erased since. `gramian store "
                f"restore` makes a store of the others."
            )
        open_contents(contents, backend.address)
    _write(target, contents, new_keyring)
    return Receipt.read(contents.receipts[-1])


def restore(
    copy: StrPath,
    target: StrPath,
    *,
    keyring: Any,
    new_keyring: Any,
    key: Any = None,
    anchor: StrPath | None = None,
) -> Receipt:
    """Make a store of a copy, without the rows that were erased since it was made.

    Where settings of the copy went with an erasure, those of the store as of its last erasure take
    their place: its choices, and what it knows of columns.

    Parameters
    ----------
    copy : str or path
        A backup of a store with a keyring, of any age.
    target : str or path
        File or address of the new store.
    keyring : path or Keyring
        That of the store, as it is today: it has the keys of what has not been erased since.
    new_keyring : path of a new file, or Keyring
        For the new store: two stores cannot share one.
    key : as for `Store.create`
        Needed if the receipts of the copy are signed.
    anchor : path, optional
        File that will name the last receipt of the new store.

    Returns
    -------
    Receipt
        Of the restoration: its ``count`` is the number of rows that are gone.
    """
    if keyring is None or new_keyring is None:
        raise StoreError(
            "to restore a copy needs the keyring of the store as it is today, and a new one: a "
            "copy without a keyring holds every row of its time, also those erased since."
        )
    signer = None if key is None else Signer(key)
    with closing(backend_of(copy, keyring)) as backend:
        contents, _ = backend.read()
    try:
        receipts = read_receipts(contents)
        index, rows = read_rows(contents, receipts)
    except (ValueError, TypeError, KeyError) as error:
        raise StoreError(f"{backend.address} is damaged: {error}.") from error
    _check_signer(receipts[-1], signer)
    ring = make_keyring(new_keyring)
    assert ring is not None
    restored = _without_erased(contents, index, rows, signer, max(ring.keys()))
    _write(target, restored, ring)
    last = Receipt.read(restored.receipts[-1])
    if anchor is not None:
        Anchor(anchor).write(last)
    return last


def _without_erased(
    contents: Contents, index: RowIndex, rows: list[Row], signer: Signer | None, epoch: int
) -> Contents:
    """The contents with a receipt of what has gone; StoreError if no model is left."""
    taken = [content for content in contents.rows.values() if not is_free(content)]
    settings, chosen = _remaining_settings(contents, rows, index.last)
    receipt = next_receipt(
        index,
        signer,
        action="restore",
        user=user_name(),
        ids=(),
        count=index.last.n_after - len(rows),
        n_after=len(rows),
        drift=None,
        difference=None,
        tolerance=None,
        verified=None,
        chosen_on_data=chosen,
        settings=settings_digest(*settings),
        epoch=epoch,
    )
    found = replace(
        contents,
        settings=settings,
        rows=dict(enumerate(taken)),
        receipts=[*contents.receipts, receipt.content()],
        snapshot=None,
        sums=index.commitment.sums(),
        erased=None,
    )
    with _making_a_model(len(rows)):
        open_contents(found, "the copy").model()
    return found


def _remaining_settings(
    contents: Contents, rows: list[Row], last: Receipt
) -> tuple[Settings, tuple[str, ...]]:
    """Settings that hold nothing of rows that are gone, and what was chosen on data."""
    if contents.erased is None:
        return contents.settings, last.chosen_on_data
    parts = Parts(contents.settings[1])
    with _making_a_model(len(rows)):
        model = parts.fresh(held_from(rows, parts), last.next_id or 0)
        return new_settings(model), tuple(model.chosen_on_data_)


@contextmanager
def _making_a_model(n: int) -> Iterator[None]:
    try:
        yield
    except (ValueError, ArithmeticError) as error:
        raise StoreError(
            f"the {n} rows of the copy that were not erased since make no model: {error}"
        ) from error


def _check_signer(last: Receipt, signer: Signer | None) -> None:
    ours = None if signer is None else signer.public
    if last.public_key != ours:
        by = "not signed" if last.public_key is None else f"signed by {last.public_key}"
        seen = "no key was given" if ours is None else f"the key given is that of {ours}"
        raise StoreError(
            f"the receipts of the copy are {by}, and {seen}: restoring writes one more receipt. "
            f"Give the same key (on the command line --key FILE), or none if there was none."
        )


def _write(target: StrPath, contents: Contents, keyring: Any) -> None:
    ring = make_keyring(keyring)
    with closing(backend_of(target, ring)) as backend:
        backend.create(contents)
