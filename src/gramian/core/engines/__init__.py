"""The live state of a model: holdings, and the engines that follow them."""

from gramian.core.engines._added import AddedBlock, AddedByEdits, AddedQueries, query_blocks
from gramian.core.engines._dense import (
    DenseEngine,
    DensePlan,
    MinimumNormEngine,
    Owed,
    Unbuilt,
    check_semidefinite,
)
from gramian.core.engines._engine import Engine, Predictor, record_rebuild
from gramian.core.engines._holdings import Holdings, check_weight, trimmed
from gramian.core.engines._primal import PRIMAL, PrimalPlan, PrimalPredictor, PrimalEngine
from gramian.core.engines._rows import DenseRows, GramRows, Rows, SparseRows, make_rows

__all__ = [
    "PRIMAL",
    "DenseRows",
    "Engine",
    "DenseEngine",
    "DensePlan",
    "GramRows",
    "Holdings",
    "AddedBlock",
    "AddedByEdits",
    "AddedQueries",
    "PrimalPlan",
    "PrimalPredictor",
    "MinimumNormEngine",
    "Owed",
    "Reader",
    "Rows",
    "SparseRows",
    "PrimalEngine",
    "Unbuilt",
    "check_semidefinite",
    "check_weight",
    "make_rows",
    "record_rebuild",
    "query_blocks",
    "trimmed",
]
