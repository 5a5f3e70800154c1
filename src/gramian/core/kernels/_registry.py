"""The kernels that have a name, and how to make one from scikit-learn style parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gramian.core.kernels._base import Kernel
from gramian.core.kernels._callable import CallableKernel
from gramian.core.kernels._euclidean import RBF, Exponential
from gramian.core.kernels._laplacian import Laplacian
from gramian.core.kernels._precomputed import Precomputed
from gramian.core.kernels._products import Linear, Polynomial

KERNELS: dict[str, Any] = {
    kernel.name: kernel for kernel in (Linear, Polynomial, RBF, Laplacian, Exponential, Precomputed)
}
"""The class of each kernel by its name."""


def make_kernel(
    kernel: str | Callable[..., Any] = "rbf",
    *,
    gamma: Any = 1.0,
    degree: float = 3,
    coef0: float = 1.0,
    params: Mapping[str, Any] | None = None,
) -> Kernel:
    """Make a kernel from its name or from a function, and check its parameters.

    Examples
    --------
    >>> make_kernel("rbf", gamma=0.5)
    RBF(gamma=0.5)
    """
    if callable(kernel):
        return CallableKernel(kernel, dict(params or {}))
    if not isinstance(kernel, str) or kernel not in KERNELS:
        names = ", ".join(f'"{name}"' for name in KERNELS)
        raise ValueError(f"kernel must be {names} or callable, got {kernel!r}.")
    given = {"gamma": gamma, "degree": degree, "coef0": coef0}
    kind = KERNELS[kernel]
    return kind(*map(given.__getitem__, kind.parameters))
