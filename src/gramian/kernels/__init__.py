"""Kernel functions and Gram blocks in bounded memory."""

from gramian.kernels._blocks import row_blocks
from gramian.kernels._functions import KERNELS, Kernel, make_kernel

__all__ = ["KERNELS", "Kernel", "make_kernel", "row_blocks"]
