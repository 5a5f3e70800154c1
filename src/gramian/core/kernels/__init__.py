"""Kernel functions: k(x, y) for all pairs of two sets of samples.

============= ============================== =========================
name          k(x, y)                        parameters
============= ============================== =========================
linear        x·y                            none
poly          (gamma x·y + coef0)^degree     gamma, degree, coef0
rbf           exp(−gamma ‖x − y‖²)           gamma
laplacian     exp(−gamma ‖x − y‖₁)           gamma
exponential   exp(−gamma ‖x − y‖)            gamma
precomputed   given as a matrix              none
a callable    ``f(X, Y, **params)``          its own
============= ============================== =========================

rbf, laplacian and exponential also take one gamma per feature: a feature then counts as if it were
multiplied by √gamma_f (rbf) or by gamma_f. Samples may be dense or CSR; the result is always a
dense array. A value k(x, y) depends on x and y alone, whatever other samples are passed in the same
call.
"""

from gramian.core.kernels._base import Kernel
from gramian.core.kernels._callable import CallableKernel
from gramian.core.kernels._euclidean import RBF, Exponential
from gramian.core.kernels._laplacian import Laplacian
from gramian.core.kernels._precomputed import Precomputed
from gramian.core.kernels._products import Linear, Polynomial
from gramian.core.kernels._registry import (
    KERNELS,
    GammaLike,
    KernelLike,
    make_kernel,
    register_kernel,
)
from gramian.core.kernels._thresholds import ThresholdKernel

__all__ = [
    "KERNELS",
    "RBF",
    "CallableKernel",
    "Exponential",
    "GammaLike",
    "Kernel",
    "KernelLike",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "ThresholdKernel",
    "make_kernel",
    "register_kernel",
]
