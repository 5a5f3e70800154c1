"""Model files, receipts of forgotten samples, and safe writes to a disk."""

from gramian.files._atomic import StrPath, remove_leftovers, replacing, sync_folder
from gramian.files._chain import Proof
from gramian.files._errors import ModelFileError
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
