"""Gradients of the leave-one-out criteria with respect to ridge and kernel widths.

A criterion E depends on the kernel only through ``P = A⁻¹``, and ``dP = −P dA P``. So one matrix,
∂E/∂A, holds the derivative with respect to any number of parameters θ of the kernel::

    ∂E/∂θ = ⟨∂E/∂A, ∂A/∂θ⟩,    ∂E/∂λ = ⟨∂E/∂A, D⟩

and costs one product of n×n matrices (two for KDA/RMSE, one more for KFD) after P. Notation: G is
∂E/∂F at the leave-one-out values F; a name with ``_bar`` is ∂E/∂ of what it names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from gramian.arrays import Array, factor_cholesky, invert_cholesky
from gramian.gram._spectrum import Moments
from gramian.machines._criteria import Criterion
from gramian.machines._left_out import Targets
from gramian.machines._paths import Machine, left_out_products, loo_min_norm

Pull = tuple[Array, Callable[[Array], Array]]
"""Leave-one-out values F, and the function that takes ∂E/∂F to ∂E/∂A."""


class Derivatives(NamedTuple):
    """A criterion and its derivatives at one kernel matrix and ridge."""

    value: float
    gram: Array
    """∂E/∂K, symmetric, of shape (n, n)."""
    ridge: float
    """∂E/∂λ."""


def differentiate(
    machine: Machine, criterion: Criterion, K: Array, targets: Targets, ridge: float
) -> Derivatives:
    """A smooth leave-one-out criterion and its derivatives, in O(n³).

    Raises
    ------
    numpy.linalg.LinAlgError
        When ``A`` is not positive definite.
    """
    assert criterion.gradient is not None, "the criterion must be smooth"
    Y = targets.fitted
    weight = np.ones(len(K)) if targets.weight is None else targets.weight
    A = K @ (weight[:, None] * K) if machine.squared else K.copy()
    A[np.diag_indices_from(A)] += ridge / weight
    P = _inverse(A)
    pull = _pull_bordered if machine.intercept_penalty is not None else _pull_min_norm
    F, pullback = pull(machine, P, Y, weight)
    decisions = targets.decisions(F)
    value = float(criterion.value(decisions, targets))
    S = pullback(targets.pullback(criterion.gradient(decisions, targets)))
    gram = 2.0 * _symmetric((S @ K) * weight) if machine.squared else S
    return Derivatives(value, gram, float(np.sum(np.diagonal(S) / weight)))


def width_derivative(K: Array, gram: Array) -> float:
    """∂E/∂log γ for ``K = exp(−γ·distance)``, whatever the distance: ``⟨∂E/∂K, K log K⟩``."""
    return float(np.sum(gram * xlogy(K, K)))


def feature_width_derivatives(K: Array, gram: Array, X: Array, gamma: Array) -> Array:
    """∂E/∂log γ_f for ``K = exp(−Σ_f γ_f (x_f − y_f)²)``, of shape (d,), in O(n² d).

    With ``M = ∂E/∂K ∘ K`` it is
    ``−γ_f Σ_ij M_ij (x_if − x_jf)² = −2 γ_f (Σ_i x_if² (M1)_i − x_fᵀ M x_f)``.
    """
    M = gram * K
    X = X - X.mean(axis=0)
    return -2.0 * gamma * (M.sum(axis=1) @ X**2 - np.sum(X * (M @ X), axis=0))


def _pull_bordered(machine: Machine, P: Array, Y: Array, weight: Array) -> Pull:
    """F = Y − MY / diag M with ``M = P − s sᵀ / (c + 1ᵀs)``, and the way back; ``dM = −M dA M``."""
    s = P.sum(axis=1)
    M = P - np.outer(s, s / (machine.intercept_penalty + s.sum()))
    U, m = M @ Y, np.diagonal(M)[:, None]

    def pullback(G: Array) -> Array:
        m_bar = np.sum(G * U / m**2, axis=1)
        return _symmetric((M @ (G / m)) @ U.T) - (M * m_bar) @ M  # −M [U_bar Yᵀ + diag m_bar] M

    return Y - U / m, pullback


def _pull_min_norm(machine: Machine, P: Array, Y: Array, weight: Array) -> Pull:
    """F of `loo_min_norm`, and the way back through ``P`` and ``Q = P D P``."""
    Q = (P / weight) @ P
    B = np.column_stack([Y, np.ones(len(Y))])
    V, V2 = P @ B, Q @ B
    first = Moments(V[:, :-1], V[:, -1], np.diagonal(P))
    second = Moments(V2[:, :-1], V2[:, -1], np.diagonal(Q))

    def pullback(G: Array) -> Array:
        V_bar, p_bar, V2_bar, p2_bar = _pull_moments(G, V, V2, first, second)
        outer = (P @ V_bar + Q @ V2_bar) @ V.T + (P @ V2_bar) @ V2.T
        return -_symmetric(outer + P @ (p_bar[:, None] * P + 2.0 * p2_bar[:, None] * Q))

    return loo_min_norm(Y, first, second), pullback


def _pull_moments(G: Array, V: Array, V2: Array, first: Moments, second: Moments) -> tuple:
    """∂E/∂ of ``V = P [Y 1]``, ``diag P``, ``V2 = Q [Y 1]`` and ``diag Q`` in `loo_min_norm`."""
    s, p, s2, p2 = (x[:, None] for x in (first.s, first.p, second.s, second.p))
    products = left_out_products(V, V2, first, second)  # (sᵀD[R s])₋ᵢ
    norms = 1.0 + products[:, -1:]
    intercepts = products[:, :-1] / norms
    U_bar = -G / p
    p_bar = -np.sum(U_bar * (first.R - intercepts * s), axis=1, keepdims=True) / p
    s_bar = -np.sum(U_bar * intercepts, axis=1, keepdims=True)
    b_bar = -U_bar * s / norms
    X_bar = np.column_stack([b_bar, -np.sum(b_bar * intercepts, axis=1)])  # ∂E/∂products

    V_bar = X_bar * (s * p2 / p - s2) / p
    V_bar[:, :-1] += U_bar
    V2_bar = X_bar.sum(axis=0) - X_bar * s / p
    XV, XV2 = (np.sum(X_bar * values, axis=1, keepdims=True) for values in (V, V2))
    V_bar[:, -1:] += s_bar + (XV * p2 / p - XV2) / p
    V2_bar[:, -1:] -= XV / p
    p_bar += (XV * s2 + s * XV2) / p**2 - 2.0 * s * XV * p2 / p**3
    return V_bar, p_bar[:, 0], V2_bar, (s * XV / p**2)[:, 0]


def _inverse(A: Array) -> Array:
    """``A⁻¹`` in full, by Cholesky; A is overwritten."""
    buffer = A.T if A.flags.c_contiguous else A
    pivot = factor_cholesky(buffer)
    if pivot > 0:
        raise np.linalg.LinAlgError(
            f"the kernel matrix with its ridge is not positive definite (pivot {pivot}). Raise the "
            f"ridge."
        )
    invert_cholesky(buffer)
    upper = np.triu(buffer)
    return upper + np.triu(upper, 1).T


def _symmetric(B: Array) -> Array:
    return 0.5 * (B + B.T)
