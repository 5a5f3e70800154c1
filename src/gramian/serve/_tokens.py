"""Tokens that let clients in: a file with their names, scopes and hashes.

A token is 32 random bytes, so that one SHA-256 of it cannot be turned back and a salt would add
nothing. The file holds the hash alone; the token is shown once, when it is made.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest

from gramian.files import StrPath, locked, replacing

SCOPES = ("predict", "learn", "forget", "admin")
"""What a token may be good for; ``admin`` includes the others."""


@dataclass(frozen=True)
class Token:
    """Who may do what."""

    name: str
    scopes: tuple[str, ...]
    sha256: str
    created: str

    def allows(self, scope: str) -> bool:
        """Whether the token is good for a scope."""
        return scope in self.scopes or "admin" in self.scopes


class Tokens:
    """The tokens that a service accepts."""

    def __init__(self, tokens: Iterable[Token]) -> None:
        self._tokens = tuple(tokens)

    def __len__(self) -> int:
        return len(self._tokens)

    @classmethod
    def read(cls, path: StrPath) -> Tokens:
        """From a file that `add_token` made."""
        return cls(_read(path))

    def find(self, header: str) -> Token | None:
        """The token of an ``Authorization`` header, Bearer or (its password) Basic.

        Compares with every token in constant time.
        """
        presented = sha256(_secret(header)).hexdigest()
        found = None
        for token in self._tokens:
            if compare_digest(token.sha256, presented):
                found = token
        return found


def add_token(path: StrPath, name: str, scopes: Sequence[str]) -> str:
    """Make a token, add its hash to a file that only its owner can read, and return the token."""
    unknown = [scope for scope in scopes if scope not in SCOPES]
    if unknown or not scopes:
        raise ValueError(f"scopes must be some of {', '.join(SCOPES)}; got {', '.join(scopes)}.")
    with locked(path):
        tokens = _read(path) if os.path.exists(path) else []
        if name in {token.name for token in tokens}:
            raise ValueError(f"{path} has a token named {name!r}. Remove it or take another name.")
        secret = f"gram_{secrets.token_urlsafe(32)}"
        digest = sha256(secret.encode()).hexdigest()
        now = datetime.now(UTC).isoformat(timespec="seconds")
        tokens.append(Token(name, tuple(dict.fromkeys(scopes)), digest, now))
        with replacing(path) as stream:
            content = {"tokens": [asdict(token) for token in tokens]}
            stream.write(json.dumps(content, indent=2).encode() + b"\n")
        os.chmod(path, 0o600)
    return secret


def _read(path: StrPath) -> list[Token]:
    with open(path, encoding="utf-8") as stream:
        content = stream.read()
    try:
        entries = json.loads(content)["tokens"]
        tokens = [Token(e["name"], tuple(e["scopes"]), e["sha256"], e["created"]) for e in entries]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a file of tokens. Make one by `gramian token`.") from error
    for token in tokens:
        if len(token.sha256) != 64 or not set(token.scopes) <= set(SCOPES):
            raise ValueError(f"{path}: the token {token.name!r} has unknown scopes or no hash.")
    return tokens


def _secret(header: str) -> bytes:
    """What an ``Authorization`` header presents; nothing if it cannot be read."""
    kind, _, value = header.strip().partition(" ")
    if kind.lower() == "bearer":
        return value.strip().encode()
    if kind.lower() == "basic":
        try:
            return base64.b64decode(value, validate=True).partition(b":")[2]
        except binascii.Error:
            return b""
    return b""
