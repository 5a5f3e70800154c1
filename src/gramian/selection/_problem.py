"""What is tuned: a machine, its samples and targets, and a kernel that waits for its width."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from gramian.arrays import Array
from gramian.gram import require_memory
from gramian.gram._spectrum import Spectrum, decompose
from gramian.kernels import Kernel
from gramian.machines._left_out import ClassTargets, Targets
from gramian.machines._paths import Machine

_DISTANCES = {
    "rbf": lambda X: euclidean_distances(X, squared=True),
    "laplacian": lambda X: manhattan_distances(X),
}


@dataclass(frozen=True)
class Problem:
    """A machine to tune on given samples.

    Parameters
    ----------
    machine : Machine
    targets : ClassTargets or Responses
        With the sample weights, if any.
    samples : array-like of shape (n, d)
        Or the kernel matrix itself, when there is no ``kernel``.
    kernel : callable, optional
        ``kernel(gamma)`` is a `Kernel`; gamma is a number, or one per feature.
    """

    machine: Machine
    targets: Targets
    samples: Any
    kernel: Callable[[Any], Kernel] | None = None

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.samples.shape[0]

    @property
    def has_width(self) -> bool:
        """Whether the kernel has a width to tune."""
        return self._kernel_name in _DISTANCES

    @property
    def has_feature_widths(self) -> bool:
        """Whether each feature can have its own width."""
        return self._kernel_name == "rbf" and not issparse(self.samples)

    @property
    def _kernel_name(self) -> str:
        return "precomputed" if self.kernel is None else self.kernel(1.0).name

    def gram(self, gamma: Any) -> Array:
        """The kernel matrix, as a new array."""
        if self.kernel is None:
            return np.array(self.samples)
        return self.kernel(gamma)(self.samples, self.samples)

    def spectrum(self, gamma: Any) -> Spectrum:
        """Of the kernel matrix with the weights, O(n³).

        Raises
        ------
        MemoryError
            When K and the workspace of its decomposition do not fit into the memory.
        """
        self.require_squares(3, self.samples.dtype)
        return decompose(self.gram(gamma), self.targets.weight)

    def require_squares(self, number: int, dtype: Any) -> None:
        """Raise MemoryError if there is no memory for so many n×n matrices."""
        size = number * self.n**2 * np.dtype(dtype).itemsize
        require_memory(size, f"Choosing by the leave-one-out of {self.n} samples")

    def loo_path(self, spectrum: Spectrum, ridges: Array) -> Array:
        """Leave-one-out decision values for every ridge, of shape (L, n, t)."""
        Y = self.targets.fitted.astype(spectrum.values.dtype, copy=False)
        F = self.machine.loo_path(spectrum, Y, ridges)
        return self.targets.decisions(F)

    def take(self, index: Array) -> Problem:
        """The same problem on some of the samples."""
        rows = self.samples[index]
        samples = rows[:, index] if self.kernel is None else rows
        return Problem(self.machine, self.targets.take(index), samples, self.kernel)

    def typical_gamma(self) -> float:
        """One over the median distance between samples that differ; 1 where none do."""
        distances = _DISTANCES[self._kernel_name](self.samples)
        distances = distances[np.triu_indices(self.n, 1)]
        apart = distances > 1e-10 * distances.max(initial=0.0)  # equal samples, up to rounding
        return float(1.0 / np.median(distances[apart])) if apart.any() else 1.0


def subsample(problem: Problem, size: int, rng: np.random.RandomState) -> Problem:
    """About ``size`` samples at random, classes in proportion, at least two of each.

    The problem itself when it is no larger.
    """
    if problem.n <= size:
        return problem
    order = rng.permutation(problem.n)
    targets = problem.targets
    if not isinstance(targets, ClassTargets):
        return problem.take(np.sort(order[:size]))
    labels = targets.labels[order]
    quota = np.maximum(2, np.bincount(labels, minlength=targets.n_classes) * size // problem.n)
    rank = np.empty(problem.n, dtype=int)  # how many of the same class come before
    for k in range(targets.n_classes):
        members = np.flatnonzero(labels == k)
        rank[members] = np.arange(len(members))
    return problem.take(np.sort(order[rank < quota[labels]]))
