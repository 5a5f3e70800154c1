"""The kernel Fisher discriminant, tuned by its leave-one-out error (saadi2004)."""

from gramian.fisher._estimator import KernelFisherDiscriminant

__all__ = [
    "KernelFisherDiscriminant",
]
