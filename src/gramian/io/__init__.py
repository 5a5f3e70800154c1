"""Model files, and receipts of forgotten samples."""

from gramian.files import FileInUseError
from gramian.io._archive import canonical_json
from gramian.io._errors import ModelFileError
from gramian.io._models import file_facts, fingerprint, load, save
from gramian.io._parts import (
    Held,
    Parts,
    following,
    follows_from_rows,
    machine_of,
    next_id_of,
    read_values,
    rows_of,
    settings_of,
    write_values,
)
from gramian.io._receipt import Receipt, default_tolerance, difference_to_refit, forget

__all__ = [
    "FileInUseError",
    "Held",
    "ModelFileError",
    "Parts",
    "Receipt",
    "canonical_json",
    "default_tolerance",
    "difference_to_refit",
    "file_facts",
    "fingerprint",
    "following",
    "follows_from_rows",
    "forget",
    "load",
    "machine_of",
    "next_id_of",
    "read_values",
    "rows_of",
    "save",
    "settings_of",
    "write_values",
]
