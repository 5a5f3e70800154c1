"""The live state of a model: specs, holdings, and the engines that follow them.

`Holdings` store the samples, targets, weights and ids of a model; an edit replaces them in one
assignment. A `Spec` holds parameters and what was chosen for them, and builds an `Engine`, which
follows the holdings by exact updates and records which version it is valid for.
"""

from gramian.core.engines._added import AddedBlock, AddedByEdits, query_blocks
from gramian.core.engines._balanced import balanced_loo, balanced_without_each
from gramian.core.engines._crossfit import ChoiceWarning, held_folds
from gramian.core.engines._deferred import DeferredEngine
from gramian.core.engines._dense import DenseEngine, DenseState, check_semidefinite
from gramian.core.engines._dense_spec import DenseSpec
from gramian.core.engines._doubt import fit_again, outputs_without
from gramian.core.engines._engine import Engine, Predictor
from gramian.core.engines._holdings import Holdings, check_weight
from gramian.core.engines._kernel_spec import WIDTH_KERNELS, KernelSpec
from gramian.core.engines._parameters import check_choice, check_positive, is_number
from gramian.core.engines._primal import PRIMAL, PrimalEngine, PrimalPredictor
from gramian.core.engines._removed import held_queries, left_out_by_removal, without_each_by_removal
from gramian.core.engines._rows import DenseRows, GramRows, Rows, SparseRows, make_rows
from gramian.core.engines._side_by_side import map_side_by_side
from gramian.core.engines._spec import HOST, Listener, Spec
from gramian.core.engines._state import State, Stored
from gramian.core.engines._validate_chosen import validate_gamma

__all__ = [
    "HOST",
    "PRIMAL",
    "WIDTH_KERNELS",
    "AddedBlock",
    "AddedByEdits",
    "ChoiceWarning",
    "DeferredEngine",
    "DenseEngine",
    "DenseRows",
    "DenseSpec",
    "DenseState",
    "Engine",
    "GramRows",
    "Holdings",
    "KernelSpec",
    "Listener",
    "Predictor",
    "PrimalEngine",
    "PrimalPredictor",
    "Rows",
    "SparseRows",
    "Spec",
    "State",
    "Stored",
    "balanced_loo",
    "balanced_without_each",
    "check_choice",
    "check_positive",
    "check_semidefinite",
    "check_weight",
    "fit_again",
    "held_folds",
    "held_queries",
    "is_number",
    "left_out_by_removal",
    "make_rows",
    "map_side_by_side",
    "outputs_without",
    "query_blocks",
    "validate_gamma",
    "without_each_by_removal",
]
