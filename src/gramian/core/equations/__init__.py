"""The equations that several families share, as functions of arrays without state."""

from gramian.core.equations._added import Added, Queries, added_rows, rows_without_each
from gramian.core.equations._calibration import class_scores, fit_calibration, probabilities
from gramian.core.equations._conformal import (
    Rivals,
    accepted,
    conformal_regions,
    jackknife_plus,
    nonconformity,
    p_values,
)
from gramian.core.equations._criteria import CRITERIA, Criterion, sample_losses
from gramian.core.equations._equations import Equations, MomentsOf, Removals
from gramian.core.equations._gradients import Derivatives, differentiate
from gramian.core.equations._independent import (
    Independent,
    independent_append,
    independent_remove,
    independent_select,
)
from gramian.core.equations._influence import decision_changes, values_without_each
from gramian.core.equations._least_squares import KERNEL_RIDGE, LS_SVM, LeastSquares, loo_bordered
from gramian.core.equations._minimum_norm import minimum_norm, minimum_norm_loo
from gramian.core.equations._relevance import feature_scales
from gramian.core.equations._targets import TARGETS, ClassTargets, Responses, Targets

__all__ = [
    "CRITERIA",
    "KERNEL_RIDGE",
    "LS_SVM",
    "TARGETS",
    "Added",
    "ClassTargets",
    "Criterion",
    "Derivatives",
    "Equations",
    "Independent",
    "LeastSquares",
    "MomentsOf",
    "Queries",
    "Removals",
    "Responses",
    "Rivals",
    "Targets",
    "accepted",
    "added_rows",
    "class_scores",
    "conformal_regions",
    "decision_changes",
    "differentiate",
    "feature_scales",
    "fit_calibration",
    "independent_append",
    "independent_remove",
    "independent_select",
    "jackknife_plus",
    "loo_bordered",
    "minimum_norm",
    "minimum_norm_loo",
    "nonconformity",
    "p_values",
    "probabilities",
    "rows_without_each",
    "sample_losses",
    "values_without_each",
]
