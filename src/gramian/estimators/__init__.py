"""Scikit-learn estimators that learn, forget and know their own leave-one-out error."""

from gramian.estimators._discriminant import KernelDiscriminant
from gramian.estimators._ellipsoidal import EllipsoidalFuzzyClassifier
from gramian.estimators._fisher import KernelFisherDiscriminant
from gramian.estimators._lagrangian import LagrangianSVC
from gramian.estimators._least_squares_svm import LeastSquaresSVC, LeastSquaresSVR
from gramian.estimators._orthogonal import OrthogonalKernelClassifier
from gramian.estimators._orthogonal_regressor import OrthogonalKernelRegressor

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
