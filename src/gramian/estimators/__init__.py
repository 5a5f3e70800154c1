"""Scikit-learn estimators that learn, forget and know their own leave-one-out error."""

from gramian.estimators._discriminant import KernelDiscriminant
from gramian.estimators._fisher import KernelFisherDiscriminant
from gramian.estimators._least_squares_svm import LeastSquaresSVC, LeastSquaresSVR
from gramian.estimators.ellipsoidal._classifier import EllipsoidalFuzzyClassifier
from gramian.estimators.lagrangian._svc import LagrangianSVC
from gramian.estimators.orthogonal._classifier import OrthogonalKernelClassifier
from gramian.estimators.orthogonal._regressor import OrthogonalKernelRegressor

__all__ = [
    "EllipsoidalFuzzyClassifier",
    "KernelDiscriminant",
    "KernelFisherDiscriminant",
    "LagrangianSVC",
    "LeastSquaresSVC",
    "LeastSquaresSVR",
    "OrthogonalKernelClassifier",
    "OrthogonalKernelRegressor",
]
