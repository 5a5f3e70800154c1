"""Several kernels in one model, weighted by their left-out values."""

from gramian.stack._estimators import StackedKernelClassifier, StackedKernelRegressor

__all__ = [
    "StackedKernelClassifier",
    "StackedKernelRegressor",
]
