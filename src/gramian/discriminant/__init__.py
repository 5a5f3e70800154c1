"""Kernel discriminant analysis by regularised least squares (kim2006)."""

from gramian.discriminant._estimator import KernelDiscriminant

__all__ = [
    "KernelDiscriminant",
]
