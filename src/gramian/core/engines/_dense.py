"""The engine on the n×n Gram matrix: joins a kernel, a live system and a machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from gramian.core.arrays import Array, factor_cholesky, without_rows
from gramian.core.engines._added import JoinedBlock, JoinedByEdits
from gramian.core.engines._dense_queries import GramQueries
from gramian.core.engines._engine import Engine, noted
from gramian.core.engines._holdings import Holdings
from gramian.core.engines._removed import departed_by_removal
from gramian.core.equations import (
    ClassTargets,
    Machine,
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
    Refactorization,
    require_memory,
)
from gramian.core.kernels import Kernel, KernelExpansion, Precomputed

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class GramPlan:
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

    machine: Machine
    kernel: Kernel
    ridge: float
    factor: str = "auto"
    kind: str = "signs"
    class_weight: Mapping[Any, float] | str | None = None
    gamma: Any = None
    selection: Any = None
    seen_by: tuple[str, ...] = ()
    metric: Any = None

    def targets(self, held: Holdings) -> Targets:
        """Return the targets of the held samples, with sample weights times class weights."""
        weight = held.weight if self.class_weight is None else self.weights(held)
        if held.classes is None:
            return Responses(held.y.reshape(len(held), -1), weight)
        return ClassTargets(held.labels, len(held.classes), self.kind, weight)

    def weights(self, held: Holdings) -> Array:
        """Sample weights times class weights."""
        factors = self.class_factors(held)
        return held.weight if factors is None else held.weight * factors[held.labels]

    def class_factors(self, held: Holdings) -> Array | None:
        """The class weights (n_classes,), or None if there are none."""
        if self.class_weight is None:
            return None
        assert held.classes is not None
        if isinstance(self.class_weight, str):
            sums = np.bincount(held.labels, held.weight, len(held.classes))
            there = np.maximum(sums, np.finfo(float).tiny)
            return held.weight.sum() / (np.count_nonzero(sums) * there)
        labels = held.classes.tolist()
        return np.array([self.class_weight.get(label, 1.0) for label in labels])

    def engine(self, held: Holdings, history: tuple[Refactorization, ...] = ()) -> Engine:
        """Build an engine for these holdings from scratch."""
        if self.ridge > 0:
            return GramEngine(self, held, history)
        size = 3 * len(held) ** 2 * held.rows.dtype.itemsize
        require_memory(size, f"Decomposing the Gram matrix of {len(held)} samples")
        return MinimumNormEngine(self, held, history)

    def engine_apart(self, tuning: Holdings, held: Holdings) -> Engine:
        """Build an engine with hyper-parameters that were chosen on other holdings."""
        return self.engine(held)

    def reader(self, held: Holdings, state: Mapping[str, Any]) -> Any:
        """Return the reader of ``f(x) = k(x, held) Z + b`` from the `state` of an engine."""
        intercept, Z = state["coefficients"]
        return KernelExpansion(self.kernel, held.rows.samples(lend=True), Z, intercept)


class GramEngine:
    """Solves with ``A = K + shift``: a `LiveSystem` for a column of ones and the target columns.

    The columns of a classifier are the class indicators. Targets are linear combinations of them
    with weights that follow the class sizes, so Fisher targets stay correct after every edit.
    """

    def __init__(
        self, plan: GramPlan, held: Holdings, history: tuple[Refactorization, ...] = ()
    ) -> None:
        X, kernel, targets = held.rows.samples(), plan.kernel, plan.targets(held)
        weight = targets.weight.astype(X.dtype)
        self.plan, self.past = plan, history
        self._diagonal, self._weight = kernel.diagonal(X), weight
        self._columns = held.classes
        # The samples, which follow the edits if the system reads them after these; else None.
        self._present = present = SimpleNamespace(X=X)
        shift = plan.machine.shift(plan.ridge, weight)
        self.system = LiveSystem(
            self._diagonal + shift,
            lambda rows, columns: kernel(present.X[rows], present.X[columns]),
            np.column_stack([np.ones(len(weight)), targets.columns]),
            plan.machine.only_factor or plan.factor,
        )
        present.X = X if plan.factor == SINGLE else None
        self.serves: object = held.version
        self._known: tuple[object, Any] = (None, None)  # a version, and its moments

    @property
    def history(self) -> tuple[Refactorization, ...]:
        return (*self.past, *self.system.refactorizations)

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
        corner = corner + np.diag(self.plan.machine.shift(self.plan.ridge, weight))
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

    def refactor(self, held: Holdings, reason: str) -> Engine:
        """Rebuild the factor from the stored A, O(n³)."""
        self.serves = None
        self.system.refactor(reason)
        self.serves = held.version
        return self

    def settle(self) -> None:
        """Add pending updates to P, O(n²)."""
        self._reading(self.system.factor.fold)

    # -- reads ----------------------------------------------------------------------------------

    def reader(self, held: Holdings) -> KernelExpansion:
        intercept, Z = self.coefficients(held)
        return KernelExpansion(self.plan.kernel, held.rows.samples(lend=True), Z, intercept)

    def coefficients(self, held: Holdings) -> tuple[Array, Array]:
        """Intercepts (t,) and coefficients (n, t) of the outputs, O(n t) after an edit."""
        targets = self.plan.targets(held)
        X = self._reading(self.system.solution)
        found = self.plan.machine.coefficients(
            X[:, 1:], X[:, 0], 1.0 / self._weight, self.plan.ridge
        )
        dtype = held.rows.dtype
        return targets.combine(found[0]).astype(dtype), targets.combine(found[1]).astype(dtype)

    def loo(self, held: Holdings) -> Array:
        targets = self.plan.targets(held)
        Y = self.system.B[:, 1:].real
        F = self._reading(lambda: self.plan.machine.loo(Y, self.moments, self.plan.ridge))
        return np.asarray(targets.combine_left_out(F).astype(held.rows.dtype))

    def joined(self, held: Holdings, X: Any) -> Iterator[tuple[slice, JoinedBlock]]:
        """Yield blocks of queries with the left-out values of all samples if one of them joined.

        One product with P for a block, then O(n t) for each query and weight. If class weights
        are "balanced", all weights change with every sample, and every query costs two fits.
        """
        if isinstance(self.plan.class_weight, str):
            return JoinedByEdits.blocks(self.fresh, held, X)
        return self._queries(held).joined(X)

    def departed(self, held: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with their outputs (m, n, t) without each held sample.

        One product with P for a block, then O(n t) for each query.
        """
        return self._queries(held).departed(X)

    def variances(self, held: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with the variances of their outputs, by one product with P."""
        return self._queries(held).variances(X)

    def moments(self, power: int) -> Moments:
        """``M Y``, ``M 1`` and ``diag M`` of M = P, or of P D P."""
        X, D = self.system.solution(), 1.0 / self._weight
        if power == 1:
            return Moments(X[:, 1:], X[:, 0], self.system.inverse_diagonal())
        solved = self.system.solve(D[:, None] * X)
        return Moments(solved[:, 1:], solved[:, 0], self.system.inverse_square_diagonal(D))

    def drift(self, held: Holdings) -> float:
        return self._reading(self.system.drift)

    def solve(self, B: Array) -> Array:
        """``Re P B``."""
        return self._reading(lambda: self.system.solve(B)).real

    def fresh(self, held: Holdings, reason: str | None = None) -> Engine:
        """Return the same machine built from scratch."""
        return noted(self.plan.engine(held, self.history), reason, len(held))

    def frozen(self, held: Holdings) -> Unbuilt:
        """Return what a pickle stores: coefficients without a matrix."""
        return Unbuilt(self.plan, self.state(held), self.history)

    def seen_by(self) -> tuple[str, ...]:
        return ()

    def state(self, held: Holdings) -> dict[str, Any]:
        intercept, Z = self.coefficients(held)
        return {"coefficients": (np.asarray(intercept), np.asarray(Z))}

    # -- inside ---------------------------------------------------------------------------------

    def _queries(self, held: Holdings) -> GramQueries:
        plan = self.plan
        return GramQueries(
            plan.machine,
            plan.kernel,
            plan.ridge,
            held.rows.samples(),
            plan.targets(held),
            self._weight,
            plan.class_factors(held),
            np.asarray(self.system.B[:, 1:].real),
            self._known_moments(held),
            lambda B: np.asarray(self._reading(lambda: self.system.apply_inverse(B.T))).T,
        )

    def _known_moments(self, held: Holdings) -> Callable[[int], Moments]:
        """`moments` of these holdings, each computed once, in the memory of NumPy."""
        if self._known[0] is not held.version:

            @cache
            def known(power: int) -> Moments:
                return Moments(*map(np.asarray, self._reading(lambda: self.moments(power))))

            self._known = held.version, known
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
        self, plan: GramPlan, held: Holdings, history: tuple[Refactorization, ...] = ()
    ) -> None:
        X = held.rows.samples()
        self.plan, self.past, self.serves = plan, history, held.version
        self._K, self._targets = plan.kernel(X, X), plan.targets(held)
        _check_distinct(self._K)
        self._solution: tuple[Array, Array] | None = None

    @property
    def history(self) -> tuple[Refactorization, ...]:
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

    def refactor(self, held: Holdings, reason: str) -> Engine:
        return self.fresh(held, reason)

    def fresh(self, held: Holdings, reason: str | None = None) -> MinimumNormEngine:
        return noted(MinimumNormEngine(self.plan, held, self.past), reason, len(held))

    def reader(self, held: Holdings) -> KernelExpansion:
        return self.plan.reader(held, self.state(held))

    def coefficients(self, held: Holdings) -> tuple[Array, Array]:
        targets = self._targets
        intercept, Z = (targets.combine(part) for part in self._solved())
        return intercept.astype(self._K.dtype), Z.astype(self._K.dtype)

    def loo(self, held: Holdings) -> Array:
        targets = self._targets
        F = minimum_norm_loo(self._K, targets.columns, targets.weight)
        return targets.combine_left_out(F).astype(self._K.dtype)

    def joined(self, held: Holdings, X: Any) -> Iterator[tuple[slice, JoinedBlock]]:
        """Yield blocks of queries; each costs n fits, as there is no closed form for ridge 0."""
        return JoinedByEdits.blocks(self.fresh, held, X)

    def departed(self, held: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with their outputs (m, n, t) without each sample, by n fits."""
        return departed_by_removal(self, held, X)

    def drift(self, held: Holdings) -> float:
        """Relative residual of the normal equations, which is zero for a least-squares solution."""
        G = np.column_stack([np.ones(len(self._K)), self._K])
        Y, weight = self._targets.columns, self._targets.weight
        residual = weight[:, None] * (Y - G @ np.vstack(self._solved()))
        return float(np.abs(G.T @ residual).max() / np.abs(G.T @ Y).max())

    def frozen(self, held: Holdings) -> Unbuilt:
        return Unbuilt(self.plan, self.state(held), self.history)

    def seen_by(self) -> tuple[str, ...]:
        return ()

    def state(self, held: Holdings) -> dict[str, Any]:
        return {"coefficients": self.coefficients(held)}

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
    history: tuple[Refactorization, ...] = ()
    serves: object = None

    def reader(self, held: Holdings) -> Any:
        return self.plan.reader(held, self.saved)

    def fresh(self, held: Holdings, reason: str | None = None) -> Any:
        """Build the engine."""
        return self.plan.engine(held, self.history)

    def frozen(self, held: Holdings) -> Unbuilt:
        return self

    def state(self, held: Holdings) -> dict[str, Any]:
        return dict(self.saved)


@dataclass(frozen=True, eq=False)
class Owed:
    """Placeholder for an engine that could not be built for the samples that are left.

    Every use of the model tries to build the engine again, from the samples that it holds.
    """

    plan: Any
    history: tuple[Refactorization, ...] = ()
    serves: object = None

    def holds_all(self, held: Holdings) -> bool:
        """Whether the samples held are all that there are: else it could not be built from them."""
        return True

    def fresh(self, held: Holdings, reason: str | None = None) -> Any:
        """Build the engine, and record that."""
        return noted(self.plan.engine(held, self.history), reason, len(held))


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
