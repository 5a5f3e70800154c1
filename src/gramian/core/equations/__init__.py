"""The equations that several families share, as functions of arrays without state."""

from gramian.core.equations._added import Joined, Queries, departed_rows, joined_rows
from gramian.core.equations._calibration import class_scores, fit_calibration, probabilities
from gramian.core.equations._conformal import (
    Rivals,
    accepted,
    conformal_regions,
    jackknife_plus,
    nonconformity,
    p_values,
)
from gramian.core.equations._criteria import CRITERIA, Criterion
from gramian.core.equations._equations import Departures, Machine, MomentsOf
from gramian.core.equations._gradients import Derivatives, differentiate
from gramian.core.equations._independent import (
    Independent,
    independent_append,
    independent_remove,
    independent_select,
)
from gramian.core.equations._influence import decision_changes, departed_values
from gramian.core.equations._least_squares import KERNEL_RIDGE, LS_SVM, LeastSquares, loo_bordered
from gramian.core.equations._minimum_norm import minimum_norm, minimum_norm_loo
from gramian.core.equations._relevance import feature_scales
from gramian.core.equations._targets import TARGETS, ClassTargets, Responses, Targets

__all__ = [
    "CRITERIA",
    "KERNEL_RIDGE",
    "LS_SVM",
    "TARGETS",
    "ClassTargets",
    "Criterion",
    "Departures",
    "Derivatives",
    "Independent",
    "Joined",
    "LeastSquares",
    "Machine",
    "MomentsOf",
    "Queries",
    "Responses",
    "Rivals",
    "Targets",
    "accepted",
    "class_scores",
    "conformal_regions",
    "decision_changes",
    "departed_rows",
    "departed_values",
    "differentiate",
    "feature_scales",
    "fit_calibration",
    "independent_append",
    "independent_remove",
    "independent_select",
    "jackknife_plus",
    "joined_rows",
    "loo_bordered",
    "minimum_norm",
    "minimum_norm_loo",
    "nonconformity",
    "p_values",
    "probabilities",
]
