"""Model files, receipts of forgotten samples, and safe writes to a disk.

Names are resolved on first use (PEP 562): a process that only waits for another one needs locks
and loads nothing of the models.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gramian.core.validation import ModelFileError
    from gramian.files._atomic import StrPath, remove_leftovers, replacing, sync_folder
    from gramian.files._chain import Proof
    from gramian.files._forget import default_tolerance, difference_to_refit, forget
    from gramian.files._lock import FileInUseError, locked, user_name
    from gramian.files._models import file_facts, fingerprint, load, save
    from gramian.files._receipt import Receipt

__all__ = [
    "FileInUseError",
    "ModelFileError",
    "Proof",
    "Receipt",
    "StrPath",
    "default_tolerance",
    "difference_to_refit",
    "file_facts",
    "fingerprint",
    "forget",
    "load",
    "locked",
    "remove_leftovers",
    "replacing",
    "save",
    "sync_folder",
    "user_name",
]

_MODULES = {
    "gramian.core.validation": ("ModelFileError",),
    "gramian.files._atomic": ("StrPath", "remove_leftovers", "replacing", "sync_folder"),
    "gramian.files._lock": ("FileInUseError", "locked", "user_name"),
    "gramian.files._models": ("file_facts", "fingerprint", "load", "save"),
    "gramian.files._chain": ("Proof",),
    "gramian.files._forget": ("default_tolerance", "difference_to_refit", "forget"),
    "gramian.files._receipt": ("Receipt",),
}
_WHERE = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_WHERE[name]), name)
    return value
