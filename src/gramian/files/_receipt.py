"""Receipts: what was done to a model, and the evidence. Their format is in docs/receipts.md."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cache, cached_property
from hashlib import sha256
from importlib.metadata import version
from typing import Any, Self

from gramian import __version__
from gramian.files._archive import canonical_json

FIRST = "0" * 64
"""What the first receipt of a chain names as the one before."""

ACTIONS = {
    "create": 1,
    "learn": 1,
    "forget": -1,
    "relabel": 0,
    "reselect": 0,
    "withhold": -1,
    "return": 1,
    "erase": 0,
    "restore": -1,
}
"""What was done; by how many of its `count` rows the model has more afterwards."""

_FINGERPRINTS = ("fingerprint_before", "fingerprint_after", "salt", "seconds")
_CHAIN = (
    "number",
    "previous",
    "tree",
    "commitment",
    "settings",
    "key_id",
    "epoch",
    "next_id",
    "snapshots",
    "public_key",
    "signature",
)
_DIGESTS = ("previous", "tree", "commitment", "settings", "key_id", "public_key")


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """Evidence of an edit. It holds nothing of a sample but its id, in stores a keyed hash of it.

    Receipts of `gramian.forget` have fingerprints of the model; those of a store are links of a
    chain. The attributes of the other kind are None.

    Attributes
    ----------
    action : {"create", "learn", "forget", "relabel", "reselect", "withhold", "return", "erase", \
"restore"}
    time : str
        UTC, ISO 8601.
    user : str
        Who did it: the user as the operating system names it, or the name of a token.
    model : str
        Class of the estimator.
    ids : tuple
        Ids of the samples. In a store, HMAC-SHA256 of each id with the store's key, which
        `Store.find` computes; empty for its creation.
    count : int
        Number of samples that came, went or got another target.
    n_before, n_after : int
        Number of samples held before and after.
    drift : float or None
        Measured relative residual of the solution afterwards, in the true system of the remaining
        samples; None where it was not measured. In a store it is measured with ``verify``, up to
        1,000 samples, and at every 64th edit beyond.
    difference : float or None
        With ``verify``: the largest difference between the decision values of the model and of
        ``model.refitted()``, a model with the same choices built from scratch, on the held samples,
        relative to the largest value.
    tolerance : float or None
        With ``verify``: the largest difference allowed.
    verified : bool or None
        With ``verify``: whether the difference is within the tolerance.
    chosen_on_data : tuple of str
        Names of what was chosen while the samples were there and has not changed.
    versions : dict of str
    fingerprint_before : str or None
        HMAC-SHA256 of the model before, with a secret key that is not in the receipt. It reveals
        nothing without the key. (From a plain hash and the model afterwards, a row of a few
        categories could be guessed.) With the `key` and a copy of the model before, you can prove
        that the receipt is about that model. If no key was given, it is a random identifier.
    fingerprint_after : str or None
        HMAC-SHA256 of the model afterwards, with `salt` as its key. Anyone who has the model can
        compute it again: ``fingerprint(model, key=bytes.fromhex(receipt.salt))``.
    salt : str or None
        32 random bytes, in hexadecimal digits.
    seconds : float or None
        Time to forget (and reselect), without the checks.
    number : int or None
        Place in the chain: 0 for the creation of the store, then 1, 2, 3, …
    previous : str or None
        Hash of the receipt before.
    tree : str or None
        Root of the Merkle tree (RFC 9162) of the hashes of all receipts before: a few hashes show
        that one of them is in it, see `gramian.files.Proof`.
    commitment : str or None
        To the rows held afterwards; `gramian.store.Commitment` computes it from the stored rows.
    settings : str or None
        SHA-256 of the settings, with a salt that is stored with them.
    key_id : str or None
        SHA-256 of the key of the ids.
    epoch : int or None
        Number of the keyring's epoch key: every copy of a row that was erased before this epoch
        began is unreadable. None for a store without a keyring: its copies are not reached.
    next_id : int or None
        The next number for a sample without an id.
    snapshots : bool or None
        Whether the store keeps snapshots.
    public_key : str or None
        Ed25519 key that signs the receipts of this store, in hexadecimal digits.
    signature : str or None
        Ed25519, of the hash.
    """

    action: str
    time: str
    user: str
    model: str
    ids: tuple[int | str, ...]
    count: int
    n_before: int
    n_after: int
    drift: float | None
    difference: float | None
    tolerance: float | None
    verified: bool | None
    chosen_on_data: tuple[str, ...]
    versions: dict[str, str]
    fingerprint_before: str | None = None
    fingerprint_after: str | None = None
    salt: str | None = None
    seconds: float | None = None
    number: int | None = None
    previous: str | None = None
    tree: str | None = None
    commitment: str | None = None
    settings: str | None = None
    key_id: str | None = None
    epoch: int | None = None
    next_id: int | None = None
    snapshots: bool | None = None
    public_key: str | None = None
    signature: str | None = None

    @cached_property
    def hash(self) -> str:
        """SHA-256 of everything but the signature, in hexadecimal digits."""
        body = {name: value for name, value in self._facts().items() if name != "signature"}
        return sha256(canonical_json(body)).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """All facts of this kind of receipt, for JSON, and the hash."""
        facts: dict[str, Any] = json.loads(self.content())
        return {**facts, "hash": self.hash}

    def to_json(self) -> str:
        """The receipt as JSON text."""
        return json.dumps(self.as_dict(), indent=2)

    def content(self) -> bytes:
        """The bytes that are stored."""
        return canonical_json(self._facts())

    @classmethod
    def read(cls, content: bytes) -> Self:
        """The receipt of stored bytes.

        Raises
        ------
        ValueError
            If these are not the bytes that such a receipt has.
        """
        receipt = cls.from_dict(json.loads(content))
        if receipt.content() != bytes(content):
            raise ValueError("it is not as it was written")
        return receipt

    @classmethod
    def from_dict(cls, facts: Any) -> Self:
        """The receipt that `as_dict` wrote; its hash, if there, has to be right.

        Raises
        ------
        ValueError
            If these are not the facts of a receipt.
        """
        if not isinstance(facts, dict):
            raise ValueError("it is no receipt")
        own = {name: value for name, value in facts.items() if name != "hash"}
        try:
            lists = {name: tuple(own[name]) for name in ("ids", "chosen_on_data")}
            receipt = cls(**{**own, **lists})
            receipt._check()
            if set(own) != set(receipt._facts()):
                raise ValueError("it has other facts")
            digest = receipt.hash
        except (TypeError, AttributeError, KeyError) as error:
            raise ValueError(str(error)) from error
        if facts.get("hash", digest) != digest:
            raise ValueError("its hash is not that of its facts")
        return receipt

    def _facts(self) -> dict[str, Any]:
        """The facts of this kind of receipt."""
        names = _names(self.salt is not None, self.number is not None)
        return {name: getattr(self, name) for name in names}

    def _check(self) -> None:
        """Raise ValueError unless every fact has the one form that it is written in."""
        if self.action not in ACTIONS:
            raise ValueError(f"it is of {self.action!r}")
        read_time(self.time)
        counts = (self.count, self.n_before, self.n_after)
        if not all(type(number) is int and number >= 0 for number in counts):
            raise ValueError("it counts no rows")
        for name in _DIGESTS:
            check_hex(getattr(self, name), 32, name)
        check_hex(self.signature, 64, "signature")


@cache
def _names(fingerprints: bool, chain: bool) -> tuple[str, ...]:
    """The names of the facts of a receipt that has fingerprints, or is in a chain."""
    absent = {*(() if fingerprints else _FINGERPRINTS), *(() if chain else _CHAIN)}
    return tuple(field.name for field in fields(Receipt) if field.name not in absent)


def check_hex(text: str | None, size: int, name: str) -> None:
    """Raise ValueError unless the text is None or that many bytes, in lower case and unspaced."""
    if text is not None and (len(text) != 2 * size or bytes.fromhex(text).hex() != text):
        raise ValueError(f"its {name} is not {size} bytes in hexadecimal digits")


def now() -> str:
    """The time in UTC, as receipts have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def read_time(text: str) -> datetime:
    """The time of a receipt; ValueError unless it is in UTC and written as `now` does."""
    found = datetime.fromisoformat(text)
    if found.isoformat(timespec="milliseconds") != text or not text.endswith("+00:00"):
        raise ValueError(f"{text!r} is no time of a receipt")
    return found


def versions() -> dict[str, str]:
    """Of this package and of what computes for it."""
    return {"gramian": __version__, "python": platform.python_version(), **dict(_libraries())}


@cache
def _libraries() -> tuple[tuple[str, str], ...]:
    """Read once: to look them up takes as long as an edit."""
    return tuple((name, version(name)) for name in ("numpy", "scipy", "scikit-learn"))
