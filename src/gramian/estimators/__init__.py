"""Scikit-learn estimators that learn, forget and know their own leave-one-out error."""

from gramian.estimators._discriminant import KernelDiscriminant
from gramian.estimators._fisher import KernelFisherDiscriminant
from gramian.estimators._least_squares_svm import LeastSquaresSVC, LeastSquaresSVR
from gramian.estimators._orthogonal import OrthogonalKernelClassifier, OrthogonalKernelRegressor

__all__ = [
    "KernelDiscriminant",
    "KernelFisherDiscriminant",
    "LeastSquaresSVC",
    "LeastSquaresSVR",
    "OrthogonalKernelClassifier",
    "OrthogonalKernelRegressor",
]
