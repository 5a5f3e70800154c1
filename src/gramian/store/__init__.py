"""Models on disk that learn and forget: durable edits, real erasure, receipts and audits."""

from gramian.store._audit import AuditReport, Check, audit
from gramian.store._commitment import Commitment
from gramian.store._errors import NoLeaseError, OldCopyError, StoreBusyError, StoreError
from gramian.store._following import Following
from gramian.store._keyring import FileKeyring, Keyring
from gramian.store._move import convert, restore
from gramian.store._open import is_address, is_store
from gramian.store._store import Store

__all__ = [
    "AuditReport",
    "Check",
    "Commitment",
    "FileKeyring",
    "Following",
    "Keyring",
    "NoLeaseError",
    "OldCopyError",
    "Store",
    "StoreBusyError",
    "StoreError",
    "audit",
    "convert",
    "is_address",
    "is_store",
    "restore",
]
