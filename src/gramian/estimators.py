"""The estimators, by name: the command line, model files, tests and documentation look here.

A new family is a package of its own and a line of imports in this file.
"""

from gramian.core.estimators import LiveEstimator
from gramian.discriminant import KernelDiscriminant
from gramian.ellipsoidal import EllipsoidalFuzzyClassifier
from gramian.fisher import KernelFisherDiscriminant
from gramian.orthogonal import OrthogonalKernelClassifier, OrthogonalKernelRegressor
from gramian.stack import StackedKernelClassifier, StackedKernelRegressor
from gramian.svm import LagrangianSVC, LeastSquaresSVC, LeastSquaresSVR

__all__ = [
    "EllipsoidalFuzzyClassifier",
    "KernelDiscriminant",
    "KernelFisherDiscriminant",
    "LagrangianSVC",
    "LeastSquaresSVC",
    "LeastSquaresSVR",
    "OrthogonalKernelClassifier",
    "OrthogonalKernelRegressor",
    "StackedKernelClassifier",
    "StackedKernelRegressor",
]

ESTIMATORS: dict[str, type[LiveEstimator]] = {name: globals()[name] for name in __all__}
