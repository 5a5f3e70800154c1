"""The engine at ridge 0: least squares of minimum norm, solved anew for every version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.core.arrays import Array
from gramian.core.engines._added import AddedBlock, AddedByEdits
from gramian.core.engines._balanced import balanced_loo
from gramian.core.engines._deferred import DeferredEngine
from gramian.core.engines._dense import DenseState, check_semidefinite
from gramian.core.engines._engine import Engine, Predictor
from gramian.core.engines._holdings import Holdings
from gramian.core.engines._removed import left_out_by_removal, without_each_by_removal
from gramian.core.equations import minimum_norm, minimum_norm_loo
from gramian.core.gram import Rebuild
from gramian.core.gram._memory import require_memory

if TYPE_CHECKING:
    from gramian.core.engines._dense_spec import DenseSpec


class MinimumNormEngine(Engine):
    """The estimator with ridge 0, which solves `minimum_norm` for every version in O(n³)."""

    spec: DenseSpec
    past: tuple[Rebuild, ...]

    factor = "svd"
    serves: object = None

    def __init__(
        self, spec: DenseSpec, holdings: Holdings, history: tuple[Rebuild, ...] = ()
    ) -> None:
        X = holdings.rows.samples()
        self.spec, self.past, self.serves = spec, history, holdings.version
        self._K, self._targets = spec.predicts_with(X, X), spec.targets(holdings)
        _check_distinct(self._K)
        self._solution: tuple[Array, Array] | None = None

    def append(self, before: Holdings, after: Holdings) -> Engine:
        size = 3 * len(after) ** 2 * after.rows.dtype.itemsize
        require_memory(size, f"Growing the Gram matrix to {len(after)} samples")
        engine = self.fresh(after)
        check_semidefinite(engine._K)
        return engine

    def remove(self, before: Holdings, after: Holdings, positions: Array) -> Engine:
        return self.fresh(after)

    def fresh(self, holdings: Holdings, reason: str | None = None) -> MinimumNormEngine:
        return MinimumNormEngine(self.spec, holdings, self.past).recorded(reason, len(holdings))

    def predictor(self, holdings: Holdings) -> Predictor:
        return self.spec.predictor(holdings, self.state(holdings))

    def coefficients(self, holdings: Holdings) -> tuple[Array, Array]:
        targets = self._targets
        intercept, Z = (targets.combine(part) for part in self._solved())
        return intercept.astype(self._K.dtype), Z.astype(self._K.dtype)

    def loo(self, holdings: Holdings) -> Array:
        if isinstance(self.spec.class_weight, str):
            return balanced_loo(self.spec, holdings)
        targets = self._targets
        if targets.groups is not None:
            return left_out_by_removal(self, holdings)
        F = minimum_norm_loo(self._K, targets.columns, targets.weight)
        return targets.combine_left_out(F).astype(self._K.dtype)

    def added(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, AddedBlock]]:
        """Yield blocks of queries; each costs n fits, as there is no closed form for ridge 0."""
        return AddedByEdits.blocks(self.fresh, holdings, X)

    def without_each(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with their outputs (m, n, t) without each sample, by n fits."""
        return without_each_by_removal(self, holdings, X)

    def drift(self, holdings: Holdings) -> float:
        """Relative residual of the normal equations, which is zero for a least-squares solution."""
        G = np.column_stack([np.ones(len(self._K)), self._K])
        Y, weight = self._targets.columns, self._targets.weight
        residual = weight[:, None] * (Y - G @ np.vstack(self._solved()))
        return float(np.abs(G.T @ residual).max() / np.abs(G.T @ Y).max())

    def deferred(self, holdings: Holdings) -> Engine:
        return DeferredEngine(self.spec, self.past, self.state(holdings))

    def state(self, holdings: Holdings) -> DenseState:
        return DenseState(self.coefficients(holdings))

    def _solved(self) -> tuple[Array, Array]:
        if self._solution is None:
            self._solution = minimum_norm(self._K, self._targets.columns, self._targets.weight)
        return self._solution


def _check_distinct(K: Array) -> None:
    """Raise ValueError if two samples coincide in feature space, which ridge 0 forbids."""
    norms = np.diagonal(K)
    squared = norms[:, None] + norms[None, :] - 2.0 * K
    np.fill_diagonal(squared, np.inf)
    i, j = np.unravel_index(np.argmin(squared), K.shape)
    if squared[i, j] <= 4 * np.finfo(K.dtype).eps * max(norms[i], norms[j]):
        raise ValueError(
            f"samples {min(i, j)} and {max(i, j)} are exact duplicates (counted in order of "
            f"arrival), which ridge=0 cannot tell apart; set `ridge` > 0 or drop one of them."
        )
