"""Tables as they come: what their columns mean, and models of them."""

from gramian.tables._cells import TableError
from gramian.tables._columns import CategoryColumn, NumberColumn, TargetColumn
from gramian.tables._table_model import TableModel

__all__ = ["CategoryColumn", "NumberColumn", "TableError", "TableModel", "TargetColumn"]
