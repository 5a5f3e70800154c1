"""The updatable state of the machines: holdings, and the engines that follow them.

`Holdings` store the samples, targets, weights and ids of a model; an edit replaces them in one
assignment. An engine follows them by exact updates and records which version it is valid for.
"""

from gramian.engines._engine import Engine, Reader, noted
from gramian.engines._gram import (
    GramEngine,
    GramPlan,
    MinimumNormEngine,
    Owed,
    Unbuilt,
    check_semidefinite,
)
from gramian.engines._holdings import Holdings, check_weight, trimmed
from gramian.engines._joined import JoinedBlock, JoinedByEdits, JoinedQueries, query_blocks
from gramian.engines._rows import DenseRows, GramRows, Rows, SparseRows, make_rows
from gramian.engines._stack import StackEngine, StackPlan, require_stack
from gramian.engines._sums import SUMS, LinearPlan, LinearReader, SumsEngine
from gramian.engines.ellipsoidal._engine import RegionsEngine, RegionsReader, Tuning
from gramian.engines.ellipsoidal._regions import InputRegion, KernelRegion, SvdRegion, in_double
from gramian.engines.lagrangian import LagrangianEngine, LagrangianPlan

__all__ = [
    "SUMS",
    "DenseRows",
    "Engine",
    "GramEngine",
    "GramPlan",
    "GramRows",
    "Holdings",
    "InputRegion",
    "JoinedBlock",
    "JoinedByEdits",
    "JoinedQueries",
    "KernelRegion",
    "LagrangianEngine",
    "LagrangianPlan",
    "LinearPlan",
    "LinearReader",
    "MinimumNormEngine",
    "Owed",
    "Reader",
    "RegionsEngine",
    "RegionsReader",
    "Rows",
    "SparseRows",
    "StackEngine",
    "StackPlan",
    "SumsEngine",
    "SvdRegion",
    "Tuning",
    "Unbuilt",
    "check_semidefinite",
    "check_weight",
    "in_double",
    "make_rows",
    "noted",
    "query_blocks",
    "require_stack",
    "trimmed",
]
