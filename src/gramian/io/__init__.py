"""Model files, and receipts of what was forgotten."""

from gramian.files import FileInUseError
from gramian.io._errors import ModelFileError
from gramian.io._models import file_facts, fingerprint, load, save
from gramian.io._receipt import Receipt, forget

__all__ = [
    "FileInUseError",
    "ModelFileError",
    "Receipt",
    "file_facts",
    "fingerprint",
    "forget",
    "load",
    "save",
]
