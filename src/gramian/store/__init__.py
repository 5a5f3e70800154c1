"""Models on disk that learn and forget: durable edits, real erasure, receipts and audits."""

from gramian.store._audit import AuditReport, Check, audit
from gramian.store._commitment import Commitment
from gramian.store._database import is_database as is_store
from gramian.store._errors import StoreBusyError, StoreError
from gramian.store._receipts import StoreReceipt
from gramian.store._store import Store

__all__ = [
    "AuditReport",
    "Check",
    "Commitment",
    "Store",
    "StoreBusyError",
    "StoreError",
    "StoreReceipt",
    "audit",
    "is_store",
]
