"""Ed25519 keys that sign receipts; they need the package ``cryptography``."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from gramian.files import Receipt, StrPath
from gramian.files._receipt import check_hex
from gramian.store._errors import StoreError


class Signer:
    """A private key, given as such, as the bytes of a PEM file, or as the path of one."""

    public: str

    def __init__(self, key: Any) -> None:
        self._key = _private(key)
        self.public = self._key.public_key().public_bytes_raw().hex()

    def sign(self, digest: str) -> str:
        """Signature of a hash, both in hexadecimal digits."""
        return str(self._key.sign(bytes.fromhex(digest)).hex())


def signed(receipt: Receipt, signer: Signer | None) -> Receipt:
    """The receipt with a signature, if there is a key; the one that it had before goes."""
    signature = None if signer is None else signer.sign(receipt.hash)
    return receipt if signature == receipt.signature else replace(receipt, signature=signature)


def is_signed(public: str, digest: str, signature: str | None) -> bool:
    """Whether the signature of a hash is of this key."""
    ed25519 = _ed25519()
    from cryptography.exceptions import InvalidSignature

    try:
        check_hex(signature, 64, "signature")  # one form: no capitals, no spaces
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature or ""), bytes.fromhex(digest))
    except (InvalidSignature, ValueError):
        return False
    return True


def public_key(key: Any) -> str:
    """A public key in hexadecimal digits: given so, as PEM bytes, as a path, or as a key."""
    if isinstance(key, str) and len(key) == 64 and not os.path.exists(key):
        return key.lower()
    if hasattr(key, "public_bytes_raw"):
        return str(key.public_bytes_raw().hex())
    kind = _ed25519().Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        found = load_pem_public_key(_read(key))
    except ValueError as error:
        raise StoreError(f"the public key is no key in PEM form: {error}.") from error
    if not isinstance(found, kind):
        raise StoreError(f"the public key must be an Ed25519 key, got {type(found).__name__}.")
    return str(found.public_bytes_raw().hex())


def _private(key: Any) -> Any:
    ed25519 = _ed25519()
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return key
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        found = load_pem_private_key(_read(key), password=None)
    except (ValueError, TypeError) as error:
        raise StoreError(f"the key is no unencrypted private key in PEM form: {error}.") from error
    if not isinstance(found, ed25519.Ed25519PrivateKey):
        raise StoreError(f"the key must be an Ed25519 key, got {type(found).__name__}.")
    return found


def _read(key: bytes | StrPath) -> bytes:
    if isinstance(key, bytes):
        return key
    with open(key, "rb") as stream:
        return stream.read()


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'signed receipts need cryptography: pip install "gramian[store]".'
        ) from error
    return ed25519
