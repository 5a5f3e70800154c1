"""Leave-one-group-out in closed form: samples that belong together leave together.

With G the positions of a group, everything that leave-one-out divides by a number becomes a solve
with a k×k block. P without the group is ``P − P[:, G] (P_GG)⁻¹ P[G, :]``, and so, with b₋G the
intercept without the group (see `Equations.group_removals`)::

    θ_G = y_G − f₋G(x_G) = (P_GG)⁻¹ (R_G − s_G b₋G)
    f₋G(x) = f(x) − u_Gᵀ θ_G + (b₋G − b) (1 − kᵀs),      u = P k

For kernel ridge and LS-SVM, θ_G is ``(M_GG)⁻¹ (M Y)_G`` with ``M = P − s sᵀ / (c + 1ᵀs)``. All
groups cost Σ k³, and groups of one size are solved together. Folds are groups, too: with given
hyper-parameters, k-fold cross-validation needs no refit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from gramian.core.arrays import Array
from gramian.core.gram import Moments


class Block(NamedTuple):
    """Moments of a matrix M for g groups of k samples each; leading axes stack several M."""

    R: Array
    """``(M Y)_G``, of shape (..., g, k, t)."""
    s: Array
    """``(M 1)_G``, of shape (..., g, k, 1)."""
    M: Array
    """``M_GG``, of shape (..., g, k, k)."""
    R_sum: Array
    """``1ᵀ M Y``, of shape (..., 1, 1, t)."""
    s_sum: Array
    """``1ᵀ M 1``, of shape (..., 1, 1, 1)."""


BlocksOf = Callable[[int], Block]
"""``blocks(1)`` are those of P, ``blocks(2)`` those of P D P, each computed on demand."""

SquaresOf = Callable[[Array, int], Array]
"""``squares(members, power)``: the blocks (..., g, k, k) of P or P D P for groups (g, k)."""


def group_blocks(moments: Callable[[int], Moments], squares: SquaresOf, members: Array) -> BlocksOf:
    """The blocks of groups of one size, given as positions (g, k)."""

    def blocks(power: int) -> Block:
        R, s, _ = moments(power)
        sums = R.sum(axis=-2)[..., None, None, :], s.sum(axis=-1)[..., None, None, None]
        return Block(R[..., members, :], s[..., members, None], squares(members, power), *sums)

    return blocks


def groups_by_size(codes: Array) -> Iterator[Array]:
    """Yield the positions (g, k) of all groups of one size after the other.

    Examples
    --------
    >>> [members.tolist() for members in groups_by_size(np.array([0, 1, 0, 2]))]
    [[[1], [3]], [[0, 2]]]
    """
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(codes)))
    for size in np.unique(sizes):
        yield order[starts[sizes == size][:, None] + np.arange(size)]


def bordered_residuals(block: Block, penalty: float) -> Array:
    """``θ_G = (M_GG)⁻¹ (M Y)_G`` for ``M = P − s sᵀ / (penalty + 1ᵀs)``; see `loo_bordered`."""
    total = penalty + block.s_sum
    M = block.M - block.s * np.swapaxes(block.s, -1, -2) / total
    return np.linalg.solve(M, block.R - block.s * (block.R_sum / total))


def row_residuals(
    features: Array, N: Array, residuals: Array, weight: Array, codes: Array
) -> Array:
    """Left-out residuals of least squares on fixed features: ``(I − Ψ_G N Ψ_Gᵀ W_G)⁻¹ e_G``.

    Parameters
    ----------
    features : ndarray of shape (n, d)
    N : ndarray of shape (d, d)
        The inverse of the normal matrix.
    residuals : ndarray of shape (n, t)
    weight : ndarray of shape (n,)
    codes : ndarray of shape (n,)
    """
    out = np.empty_like(residuals)
    for members in groups_by_size(codes):
        rows = features[members]
        H = (rows @ N) @ np.swapaxes(rows, -1, -2) * weight[members][:, None, :]
        out[members] = np.linalg.solve(np.eye(members.shape[1]) - H, residuals[members])
    return out


def pull_bordered_groups(
    M: Array, Y: Array, codes: Array
) -> tuple[Array, Callable[[Array], tuple[Array, Array]]]:
    """Leave-one-group-out values F, and a pullback of ∂E/∂F to ``T`` and ``B M``.

    With ``T_G = −(M_GG)⁻¹ G_G`` and B block-diagonal with the symmetric part of ``T_G θ_Gᵀ``, the
    gradient is ``∂E/∂A = −(M T)(M Y)ᵀ + M B M``, symmetrised, as ``dM = −M dA M``.
    """
    U, sizes = M @ Y, list(groups_by_size(codes))
    F, solved = np.empty_like(U), []
    for members in sizes:
        block = M[members[:, :, None], members[:, None, :]]
        theta = np.linalg.solve(block, U[members])
        F[members] = Y[members] - theta
        solved.append((members, block, theta))

    def pullback(G: Array) -> tuple[Array, Array]:
        T, BM = np.empty_like(G), np.empty_like(M)
        for members, block, theta in solved:
            T[members] = -np.linalg.solve(block, G[members])
            B = T[members] @ np.swapaxes(theta, -1, -2)
            B = 0.5 * (B + np.swapaxes(B, -1, -2))
            BM[members] = B @ M[members]
        return T, BM

    return F, pullback
