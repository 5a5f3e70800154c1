"""What the file of each estimator may hold: a new learned attribute needs its name here.

Saving asks the same questions as loading, so that a name that is missing here is noticed when the
model is saved.
"""

from __future__ import annotations

COMMON = ("n_features_in_", "feature_names_in_", "gamma_")
"""Learned attributes that every estimator may have."""

REQUIRED = ("n_features_in_", "gamma_")

_CHOSEN = ("selection_",)
_FUZZY = ("cv_scores_", "epsilon_", "sigma_", "slopes_", "tau_", "zeta_")

PUBLIC: dict[str, tuple[str, ...]] = {
    "EllipsoidalFuzzyClassifier": ("classes_", *_FUZZY),
    "KernelDiscriminant": ("classes_", "ridge_", *_CHOSEN),
    "KernelFisherDiscriminant": ("classes_", "ridge_", *_CHOSEN),
    "LagrangianSVC": ("classes_", "C_", *_CHOSEN),
    "LeastSquaresSVC": ("classes_", "C_", *_CHOSEN),
    "LeastSquaresSVR": ("C_", *_CHOSEN),
    "OrthogonalKernelClassifier": ("classes_",),
    "OrthogonalKernelRegressor": (),
}
"""Learned attributes besides the common ones, by class: all of them are there."""

STATE: dict[str, tuple[str, ...]] = {
    "EllipsoidalFuzzyClassifier": ("kept",),
    "KernelDiscriminant": ("coefficients",),
    "KernelFisherDiscriminant": ("coefficients",),
    "LagrangianSVC": ("coefficients", "weights"),
    "LeastSquaresSVC": ("coefficients", "weights"),
    "LeastSquaresSVR": ("coefficients", "weights"),
    "OrthogonalKernelClassifier": ("bases", "weights", "calibration"),
    "OrthogonalKernelRegressor": ("bases", "weights"),
}
"""What a state has besides held samples, X and learned attributes."""

HELD = ("_ids", "_y", "_weight", "_next_id")
TABLE = ("estimator_", "target_", "columns_", "ignored_", "table_")
