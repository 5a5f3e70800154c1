"""Scikit-learn estimators that learn, forget and know their own leave-one-out error."""

from gramian.estimators._discriminant import KernelDiscriminant

__all__ = ["KernelDiscriminant"]
