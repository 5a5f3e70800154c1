"""The equations that several families share, as functions of arrays without state."""

from gramian.core.equations._adaptive import adaptive_scores, finite_outputs, margin_slope
from gramian.core.equations._added import Added, Queries, added_rows, rows_without_each
from gramian.core.equations._calibration import (
    class_of,
    class_scores,
    fit_calibration,
    probabilities,
)
from gramian.core.equations._conformal import (
    BestOthers,
    accepted,
    conformal_regions,
    jackknife_plus,
    nonconformity,
    p_values,
)
from gramian.core.equations._criteria import CRITERIA, Criterion, sample_losses
from gramian.core.equations._equations import PAIRS_REFUSED, Equations, MomentsOf, Removals
from gramian.core.equations._gradients import differentiate
from gramian.core.equations._groups import BlocksOf, groups_by_size, row_residuals
from gramian.core.equations._independent import (
    Independent,
    independent_append,
    independent_remove,
    independent_select,
)
from gramian.core.equations._influence import decision_changes, values_without_each
from gramian.core.equations._least_squares import KERNEL_RIDGE, LS_SVM, LeastSquares, loo_bordered
from gramian.core.equations._local_scale import (
    Neighbourhood,
    finite_sizes,
    local_scales,
    neighbours,
    scales_without_each,
)
from gramian.core.equations._minimum_norm import minimum_norm, minimum_norm_loo
from gramian.core.equations._pairs import Pairs, all_pairs, pair_effects
from gramian.core.equations._relevance import feature_scales
from gramian.core.equations._targets import TARGETS, ClassTargets, Responses, Targets

__all__ = [
    "CRITERIA",
    "KERNEL_RIDGE",
    "LS_SVM",
    "PAIRS_REFUSED",
    "TARGETS",
    "Added",
    "BestOthers",
    "BlocksOf",
    "ClassTargets",
    "Criterion",
    "Equations",
    "Independent",
    "LeastSquares",
    "MomentsOf",
    "Neighbourhood",
    "Pairs",
    "Queries",
    "Removals",
    "Responses",
    "Targets",
    "accepted",
    "adaptive_scores",
    "added_rows",
    "all_pairs",
    "class_of",
    "class_scores",
    "conformal_regions",
    "decision_changes",
    "differentiate",
    "feature_scales",
    "finite_outputs",
    "finite_sizes",
    "fit_calibration",
    "groups_by_size",
    "independent_append",
    "independent_remove",
    "independent_select",
    "jackknife_plus",
    "local_scales",
    "loo_bordered",
    "margin_slope",
    "minimum_norm",
    "minimum_norm_loo",
    "neighbours",
    "nonconformity",
    "p_values",
    "pair_effects",
    "probabilities",
    "row_residuals",
    "rows_without_each",
    "sample_losses",
    "scales_without_each",
    "values_without_each",
]
