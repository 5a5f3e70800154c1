"""Least-squares and Lagrangian support vector machines (duan2008)."""

from gramian.svm._lagrangian import LagrangianSVC
from gramian.svm._least_squares import LeastSquaresSVC, LeastSquaresSVR

__all__ = [
    "LagrangianSVC",
    "LeastSquaresSVC",
    "LeastSquaresSVR",
]
