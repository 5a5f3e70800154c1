"""Least-squares and Lagrangian support vector machines (duan2008).

The equations of least squares (eqs. 4 to 7) are `LS_SVM` of `gramian.core.equations`; those of the
Lagrangian (eqs. 1 to 3 and 10) are `_lagrangian_equations`, and its live state is
`_lagrangian_engine`, on a matrix of samples (`_lagrangian_dense`) or on sums over features
(`_lagrangian_primal`).
"""

from gramian.svm._lagrangian import LagrangianSVC
from gramian.svm._least_squares import LeastSquaresSVC, LeastSquaresSVR

__all__ = [
    "LagrangianSVC",
    "LeastSquaresSVC",
    "LeastSquaresSVR",
]
