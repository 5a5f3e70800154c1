"""The estimators, by name: the command line, model files, tests and documentation look here.

A new family is a package of its own and one line in this file.
"""

from gramian.core.estimators import LiveEstimator
from gramian.discriminant import KernelDiscriminant
from gramian.ellipsoidal import EllipsoidalFuzzyClassifier
from gramian.fisher import KernelFisherDiscriminant
from gramian.orthogonal import OrthogonalKernelClassifier, OrthogonalKernelRegressor
from gramian.stack import StackedKernelClassifier, StackedKernelRegressor
from gramian.svm import LagrangianSVC, LeastSquaresSVC, LeastSquaresSVR

ESTIMATORS: dict[str, type[LiveEstimator]] = {
    cls.__name__: cls
    for cls in (
        EllipsoidalFuzzyClassifier,
        KernelDiscriminant,
        KernelFisherDiscriminant,
        LagrangianSVC,
        LeastSquaresSVC,
        LeastSquaresSVR,
        OrthogonalKernelClassifier,
        OrthogonalKernelRegressor,
        StackedKernelClassifier,
        StackedKernelRegressor,
    )
}

__all__ = ["ESTIMATORS", *ESTIMATORS]
