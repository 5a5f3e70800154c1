"""Scikit-learn estimators that learn, forget and know their own leave-one-out error."""

from gramian.estimators._discriminant import KernelDiscriminant
from gramian.estimators._fisher import KernelFisherDiscriminant
from gramian.estimators._ids import positions_of
from gramian.estimators._influence import Influence, sample_influence
from gramian.estimators._least_squares_svm import LeastSquaresSVC, LeastSquaresSVR

__all__ = [
    "Influence",
    "KernelDiscriminant",
    "KernelFisherDiscriminant",
    "LeastSquaresSVC",
    "LeastSquaresSVR",
    "positions_of",
    "sample_influence",
]
