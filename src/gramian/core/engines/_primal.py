"""The engine for the linear kernel with n ≫ d: a (d+1)×(d+1) matrix in place of the n×n one.

By the identity of Sherman, Morrison and Woodbury (duan2008, section 2), with ``X̃ = [X 1]``::

    (K + λD)⁻¹ = (W − W X̃ M⁻¹ X̃ᵀ W) / λ,      M = λ + X̃ᵀ W X̃,      W = D⁻¹ = diag(weight)

All results follow from the (d+1)×(d+1) matrix M, to which an edit costs O(d²) per sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from gramian.core.arrays import Array, row_blocks
from gramian.core.engines._added import JoinedBlock, JoinedByEdits, JoinedQueries, query_blocks
from gramian.core.engines._dense import GramEngine, GramPlan
from gramian.core.engines._engine import Engine, noted
from gramian.core.engines._holdings import Holdings
from gramian.core.engines._row_queries import RowQueries
from gramian.core.equations import Targets
from gramian.core.gram import LiveNormal, Refactorization

SUMS = "woodbury"


@dataclass(frozen=True, eq=False)
class LinearReader:
    """``f(x) = x·W + b``."""

    intercept: Array
    weights: Array

    def outputs(self, X: Any) -> Array:
        """Decision values of shape (len(X), t)."""
        return X @ self.weights + self.intercept


@dataclass(frozen=True, eq=False)
class LinearPlan(GramPlan):
    """A plan for the linear kernel, which may store sums in place of the Gram matrix."""

    def sums_up(self, n: int, d: int) -> bool:
        """Whether to store sums for n samples of d features; "auto" does so for n > 2 (d + 1)."""
        return self.factor == SUMS or (self.factor == "auto" and n > 2 * (d + 1))

    def engine(self, held: Holdings, history: tuple[Refactorization, ...] = ()) -> Engine:
        """Build the engine that suits the number of samples."""
        summed = self.sums_up(len(held), held.rows.width)
        return SumsEngine(self, held, history) if summed else LinearGramEngine(self, held, history)

    def reader(self, held: Holdings, state: Mapping[str, Any]) -> Any:
        weights = state.get("weights")
        return super().reader(held, state) if weights is None else LinearReader(*weights)


class LinearGramEngine(GramEngine):
    """A `GramEngine` that becomes a `SumsEngine` when there are enough samples."""

    plan: LinearPlan

    def append(self, before: Holdings, after: Holdings) -> Engine:
        if not self.plan.sums_up(len(after), after.rows.width):
            return super().append(before, after)
        event = Refactorization("more than 2 (d + 1) samples", len(after), 0, SUMS)
        return SumsEngine(self.plan, after, (*self.history, event))

    def feature_weights(self, held: Holdings) -> tuple[Array, Array]:
        """Intercepts (t,) and weights of the features (d, t)."""
        intercept, Z = self.coefficients(held)
        return np.asarray(intercept), np.asarray(held.rows.samples().T @ Z)


class SumsEngine:
    """Least squares with a free or penalised intercept, from sums over the samples.

    ::

        M [w; b] = X̃ᵀ W Y,      z_i = weight_i (y_i − f(x_i)) / λ
        f₋ᵢ = y_i − (y_i − f(x_i)) / (1 − h_i),      h_i = weight_i x̃ᵢᵀ M⁻¹ x̃ᵢ

    An edit returns a new engine in O(d²); the sums of this one do not change.
    """

    factor = SUMS

    def __init__(
        self, plan: LinearPlan, held: Holdings, history: tuple[Refactorization, ...] = ()
    ) -> None:
        penalty, d = plan.machine.penalty, held.rows.width  # type: ignore[attr-defined]
        self.plan, self.past, self.serves = plan, history, held.version
        self._shift = np.zeros(d) if penalty else centre(held.rows.samples())
        self._penalty = plan.ridge * np.append(np.ones(d), penalty)
        self._classes, self._edits = held.classes, 0
        self._normal = self._summed(held)

    @property
    def history(self) -> tuple[Refactorization, ...]:
        return self.past

    # -- edits ----------------------------------------------------------------------------------

    def append(self, before: Holdings, after: Holdings) -> Engine:
        """Add samples, O(d²) each."""
        if isinstance(self.plan.class_weight, str):
            return self.fresh(after, "the class weights changed")
        new = np.arange(len(before), len(after))
        twin = self._twin(after, len(new))
        if after.classes is not None:
            order = np.concatenate([self._classes, np.setdiff1d(after.classes, self._classes)])
            columns = (after.y[new, None] == order).astype(float)
        else:
            order, columns = np.arange(0), after.y[new].reshape(len(new), -1)
        weight = self.plan.weights(after)[new]
        twin._normal.append(augmented(after.rows.take(new), self._shift), columns, weight)
        if after.classes is not None and len(after.classes) > len(self._classes):
            twin._normal.select_columns(np.argsort(order))
        return twin

    def remove(self, before: Holdings, after: Holdings, positions: Array) -> Engine:
        """Remove samples, O(d²) each."""
        if isinstance(self.plan.class_weight, str):
            return self.fresh(after, "the class weights changed")
        twin, targets = self._twin(after, len(positions)), self.plan.targets(before)
        X = augmented(before.rows.take(positions), self._shift)
        twin._normal.remove(X, targets.columns[positions], targets.weight[positions])
        if after.classes is not None and len(after.classes) < len(self._classes):
            kept = np.flatnonzero(np.isin(self._classes, after.classes))
            twin._normal.select_columns(kept)
        return twin

    def settle(self) -> None:
        """Do nothing: no update is deferred."""

    def refactor(self, held: Holdings, reason: str) -> Engine:
        """Compute the sums again from the samples, O(n d²)."""
        return self.fresh(held, reason)

    def fresh(self, held: Holdings, reason: str | None = None) -> Engine:
        """Return the same machine with sums computed again from the samples."""
        return noted(SumsEngine(self.plan, held, self.past), reason, len(held))

    # -- reads ----------------------------------------------------------------------------------

    def reader(self, held: Holdings) -> LinearReader:
        return LinearReader(*self.feature_weights(held))

    def frozen(self, held: Holdings) -> SumsEngine:
        """Return this engine: it never changes and holds no sample."""
        return self

    def feature_weights(self, held: Holdings) -> tuple[Array, Array]:
        """Intercepts (t,) and weights of the features (d, t), O(d² t)."""
        B, dtype = self._solution(held), held.rows.dtype
        intercept = B[-1] - self._shift @ B[:-1]
        combine = self.plan.targets(held).combine
        # Contiguous, as when read from a file: the memory layout can affect the rounding of a
        # product.
        return combine(intercept).astype(dtype), np.ascontiguousarray(combine(B[:-1]), dtype=dtype)

    def coefficients(self, held: Holdings) -> tuple[Array, Array]:
        """Intercepts (t,) and coefficients of the samples (n, t), in one pass over the samples."""
        targets = self.plan.targets(held)
        Z = self._residuals(held, targets, self._solution(held))
        Z *= targets.weight[:, None] / self.plan.ridge
        return self.feature_weights(held)[0], targets.combine(Z).astype(held.rows.dtype)

    def loo(self, held: Holdings) -> Array:
        """Leave-one-out outputs in one pass over the samples, O(n d²)."""
        targets = self.plan.targets(held)
        residuals = self._residuals(held, targets, self._solution(held))
        N = self._normal.inverse()
        for rows, X in augmented_blocks(held.rows.samples(), self._shift):
            h = targets.weight[rows] * np.einsum("ij,ij->i", X @ N, X)
            residuals[rows] /= (1.0 - h)[:, None]
        return targets.combine_left_out(targets.columns - residuals).astype(held.rows.dtype)

    def joined(self, held: Holdings, X: Any) -> Iterator[tuple[slice, JoinedBlock]]:
        """Yield blocks of queries with the left-out values of all samples if one of them joined.

        One pass over the samples for a block, O(n d) for each query.
        """
        if isinstance(self.plan.class_weight, str):
            yield from JoinedByEdits.blocks(self.fresh, held, X)
            return
        queries, targets = self._queries(held), self.plan.targets(held)
        factors = self.plan.class_factors(held)
        for rows in query_blocks(X.shape[0], *queries.Y.shape):
            left_out = queries.joined(augmented(X[rows], self._shift))
            yield rows, JoinedQueries(left_out, targets, factors)

    def departed(self, held: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with their outputs (m, n, t) without each held sample."""
        queries, targets = self._queries(held), self.plan.targets(held)
        for rows in query_blocks(X.shape[0], *queries.Y.shape):
            F = queries.departed(augmented(X[rows], self._shift))
            yield rows, targets.combine_left_out(F)

    def variances(self, held: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with the variances of their outputs, O(d²) each."""
        queries = self._queries(held)
        for rows in query_blocks(X.shape[0], *queries.Y.shape):
            found = queries.variances(augmented(X[rows], self._shift))
            yield rows, self.plan.ridge * found

    def drift(self, held: Holdings) -> float:
        """Residual of the normal equations, summed again from the samples, O(n d).

        ``max |X̃ᵀ W (Y − X̃ B) − Λ B|``, each entry relative to the size of its terms.
        """
        B, targets = self._solution(held), self.plan.targets(held)
        weighted = self._residuals(held, targets, B) * targets.weight[:, None]
        error = -self._penalty[:, None] * B
        for rows, X in augmented_blocks(held.rows.samples(), self._shift):
            error += X.T @ weighted[rows]
        scales = np.maximum(self._normal.scales(), np.finfo(float).tiny)
        return float(np.max(np.abs(error) / scales))

    def seen_by(self) -> tuple[str, ...]:
        return ()

    def state(self, held: Holdings) -> dict[str, Any]:
        return {"coefficients": self.coefficients(held), "weights": self.feature_weights(held)}

    # -- inside ---------------------------------------------------------------------------------

    def _twin(self, after: Holdings, edits: int) -> SumsEngine:
        """Return a copy of this engine with its own sums, for other holdings."""
        twin = copy(self)
        twin._normal, twin._classes = self._normal.copy(), after.classes
        twin.serves, twin._edits = after.version, self._edits + edits
        return twin

    def _summed(self, held: Holdings) -> LiveNormal:
        targets = self.plan.targets(held)
        normal = LiveNormal(self._penalty, targets.columns.shape[1])
        for rows, block in augmented_blocks(held.rows.samples(), self._shift):
            normal.append(block, targets.columns[rows], targets.weight[rows])
        return normal

    def _solution(self, held: Holdings) -> Array:
        if self._normal.worn():
            reason = "most of what the sums held has left"
            event = Refactorization(reason, len(held), self._edits, SUMS)
            self._normal = self._summed(held)
            self.past = (*self.past, event)
        return self._normal.solution()

    def _queries(self, held: Holdings) -> RowQueries:
        targets, B = self.plan.targets(held), self._solution(held)
        samples, shift = held.rows.samples(), self._shift
        return RowQueries.of(
            lambda: augmented_blocks(samples, shift),
            self._normal.inverse(),
            B,
            targets.columns,
            targets.weight,
        )

    def _residuals(self, held: Holdings, targets: Targets, B: Array) -> Array:
        out = targets.columns.astype(float)
        for rows, X in augmented_blocks(held.rows.samples(), self._shift):
            out[rows] -= X @ B
        return out


def augmented(X: Any, shift: Array) -> Array:
    """``[X − shift, 1]`` as a dense float64 array, in the memory of NumPy."""
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
    return np.median(dense, axis=0).astype(float)
