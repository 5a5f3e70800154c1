"""What a store raises besides the errors of its model."""


class StoreError(OSError):
    """A store that cannot be opened or written, is damaged, or is used in a wrong way."""


class StoreBusyError(StoreError):
    """Another process, or this one, is writing to the store or reading from it for too long."""


class StoreReplacedError(StoreError):
    """The file of an open store was deleted, replaced, or given a second name."""


class OldCopyError(StoreError):
    """A copy of a store from before an edit that the anchor or the keyring knows of."""


class NoLeaseError(StoreError):
    """This process has lost sight of the store and must not answer for it."""
