"""What is tuned: a machine, its samples and targets, and a kernel that waits for its width."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from gramian.arrays import Array
from gramian.gram import Spectrum, decompose, require_memory, thin_spectrum
from gramian.kernels import Kernel
from gramian.machines import ClassTargets, Machine, Targets


@dataclass(frozen=True)
class Problem:
    """A machine to tune on given samples.

    Parameters
    ----------
    machine : Machine
    targets : ClassTargets or Responses
        Targets of the samples, with sample weights if any.
    samples : array-like of shape (n, d)
        Samples in a form that the kernel takes.
    kernel : Kernel
        The search replaces its gamma by the widths that it tries.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian.kernels import make_kernel
    >>> from gramian.machines import LS_SVM, ClassTargets
    >>> from gramian.selection import Problem, select
    >>> X, y = load_iris(return_X_y=True)
    >>> problem = Problem(LS_SVM, ClassTargets(y, 3), X, make_kernel("rbf"))
    >>> found = select(problem, random_state=0)
    >>> 0.01 < found.gamma < 10, found.ridge > 0
    (True, True)
    """

    machine: Machine
    targets: Targets
    samples: Any
    kernel: Kernel
    largest: ClassVar[int] = 2048
    """The most samples to search on, so that a search takes seconds."""

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.samples.shape[0]

    def gram(self, gamma: Any) -> Array:
        """The kernel matrix, as a new array."""
        K = self.kernel.with_gamma(gamma)(self.samples, self.samples)
        return K if K.flags.owndata else K.copy()

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
        return type(self)(self.machine, self.targets.take(index), self.samples[index], self.kernel)


@dataclass(frozen=True)
class LinearProblem(Problem):
    """A linear kernel to tune the ridge of, by the spectrum of its d features.

    Samples are centred: their shift is taken up by the intercept, which is free.
    """

    largest: ClassVar[int] = 20_000

    def spectrum(self, gamma: Any) -> Any:
        weight = self.targets.weight
        X = self.samples.toarray() if issparse(self.samples) else self.samples
        X = X - np.average(X, axis=0, weights=weight)
        return thin_spectrum(X.astype(float, copy=False), weight)


def subsample(problem: Problem, size: int, rng: np.random.RandomState) -> Problem:
    """About ``size`` samples at random, classes in proportion, at least two of each.

    The problem itself when it is no larger.
    """
    return nested(problem, rng)(size)


def nested(problem: Problem, rng: np.random.RandomState) -> Callable[[int], Problem]:
    """The function that gives a subsample of about some size; each holds the smaller ones.

    Classes are in proportion, after the first two samples of each.
    """
    order, first = _stratified(problem, rng)

    def part(size: int) -> Problem:
        size = max(size, first)
        return problem if problem.n <= size else problem.take(np.sort(order[:size]))

    return part


def _stratified(problem: Problem, rng: np.random.RandomState) -> tuple[Array, int]:
    """An order of the samples, and how many come first because their class has few."""
    order = rng.permutation(problem.n)
    if not isinstance(problem.targets, ClassTargets):
        return order, 0
    labels = problem.targets.labels[order]
    by_class = np.argsort(labels, kind="stable")
    counts = np.bincount(labels)
    rank = np.empty(problem.n, dtype=int)  # how many of the same class come before
    rank[by_class] = np.arange(problem.n) - np.repeat(np.cumsum(counts) - counts, counts)
    share = np.where(rank < 2, 0.0, (rank + 0.5) / counts[labels])
    return order[np.argsort(share, kind="stable")], int(np.minimum(counts, 2).sum())
