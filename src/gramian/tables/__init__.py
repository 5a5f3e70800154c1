"""Models of tables with columns of numbers and text, and the encoding of such columns."""

from gramian.tables._cells import (
    TableError,
    are_classes,
    column_names,
    number,
    read_cells,
    text,
)
from gramian.tables._columns import CategoryColumn, NumberColumn, TargetColumn
from gramian.tables._reading import encode
from gramian.tables._table_model import TableModel

__all__ = [
    "CategoryColumn",
    "NumberColumn",
    "TableError",
    "TableModel",
    "TargetColumn",
    "are_classes",
    "column_names",
    "encode",
    "number",
    "read_cells",
    "text",
]
