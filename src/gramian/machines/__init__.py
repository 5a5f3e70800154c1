"""The mathematics: the equations of each machine, as functions of arrays.

Machines on the Gram matrix are `Machine` objects (`KERNEL_RIDGE`, `LS_SVM`, `KDA_RMSE`, `KFD`,
`KFD_PENALIZED`), which compute coefficients, leave-one-out values and gradients from ``P = A⁻¹``.
The Lagrangian support vector machine, orthogonal least squares and the ellipsoids of the fuzzy
classifier have their own files. This layer stores no samples and does not depend on scikit-learn.
"""

from gramian.machines._axes import Axes, least
from gramian.machines._calibration import class_scores, fit_calibration, probabilities
from gramian.machines._conformal import (
    Rivals,
    accepted,
    conformal_regions,
    jackknife_plus,
    nonconformity,
    p_values,
)
from gramian.machines._criteria import CRITERIA, Criterion, sample_losses
from gramian.machines._discriminant import (
    KDA_RMSE,
    MinimumNorm,
    minimum_norm,
    minimum_norm_loo,
)
from gramian.machines._ellipsoids import (
    InputEllipsoid,
    KernelEllipsoid,
    SvdEllipsoid,
    input_ellipsoid,
    input_loo_distances,
    kernel_ellipsoid,
    kernel_normalize,
    svd_ellipsoid,
    svd_loo_distances,
)
from gramian.machines._fisher import (
    KFD,
    KFD_PENALIZED,
    CanonicalForm,
    Fisher,
    canonical_form,
    fisher_loo_rows,
)
from gramian.machines._forward import ForwardRules, ForwardSelection, forward_select
from gramian.machines._gradients import Derivatives, differentiate
from gramian.machines._independent import (
    Independent,
    independent_append,
    independent_remove,
    independent_select,
)
from gramian.machines._influence import decision_changes, departed_values
from gramian.machines._joined import Joined, Queries, departed_rows, joined_rows
from gramian.machines._lagrangian import (
    Iterated,
    Solved,
    Tableau,
    lagrangian_iteration,
    left_out_solutions,
    left_out_values,
    principal_pivot,
    slack_tolerance,
)
from gramian.machines._least_squares import KERNEL_RIDGE, LS_SVM, LeastSquares, loo_bordered
from gramian.machines._left_out_members import kernel_loo_distances
from gramian.machines._live_ridge import LiveRidge
from gramian.machines._machine import Departures, Machine, MomentsOf
from gramian.machines._normal_equations import RunningSums, Sums, basis_features
from gramian.machines._novelty import novelties, novelty_units, weighted_quantile
from gramian.machines._relevance import feature_scales
from gramian.machines._removal import loo_by_removal
from gramian.machines._ridges import RIDGES
from gramian.machines._slopes import (
    Slopes,
    class_nearest,
    memberships,
    slopes_scale,
    slopes_tune,
)
from gramian.machines._stacking import class_weights, response_weights
from gramian.machines._stopping import STOPPING, Path
from gramian.machines._targets import TARGETS, ClassTargets, Responses, Targets

__all__ = [
    "CRITERIA",
    "KDA_RMSE",
    "KERNEL_RIDGE",
    "KFD",
    "KFD_PENALIZED",
    "LS_SVM",
    "RIDGES",
    "STOPPING",
    "TARGETS",
    "Axes",
    "CanonicalForm",
    "ClassTargets",
    "Criterion",
    "Departures",
    "Derivatives",
    "Fisher",
    "ForwardRules",
    "ForwardSelection",
    "Independent",
    "InputEllipsoid",
    "Iterated",
    "Joined",
    "KernelEllipsoid",
    "LeastSquares",
    "LiveRidge",
    "Machine",
    "MinimumNorm",
    "MomentsOf",
    "Path",
    "Queries",
    "Responses",
    "Rivals",
    "RunningSums",
    "Slopes",
    "Solved",
    "Sums",
    "SvdEllipsoid",
    "Tableau",
    "Targets",
    "accepted",
    "basis_features",
    "canonical_form",
    "class_nearest",
    "class_scores",
    "class_weights",
    "conformal_regions",
    "decision_changes",
    "departed_rows",
    "departed_values",
    "differentiate",
    "feature_scales",
    "fisher_loo_rows",
    "fit_calibration",
    "forward_select",
    "independent_append",
    "independent_remove",
    "independent_select",
    "input_ellipsoid",
    "input_loo_distances",
    "jackknife_plus",
    "joined_rows",
    "kernel_ellipsoid",
    "kernel_loo_distances",
    "kernel_normalize",
    "lagrangian_iteration",
    "least",
    "left_out_solutions",
    "left_out_values",
    "loo_bordered",
    "loo_by_removal",
    "memberships",
    "minimum_norm",
    "minimum_norm_loo",
    "nonconformity",
    "novelties",
    "novelty_units",
    "p_values",
    "principal_pivot",
    "probabilities",
    "response_weights",
    "sample_losses",
    "slack_tolerance",
    "slopes_scale",
    "slopes_tune",
    "svd_ellipsoid",
    "svd_loo_distances",
    "weighted_quantile",
]
