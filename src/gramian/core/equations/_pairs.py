"""Leave-two-out in closed form: residuals of all pairs of samples, each without both.

Least squares on a Gram matrix or on fixed features has a symmetric matrix M and ``α = M Y`` such
that without the samples G the residuals at G are ``(M_GG)⁻¹ α_G``. For G = {i, j}::

    r_{j|i} = (m_i α_j − M_ij α_i) / (m_i m_j − M_ij²),      m = diag M

is the residual of j in the model that has seen neither i nor j: all pairs in O(n²).

=============  ===================================================  =================
equations      M                                                    α
=============  ===================================================  =================
kernel ridge   P                                                    R
LS-SVM         P − s sᵀ / 1ᵀs                                       R − s b
features ψ     W − W Ψ N Ψᵀ W,  W = diag(weight)                    W (Y − Ψ B)
=============  ===================================================  =================

At a query x, which gives the targets the weights ``ℓ_i = ∂f(x)/∂y_i``, the prediction loses
``f(x) − f₋ᵢⱼ(x) = ℓ_i r_{i|j} + ℓ_j r_{j|i}`` without both. See docs/maths/leave_two_out.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from gramian.core.arrays import Array, row_blocks
from gramian.core.equations._groups import groups_by_size
from gramian.core.equations._influence import by_group

_CLEAR = 1e-3  # a clearance above this is far from 0, whatever it is
_CACHE = 2**22  # bytes of residuals that stay near the processor


class Pairs(NamedTuple):
    """Residuals without pairs, for some samples i and all j."""

    residuals: Array
    """``r_{j|i}`` of shape (k, n, t); where j is i, the leave-one-out residual."""
    clearance: Array
    """The least ``1 − M_ij² / (m_i m_j)`` of each i, (k,), or less: next to 0, rounding decides."""


def all_pairs(
    rows_of: Callable[[Array], Array],
    diagonal: Array,
    squares_of: Callable[[Array], Array],
    alpha: Array,
    codes: Array | None,
) -> Iterator[tuple[Array, Pairs]]:
    """Yield positions i (k,) with the residuals of all samples without two, or without two groups.

    Parameters
    ----------
    rows_of : callable
        Returns new rows (k, n) of M for positions (k,).
    diagonal : ndarray of shape (n,)
        m.
    squares_of : callable
        Returns the blocks ``M_GG`` (g, k, k) of groups (g, k).
    alpha : ndarray of shape (n, t)
    codes : ndarray of shape (n,), optional
        Number of each sample's group, if samples leave with their groups.
    """
    n, t = alpha.shape
    if codes is None:
        for rows in row_blocks(n, n * (2 + t), budget=_CACHE):
            at = np.arange(n)[rows]
            yield at, _pair_residuals(rows_of(at), diagonal, alpha, at)
        return
    blocks = [(members, squares_of(members)) for members in groups_by_size(codes)]
    for members, _ in blocks:
        for at in members:
            found = _group_pair_residuals(rows_of(at), blocks, alpha, at)
            yield at, Pairs(np.repeat(found[None], len(at), axis=0), np.ones(len(at)))


def _pair_residuals(rows: Array, diagonal: Array, alpha: Array, at: Array) -> Pairs:
    """Residuals of every sample j without i and j, O(k n t) for k samples i.

    Parameters
    ----------
    rows : ndarray of shape (k, n)
        ``M_ij`` for the samples i at ``at``. It is overwritten.
    diagonal : ndarray of shape (n,)
        m.
    alpha : ndarray of shape (n, t)
    at : ndarray of shape (k,)
    """
    own, place = diagonal[at][:, None], np.arange(len(at))
    rows[place, at] = 0.0
    found = np.empty((*rows.shape, alpha.shape[1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = rows * (1.0 / own)  # M_ij / m_i: the formula over m_i takes fewer passes
        room = np.multiply(share, rows, out=rows)
        np.subtract(diagonal, room, out=room)
        clearance = np.min(room, axis=1) / np.max(diagonal)  # a bound: one pass in place of two
        near = ~(clearance > _CLEAR)
        clearance[near] = np.min(room[near] / diagonal, axis=1)
        for c, column in enumerate(alpha.T):
            step = np.multiply(share, column[at, None], out=found[..., c])
            np.subtract(column, step, out=step)
            np.divide(step, room, out=step)
        found[place, at] = alpha[at] / own
    return Pairs(found, np.nan_to_num(clearance, nan=0.0))


def _group_pair_residuals(
    rows: Array, blocks: Iterable[tuple[Array, Array]], alpha: Array, members: Array
) -> Array:
    """Residuals (n, t) of every sample without its own group and without one other group G.

    With ``S = (M_GG)⁻¹ M_G·``, those of another group H are
    ``(M_HH − M_HG S_H)⁻¹ (α_H − M_HG (M_GG)⁻¹ α_G)``.

    Parameters
    ----------
    rows : ndarray of shape (k, n)
        ``M_G·``.
    blocks : iterable of (members, squares)
        Positions (g, h) of groups of one size, and their blocks ``M_HH`` (g, h, h).
    alpha : ndarray of shape (n, t)
    members : ndarray of shape (k,)
        Positions of G.
    """
    solved = np.linalg.solve(rows[:, members], np.concatenate([rows, alpha[members]], axis=1))
    S, own = solved[:, : rows.shape[1]], solved[:, rows.shape[1] :]
    out = np.empty_like(alpha)
    for positions, squares in blocks:
        others = positions[~np.isin(positions[:, 0], members)]
        kept = squares[~np.isin(positions[:, 0], members)]
        cross = np.moveaxis(rows[:, others], 0, -1)  # (g, h, k)
        left = kept - cross @ np.moveaxis(S[:, others], 0, 1)
        out[others] = np.linalg.solve(left, alpha[others] - cross @ own)
    out[members] = own
    return out


def pair_effects(smoother: Array, residuals: Array, codes: Array | None = None) -> Array:
    """``f(x) − f₋ᵢⱼ(x)`` at queries for all pairs, (m, n, n, t); where j is i, for one sample.

    Parameters
    ----------
    smoother : ndarray of shape (m, n, t) or (m, n, 1)
        ``∂f(x)/∂y_i``.
    residuals : ndarray of shape (n, n, t)
        ``r_{j|i}``.
    codes : ndarray of shape (n,), optional
        Number of each sample's group; samples then leave with their groups.
    """
    m, n, t = len(smoother), len(residuals), residuals.shape[-1]
    parts = smoother[:, None] * residuals  # of j, without i and j
    if codes is None:
        same = np.eye(n, dtype=bool)
    else:
        parts = by_group(parts.reshape(m * n, n, t), codes).reshape(m, n, n, t)
        same = codes[:, None] == codes
    return np.where(same[..., None], parts, parts + np.swapaxes(parts, 1, 2))
