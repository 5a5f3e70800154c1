"""The kernels that have a name, and how to make one from scikit-learn style parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from typing import Any, TypeAlias

from gramian.core.arrays import Array
from gramian.core.kernels._base import Kernel
from gramian.core.kernels._callable import CallableKernel
from gramian.core.kernels._euclidean import RBF, Exponential
from gramian.core.kernels._laplacian import Laplacian
from gramian.core.kernels._precomputed import Precomputed
from gramian.core.kernels._products import Linear, Polynomial

KernelLike: TypeAlias = str | Callable[..., Any]
"""The name of a kernel, or a function of two sets of samples."""
GammaLike: TypeAlias = float | Array | str
"""A width, one for each feature, or the word for a rule or a search."""

KERNELS: dict[str, Any] = {
    kernel.name: kernel for kernel in (Linear, Polynomial, RBF, Laplacian, Exponential, Precomputed)
}
"""The class of each kernel by its name."""

_RESERVED = ("callable", "loo")  # names that mean something else


def register_kernel(cls: type[Kernel]) -> type[Kernel]:
    """Enter a kernel of one's own by its name, so that estimators and model files take the name.

    Use it as a decorator of a frozen dataclass that derives from `Kernel`. A file of a model with
    this kernel stores the name alone: whoever loads it imports the module that registers the class
    first.

    Parameters
    ----------
    cls : subclass of Kernel
        With a ``name`` of its own.

    Returns
    -------
    cls

    Raises
    ------
    TypeError
        If it is no such class.
    ValueError
        If another class has the name.
    """
    if not (isinstance(cls, type) and issubclass(cls, Kernel) and is_dataclass(cls)):
        raise TypeError(f"register_kernel takes a dataclass that derives from Kernel, got {cls!r}.")
    name = getattr(cls, "name", None)
    if not isinstance(name, str) or not name.isidentifier() or name in _RESERVED:
        raise TypeError(f"a kernel needs a name of letters and digits, got {name!r}.")
    known = KERNELS.setdefault(name, cls)
    if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ValueError(f"the name {name!r} is taken, by {known.__module__}.{known.__qualname__}.")
    KERNELS[name] = cls
    return cls


def make_kernel(
    kernel: KernelLike = "rbf",
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
        raise ValueError(
            f"kernel must be {names} or callable, got {kernel!r}. For one of your own, "
            f"register_kernel first."
        )
    given = {"gamma": gamma, "degree": degree, "coef0": coef0}
    kind = KERNELS[kernel]
    result: Kernel = kind(*map(given.__getitem__, kind.parameters))
    return result
