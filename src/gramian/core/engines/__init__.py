"""The live state of a model: holdings, and the engines that follow them."""

from gramian.core.engines._added import JoinedBlock, JoinedByEdits, JoinedQueries, query_blocks
from gramian.core.engines._dense import (
    GramEngine,
    GramPlan,
    MinimumNormEngine,
    Owed,
    Unbuilt,
    check_semidefinite,
)
from gramian.core.engines._engine import Engine, Reader, noted
from gramian.core.engines._holdings import Holdings, check_weight, trimmed
from gramian.core.engines._primal import SUMS, LinearPlan, LinearReader, SumsEngine
from gramian.core.engines._rows import DenseRows, GramRows, Rows, SparseRows, make_rows

__all__ = [
    "SUMS",
    "DenseRows",
    "Engine",
    "GramEngine",
    "GramPlan",
    "GramRows",
    "Holdings",
    "JoinedBlock",
    "JoinedByEdits",
    "JoinedQueries",
    "LinearPlan",
    "LinearReader",
    "MinimumNormEngine",
    "Owed",
    "Reader",
    "Rows",
    "SparseRows",
    "SumsEngine",
    "Unbuilt",
    "check_semidefinite",
    "check_weight",
    "make_rows",
    "noted",
    "query_blocks",
    "trimmed",
]
