"""Model files, and receipts of forgotten samples."""

from gramian.files import FileInUseError
from gramian.io._errors import ModelFileError
from gramian.io._models import file_facts, fingerprint, load, save
from gramian.io._receipt import Receipt, default_tolerance, difference_to_refit, forget

__all__ = [
    "FileInUseError",
    "ModelFileError",
    "Receipt",
    "default_tolerance",
    "difference_to_refit",
    "file_facts",
    "fingerprint",
    "forget",
    "load",
    "save",
]
