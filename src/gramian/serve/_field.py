"""Decision values on a grid of the plane, kept as samples come and go."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.kernels import Kernel


class Field:
    """``f(x) = Σᵢ zᵢ k(x, xᵢ) + b`` on a grid, from kernel values that are computed once a sample.

    Kernels ``exp(−γ · distance)`` are products over the features: ``k(x, xᵢ) = k(x₁, xᵢ₁)
    k(x₂, xᵢ₂)``. The kernel values of a sample on a grid of w × h points are thus an outer product,
    and its two factors, w + h numbers, are a row of a slotted block. A sample that comes takes a
    free slot; one that leaves zeroes its own; a moved sample costs one row. What changes with every
    edit, the coefficients, costs one product of matrices, (h × n)(n × w).

    Parameters
    ----------
    kernel : Kernel
        One that has a width.
    xs, ys : ndarray
        Coordinates of the columns and of the rows of the grid.
    """

    def __init__(self, kernel: Kernel, xs: Array, ys: Array) -> None:
        self._kernel, self._xs, self._ys = kernel, xs, ys
        self._slots: dict[int, int] = {}
        self._block = np.zeros((64, len(xs) + len(ys)))
        self._free = [*reversed(range(64))]

    def values(self, ids: Any, X: Array, Z: Array, intercept: Array) -> Array:
        """Outputs of shape (t, h, w) of samples X with coefficients Z (n, t)."""
        names = np.asarray(ids).tolist()
        self._follow(names, X)
        slots = [self._slots[name] for name in names]
        coefficients = np.zeros((max(slots, default=-1) + 1, Z.shape[1]))
        coefficients[slots] = Z
        across, down = np.split(self._block[: len(coefficients)], [len(self._xs)], axis=1)
        fields = [down.T @ (across * z[:, None]) for z in coefficients.T]
        return np.stack(fields) + intercept[:, None, None]

    def _follow(self, names: list[int], X: Array) -> None:
        """Hold the rows of these samples and of no others."""
        for name in self._slots.keys() - set(names):
            self._free.append(self._slots.pop(name))
            self._block[self._free[-1]] = 0.0
        new = [place for place, name in enumerate(names) if name not in self._slots]
        if not new:
            return
        if len(names) > len(self._block):
            size = len(self._block)
            more = max(len(names), 2 * size) - size
            self._block = np.pad(self._block, ((0, more), (0, 0)))
            self._free[:0] = reversed(range(size, size + more))
        free = [self._free.pop() for _ in new]
        self._slots.update((names[place], slot) for place, slot in zip(new, free, strict=True))
        parts = (X[new, :1], self._xs), (X[new, 1:], self._ys)
        self._block[free] = np.hstack([self._kernel(x, edge[:, None]) for x, edge in parts])
