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
from gramian.core.engines._primal import PRIMAL, PrimalEngine, PrimalPlan, PrimalPredictor
from gramian.core.engines._rows import DenseRows, GramRows, Rows, SparseRows, make_rows

__all__ = [
    "PRIMAL",
    "AddedBlock",
    "AddedByEdits",
    "AddedQueries",
    "DenseEngine",
    "DensePlan",
    "DenseRows",
    "Engine",
    "GramRows",
    "Holdings",
    "MinimumNormEngine",
    "Owed",
    "Predictor",
    "PrimalEngine",
    "PrimalPlan",
    "PrimalPredictor",
    "Rows",
    "SparseRows",
    "Unbuilt",
    "check_semidefinite",
    "check_weight",
    "make_rows",
    "query_blocks",
    "record_rebuild",
    "trimmed",
]
