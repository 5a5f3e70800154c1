"""A placeholder for the errors of the store, until the store is merged."""

from gramian.store._errors import StoreBusyError, StoreError

__all__ = ["StoreBusyError", "StoreError"]
