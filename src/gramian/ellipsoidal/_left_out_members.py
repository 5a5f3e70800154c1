"""Exact squared distances of a class's members from the kernel ellipsoid of the other members.

Let member i have the share s of the weight and the offset d from the mean. Without it, the offset
is ``a d`` and the covariance is ``a (C − a s d dᵀ)``, a rank-one change, with ``a = 1/(1 − s)``. If
i is an independent vector, its direction is also lost. With the factor L of the independent vectors
and ``M = L⁻¹``, column i of M is orthogonal to all of them but i. Nothing remains along the normal
``q = Mᵢ / ‖Mᵢ‖``, and the others are projected along it:

``δ² = yᵀ f(P A P) y,    P = I − q qᵀ,    f(λ) = 1 / max(λ, ε)``

with y the projected offset and A the covariance above. This holds within the members' coordinates,
where q is the normal; the remaining part of the offset has variance ε.

The formula fails if removing i makes another sample independent: if its Schur complement,
``r² + (q·v)²`` with its old value r², and q and v restricted to the independent vectors before it,
reaches τ. Then the selection is repeated.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.linalg import solve_triangular

from gramian.core.arrays import Array, row_blocks
from gramian.core.equations import Independent, independent_remove
from gramian.core.equations._independent import Column
from gramian.ellipsoidal._ellipsoids import KernelEllipsoid, kernel_ellipsoid, member_shares
from gramian.ellipsoidal._floored_forms import floored_forms

# From this many independent vectors on, `floored_forms` replaces decompositions.
_LARGE = 48


def kernel_loo_distances(
    sequence: Independent,
    n_members: int,
    column: Column,
    diagonal: Array,
    tau: float,
    epsilon: float,
    *,
    weight: Array | None = None,
    queries: bool = False,
    ellipsoid: KernelEllipsoid | None = None,
) -> Array:
    """``δ²`` of each member from the ellipsoid of the other members.

    Parameters
    ----------
    sequence, n_members, epsilon, weight
        As for `kernel_ellipsoid`.
    column, diagonal, tau
        As for `independent_select`, for the same sequence.
    queries : bool
        Whether the left-out member is a query of `KernelEllipsoid.query_distances`.
    ellipsoid : KernelEllipsoid, optional
        The ellipsoid of all members, if it is there already.

    Notes
    -----
    With k independent members: O(k) per member and per point or root of `floored_forms`, O(k³) if
    its result is unsure, and O(n m² + m³) if the selection is repeated. The distance is infinite
    for a class of one sample.
    """
    out = np.full(n_members, np.inf)
    if n_members == 1:
        return out
    shares = member_shares(n_members, weight)
    inverse = _inverse_factor(sequence)
    repeated = _repeated(sequence, n_members, inverse, diagonal, tau)
    once = np.delete(np.arange(n_members), repeated)
    whole = ellipsoid or kernel_ellipsoid(sequence, n_members, epsilon, shares)
    out[once] = _projected(sequence, shares, once, inverse, whole, tau if queries else None)
    column = cache(column)  # most columns are requested many times
    for i in repeated:
        out[i] = _reselected(sequence, shares, i, column, diagonal, tau, epsilon, queries)
    return out


def _inverse_factor(sequence: Independent) -> Array:
    """M = L⁻¹."""
    identity = np.eye(len(sequence.basis))
    if not len(identity):
        return identity  # older versions of SciPy reject an empty system
    result: Array = solve_triangular(sequence.factor, identity, lower=True, check_finite=False)
    return result


def _repeated(
    sequence: Independent, n_members: int, inverse: Array, diagonal: Array, tau: float
) -> Array:
    """Members whose removal makes another sample an independent vector."""
    basis = sequence.basis
    discarded = np.delete(np.arange(len(diagonal)), basis)
    before = np.searchsorted(basis, discarded)
    known = np.arange(len(basis)) < before[:, None]
    v = np.where(known, sequence.coordinates[discarded], 0.0)
    schur = diagonal[discarded] - np.einsum("ij,ij->i", v, v)
    squares = np.concatenate([np.zeros((1, len(basis))), np.cumsum(inverse**2, axis=0)])[before]
    along = np.divide((v @ inverse) ** 2, squares, out=np.zeros_like(squares), where=squares > 0)
    enters = (schur[:, None] + along >= tau) & known
    result: Array = basis[(basis < n_members) & enters.any(axis=0)]
    return result


def _projected(
    sequence: Independent,
    shares: Array,
    members: Array,
    inverse: Array,
    whole: KernelEllipsoid,
    tau: float | None,
) -> Array:
    """``δ²`` of members whose removal makes no other sample independent; τ for queries."""
    coordinates = sequence.coordinates[: len(shares)]
    k = len(whole.axes)
    offsets = (coordinates[members] - whole.centre) / (1.0 - shares[members])[:, None]
    normals, within = _normals(sequence, members, inverse), _normals(sequence, members, inverse, k)
    lost = np.einsum("ij,ij->i", normals, offsets) ** 2
    if tau is not None:  # a query keeps its part outside the span if that exceeds τ
        lost[np.einsum("ij,ij->i", normals, coordinates[members]) ** 2 > tau] = 0.0
    kept = np.einsum("ij,ij->i", within, offsets[:, :k]) ** 2 - lost
    out = np.maximum((offsets[:, k:] ** 2).sum(axis=1) + kept, 0.0) / whole.epsilon
    y = offsets[:, :k] - within * np.einsum("ij,ij->i", within, offsets[:, :k])[:, None]
    result: Array = out + _quadratic_forms(y, whole, within, shares[members])
    return result


def _quadratic_forms(y: Array, whole: KernelEllipsoid, q: Array, s: Array) -> Array:
    """``yᵀ f(A) y`` for each row y and q and share s, with ``A = P C P / (1 − s) − s y yᵀ``.

    C is the covariance of all members.
    """
    values, axes, epsilon = whole.variances, whole.axes, whole.epsilon
    out, unsure = np.empty(len(y)), np.ones(len(y), dtype=bool)
    if len(axes) >= _LARGE:
        Y, Q = y @ axes, q @ axes
        for rows in row_blocks(len(y), 8 * len(axes)):
            of, rest = s[rows], 1.0 - s[rows]
            forms, sure = floored_forms(values, Y[rows], Q[rows], of * rest, epsilon * rest)
            out[rows], unsure[rows] = rest * forms, ~sure
    left = np.flatnonzero(unsure)
    C = (axes * values) @ axes.T if len(left) else axes
    for rows in row_blocks(len(left), len(axes) ** 2):
        some = left[rows]
        A = _project(C, q[some]) / (1.0 - s[some])[:, None, None]
        A -= s[some, None, None] * y[some, :, None] * y[some, None, :]
        own, vectors = np.linalg.eigh(A)
        components = (y[some, None, :] @ vectors)[:, 0]
        out[some] = (components**2 / np.maximum(own, epsilon)).sum(axis=1)
    return out


def _normals(sequence: Independent, members: Array, inverse: Array, k: int | None = None) -> Array:
    """The direction lost with each member, among the first k; 0 for a discarded member."""
    columns = inverse[:k, : len(inverse)]
    place = np.searchsorted(sequence.basis, members)
    q = np.zeros((len(members), columns.shape[0]))
    own = np.isin(members, sequence.basis)
    chosen = columns[:, place[own]]
    q[own] = (chosen / np.sqrt((chosen**2).sum(axis=0))).T
    return q


def _project(A: Array, q: Array) -> Array:
    """``P A P`` for each row q, ``P = I − q qᵀ``."""
    Aq = q @ A
    half = Aq - 0.5 * q * np.einsum("ij,ij->i", q, Aq)[:, None]
    result: Array = A - q[:, :, None] * half[:, None, :] - half[:, :, None] * q[:, None, :]
    return result


def _reselected(
    sequence: Independent,
    shares: Array,
    i: int,
    column: Column,
    diagonal: Array,
    tau: float,
    epsilon: float,
    queries: bool,
) -> float:
    """``δ²`` of the independent vector i, by a selection without it."""
    others, weight = np.delete(np.arange(len(diagonal)), i), np.delete(shares, i)

    def column_of_others(j: int) -> Array:
        return column(others[j])[others]

    rest = independent_remove(sequence, i, column_of_others, diagonal[others], tau)
    ellipsoid = kernel_ellipsoid(rest, len(weight), epsilon, weight)
    values = column(i)[others]
    cross = values[None, rest.basis]
    if not queries:
        return float(ellipsoid.distances(cross)[0])
    mean = np.average(values[: len(weight)], weights=weight, keepdims=True)
    return float(ellipsoid.query_distances(cross, diagonal[i : i + 1], mean, tau)[0])
