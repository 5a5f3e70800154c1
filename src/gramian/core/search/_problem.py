"""What is tuned: an estimator, its samples and targets, and a kernel that waits for its width."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from gramian.core.arrays import Array, device_memory
from gramian.core.equations import ClassTargets, Equations, Targets
from gramian.core.gram import Spectrum
from gramian.core.gram._memory import require_memory
from gramian.core.gram._spectrum import decompose
from gramian.core.gram._thin import thin_spectrum
from gramian.core.kernels import Kernel
from gramian.core.search._order import content_order

MOST = 20_000
"""The most samples to follow slopes on, on a device."""
SQUARES = 8
"""So many n×n matrices there are at the peak of `differentiate`, with K."""


@dataclass(frozen=True)
class Problem:
    """An estimator to tune on given samples.

    Parameters
    ----------
    equations : Equations
    targets : ClassTargets or Responses
        Targets of the samples, with sample weights if any.
    samples : array-like of shape (n, d)
        Samples in a form that the kernel takes.
    kernel : Kernel
        The search replaces its gamma by the widths that it tries.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian.core.kernels import make_kernel
    >>> from gramian.core.equations import ClassTargets, LS_SVM
    >>> from gramian.core.search._problem import Problem
    >>> from gramian.core.search._search import select
    >>> X, y = load_iris(return_X_y=True)
    >>> problem = Problem(LS_SVM, ClassTargets(y, 3), X, make_kernel("rbf"))
    >>> found = select(problem, random_state=0)
    >>> 0.01 < found.gamma < 10, found.ridge > 0
    (True, True)
    """

    equations: Equations
    targets: Targets
    samples: Any
    kernel: Kernel
    largest: ClassVar[int] = 2048
    """The most samples to decompose a matrix of, so that a search takes seconds."""

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.samples.shape[0])

    @property
    def like(self) -> Any:
        """An array where matrices are computed; None in host memory."""
        return None

    @property
    def most(self) -> int:
        """The most samples to follow slopes on."""
        return self.largest

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
        require_memory(size, f"Choosing by the leave-one-out of {self.n} samples", self.like)

    def loo_path(self, spectrum: Spectrum, ridges: Array) -> Array:
        """Leave-one-out decision values for every ridge, of shape (L, n, t)."""
        Y = self.targets.fitted.astype(spectrum.values.dtype, copy=False)
        F = self.equations.loo_path(spectrum, Y, ridges, self.targets.groups)
        return self.targets.decisions(F)

    def take(self, index: Array) -> Problem:
        """The same problem on some of the samples."""
        return type(self)(
            self.equations, self.targets.take(index), self.samples[index], self.kernel
        )


@dataclass(frozen=True)
class DeviceProblem(Problem):  # on a device
    """More samples than are decomposed: slopes are followed on a device, on more of them.

    Parameters
    ----------
    there : array of shape (n, d)
        The samples, on the device.
    """

    there: Any = None

    @property
    def most(self) -> int:
        free = device_memory(self.there)
        fitting = MOST if free is None else int((free / (SQUARES * 8)) ** 0.5)
        return max(self.largest, min(MOST, fitting))

    @property
    def like(self) -> Any:
        return self.there

    def gram(self, gamma: Any) -> Array:
        return self.kernel.with_gamma(gamma)(self.there, self.there)

    def take(self, index: Array) -> Problem:
        """The same problem on some of the samples; in host memory if they are few."""
        targets, samples = self.targets.take(index), self.samples[index]
        if len(index) <= self.largest:
            return Problem(self.equations, targets, samples, self.kernel)
        return replace(self, targets=targets, samples=samples, there=self.there[index])


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


def subsample(problem: Problem, size: int, random_state: Any = None) -> Array:
    """Positions of about ``size`` samples, classes in proportion, at least two of each.

    They are those of `nested`; all of them when there are no more.
    """
    order, first = _stratified(problem, random_state)
    return np.sort(order[: max(size, first)])


def nested(problem: Problem, random_state: Any = None) -> Callable[[int], Problem]:
    """The function that gives a subsample of about some size; each holds the smaller ones.

    Classes are in proportion, after the first two samples of each. The samples are drawn at random,
    or by `content_order` if there is no ``random_state``.
    """
    order, first = _stratified(problem, random_state)

    def part(size: int) -> Problem:
        size = max(size, first)
        return problem if problem.n <= size else problem.take(np.sort(order[:size]))

    return part


def _stratified(problem: Problem, random_state: Any) -> tuple[Array, int]:
    """An order of the samples, and how many come first because their class has few."""
    if random_state is None:
        order = content_order(problem.samples)
    else:
        order = check_random_state(random_state).permutation(problem.n)
    if not isinstance(problem.targets, ClassTargets):
        return order, 0
    labels = problem.targets.labels[order]
    by_class = np.argsort(labels, kind="stable")
    counts = np.bincount(labels)
    rank = np.empty(problem.n, dtype=int)  # how many of the same class come before
    rank[by_class] = np.arange(problem.n) - np.repeat(np.cumsum(counts) - counts, counts)
    share = np.where(rank < 2, 0.0, (rank + 0.5) / counts[labels])
    return order[np.argsort(share, kind="stable")], int(np.minimum(counts, 2).sum())
