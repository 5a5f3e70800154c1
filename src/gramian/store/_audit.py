"""Checks of a store by what it says itself: file, receipts, signatures, rows, settings, model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from gramian.files import StrPath, default_tolerance, difference_to_refit
from gramian.store._book import (
    key_digest,
    read_rows,
    settings_digest,
    snapshot_checksum,
)
from gramian.store._database import Contents, read_all
from gramian.store._errors import StoreError
from gramian.store._keys import is_signed, public_key
from gramian.store._receipts import FIRST, StoreReceipt

_LASTING = ("key_id", "public_key", "snapshots", "model")


class Check(NamedTuple):
    """One thing that was looked at."""

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


def audit(path: StrPath, key: Any = None, model: Any = None) -> AuditReport:
    """Check a store; with ``model``, also that it equals a refit."""
    wanted = None if key is None else public_key(key)
    try:
        contents, wrong = read_all(path, check=True)
    except StoreError as error:
        return AuditReport((Check("file", False, str(error)),))
    size = f"{len(contents.rows)} places, {len(contents.receipts)} receipts"
    checks = [Check("file", not wrong, "; ".join(wrong) or f"integrity_check is ok; {size}")]
    try:
        receipts = [StoreReceipt.read(content) for content in contents.receipts]
    except ValueError as error:
        return AuditReport((*checks, Check("receipts", False, f"a receipt is damaged: {error}")))
    checks.append(_check("receipts", lambda: _chain(receipts)))
    checks.append(_check("signatures", lambda: _signatures(receipts, wanted)))
    checks += _state(contents, receipts[-1])
    if model is not None:
        checks.append(_check("refit", lambda: _refit(model)))
    return AuditReport(tuple(checks))


def _check(name: str, look: Callable[[], str]) -> Check:
    """What ``look`` returns is seen and right; what it raises is wrong."""
    try:
        return Check(name, True, look())
    except (ValueError, StoreError) as error:
        return Check(name, False, str(error))


def _chain(receipts: list[StoreReceipt]) -> str:
    """Each names the one before and goes on where that one ended."""
    previous, n, next_id = FIRST, 0, 0
    first = receipts[0]
    for number, receipt in enumerate(receipts):
        changed = {"create": n + receipt.count, "learn": n + receipt.count, "relabel": n}
        if receipt.number != number or receipt.previous != previous:
            raise ValueError(f"receipt {number} does not follow the one before")
        if (receipt.action == "create") != (number == 0):
            raise ValueError(f"receipt {number} is of {receipt.action!r}")
        if receipt.n_before != n or receipt.n_after != changed.get(
            receipt.action, n - receipt.count
        ):
            raise ValueError(f"receipt {number} counts other rows than the one before left")
        if any(getattr(receipt, name) != getattr(first, name) for name in _LASTING):
            raise ValueError(f"receipt {number} names other keys than the first")
        if receipt.next_id < next_id:
            raise ValueError(f"receipt {number} gives a number again")
        previous, n, next_id = receipt.hash, receipt.n_after, receipt.next_id
    return f"{len(receipts)} in a chain, the last of {receipts[-1].time}; hash {previous}"


def _signatures(receipts: list[StoreReceipt], wanted: str | None) -> str:
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


def _state(contents: Contents, last: StoreReceipt) -> Iterator[Check]:
    """Rows, settings, key and snapshot against the last receipt."""
    try:
        book, rows = read_rows(contents, last)
    except (ValueError, TypeError, KeyError) as error:
        yield Check("rows", False, f"a row is not as it was written: {error}")
        return
    free = sum(map(len, book.free.values()))
    good = book.commitment.digest() == last.commitment and len(rows) == last.n_after
    detail = f"{len(rows)} rows make the commitment of the last receipt; {free} places are zeros"
    wrong = f"{len(rows)} rows do not make the commitment to {last.n_after} of the last receipt"
    yield Check("rows", good, detail if good else wrong)
    settings = settings_digest(*contents.settings) == last.settings
    yield Check("settings", settings, "as the last receipt has them" if settings else "altered")
    key = key_digest(contents.id_key) == last.key_id
    yield Check("key of ids", key, "as the receipts have it" if key else "altered")
    yield _snapshot(contents, last)


def _snapshot(contents: Contents, last: StoreReceipt) -> Check:
    if contents.snapshot is None:
        return Check("snapshot", True, "none")
    checksum, content = contents.snapshot
    good = checksum == snapshot_checksum(content, last)
    return Check("snapshot", good, "of this version" if good else "altered, or of another version")


def _refit(model: Any) -> str:
    difference, allowed = difference_to_refit(model), default_tolerance(model)
    if not difference <= allowed:
        raise ValueError(f"the model differs from a refit by {difference:.1e}")
    return f"the model differs from a refit by {difference:.1e}, at most {allowed:.0e} is allowed"
