"""Gradients of the leave-one-out criteria with respect to ridge and kernel widths.

A criterion E depends on the kernel only through ``P = A⁻¹``, and ``dP = −P dA P``. The matrix
∂E/∂A thus yields the derivatives with respect to any number of kernel parameters θ::

    ∂E/∂θ = ⟨∂E/∂A, ∂A/∂θ⟩,    ∂E/∂λ = ⟨∂E/∂A, D⟩

Given P, it costs one product of n×n matrices (two for KDA/RMSE, one more for KFD). Notation: G is
∂E/∂F at the leave-one-out values F; a name with ``_bar`` is ∂E/∂ of the quantity it names.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gramian.core.arrays import (
    Array,
    factor_cholesky,
    invert_cholesky,
    mirror_upper,
    on_device,
    to_host,
)
from gramian.core.equations._criteria import Criterion
from gramian.core.equations._equations import Equations
from gramian.core.equations._targets import Targets


class Derivatives(NamedTuple):
    """A criterion and its derivatives at one kernel matrix and ridge."""

    value: float
    gram: Array
    """∂E/∂K, symmetric, of shape (n, n)."""
    ridge: float
    """∂E/∂λ."""


def differentiate(
    equations: Equations, criterion: Criterion, K: Array, targets: Targets, ridge: float
) -> Derivatives:
    """A smooth leave-one-out criterion and its derivatives, in O(n³).

    Raises
    ------
    numpy.linalg.LinAlgError
        If ``A`` is not positive definite.
    """
    assert criterion.gradient is not None, "the criterion must be smooth"
    Y = targets.fitted
    weight = np.ones(len(K)) if targets.weight is None else targets.weight
    A = equations.matrix(K, weight)
    np.fill_diagonal(A, A.diagonal() + ridge / weight)
    F, pullback = equations.pull(_inverse(A), Y, weight)
    decisions = targets.decisions(to_host(F))
    value = float(criterion.value(decisions, targets))
    S = pullback(targets.pullback(criterion.gradient(decisions, targets)))
    gram = equations.pull_matrix(S, K, weight)
    return Derivatives(value, gram, float(np.sum(np.diagonal(S) / weight)))


def _inverse(A: Array) -> Array:
    """``A⁻¹`` in full, by Cholesky; A is overwritten."""
    buffer = A if on_device(A) or not A.flags.c_contiguous else A.T
    pivot = factor_cholesky(buffer)
    if pivot > 0:
        raise np.linalg.LinAlgError(
            f"the kernel matrix with its ridge is not positive definite (pivot {pivot}). Raise the "
            f"ridge."
        )
    invert_cholesky(buffer)
    return mirror_upper(buffer)
