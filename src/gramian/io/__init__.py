"""Model files, models of tables, and receipts of what was forgotten."""

from gramian.io._cells import TableError
from gramian.io._columns import CategoryColumn, NumberColumn, TargetColumn
from gramian.io._errors import ModelFileError
from gramian.io._models import file_facts, fingerprint, load, save
from gramian.io._receipt import Receipt, forget
from gramian.io._table_model import TableModel

__all__ = [
    "CategoryColumn",
    "ModelFileError",
    "NumberColumn",
    "Receipt",
    "TableError",
    "TableModel",
    "TargetColumn",
    "file_facts",
    "fingerprint",
    "forget",
    "load",
    "save",
]
