"""Models of tables with columns of numbers, dates and text, and the encoding of such columns."""

from gramian.tables._cells import (
    TableError,
    TableWarning,
    are_classes,
    are_numbers,
    column_names,
    number,
    read_cells,
    text,
)
from gramian.tables._columns import CategoryColumn, NumberColumn, TargetColumn
from gramian.tables._dates import NOTATIONS, DateColumn
from gramian.tables._formats import NumberFormat, unit_of
from gramian.tables._model_rows import estimator_of
from gramian.tables._reading import encode
from gramian.tables._table_model import TableModel

__all__ = [
    "NOTATIONS",
    "CategoryColumn",
    "DateColumn",
    "NumberColumn",
    "NumberFormat",
    "TableError",
    "TableModel",
    "TableWarning",
    "TargetColumn",
    "are_classes",
    "are_numbers",
    "column_names",
    "encode",
    "estimator_of",
    "number",
    "read_cells",
    "text",
    "unit_of",
]
