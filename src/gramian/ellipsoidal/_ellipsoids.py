"""Squared Mahalanobis distances from a class: in the input space, by SVD, by kernel components.

``δ²(x) = (φ(x) − μ)ᵀ C⁺ (φ(x) − μ)``, with μ the mean and C the covariance (divided by the number
of members) of the class's images φ (kaieda2004, eqs. 4 and 10). The three ellipsoids differ in φ
and in how they treat directions in which the class hardly varies:

============ ===================== ========================================================
ellipsoid    φ                     small variances
============ ===================== ========================================================
input        x itself              a Cholesky pivot below ζ becomes ζ
svd          of the kernel         an eigenvalue below σ is inverted to 0, or to 1/σ
kernel       of the kernel         an eigenvalue below ε becomes ε; so does that of a
                                   direction spanned by unlabelled samples only
============ ===================== ========================================================

The kernel ellipsoid uses the coordinates v of `gramian.core.equations._independent`. In them the
eigenproblem (36) of the paper is that of the covariance of the members' rows v. The eigenvectors
that the paper adds by Gram-Schmidt from unlabelled samples (eqs. 48-52) are the coordinates that
these samples add to the factor. For the members followed by unlabelled samples, (53) is thus

``δ²(x) = Σⱼ (uⱼ·(v − v̄))² / max(λⱼ, ε) + ‖w − w̄‖² / ε``

with v the coordinates along the members' independent vectors, w the others, and λ, u the
eigenvalues and eigenvectors of the covariance of v. The paper says that ε "determines the minimum
eigenvalue". Using ε as the floor of λ, as above, reproduces its published rates; using it as a
cut-off or a ridge does not.

The paper has no weights. Here a member of weight w counts as w copies in mean and covariance, all
of which are removed with it; the default weight is 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gramian.core.arrays import Array, row_blocks
from gramian.core.equations import Independent
from gramian.core.equations._independent import triangular_coordinates
from gramian.core.kernels import RBF, Kernel, Polynomial


def kernel_normalize(kernel: Kernel, n_features: int) -> Kernel:
    """The kernel for many inputs: ``((1 + x·y)/(m + 1))^d`` or ``exp(−(γ/m) ‖x − y‖²)``.

    kaieda2004, eqs. (72) and (73), with m = ``n_features``, and γ and coef0 in place of 1. The
    paper prints (73) without the square; it is taken as (21) with γ/m for γ, which has the square.
    """
    if isinstance(kernel, RBF):
        return replace(kernel, gamma=kernel.gamma / n_features)
    if isinstance(kernel, Polynomial):
        largest = kernel.gamma * n_features + kernel.coef0
        return replace(kernel, gamma=kernel.gamma / largest, coef0=kernel.coef0 / largest)
    raise ValueError(
        f'only "poly" and "rbf" kernels have a normalised form, got {kernel.name!r}; '
        "scale the samples instead."
    )


# --- in the input space -------------------------------------------------------------------------


@dataclass(frozen=True)
class InputEllipsoid:
    """Centre c and Cholesky factor L of the covariance of a class's samples."""

    centre: Array
    factor: Array

    def distances(self, X: Array) -> Array:
        """``δ² = ‖L⁻¹(x − c)‖²`` for each row of X (kaieda2004, eq. 4); O(d²) each."""
        result: Array = (triangular_coordinates(self.factor, X - self.centre) ** 2).sum(axis=1)
        return result


def input_ellipsoid(X: Array, zeta: float, weight: Array | None = None) -> InputEllipsoid:
    """Centre and covariance of one class's samples (kaieda2004, eqs. 2, 5, 6); O(n d² + d³)."""
    centre, covariance = mean_and_covariance(X, member_shares(len(X), weight))
    return InputEllipsoid(centre, cholesky_floor(covariance, zeta))


def input_loo_distances(X: Array, zeta: float, weight: Array | None = None) -> Array:
    """``δ²`` of each sample from the ellipsoid of the others; O(n d³).

    Leaving one out is an exact rank-one change of the covariance; the floor ζ is applied again. The
    distance is infinite for a class of one sample.
    """
    n, d = X.shape
    shares = member_shares(n, weight)
    centre, covariance = mean_and_covariance(X, shares)
    out = np.full(n, np.inf)
    for rows in row_blocks(n if n > 1 else 0, d * d, X.itemsize):
        offsets, covariances = leave_each_out(X[rows] - centre, covariance, shares[rows])
        solved = np.linalg.solve(cholesky_floor(covariances, zeta), offsets[:, :, None])
        out[rows] = (solved**2).sum(axis=(1, 2))
    return out


def cholesky_floor(covariance: Array, zeta: float) -> Array:
    """Cholesky factors in which a pivot below ζ is replaced by ζ (kaieda2004, after eq. 6).

    ``covariance`` is one d × d matrix or a stack of them; O(d³) each.
    """
    if not zeta > 0:
        raise ValueError(f"zeta must be > 0, got {zeta!r}.")
    L = np.zeros_like(covariance)
    for j in range(covariance.shape[-1]):
        known = (L[..., j:, :j] @ L[..., j, :j, None])[..., 0]
        column = covariance[..., j:, j] - known
        pivot = np.sqrt(np.maximum(column[..., 0], zeta))
        L[..., j:, j] = column / pivot[..., None]
        L[..., j, j] = pivot
    return L


# --- by singular value decomposition ------------------------------------------------------------


@dataclass(frozen=True)
class SvdEllipsoid:
    """The mean kernel column of a class and the operator ``A⁺ Z`` in its eigenvectors."""

    mean: Array
    operator: Array

    def distances(self, cross: Array) -> Array:
        """``δ² = ‖A⁺ Z (k(X, x) − K1/n)‖²`` for each row k(x, X) of ``cross`` (eq. 25); O(n²)."""
        result: Array = (((cross - self.mean) @ self.operator) ** 2).sum(axis=1)
        return result


def svd_ellipsoid(
    K: Array,
    sigma: float,
    inverse_of_small: Literal["zero", "sigma"] = "sigma",
    weight: Array | None = None,
) -> SvdEllipsoid:
    """The ellipsoid of a class with Gram matrix K (kaieda2004, eqs. 11-27); O(n³).

    ``A = Z K Zᵀ`` with ``Z = (I − rrᵀ) diag(r)`` and r the roots of the members' shares of the
    weight: ``Z = (I − 11ᵀ/n) / √n`` without weights, as in the paper, where Z is symmetric.
    An eigenvalue of A below σ has the inverse 0 (eq. 26) or 1/σ (eq. 27). Both agree on exact
    null vectors u of A, because ``uᵀZk(X, x) = 0`` for all x.
    """
    if not sigma > 0:
        raise ValueError(f"sigma must be > 0, got {sigma!r}.")
    if inverse_of_small not in ("zero", "sigma"):
        raise ValueError(f'inverse_of_small must be "zero" or "sigma", got {inverse_of_small!r}.')
    shares = member_shares(len(K), weight)
    mean, roots = shares @ K, np.sqrt(shares)
    A = roots[:, None] * (K - mean - mean[:, None] + mean @ shares) * roots
    values, vectors = np.linalg.eigh(A)
    inverses = 1.0 / np.maximum(values, sigma)
    if inverse_of_small == "zero":
        inverses[values < sigma] = 0.0
    vectors -= roots[:, None] * (roots @ vectors)
    return SvdEllipsoid(mean, roots[:, None] * vectors * inverses)


def svd_loo_distances(
    K: Array,
    sigma: float,
    inverse_of_small: Literal["zero", "sigma"] = "sigma",
    weight: Array | None = None,
) -> Array:
    """``δ²`` of each sample from the ellipsoid of the others, by n decompositions: O(n⁴).

    The distance is infinite for a class of one sample.
    """
    n, shares = len(K), member_shares(len(K), weight)
    out = np.full(n, np.inf)
    for i in range(n if n > 1 else 0):
        others = np.delete(np.arange(n), i)
        block = K[np.ix_(others, others)]
        ellipsoid = svd_ellipsoid(block, sigma, inverse_of_small, shares[others])
        out[i] = ellipsoid.distances(K[i : i + 1, others])[0]
    return out


# --- by kernel principal components -------------------------------------------------------------


@dataclass(frozen=True)
class KernelEllipsoid:
    """The ellipsoid of a class in the coordinates of its independent vectors.

    Attributes
    ----------
    factor : ndarray of shape (m, m)
        Cholesky factor of the Gram matrix of the independent vectors, those of members first.
    centre : ndarray of shape (m,)
        Mean of the members' coordinates.
    axes : ndarray of shape (k, k)
        Eigenvectors ``u = Lᵀρ`` of eq. (36), as columns, along the k members' coordinates.
    variances : ndarray of shape (k,)
        λ, ascending, one for each axis.
    eigenvalues : ndarray of shape (m,)
        ``max(λ, ε)`` for the axes, then ε.
    epsilon : float
        ε, the smallest eigenvalue, also used for directions without members.
    """

    factor: Array
    centre: Array
    axes: Array
    variances: Array
    eigenvalues: Array
    epsilon: float

    def distances(self, cross: Array) -> Array:
        """``δ²`` for each row ``k(x, B)`` of ``cross``, B the independent vectors; O(m²) each."""
        return self.distances_at(triangular_coordinates(self.factor, cross))

    def distances_at(self, coordinates: Array) -> Array:
        """``δ² = Σ yⱼ²/λⱼ`` for samples given by coordinates (kaieda2004, eqs. 31 and 53)."""
        return self.components(coordinates) ** 2 @ (1.0 / self.eigenvalues)

    def components(self, coordinates: Array) -> Array:
        """Kernel principal components y, one row for each sample (kaieda2004, eqs. 38 and 52)."""
        y: Array = coordinates - self.centre
        k = len(self.axes)
        y[:, :k] = y[:, :k] @ self.axes
        return y

    def query_distances(self, cross: Array, diagonal: Array, mean: Array, tau: float) -> Array:
        """``δ²`` with an additional eigenvector for each query outside the span.

        A query's squared distance from the span is ``r² = k(x, x) − ‖v‖²`` (kaieda2004, eq. 57).
        If it exceeds τ, its component along the new direction, eq. (52), is ``r − (mean − v·v̄)/r``
        with eigenvalue ε. Queries do not affect each other.

        Parameters
        ----------
        cross : ndarray of shape (q, m)
            ``k(x, B)`` for each query x.
        diagonal : ndarray of shape (q,)
            ``k(x, x)``.
        mean : ndarray of shape (q,)
            Weighted mean of ``k(x, xⱼ)`` over all members xⱼ of the class, including those that are
            not independent.
        """
        v = triangular_coordinates(self.factor, cross)
        squared = diagonal - np.einsum("ij,ij->i", v, v)
        outside = squared > tau
        r = np.sqrt(squared[outside])
        out = self.distances_at(v)
        out[outside] += (r - (mean - v @ self.centre)[outside] / r) ** 2 / self.epsilon
        return out


def kernel_ellipsoid(
    sequence: Independent, n_members: int, epsilon: float, weight: Array | None = None
) -> KernelEllipsoid:
    """The ellipsoid of the first ``n_members`` samples of a sequence (kaieda2004, eqs. 35-53).

    Samples after the members are unlabelled: they add directions of variance ε, and do not change
    the centre and the covariance. They are the unit vectors of the input space (§6.2), or these and
    all queries at once (§8.1.1); each distance then depends on all queries and on their order.
    O(n k² + k³) for k independent members.
    """
    if not epsilon > 0:
        raise ValueError(f"epsilon must be > 0, got {epsilon!r}.")
    k = int(np.searchsorted(sequence.basis, n_members))
    members, shares = sequence.coordinates[:n_members], member_shares(n_members, weight)
    _, covariance = mean_and_covariance(members[:, :k], shares)
    values, axes = np.linalg.eigh(covariance)
    eigenvalues = np.full(len(sequence.basis), epsilon, dtype=members.dtype)
    eigenvalues[:k] = np.maximum(values, epsilon)
    return KernelEllipsoid(sequence.factor, shares @ members, axes, values, eigenvalues, epsilon)


# --- shared -------------------------------------------------------------------------------------


def member_shares(n: int, weight: Array | None) -> Array:
    """Each member's share of the total weight."""
    return np.full(n, 1.0 / n) if weight is None else weight / weight.sum()


def mean_and_covariance(X: Array, shares: Array) -> tuple[Array, Array]:
    """Mean and covariance, both averages over the rows (kaieda2004, eqs. 2 and 5)."""
    centre = shares @ X
    centred = X - centre
    return centre, (shares[:, None] * centred).T @ centred


def leave_each_out(centred: Array, covariance: Array, shares: Array) -> tuple[Array, Array]:
    """Each row's offset from the mean of the other samples, and the covariance of the others.

    For ``d = x − c`` with the share s: offset ``a d`` and covariance ``a (C − a s d dᵀ)``, where
    ``a = 1/(1 − s)``.
    """
    a = 1.0 / (1.0 - shares)
    outer = (a * shares)[:, None, None] * centred[:, :, None] * centred[:, None, :]
    return a[:, None] * centred, a[:, None, None] * (covariance - outer)
