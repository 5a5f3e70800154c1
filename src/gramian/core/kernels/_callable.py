"""A kernel given as a Python function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from gramian.core.arrays import Array, on_device, to_host
from gramian.core.kernels._base import Kernel, float_type


@dataclass(frozen=True)
class CallableKernel(Kernel):
    """k(x, y) computed by a Python function.

    Parameters
    ----------
    function : callable
        ``function(X, Y, **params)`` returns an array of shape (len(X), len(Y)).
    params : mapping
        Keyword arguments of ``function``.

    Examples
    --------
    >>> kernel = CallableKernel(lambda X, Y, power: (X @ Y.T) ** power, {"power": 2})
    >>> kernel(np.array([[1.0]]), np.array([[2.0], [3.0]]))
    array([[4., 9.]])
    """

    name: ClassVar[str] = "callable"

    function: Callable[..., Any]
    params: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def _values(self, X: Any, Y: Any) -> Array:
        values = np.asarray(
            self.function(to_host(X), to_host(Y), **self.params), dtype=float_type(X)
        )
        expected = (X.shape[0], Y.shape[0])
        if values.shape != expected:
            raise ValueError(
                f"kernel must return an array of shape {expected} for these samples, got "
                f"{values.shape}. It is called with two sets of samples, not with two samples."
            )
        if not np.isfinite(values).all():
            raise ValueError("kernel must return finite numbers, got NaN or infinity.")
        return np.asarray(values, like=X) if on_device(X) else values

    def diagonal(self, X: Any) -> Array:
        """k(x, x) for each sample, by one call of the function per sample."""
        rows = (X[i : i + 1] for i in range(X.shape[0]))
        found = np.array([float(self._values(row, row)[0, 0]) for row in rows], dtype=float_type(X))
        return np.asarray(found, like=X) if on_device(X) else found
