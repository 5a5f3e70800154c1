"""Formulas: targets to coefficients, intercepts and leave-one-out values. Pure functions."""

from gramian.machines._algorithm7 import loo_by_removal
from gramian.machines._calibration import fit_calibration, probabilities
from gramian.machines._fisher import canonical_form, fisher_loo, fisher_loo_rows
from gramian.machines._lagrangian import lagrangian_iteration
from gramian.machines._paths import KDA_RMSE, KERNEL_RIDGE

__all__ = [
    "KDA_RMSE",
    "KERNEL_RIDGE",
    "canonical_form",
    "fisher_loo",
    "fisher_loo_rows",
    "fit_calibration",
    "lagrangian_iteration",
    "loo_by_removal",
    "probabilities",
]
