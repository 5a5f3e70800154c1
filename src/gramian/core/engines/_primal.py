"""The engine for the linear kernel with n ≫ d: a (d+1)×(d+1) matrix in place of the n×n one.

By the identity of Sherman, Morrison and Woodbury (duan2008, section 2), with ``X̃ = [X 1]``::

    (K + λD)⁻¹ = (W − W X̃ M⁻¹ X̃ᵀ W) / λ,      M = λ + X̃ᵀ W X̃,      W = D⁻¹ = diag(weight)

All results follow from the (d+1)×(d+1) matrix M, to which an edit costs O(d²) per sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from gramian.core.arrays import Array, row_blocks
from gramian.core.engines._added import AddedBlock, AddedByEdits, AddedQueries, query_blocks
from gramian.core.engines._balanced import balanced_loo, balanced_without_each
from gramian.core.engines._dense import DenseEngine, DenseState
from gramian.core.engines._doubt import (
    FEW,
    GROWTH,
    PAIR_DIGITS,
    fit_again,
    fit_each_again,
    fit_pairs_again,
)
from gramian.core.engines._engine import Engine
from gramian.core.engines._holdings import Holdings
from gramian.core.engines._row_queries import RowQueries
from gramian.core.equations import PAIRS_REFUSED, Targets
from gramian.core.gram import Rebuild
from gramian.core.gram._normal import LOST, LiveNormal
from gramian.core.kernels import Linear
from gramian.core.kernels._expansion import KernelExpansion

if TYPE_CHECKING:
    from gramian.core.engines._dense_spec import DenseSpec

PRIMAL = "primal"

# Steps of refinement against the samples; one is mostly enough.
_STEPS = 2


@dataclass(frozen=True, eq=False)
class PrimalPredictor:
    """``f(x) = x·W + b``."""

    intercept: Array
    weights: Array

    def outputs(self, X: Any) -> Array:
        """Decision values of shape (len(X), t)."""
        result: Array = X @ self.weights + self.intercept
        return result

    def terms(self) -> tuple[KernelExpansion, ...]:
        """``x·W`` is a sum of linear kernels with the unit vectors."""
        units = np.eye(len(self.weights))
        return (KernelExpansion(Linear(), units, self.weights, self.intercept),)


class LinearDenseEngine(DenseEngine):
    """A `DenseEngine` that becomes a `PrimalEngine` when there are enough samples."""

    def append(self, before: Holdings, after: Holdings) -> Engine:
        if not self.spec.uses_primal(len(after), after.rows.width):
            return super().append(before, after)
        event = Rebuild("more than 2 (d + 1) samples", len(after), 0, PRIMAL)
        return PrimalEngine(self.spec, after, (*self.history, event))


class PrimalEngine(Engine):
    """Least squares with a free or penalised intercept, from sums over the samples.

    ::

        M [w; b] = X̃ᵀ W Y,      z_i = weight_i (y_i − f(x_i)) / λ
        f₋ᵢ = y_i − (y_i − f(x_i)) / (1 − h_i),      h_i = weight_i x̃ᵢᵀ M⁻¹ x̃ᵢ

    An edit returns a new engine in O(d²); the sums of this one do not change.
    """

    spec: DenseSpec
    past: tuple[Rebuild, ...]
    edits: int

    factor = PRIMAL
    serves: object = None

    def __init__(
        self, spec: DenseSpec, holdings: Holdings, history: tuple[Rebuild, ...] = ()
    ) -> None:
        penalty, d = spec.equations.penalty, holdings.rows.width  # type: ignore[attr-defined]
        self.spec, self.past, self.serves = spec, history, holdings.version
        self._shift = np.zeros(d) if penalty else centre(holdings.rows.samples())
        self._penalty = spec.shift * np.append(np.ones(d), penalty)
        self._classes, self.edits = holdings.classes, 0
        self._normal = self._summed(holdings)
        self._refined: Array | None = None  # the solution, where sums alone do not determine it

    # -- edits ----------------------------------------------------------------------------------

    def append(self, before: Holdings, after: Holdings) -> Engine:
        """Add samples, O(d²) each."""
        if isinstance(self.spec.class_weight, str):
            return self.fresh(after, "the class weights changed")
        new = np.arange(len(before), len(after))
        twin = self._twin(after, len(new))
        if after.classes is not None:
            order = np.concatenate([self._classes, np.setdiff1d(after.classes, self._classes)])
            columns = (after.y[new, None] == order).astype(float)
        else:
            order, columns = np.arange(0), after.y[new].reshape(len(new), -1)
        weight = self.spec.weights(after)[new]
        twin._normal.append(augmented(after.rows.take(new), self._shift), columns, weight)
        if after.classes is not None and len(after.classes) > len(self._classes):
            twin._normal.select_columns(np.argsort(order))
        return twin

    def remove(self, before: Holdings, after: Holdings, positions: Array) -> Engine:
        """Remove samples, O(d²) each; of d + 1 or fewer, the Gram matrix is smaller than sums."""
        if isinstance(self.spec.class_weight, str):
            return self.fresh(after, "the class weights changed")
        if self.spec.factor != PRIMAL and len(after) <= after.rows.width + 1:
            return self.fresh(after, "no more than d + 1 samples are left")
        twin, targets = self._twin(after, len(positions)), self.spec.targets(before)
        X = augmented(before.rows.take(positions), self._shift)
        twin._normal.remove(X, targets.columns[positions], targets.weight[positions])
        if after.classes is not None and len(after.classes) < len(self._classes):
            kept = np.flatnonzero(np.isin(self._classes, after.classes))
            twin._normal.select_columns(kept)
        return twin

    def fresh(self, holdings: Holdings, reason: str | None = None) -> Engine:
        """Return the engine that a fit to these samples builds: few of them have no sums."""
        return self.spec.build(holdings, self.past).recorded(reason, len(holdings))

    # -- reads ----------------------------------------------------------------------------------

    def predictor(self, holdings: Holdings) -> PrimalPredictor:
        return PrimalPredictor(*self.feature_weights(holdings))

    def feature_weights(self, holdings: Holdings) -> tuple[Array, Array]:
        """Intercepts (t,) and weights of the features (d, t), O(d² t)."""
        B, dtype = self._solution(holdings), holdings.rows.dtype
        intercept = B[-1] - self._shift @ B[:-1]
        combine = self.spec.targets(holdings).combine
        # Contiguous, as when read from a file: the memory layout can affect the rounding of a
        # product.
        return combine(intercept).astype(dtype), np.ascontiguousarray(combine(B[:-1]), dtype=dtype)

    def coefficients(self, holdings: Holdings) -> tuple[Array, Array]:
        """Intercepts (t,) and coefficients of the samples (n, t), in one pass over the samples."""
        targets = self.spec.targets(holdings)
        Z = self._residuals(holdings, targets, self._solution(holdings))
        Z *= targets.weight[:, None] / self.spec.shift
        return self.feature_weights(holdings)[0], targets.combine(Z).astype(holdings.rows.dtype)

    def loo(self, holdings: Holdings) -> Array:
        """Leave-one-out outputs in one pass over the samples, O(n d²)."""
        if isinstance(self.spec.class_weight, str):
            return balanced_loo(self.spec, holdings)
        targets = self.spec.targets(holdings)
        queries = self._queries(holdings)
        if targets.groups is not None:
            F = targets.columns - queries.left_groups(targets.groups)
        else:
            F = targets.columns - queries.residuals / queries.clearance[:, None]
        found = targets.combine_left_out(F).astype(holdings.rows.dtype)
        return fit_again(found, self._doubtful(queries, holdings.codes), self.spec, holdings)

    def added(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, AddedBlock]]:
        """Yield blocks of queries with the left-out values of all samples if one were added.

        One pass over the samples for a block, O(n d) for each query.
        """
        if isinstance(self.spec.class_weight, str):
            yield from AddedByEdits.blocks(self.fresh, holdings, X)
            return
        queries, targets = self._queries(holdings), self.spec.targets(holdings)
        factors = self.spec.class_factors(holdings)
        for rows in query_blocks(X.shape[0], *queries.Y.shape):
            left_out = queries.added(augmented(X[rows], self._shift))
            yield rows, AddedQueries(left_out, targets, factors)

    def without_each(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with their outputs (m, n, t) without each held sample."""
        if isinstance(self.spec.class_weight, str):
            yield from balanced_without_each(self.spec, holdings, X)
            return
        queries, targets = self._queries(holdings), self.spec.targets(holdings)
        some = self._doubtful(queries, targets.groups)
        for rows in query_blocks(X.shape[0], *queries.Y.shape):
            F = queries.without_each(augmented(X[rows], self._shift), targets.groups)
            F = targets.combine_left_out(F)
            yield rows, fit_each_again(F, some, self.spec, holdings, X[rows])

    def without_pairs(self, holdings: Holdings) -> Iterator[tuple[Array, Array]]:
        """Yield samples i with outputs (k, n, t) at all samples j without i and j, O(k n d)."""
        if isinstance(self.spec.class_weight, str):
            raise ValueError(PAIRS_REFUSED)
        queries, targets = self._queries(holdings), self.spec.targets(holdings)
        some, rounding = self._doubtful(queries, targets.groups), self._normal.rounding()
        for at, found in queries.pairs(targets.groups):
            F = targets.combine_left_out(queries.Y - found.residuals)
            again = np.isin(at, some) | (found.clearance * PAIR_DIGITS < rounding)
            yield at, fit_pairs_again(F, at, again, self.spec, holdings)

    def smoother(self, holdings: Holdings, X: Any) -> Array:
        """``∂f(x)/∂y_i`` at queries, (m, n, 1), O(n d) each."""
        return self._queries(holdings).smoother(augmented(X, self._shift))[..., None]

    def variances(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with the variances of their outputs, O(d²) each."""
        queries = self._queries(holdings)
        for rows in query_blocks(X.shape[0], *queries.Y.shape):
            found = queries.variances(augmented(X[rows], self._shift))
            yield rows, self.spec.shift * found

    def drift(self, holdings: Holdings) -> float:
        """Error of the weights that the samples show, relative to the largest weight; O(n d).

        The residual ``ρ = X̃ᵀ W (Y − X̃ B) − Λ B`` of the normal equations is summed again from the
        samples, and ``M⁻¹ρ`` is what B is off by: where samples do not determine a weight, and a
        small penalty does, a residual that looks small is not. Weights are in units of 1 / √M_aa.
        """
        B = self._solution(holdings)
        unit = np.sqrt(self._normal.matrix().diagonal())[:, None]
        off = unit * (self._normal.present_inverse() @ self._residual(holdings, B))
        largest = np.abs(unit * B).max(axis=0, initial=np.finfo(float).tiny)
        return float(np.max(np.abs(off).max(axis=0, initial=0.0) / largest))

    def state(self, holdings: Holdings) -> DenseState:
        return DenseState(self.coefficients(holdings), self.feature_weights(holdings))

    # -- inside ---------------------------------------------------------------------------------

    def _twin(self, after: Holdings, edits: int) -> PrimalEngine:
        """Return a copy of this engine with its own sums, for other holdings."""
        twin = copy(self)
        twin._normal, twin._classes, twin._refined = self._normal.copy(), after.classes, None
        twin.serves, twin.edits = after.version, self.edits + edits
        return twin

    def _summed(self, holdings: Holdings) -> LiveNormal:
        targets = self.spec.targets(holdings)
        normal = LiveNormal(self._penalty, targets.columns.shape[1])
        for rows, block in augmented_blocks(holdings.rows.samples(), self._shift):
            normal.append(block, targets.columns[rows], targets.weight[rows])
        return normal

    def _solution(self, holdings: Holdings) -> Array:
        if self._normal.worn():
            reason = "most of what the sums held has left"
            event = Rebuild(reason, len(holdings), self.edits, PRIMAL)
            self._normal, self._refined = self._summed(holdings), None
            self.past = (*self.past, event)
        if self._normal.rounding() <= LOST:
            return self._normal.solution()
        if self._refined is None:  # what sums have lost is in the samples
            B = self._normal.solution()
            for _ in range(_STEPS):
                B = B + self._normal.present_inverse() @ self._residual(holdings, B)
            self._refined = B
        return self._refined

    def _residual(self, holdings: Holdings, B: Array) -> Array:
        """``X̃ᵀ W (Y − X̃ B) − Λ B``, summed from the samples, O(n d)."""
        targets = self.spec.targets(holdings)
        weighted = self._residuals(holdings, targets, B) * targets.weight[:, None]
        out = -self._penalty[:, None] * B
        for rows, X in augmented_blocks(holdings.rows.samples(), self._shift):
            out += X.T @ weighted[rows]
        return np.asarray(out)

    def _doubtful(self, queries: RowQueries, codes: Array | None) -> Array:
        """Positions of samples with so little left of ``1 − h`` that rounding decides; O(n).

        Of groups, the least eigenvalue of ``I − H`` counts.
        """
        left = queries.clearance if codes is None else queries.group_clearance(codes)
        rounding, allowed = self._normal.rounding(), float(np.finfo(float).eps) ** 0.5
        if len(queries.Y) > FEW:
            allowed = max(allowed, GROWTH * rounding)
        return np.flatnonzero(~(rounding * (1.0 - left) <= allowed * left))

    def _queries(self, holdings: Holdings) -> RowQueries:
        targets, B = self.spec.targets(holdings), self._solution(holdings)
        samples, shift = holdings.rows.samples(), self._shift
        return RowQueries.of(
            lambda: augmented_blocks(samples, shift),
            self._normal.inverse(),
            B,
            targets.columns,
            targets.weight,
        )

    def _residuals(self, holdings: Holdings, targets: Targets, B: Array) -> Array:
        out = targets.columns.astype(float)
        for rows, X in augmented_blocks(holdings.rows.samples(), self._shift):
            out[rows] -= X @ B
        return out


def augmented(X: Any, shift: Array) -> Array:
    """``[X − shift, 1]`` as a dense float64 array, in host memory."""
    dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
    out = np.ones((dense.shape[0], dense.shape[1] + 1))
    np.subtract(dense, shift, out=out[:, :-1])
    return out


def augmented_blocks(X: Any, shift: Array) -> Iterator[tuple[slice, Array]]:
    """Yield row blocks of `augmented`, of bounded memory."""
    for rows in row_blocks(X.shape[0], X.shape[1] + 1):
        yield rows, augmented(X[rows], shift)


def centre(X: Any) -> Array:
    """The median of each feature over up to 64 rows, used to centre the samples.

    A few outliers do not move it, so removing them loses no precision.
    """
    some = X[:: -(-X.shape[0] // 64)]
    dense = some.toarray() if sparse.issparse(some) else np.asarray(some)
    result: Array = np.median(dense, axis=0).astype(float)
    return result
