"""The spec of the Lagrangian support vector machine."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gramian.core.engines import (
    DenseSpec,
    DenseState,
    Engine,
    Holdings,
    Predictor,
    PrimalPredictor,
)
from gramian.core.equations import LS_SVM
from gramian.core.gram import Rebuild
from gramian.core.kernels import Kernel, Linear, Polynomial
from gramian.core.kernels._expansion import KernelExpansion
from gramian.core.search import Problem
from gramian.svm._lagrangian_engine import LagrangianEngine


@dataclass(frozen=True, eq=False)
class LagrangianSpec(DenseSpec):
    """The parameters, and what was chosen for them.

    On its support vectors it is kernel ridge regression, and leave-one-out has no closed form along
    a path of C or gamma. LS-SVM, whose errors are squared on both sides of the margin, has one: it
    chooses those that are "loo".

    Parameters
    ----------
    iteration : tuple, optional
        Step in units of λ_i, tol and max_iter of duan2008's iteration; None selects principal
        pivoting.
    """

    iteration: tuple[float, float, int] | None = None

    @property
    def is_linear(self) -> bool:
        """Whether the kernel is x·y + 1, for which sums over features can replace A."""
        return isinstance(self.kernel.kernel, Linear)

    @property
    def predicts_with(self) -> Kernel:
        """The kernel of samples extended by a constant: duan2008's ``[A −e]`` in place of A."""
        kernel = self.kernel.kernel
        if isinstance(kernel, Linear):
            return Polynomial(gamma=1.0, degree=1, coef0=1.0)
        if isinstance(kernel, Polynomial):
            return replace(kernel, coef0=kernel.coef0 + kernel.gamma)
        return kernel

    def problem(self, holdings: Holdings) -> Problem:
        return replace(super().problem(holdings), equations=LS_SVM)

    def build(self, holdings: Holdings, history: tuple[Rebuild, ...] = ()) -> Engine:
        return LagrangianEngine(self, holdings, history)

    def predictor(self, holdings: Holdings, state: DenseState) -> Predictor:
        """Return the predictor from weights of features or from support vectors."""
        if state.weights is not None:
            return PrimalPredictor(*state.weights)
        intercept, Z = state.coefficients
        support = np.flatnonzero(Z.any(axis=1))
        samples = holdings.rows.take(support)
        return KernelExpansion(self.predicts_with, samples, Z[support], intercept)
