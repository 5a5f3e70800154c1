"""Receipts of edits: each names the one before by its hash, and may be signed."""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from gramian.files.parts import canonical_json

FIRST = "0" * 64
"""What the first receipt names as the one before."""


@dataclass(frozen=True)
class StoreReceipt:
    """Evidence of an edit of a store. It holds nothing of a row but a keyed hash of its id.

    Attributes
    ----------
    number : int
        0 for the creation of the store, then 1, 2, 3, …
    action : {"create", "learn", "forget", "relabel"}
    time : str
        UTC, ISO 8601.
    user : str
    model : str
        Class of the machine.
    ids : tuple of str
        HMAC-SHA256 of each row's id, with the key of the store; `Store.find` computes it. Empty
        for the creation.
    count : int
        Number of rows that came, went or got another target.
    n_before, n_after : int
    next_id : int
        The next number for a row without an id.
    drift : float or None
        Measured relative residual of the solution; None where it was not measured. It is measured
        with ``verify``, up to 1,000 rows, and at every 64th edit beyond.
    difference, tolerance, verified : float, float, bool, or None
        With ``verify``: how far the decision values are from those of a refit, what is allowed, and
        whether they are within it.
    seen_by : tuple of str
        Names of what was chosen on rows and stays when they are forgotten.
    commitment : str
        To the rows held afterwards; `gramian.store.Commitment` computes it from the stored rows.
    settings : str
        SHA-256 of the settings, with a salt that is stored beside them.
    key_id : str
        SHA-256 of the key of the ids.
    snapshots : bool
        Whether the store keeps snapshots.
    public_key : str or None
        Ed25519 key that signs the receipts of this store, in hexadecimal digits.
    previous : str
        Hash of the receipt before.
    version : str
        Of gramian.
    signature : str or None
        Ed25519, of the hash.
    """

    number: int
    action: str
    time: str
    user: str
    model: str
    ids: tuple[str, ...]
    count: int
    n_before: int
    n_after: int
    next_id: int
    drift: float | None
    difference: float | None
    tolerance: float | None
    verified: bool | None
    chosen_on_data: tuple[str, ...]
    commitment: str
    settings: str
    key_id: str
    snapshots: bool
    public_key: str | None
    previous: str
    version: str
    signature: str | None = None

    @property
    def hash(self) -> str:
        """SHA-256 of everything but the signature, in hexadecimal digits."""
        body = {name: value for name, value in vars(self).items() if name != "signature"}
        return sha256(canonical_json(body)).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """All fields, and the hash."""
        return {**json.loads(self.content()), "hash": self.hash}

    def content(self) -> bytes:
        """The bytes that are stored."""
        return canonical_json(vars(self))

    @classmethod
    def read(cls, content: bytes) -> StoreReceipt:
        """The receipt of stored bytes.

        Raises
        ------
        ValueError
            If these are not the bytes that such a receipt has.
        """
        try:
            found = json.loads(content)
            if set(found) != {field.name for field in fields(cls)}:
                raise ValueError("it has other fields")
            lists = {name: tuple(found[name]) for name in ("ids", "chosen_on_data")}
            receipt = cls(**{**found, **lists})
            same = receipt.content() == bytes(content)
        except (TypeError, AttributeError, KeyError) as error:
            raise ValueError(str(error)) from error
        if not same:
            raise ValueError("it is not as it was written")
        return receipt


def hashed_id(key: bytes, name: int | str) -> str:
    """What stands for an id in receipts."""
    return hmac.digest(key, canonical_json(name), "sha256").hex()


def now() -> str:
    """The time in UTC, as receipts have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
