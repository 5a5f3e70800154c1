"""Checks that a store agrees with itself: file, receipts, signatures, rows, settings, model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gramian.files import Receipt, StrPath, default_tolerance, difference_to_refit
from gramian.files._chain import check_chain
from gramian.files._forget import decision_values
from gramian.store._anchor import Anchor
from gramian.store._backend import Backend, Contents
from gramian.store._errors import StoreError
from gramian.store._index import (
    hashed_id,
    key_digest,
    open_contents,
    read_receipts,
    read_rows,
    settings_digest,
)
from gramian.store._keys import is_signed, public_key
from gramian.store._open import backend_of
from gramian.tables import estimator_of


class Check(NamedTuple):
    """One check of an audit."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class AuditReport:
    """What an audit found.

    Attributes
    ----------
    checks : tuple of Check
        Name, whether it passed, and what was seen.
    """

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"passed": self.passed, "checks": [check._asdict() for check in self.checks]}


def audit(
    path: StrPath, key: Any = None, *, keyring: Any = None, anchor: StrPath | None = None
) -> AuditReport:
    """Check a store that no process needs to have open.

    Parameters
    ----------
    path : str or path, or address of a server
    key : Ed25519 public key, its PEM bytes, path or 64 hexadecimal digits, optional
        The key that should have signed the receipts.
    keyring, anchor : as for `Store.open`
    """
    with closing(backend_of(path, keyring)) as backend:
        return audit_backend(backend, key, None, None if anchor is None else Anchor(anchor))


def audit_backend(
    backend: Backend, key: Any = None, model: Any = None, anchor: Anchor | None = None
) -> AuditReport:
    """Check a store; with ``model``, also that this one equals a refit."""
    wanted = None if key is None else public_key(key)
    try:
        contents, wrong = backend.read(check=True)
    except StoreError as error:
        return AuditReport((Check("file", False, str(error)),))
    size = f"{len(contents.rows)} places, {len(contents.receipts)} receipts"
    checks = [Check("file", not wrong, "; ".join(wrong) or f"the database is whole; {size}")]
    try:
        receipts = read_receipts(contents)
    except ValueError as error:
        return AuditReport((*checks, Check("receipts", False, f"a receipt is damaged: {error}")))
    checks.append(_check("receipts", lambda: check_chain(receipts)))
    checks.append(_check("signatures", lambda: _signatures(receipts, wanted)))
    checks.append(_check("copies", lambda: _copies(contents, receipts, anchor, backend.address)))
    checks += _state(contents, receipts, backend.address)
    if model is not None:
        checks.append(_check("refit", lambda: _refit(model)))
    return AuditReport(tuple(checks))


def _check(name: str, look: Callable[[], str]) -> Check:
    """A check that passes with what ``look`` returns, or fails with what it raises."""
    try:
        return Check(name, True, look())
    except (ValueError, StoreError) as error:
        return Check(name, False, str(error))


def _signatures(receipts: list[Receipt], wanted: str | None) -> str:
    key = receipts[0].public_key
    if key is None and wanted is None:
        if any(receipt.signature is not None for receipt in receipts):
            raise ValueError("receipts are signed, but the store names no key")
        return "none: this store does not sign"
    if wanted is not None and key != wanted:
        raise ValueError(f"the store names the public key {key}, not {wanted}")
    assert key is not None
    for receipt in receipts:
        if not is_signed(key, receipt.hash, receipt.signature):
            raise ValueError(f"receipt {receipt.number} is not signed by {key}")
    by = "the given key" if wanted else "the key that the store names; give yours to be sure"
    return f"{len(receipts)} by {by}"


def _copies(
    contents: Contents, receipts: list[Receipt], anchor: Anchor | None, address: str
) -> str:
    """Whether this is the present copy, and whether an erasure reaches the others."""
    if contents.erased is not None:
        raise ValueError(
            f"this is an old copy, of version {len(receipts) - 1}: rows were erased since, "
            f"{contents.erased} of those that it has, and cannot be read"
        )
    seen = "" if anchor is None else anchor.check([r.hash for r in receipts], address) + "; "
    epoch = receipts[-1].epoch
    if epoch is None:
        return f"{seen}not reached: without a keyring, copies and backups keep what is erased here"
    return f"{seen}reached: epoch {epoch} of the keyring; what was erased before has no key"


def _state(contents: Contents, receipts: list[Receipt], address: str) -> Iterator[Check]:
    """Rows, ids, settings, key, snapshot and model against the receipts."""
    last = receipts[-1]
    try:
        index, rows = read_rows(contents, receipts)
    except (ValueError, TypeError, KeyError) as error:
        yield Check("rows", False, f"a row is not as it was written: {error}")
        return
    free, waiting = sum(map(len, index.free.values())), len(index.withheld)
    good = index.commitment.digest() == last.commitment and len(rows) == last.n_after
    good = good and contents.sums == index.commitment.sums()
    detail = f"{len(rows)} rows and {waiting} withheld make the last commitment; {free} places free"
    wrong = f"{len(rows)} rows do not make the commitment to {last.n_after} of the last receipt"
    yield Check("rows", good, detail if good else wrong)
    held = {hashed_id(contents.id_key, row.id) for row in rows}
    yield _check("ids", lambda: _ids(receipts, held))
    settings = settings_digest(*contents.settings) == last.settings
    lost = "altered" if contents.erased is None else "those of its time went with an erasure"
    yield Check("settings", settings, "as the last receipt has them" if settings else lost)
    key = key_digest(contents.id_key) == last.key_id
    yield Check("key of ids", key, "as the receipts have it" if key else "altered")
    if good and settings:
        yield from _model(contents, last, address)


def _ids(receipts: list[Receipt], held: set[str]) -> str:
    """What a receipt forgot is not held, unless a later one learned it again."""
    is_in: dict[int | str, bool] = {}
    for receipt in receipts:
        stays = receipt.action in ("learn", "relabel", "return")
        is_in |= dict.fromkeys(receipt.ids, stays)
    lost = sum(receipt.count for receipt in receipts if receipt.action == "restore")
    again = [name for name, stays in is_in.items() if not stays and name in held]
    missing = [name for name, stays in is_in.items() if stays and name not in held]
    if again:
        raise ValueError(f"{len(again)} ids are forgotten, and held, such as {again[0]}")
    if len(missing) > lost:  # those that a restored copy lacks are not named
        raise ValueError(f"{len(missing)} ids are learned, and not held, such as {missing[0]}")
    is_in |= dict.fromkeys(missing, False)
    gone = sum(not stays for stays in is_in.values())
    return f"{gone} ids of receipts are gone, {len(is_in) - gone} are held, as they say"


def _model(contents: Contents, last: Receipt, address: str) -> Iterator[Check]:
    """The model as the rows make it, and the snapshot's against it."""
    try:
        opened = open_contents(contents, address)
        built = opened.parts.model(opened.held, last.next_id or 0)
    except (ValueError, StoreError, ArithmeticError) as error:
        yield Check("model", False, f"the rows make no model: {error}")
        return
    yield Check("model", True, f"a {last.model} was built from {last.n_after} rows")
    if contents.snapshot is None:
        yield Check("snapshot", True, "none")
        return
    if opened.known is None:
        yield Check("snapshot", False, "altered, or of another version")
        return
    yield _check("snapshot", lambda: _same_answers(opened.model(), built))


def _same_answers(snapshot: Any, built: Any) -> str:
    """The model that opens from a snapshot answers as the one from rows does."""
    X = estimator_of(built).X_fit_
    ours, theirs = (decision_values(estimator_of(model), X) for model in (snapshot, built))
    difference = float(np.abs(ours - theirs).max() / (np.abs(theirs).max() or 1.0))
    if not difference <= default_tolerance(built):
        raise ValueError(f"altered: its answers differ from those of the rows by {difference:.1e}")
    return f"of this version; its answers differ from those of the rows by {difference:.1e}"


def _refit(model: Any) -> str:
    difference, allowed = difference_to_refit(model), default_tolerance(model)
    if not difference <= allowed:
        raise ValueError(f"the model differs from a refit by {difference:.1e}")
    return f"the model differs from a refit by {difference:.1e}, at most {allowed:.0e} is allowed"
