"""Tokens that let clients in: a file with their names, scopes and hashes.

A token is 32 random bytes, so that one SHA-256 of it cannot be turned back and a salt would add
nothing. The file holds the hash alone; the token is shown once, when it is made.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from hmac import compare_digest
from time import monotonic
from typing import Any

from gramian.files import StrPath, locked, replacing
from gramian.serve._problems import log

SCOPES = ("predict", "learn", "forget", "admin")
"""What a token may be good for; ``admin`` includes the others."""

_CHECK_EVERY = 1.0  # seconds between two looks at the file


@dataclass(frozen=True)
class Token:
    """Who may do what, and until when."""

    name: str
    scopes: tuple[str, ...]
    sha256: str
    created: str
    expires: str | None = None

    def allows(self, scope: str) -> bool:
        """Whether the token is good for a scope."""
        return scope in self.scopes or "admin" in self.scopes

    @property
    def expired(self) -> bool:
        """Whether its time is over."""
        return self.expires is not None and datetime.fromisoformat(self.expires) <= _now()


class Tokens:
    """The tokens of a file that a service accepts; changes of the file count within a second.

    A file that cannot be read any more is logged, and the tokens that were read last stay.
    """

    def __init__(self, path: StrPath) -> None:
        self._path = path
        self._seen, self._tokens = _stamp(path), _read(path)
        self._checked = monotonic()

    def __len__(self) -> int:
        return len(self._tokens)

    def find(self, header: str) -> Token | None:
        """The token of an ``Authorization`` header, Bearer or (its password) Basic.

        Compares with every token in constant time.
        """
        self._reload_if_changed()
        presented = sha256(_secret(header)).hexdigest()
        found = None
        for token in self._tokens:
            if compare_digest(token.sha256, presented):
                found = token
        return None if found is None or found.expired else found

    def _reload_if_changed(self) -> None:
        """Read the file again if it has changed."""
        if monotonic() - self._checked < _CHECK_EVERY:
            return
        self._checked = monotonic()
        try:
            seen = _stamp(self._path)
            if seen != self._seen:
                self._tokens, self._seen = _read(self._path), seen
        except (OSError, ValueError) as error:
            log.error("the tokens stay as they were: %s", error)


def add_token(path: StrPath, name: str, scopes: Sequence[str], *, days: float | None = None) -> str:
    """Make a token, add its hash to a file that only its owner can read, and return the token.

    Parameters
    ----------
    path : str or path
        Of the file, which is made if it is not there.
    name : str
        Who gets it: receipts of edits that are made with it name them.
    scopes : sequence of str
        Of `SCOPES`.
    days : float, optional
        How long it is good; for ever by default.
    """
    unknown = [scope for scope in scopes if scope not in SCOPES]
    if unknown or not scopes:
        raise ValueError(f"scopes must be some of {', '.join(SCOPES)}; got {', '.join(scopes)}.")
    if days is not None and not 0 < days < 36_500:
        raise ValueError(f"days must be between 0 and 36500, got {days:g}.")
    with locked(path):
        tokens = _read(path) if os.path.exists(path) else []
        if name in {token.name for token in tokens}:
            raise ValueError(f"{path} has a token named {name!r}. Remove it or take another name.")
        secret = f"gram_{secrets.token_urlsafe(32)}"
        digest = sha256(secret.encode()).hexdigest()
        ends = None if days is None else _written(_now() + timedelta(days=days))
        tokens.append(Token(name, tuple(dict.fromkeys(scopes)), digest, _written(_now()), ends))
        with replacing(path) as stream:
            content = {"tokens": [asdict(token) for token in tokens]}
            stream.write(json.dumps(content, indent=2).encode() + b"\n")
        os.chmod(path, 0o600)
    return secret


def _read(path: StrPath) -> list[Token]:
    with open(path, encoding="utf-8") as stream:
        content = stream.read()
    try:
        tokens = [_token(entry) for entry in json.loads(content)["tokens"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a file of tokens. Make one by `gramian token`.") from error
    for token in tokens:
        if len(token.sha256) != 64 or not set(token.scopes) <= set(SCOPES):
            raise ValueError(f"{path}: the token {token.name!r} has unknown scopes or no hash.")
    return tokens


def _token(entry: dict[str, Any]) -> Token:
    token = Token(**{**entry, "scopes": tuple(entry["scopes"])})
    if token.expires is not None and datetime.fromisoformat(token.expires).tzinfo is None:
        raise ValueError("a time without a time zone")
    return token


def _stamp(path: StrPath) -> tuple[int, int, int]:
    """What changes when the file does."""
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns


def _now() -> datetime:
    return datetime.now(UTC)


def _written(time: datetime) -> str:
    return time.isoformat(timespec="seconds")


def _secret(header: str) -> bytes:
    """What an ``Authorization`` header presents; nothing if it cannot be read."""
    kind, _, value = header.strip().partition(" ")
    if kind.lower() == "bearer":
        return value.strip().encode("utf-8", "surrogatepass")
    if kind.lower() == "basic":
        try:
            return base64.b64decode(value.strip(), validate=True).partition(b":")[2]
        except ValueError:
            return b""
    return b""
