"""The interface of every estimator on the Gram matrix.

f₋ᵢ is the decision value at sample i of the model trained without i. Every estimator is linear
in its targets Y and is computed from ``P = A⁻¹``, with D = diag(1/weight):

================  ==================  ==========================================================
estimator           A                   intercept
================  ==================  ==========================================================
kernel ridge      K + λD              none
LS-SVM            K + λD              free: the coefficients sum to zero
KDA/RMSE          K + λD              the one that minimises β² + Σ z_i²/weight_i
KFD, eq. (4)      K + i√μ D           free
KFD, eq. (5)      K + i√μ D           penalised by μ, as every coefficient
================  ==================  ==========================================================

A weight of k equals k copies of the sample; leaving sample i out removes all its copies.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache, partial
from typing import ClassVar, NamedTuple

import numpy as np

from gramian.core.arrays import Array
from gramian.core.equations._added import Added, Queries
from gramian.core.equations._groups import BlocksOf, SquaresOf, group_blocks, groups_by_size
from gramian.core.gram import Moments, Spectrum

MomentsOf = Callable[[int], Moments]
"""``moments(1)`` are those of P, ``moments(2)`` those of P D P, each computed on demand."""

Pull = tuple[Array, Callable[[Array], Array]]
"""Leave-one-out values F, and the function that maps ∂E/∂F to ∂E/∂A."""

PAIRS_REFUSED = (
    "values without two samples are known in closed form for least squares (LeastSquaresSVC, "
    "LeastSquaresSVR, StackedKernelClassifier, StackedKernelRegressor, OrthogonalKernelClassifier "
    "and OrthogonalKernelRegressor) with fixed class weights, not for this estimator. Take one of "
    "these, or forget both samples."
)
"""The error of other estimators."""


class Removals(NamedTuple):
    """The effect of removing each sample."""

    residual: Array
    """``θ_i = y_i − f₋ᵢ(x_i)``, of shape (n, t); complex for a resolvent."""
    intercept: Array
    """``b₋ᵢ − b``, of shape (n, t)."""


class Equations(ABC):
    """The equations of one estimator as functions of P; it stores no samples."""

    name: str
    only_factor: ClassVar[str | None] = None
    """Name of the factor that A requires, or None if any factor will do."""
    guide: ClassVar[Equations | None] = None
    """An estimator with a smoother criterion, whose slopes find the width for this one; or None."""
    climbs: ClassVar[bool] = True
    """Whether slopes lead to a good setting; if not, each width needs its whole path of ridges."""

    # -- the matrix -----------------------------------------------------------------------------

    def shift(self, ridge: float, weight: Array) -> Array:
        """The diagonal that is added to K: λ / weight."""
        return ridge / weight

    # -- the live solution ----------------------------------------------------------------------

    @abstractmethod
    def intercepts(self, R: Array, s: Array, D: Array, ridge: float) -> Array:
        """Intercepts b (t,) from ``R = P Y`` and ``s = P 1``; ``D`` is the diagonal 1 / weight.

        Rows of zeros in R and s change nothing. O(n t).
        """

    def slot_intercepts(self, S: Array, held: Array, D: Array, ridge: float) -> list[float]:
        """The `intercepts` from ``S = [s, R]`` by slot; ``held`` is 1 where there is a sample."""
        found: list[float] = self.intercepts(S[:, 1:], S[:, 0], D, ridge).tolist()
        return found

    def coefficients(self, R: Array, s: Array, D: Array, ridge: float) -> tuple[Array, Array]:
        """The `intercepts` b (t,) and the coefficients ``Z = R − s b`` (n, t); O(n t)."""
        intercept = self.intercepts(R, s, D, ridge)
        return intercept, R - s[:, None] * intercept

    @abstractmethod
    def loo(self, Y: Array, moments: MomentsOf, ridge: float) -> Array:
        """Exact leave-one-out decision values (n, t), for one P or a stack of them; O(n t)."""

    @abstractmethod
    def removals(self, Y: Array, moments: MomentsOf, ridge: float) -> Removals:
        """Left-out residuals and changes of the intercept, for all samples in O(n t)."""

    @abstractmethod
    def group_removals(self, blocks: BlocksOf, ridge: float) -> Removals:
        """The same for groups that leave together: θ (..., g, k, t), change of b (..., g, 1, t)."""

    def loo_groups(
        self, Y: Array, codes: Array, moments: MomentsOf, squares: SquaresOf, ridge: float
    ) -> Array:
        """Exact decision values (n, t) without each sample's group, O(Σ k³) for groups of k."""
        result: Array = Y - self.left_groups(codes, moments, squares, ridge).residual.real
        return result

    def left_groups(
        self, codes: Array, moments: MomentsOf, squares: SquaresOf, ridge: float
    ) -> Removals:
        """Left-out residual of each sample (n, t), and the change of b as its group leaves."""
        R = moments(1).R
        theta, change = np.empty_like(R), np.empty_like(R.real)
        for members in groups_by_size(codes):
            blocks = group_blocks(moments, squares, members)
            theta[members], change[members] = self.group_removals(blocks, ridge)
        return Removals(theta, change)

    def added(self, Y: Array, moments: MomentsOf, queries: Queries, ridge: float) -> Added:
        """Leave-one-out values of all samples and of a query that joins them, O(n t) per query."""
        F = self.loo(queries.targets(Y), queries.moments(moments), ridge)
        return Added(F[..., :-1], F[..., -1:])

    def pair_border(self, first: Moments) -> float:
        """ρ of ``M = P − ρ s sᵀ``, by which leave-two-out is known; ``M Y`` are the coefficients.

        See `gramian.core.equations._pairs`.
        """
        raise ValueError(PAIRS_REFUSED)

    def variances(self, own: Array, cross: Array, solved: Array, s: Array, ridge: float) -> Array:
        """Variance of f(x) at m queries, in the unit in which that of the noise is λ; O(m n).

        ``k(x, x) − kᵀPk``, the variance of a Gaussian process with covariance K and a given mean,
        from ``own = k(x, x)``, ``cross = k`` (m, n), ``solved = P k`` and ``s = P 1``.
        """
        result: Array = own - np.einsum("ij,ij->i", cross, solved)
        return result

    # -- a path of ridges -----------------------------------------------------------------------

    def spectrum(self, spectrum: Spectrum) -> Spectrum:
        """The spectrum to which the ridges are added, given that of K."""
        return spectrum

    def loo_path(
        self, spectrum: Spectrum, Y: Array, ridges: Array, codes: Array | None = None
    ) -> Array:
        """Leave-one-out decision values for every ridge, of shape (L, n, t), in O(n² L t).

        Parameters
        ----------
        spectrum : Spectrum
            Spectrum of K.
        Y : ndarray of shape (n, t)
            Targets; they must not change when a sample is removed.
        ridges : ndarray of shape (L,)
        codes : ndarray of shape (n,), optional
            Number of each sample's group; groups are then left out together.
        """
        base = self.spectrum(spectrum)
        moments = cache(lambda power: base.moments(Y, ridges, power=power))
        if codes is None:
            return self.loo_on_path(Y, moments)
        R, squares = moments(1).R, partial(base.blocks, ridges=ridges)
        F = np.empty_like(R, dtype=R.real.dtype)
        for members in groups_by_size(codes):
            blocks = group_blocks(moments, squares, members)
            F[..., members, :] = Y[members] - self.residuals_on_path(blocks).real
        return F

    def least_ridge(self, size: float, eps: float) -> float:
        """The ridge below which rounding decides, for a K with ``size`` as largest eigenvalue.

        Two fits of the same samples in another order agree above it to about eps^(1/3).
        """
        return float(eps ** (2 / 3) * size)

    def loo_on_path(self, Y: Array, moments: MomentsOf) -> Array:
        """The leave-one-out values for choosing ridges; the exact ones unless overridden."""
        return self.loo(Y, moments, 0.0)

    def residuals_on_path(self, blocks: BlocksOf) -> Array:
        """Left-out residuals of groups for choosing ridges; the exact ones unless overridden."""
        return self.group_removals(blocks, 0.0).residual

    # -- gradients ------------------------------------------------------------------------------

    def matrix(self, K: Array, weight: Array) -> Array:
        """The matrix to which the path adds the ridge, as a new array."""
        return K.copy()

    def trace(self, K: Array) -> float:
        """The trace of `matrix` without weights, O(n²) at most."""
        return float(np.trace(K))

    @abstractmethod
    def pull(self, P: Array, Y: Array, weight: Array, codes: Array | None = None) -> Pull:
        """Leave-one-out values for one P of the path, and their pullback to ∂E/∂A.

        P is overwritten. With ``codes``, the samples of a group are left out together.
        """

    def pull_matrix(self, S: Array, K: Array, weight: Array) -> Array:
        """∂E/∂K from ``S = ∂E/∂matrix(K)``."""
        return S


def symmetric(B: Array) -> Array:
    """The symmetric part of B."""
    return 0.5 * (B + B.T)
