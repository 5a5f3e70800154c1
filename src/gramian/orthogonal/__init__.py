"""Sparse kernel models by orthogonal least squares (andelic2007)."""

from gramian.orthogonal._estimators import OrthogonalKernelClassifier, OrthogonalKernelRegressor

__all__ = [
    "OrthogonalKernelClassifier",
    "OrthogonalKernelRegressor",
]
