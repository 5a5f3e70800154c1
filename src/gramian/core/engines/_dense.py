"""The engine on the n×n Gram matrix: joins a kernel, a live system and a machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from gramian.core.arrays import Array, factor_cholesky, without_rows
from gramian.core.engines._added import AddedBlock, AddedByEdits
from gramian.core.engines._dense_queries import DenseQueries
from gramian.core.engines._engine import Engine, record_rebuild
from gramian.core.engines._holdings import Holdings
from gramian.core.engines._removed import without_each_by_removal
from gramian.core.equations import (
    ClassTargets,
    Equations,
    Responses,
    Targets,
    minimum_norm,
    minimum_norm_loo,
)
from gramian.core.gram import (
    SINGLE,
    LiveSystem,
    Moments,
    NotPositiveDefiniteError,
    Rebuild,
    require_memory,
)
from gramian.core.kernels import Kernel, KernelExpansion, Precomputed

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class DensePlan:
    """The hyper-parameters of a machine on the Gram matrix, from which engines are built.

    Parameters
    ----------
    machine : Machine
    kernel : Kernel
    ridge : float
    factor : {"auto", "inverse", "single", "cholesky", "qr"}
    kind : {"signs", "fisher"}
        Targets of a classifier: ±1 or Fisher's.
    class_weight : dict, "balanced" or None
        Multiplies the weights of a classifier's samples.
    gamma : float, ndarray or None
        Width of the kernel, if it has one.
    selection : Selection or None
        The searched path, or None if nothing was searched.
    seen_by : tuple of str
        Names of the hyper-parameters that were chosen on samples.
    metric : ndarray of shape (d,) or None
        Factors of the features, which ``kernel`` has in its widths.
    """

    equations: Equations
    kernel: Kernel
    ridge: float
    factor: str = "auto"
    kind: str = "signs"
    class_weight: Mapping[Any, float] | str | None = None
    gamma: Any = None
    selection: Any = None
    chosen_on_data: tuple[str, ...] = ()
    metric: Any = None

    def targets(self, holdings: Holdings) -> Targets:
        """Return the targets of the held samples, with sample weights times class weights."""
        weight = holdings.weight if self.class_weight is None else self.weights(holdings)
        if holdings.classes is None:
            return Responses(holdings.y.reshape(len(holdings), -1), weight)
        return ClassTargets(holdings.labels, len(holdings.classes), self.kind, weight)

    def weights(self, holdings: Holdings) -> Array:
        """Sample weights times class weights."""
        factors = self.class_factors(holdings)
        return holdings.weight if factors is None else holdings.weight * factors[holdings.labels]

    def class_factors(self, holdings: Holdings) -> Array | None:
        """The class weights (n_classes,), or None if there are none."""
        if self.class_weight is None:
            return None
        assert holdings.classes is not None
        if isinstance(self.class_weight, str):
            sums = np.bincount(holdings.labels, holdings.weight, len(holdings.classes))
            there = np.maximum(sums, np.finfo(float).tiny)
            return holdings.weight.sum() / (np.count_nonzero(sums) * there)
        labels = holdings.classes.tolist()
        return np.array([self.class_weight.get(label, 1.0) for label in labels])

    def engine(self, holdings: Holdings, history: tuple[Rebuild, ...] = ()) -> Engine:
        """Build an engine for these holdings from scratch."""
        if self.ridge > 0:
            return DenseEngine(self, holdings, history)
        size = 3 * len(holdings) ** 2 * holdings.rows.dtype.itemsize
        require_memory(size, f"Decomposing the Gram matrix of {len(holdings)} samples")
        return MinimumNormEngine(self, holdings, history)

    def engine_apart(self, tuning: Holdings, holdings: Holdings) -> Engine:
        """Build an engine with hyper-parameters that were chosen on other holdings."""
        return self.engine(holdings)

    def predictor(self, holdings: Holdings, state: Mapping[str, Any]) -> Any:
        """Return the reader of ``f(x) = k(x, held) Z + b`` from the `state` of an engine."""
        intercept, Z = state["coefficients"]
        return KernelExpansion(self.kernel, holdings.rows.samples(lend=True), Z, intercept)


class DenseEngine:
    """Solves with ``A = K + shift``: a `LiveSystem` for a column of ones and the target columns.

    The columns of a classifier are the class indicators. Targets are linear combinations of them
    with weights that follow the class sizes, so Fisher targets stay correct after every edit.
    """

    def __init__(
        self, plan: DensePlan, holdings: Holdings, history: tuple[Rebuild, ...] = ()
    ) -> None:
        X, kernel, targets = holdings.rows.samples(), plan.kernel, plan.targets(holdings)
        weight = targets.weight.astype(X.dtype)
        self.plan, self.past = plan, history
        self._diagonal, self._weight = kernel.diagonal(X), weight
        self._columns = holdings.classes
        # The samples, which follow the edits if the system reads them after these; else None.
        self._present = present = SimpleNamespace(X=X)
        shift = plan.equations.shift(plan.ridge, weight)
        self.system = LiveSystem(
            self._diagonal + shift,
            lambda rows, columns: kernel(present.X[rows], present.X[columns]),
            np.column_stack([np.ones(len(weight)), targets.columns]),
            plan.equations.only_factor or plan.factor,
        )
        present.X = X if plan.factor == SINGLE else None
        self.serves: object = holdings.version
        self._known: tuple[object, Any] = (None, None)  # a version, and its moments

    @property
    def history(self) -> tuple[Rebuild, ...]:
        return (*self.past, *self.system.rebuilds)

    @property
    def factor(self) -> str:
        """Name of the factor in use."""
        return self.system.factor.name

    # -- edits ----------------------------------------------------------------------------------

    def append(self, before: Holdings, after: Holdings) -> Engine:
        """Add samples, O(n²) for one; raises if the kernel is not positive definite."""
        if isinstance(self.plan.class_weight, str):
            return self.fresh(after, "the class weights changed")
        n, X, kernel = len(before.ids), after.rows.samples(), self.plan.kernel
        weight = after.weight if self.plan.class_weight is None else self.plan.weights(after)
        weight = weight[n:].astype(X.dtype)
        block = kernel(X, X[n:])
        cross, corner = block[:n], block[n:]
        if isinstance(kernel, Precomputed):
            check_semidefinite(
                corner - cross.T @ self.solve(cross), np.abs(corner.diagonal()).max()
            )
        diagonal = corner.diagonal().copy()
        corner = corner + np.diag(self.plan.equations.shift(self.plan.ridge, weight))
        columns, order = self._columns_of(after, n)
        serves, self.serves = self.serves, None
        try:
            ones = np.ones((len(columns), 1))
            self.system.append(cross, corner, np.concatenate([ones, columns], axis=1))
        except NotPositiveDefiniteError:  # raised before anything was changed
            self.serves = serves
            raise
        if order is not None:
            self.system.select_columns(np.append(0, 1 + order))
        self._diagonal = np.concatenate([self._diagonal, diagonal])
        self._weight = np.concatenate([self._weight, weight])
        self._columns = after.classes
        self._present.X = after.rows.samples() if self.plan.factor == SINGLE else None
        self.serves = after.version
        return self

    def remove(self, before: Holdings, after: Holdings, positions: Array) -> Engine:
        """Remove samples, O(n) for one with the explicit inverse."""
        if isinstance(self.plan.class_weight, str):
            return self.fresh(after, "the class weights changed")
        self.serves = None
        self.system.remove(positions)
        if after.classes is not None and len(after.classes) < len(self._columns):
            kept = np.flatnonzero(np.isin(self._columns, after.classes))
            self.system.select_columns(np.append(0, 1 + kept))
        self._diagonal = without_rows(self._diagonal, positions)
        self._weight = without_rows(self._weight, positions)
        self._columns = after.classes
        self._present.X = after.rows.samples() if self.plan.factor == SINGLE else None
        self.serves = after.version
        return self

    def rebuild(self, holdings: Holdings, reason: str) -> Engine:
        """Rebuild the factor from the stored A, O(n³)."""
        self.serves = None
        self.system.rebuild(reason)
        self.serves = holdings.version
        return self

    def settle(self) -> None:
        """Add pending updates to P, O(n²)."""
        self._reading(self.system.factor.fold)

    # -- reads ----------------------------------------------------------------------------------

    def predictor(self, holdings: Holdings) -> KernelExpansion:
        intercept, Z = self.coefficients(holdings)
        return KernelExpansion(self.plan.kernel, holdings.rows.samples(lend=True), Z, intercept)

    def coefficients(self, holdings: Holdings) -> tuple[Array, Array]:
        """Intercepts (t,) and coefficients (n, t) of the outputs, O(n t) after an edit."""
        targets = self.plan.targets(holdings)
        X = self._reading(self.system.solution)
        found = self.plan.equations.coefficients(
            X[:, 1:], X[:, 0], 1.0 / self._weight, self.plan.ridge
        )
        dtype = holdings.rows.dtype
        return targets.combine(found[0]).astype(dtype), targets.combine(found[1]).astype(dtype)

    def loo(self, holdings: Holdings) -> Array:
        targets = self.plan.targets(holdings)
        Y = self.system.B[:, 1:].real
        F = self._reading(lambda: self.plan.equations.loo(Y, self.moments, self.plan.ridge))
        return np.asarray(targets.combine_left_out(F).astype(holdings.rows.dtype))

    def added(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, AddedBlock]]:
        """Yield blocks of queries with the left-out values of all samples if one of them joined.

        One product with P for a block, then O(n t) for each query and weight. If class weights
        are "balanced", all weights change with every sample, and every query costs two fits.
        """
        if isinstance(self.plan.class_weight, str):
            return AddedByEdits.blocks(self.fresh, holdings, X)
        return self._queries(holdings).added(X)

    def without_each(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with their outputs (m, n, t) without each held sample.

        One product with P for a block, then O(n t) for each query.
        """
        return self._queries(holdings).without_each(X)

    def variances(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with the variances of their outputs, by one product with P."""
        return self._queries(holdings).variances(X)

    def moments(self, power: int) -> Moments:
        """``M Y``, ``M 1`` and ``diag M`` of M = P, or of P D P."""
        X, D = self.system.solution(), 1.0 / self._weight
        if power == 1:
            return Moments(X[:, 1:], X[:, 0], self.system.inverse_diagonal())
        solved = self.system.solve(D[:, None] * X)
        return Moments(solved[:, 1:], solved[:, 0], self.system.inverse_square_diagonal(D))

    def drift(self, holdings: Holdings) -> float:
        return self._reading(self.system.drift)

    def solve(self, B: Array) -> Array:
        """``Re P B``."""
        return self._reading(lambda: self.system.solve(B)).real

    def fresh(self, holdings: Holdings, reason: str | None = None) -> Engine:
        """Return the same machine built from scratch."""
        return record_rebuild(self.plan.engine(holdings, self.history), reason, len(holdings))

    def frozen(self, holdings: Holdings) -> Unbuilt:
        """Return what a pickle stores: coefficients without a matrix."""
        return Unbuilt(self.plan, self.state(holdings), self.history)

    def chosen_on_data(self) -> tuple[str, ...]:
        return ()

    def state(self, holdings: Holdings) -> dict[str, Any]:
        intercept, Z = self.coefficients(holdings)
        return {"coefficients": (np.asarray(intercept), np.asarray(Z))}

    # -- inside ---------------------------------------------------------------------------------

    def _queries(self, holdings: Holdings) -> DenseQueries:
        plan = self.plan
        return DenseQueries(
            plan.equations,
            plan.kernel,
            plan.ridge,
            holdings.rows.samples(),
            plan.targets(holdings),
            self._weight,
            plan.class_factors(holdings),
            np.asarray(self.system.B[:, 1:].real),
            self._known_moments(holdings),
            lambda B: np.asarray(self._reading(lambda: self.system.apply_inverse(B.T))).T,
        )

    def _known_moments(self, holdings: Holdings) -> Callable[[int], Moments]:
        """`moments` of these holdings, each computed once, in the memory of NumPy."""
        if self._known[0] is not holdings.version:

            @cache
            def known(power: int) -> Moments:
                return Moments(*map(np.asarray, self._reading(lambda: self.moments(power))))

            self._known = holdings.version, known
        return self._known[1]

    def _reading(self, read: Callable[[], T]) -> T:
        """Run a read that may change the system in place, so that an interrupt is noticed."""
        serves, self.serves = self.serves, None
        found = read()
        self.serves = serves
        return found

    def _columns_of(self, after: Holdings, n: int) -> tuple[Array, Array | None]:
        """Target columns of new samples, known classes first, and the order that sorts them."""
        if after.classes is None:
            return after.y[n:].reshape(len(after) - n, -1), None
        order = self._columns
        if len(after.classes) > len(order):  # an added sample takes no class away
            order = np.concatenate([order, np.setdiff1d(after.classes, order)])
        columns = (after.y[n:, None] == order).astype(float)
        return columns, None if len(order) == len(self._columns) else np.argsort(order)


class MinimumNormEngine:
    """The machine with ridge 0, which solves `minimum_norm` for every version in O(n³)."""

    factor = "svd"

    def __init__(
        self, plan: DensePlan, holdings: Holdings, history: tuple[Rebuild, ...] = ()
    ) -> None:
        X = holdings.rows.samples()
        self.plan, self.past, self.serves = plan, history, holdings.version
        self._K, self._targets = plan.kernel(X, X), plan.targets(holdings)
        _check_distinct(self._K)
        self._solution: tuple[Array, Array] | None = None

    @property
    def history(self) -> tuple[Rebuild, ...]:
        return self.past

    def append(self, before: Holdings, after: Holdings) -> Engine:
        size = 3 * len(after) ** 2 * after.rows.dtype.itemsize
        require_memory(size, f"Growing the Gram matrix to {len(after)} samples")
        engine = self.fresh(after)
        check_semidefinite(engine._K)
        return engine

    def remove(self, before: Holdings, after: Holdings, positions: Array) -> Engine:
        return self.fresh(after)

    def settle(self) -> None:
        """Do nothing: no update is deferred."""

    def rebuild(self, holdings: Holdings, reason: str) -> Engine:
        return self.fresh(holdings, reason)

    def fresh(self, holdings: Holdings, reason: str | None = None) -> MinimumNormEngine:
        return record_rebuild(
            MinimumNormEngine(self.plan, holdings, self.past), reason, len(holdings)
        )

    def predictor(self, holdings: Holdings) -> KernelExpansion:
        return self.plan.predictor(holdings, self.state(holdings))

    def coefficients(self, holdings: Holdings) -> tuple[Array, Array]:
        targets = self._targets
        intercept, Z = (targets.combine(part) for part in self._solved())
        return intercept.astype(self._K.dtype), Z.astype(self._K.dtype)

    def loo(self, holdings: Holdings) -> Array:
        targets = self._targets
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

    def frozen(self, holdings: Holdings) -> Unbuilt:
        return Unbuilt(self.plan, self.state(holdings), self.history)

    def chosen_on_data(self) -> tuple[str, ...]:
        return ()

    def state(self, holdings: Holdings) -> dict[str, Any]:
        return {"coefficients": self.coefficients(holdings)}

    def _solved(self) -> tuple[Array, Array]:
        if self._solution is None:
            self._solution = minimum_norm(self._K, self._targets.columns, self._targets.weight)
        return self._solution


@dataclass(frozen=True, eq=False)
class Unbuilt:
    """Placeholder for the engine of a model that comes from a file or a pickle.

    It stores what predictions need. Any other call first builds the engine by `fresh`.
    """

    plan: Any
    saved: Mapping[str, Any]
    history: tuple[Rebuild, ...] = ()
    serves: object = None

    def predictor(self, holdings: Holdings) -> Any:
        return self.plan.predictor(holdings, self.saved)

    def fresh(self, holdings: Holdings, reason: str | None = None) -> Any:
        """Build the engine."""
        return self.plan.engine(holdings, self.history)

    def frozen(self, holdings: Holdings) -> Unbuilt:
        return self

    def state(self, holdings: Holdings) -> dict[str, Any]:
        return dict(self.saved)


@dataclass(frozen=True, eq=False)
class Owed:
    """Placeholder for an engine that could not be built for the samples that are left.

    Every use of the model tries to build the engine again, from the samples that it holds.
    """

    plan: Any
    history: tuple[Rebuild, ...] = ()
    serves: object = None

    def holds_all(self, holdings: Holdings) -> bool:
        """Whether the samples held are all that there are: else it could not be built from them."""
        return True

    def append(self, before: Holdings, after: Holdings) -> Any:
        """Build the engine with the samples that were added, which may determine it."""
        return self.fresh(after, "it could not be built without the samples added now")

    def remove(self, before: Holdings, after: Holdings, positions: Array) -> Any:
        """Build the engine without the samples that left."""
        return self.fresh(after, "it could not be built with the samples removed now")

    def fresh(self, holdings: Holdings, reason: str | None = None) -> Any:
        """Build the engine, and record that."""
        return record_rebuild(self.plan.engine(holdings, self.history), reason, len(holdings))


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


def check_semidefinite(K: Array, scale: float | None = None) -> None:
    """Raise ValueError if K has a clearly negative eigenvalue; tries a Cholesky factor, O(n³)."""
    n, eps = len(K), float(np.finfo(K.dtype).eps)
    scale = float(np.abs(np.diagonal(K)).max()) if scale is None else float(scale)
    shifted = np.array(K, order="F")
    shifted[np.diag_indices(n)] += 1e3 * n * eps * max(scale, float(np.finfo(K.dtype).tiny))
    if factor_cholesky(shifted):
        raise ValueError(
            "a precomputed kernel must be positive semi-definite, but this one has a negative "
            f"eigenvalue ({np.linalg.eigvalsh(K)[0]:.2g})."
        )
