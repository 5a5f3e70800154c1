"""Kernel functions."""

from gramian.kernels._functions import KERNELS, Kernel, make_kernel

__all__ = ["KERNELS", "Kernel", "make_kernel"]
