"""Scikit-learn estimators that learn, forget and know their own leave-one-out error."""

from gramian.estimators._discriminant import KernelDiscriminant
from gramian.estimators._fisher import KernelFisherDiscriminant
from gramian.estimators._lagrangian import LagrangianSVC
from gramian.estimators._least_squares_svm import LeastSquaresSVC, LeastSquaresSVR

__all__ = [
    "KernelDiscriminant",
    "KernelFisherDiscriminant",
    "LagrangianSVC",
    "LeastSquaresSVC",
    "LeastSquaresSVR",
]
