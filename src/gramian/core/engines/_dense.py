"""The engine on the n×n Gram matrix: a kernel, a live system, and a family's equations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from gramian.core.arrays import Array, factor_cholesky, on_device, row_blocks
from gramian.core.engines._added import AddedBlock, AddedByEdits
from gramian.core.engines._balanced import balanced_loo, balanced_without_each
from gramian.core.engines._deferred import DeferredEngine
from gramian.core.engines._dense_queries import DenseQueries
from gramian.core.engines._doubt import (
    FEW,
    PAIR_DIGITS,
    doubtful,
    doubtful_groups,
    fit_again,
    fit_each_again,
    fit_pairs_again,
)
from gramian.core.engines._engine import Engine
from gramian.core.engines._holdings import Holdings
from gramian.core.engines._state import State, Stored
from gramian.core.equations import PAIRS_REFUSED
from gramian.core.equations._groups import SquaresOf
from gramian.core.gram import LiveSystem, Moments, NotPositiveDefiniteError, Rebuild
from gramian.core.gram._single import SINGLE
from gramian.core.kernels import Precomputed
from gramian.core.kernels._expansion import KernelExpansion
from gramian.core.validation import check_array, check_sequence

if TYPE_CHECKING:
    from gramian.core.engines._dense_spec import DenseSpec

T = TypeVar("T")
_UPDATED = 256  # so few samples are learned by an update in any case


@dataclass(frozen=True, eq=False)
class DenseState(State):
    """Intercepts (t,) with coefficients (n, t) of the samples, and perhaps weights (d, t)."""

    follows_from_rows: ClassVar[bool] = True

    coefficients: tuple[Array, Array]
    weights: tuple[Array, Array] | None = None

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        intercept, Z = values["coefficients"]
        weights = values.get("weights")
        return cls((intercept, Z), None if weights is None else (weights[0], weights[1]))

    @classmethod
    def validate(cls, values: Mapping[str, Any], stored: Stored) -> None:
        _validate_pair(values["coefficients"], "coefficients", stored.n, stored.outputs)
        if values.get("weights") is not None:
            _validate_pair(values["weights"], "weights", stored.d, stored.outputs)


def _validate_pair(pair: Any, where: str, rows: int, outputs: int) -> None:
    """An intercept for each output, and a column of coefficients."""
    intercept, Z = check_sequence(pair, where, 2)
    check_array(intercept, where, (outputs,), "f")
    check_array(Z, where, (rows, outputs), "f")


class DenseEngine(Engine):
    """Solves with ``A = K + shift``: a `LiveSystem` for a column of ones and the target columns.

    The columns of a classifier are the class indicators. Targets are linear combinations of them
    with weights that follow the class sizes, so Fisher targets stay correct after every edit.
    """

    spec: DenseSpec
    past: tuple[Rebuild, ...]
    system: LiveSystem

    serves: object = None

    def __init__(
        self, spec: DenseSpec, holdings: Holdings, history: tuple[Rebuild, ...] = ()
    ) -> None:
        X, kernel, targets = holdings.rows.samples(), spec.predicts_with, spec.targets(holdings)
        weight = targets.weight.astype(X.dtype, copy=False)
        self.spec, self.past = spec, history
        self._weight = weight
        self._columns = holdings.classes
        # The samples, which follow the edits if the system reads them after these; else None.
        self._present = present = SimpleNamespace(X=X)
        shift = spec.equations.shift(spec.shift, weight)
        self.system = LiveSystem(
            kernel.diagonal(X) + shift,
            lambda rows, columns: kernel(present.X[rows], present.X[columns]),
            np.column_stack([np.ones(len(weight)), targets.columns]),
            spec.equations.only_factor or spec.factor,
        )
        present.X = X if spec.factor == SINGLE else None
        self.serves = holdings.version
        self._known: tuple[object, dict[int, Moments]] = (None, {})  # a version, and its moments

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
        if isinstance(self.spec.class_weight, str):
            return self.fresh(after, "the class weights changed")
        n, X, kernel = len(before.ids), after.rows.samples(), self.spec.predicts_with
        if len(after) - n > max(n, _UPDATED):  # an update costs more than all from scratch
            return self.fresh(after, "more samples came than were held")
        weight = self.spec.weights(after).astype(X.dtype, copy=False)
        block = kernel(X, X[n:])
        cross, corner = block[:n], block[n:]
        if isinstance(kernel, Precomputed):
            check_semidefinite(
                corner - cross.T @ self.solve(cross), np.abs(corner.diagonal()).max()
            )
        shift = self.spec.equations.shift(self.spec.shift, weight[n:])
        corner = corner + (shift if len(shift) == 1 else np.diag(shift))
        B, order = self._columns_of(after, n)
        serves, self.serves = self.serves, None
        try:
            self.system.append(cross, corner, B)
        except NotPositiveDefiniteError:  # raised before anything was changed
            self.serves = serves
            raise
        if order is not None:
            self.system.select_columns(np.append(0, 1 + order))
        return self.serving(after)

    def remove(self, before: Holdings, after: Holdings, positions: Array) -> Engine:
        """Remove samples, O(n) for one with the explicit inverse."""
        if isinstance(self.spec.class_weight, str):
            return self.fresh(after, "the class weights changed")
        self.serves = None
        self.system.remove(positions)
        if after.classes is not None and len(after.classes) < len(self._columns):
            kept = np.flatnonzero(np.isin(self._columns, after.classes))
            self.system.select_columns(np.append(0, 1 + kept))
        return self.serving(after)

    def serving(self, holdings: Holdings) -> Self:
        """Return this engine, whose system is that of these holdings by now."""
        self._weight = self.spec.weights(holdings).astype(self._weight.dtype, copy=False)
        self._columns = holdings.classes
        self._present.X = holdings.rows.samples() if self.spec.factor == SINGLE else None
        self.serves = holdings.version
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

    def checked(self) -> LiveSystem:
        """The system, after what a read of its solution checks."""
        self._reading(self.system.solution)
        return self.system

    def predictor(self, holdings: Holdings) -> KernelExpansion:
        intercept, Z = self.coefficients(holdings)
        return KernelExpansion(
            self.spec.predicts_with, holdings.rows.samples(lend=True), Z, intercept
        )

    def coefficients(self, holdings: Holdings) -> tuple[Array, Array]:
        """Intercepts (t,) and coefficients (n, t) of the outputs, O(n t) after an edit."""
        X = self._reading(self.system.solution)
        found = self.spec.equations.coefficients(
            X[:, 1:], X[:, 0], 1.0 / self._weight, self.spec.shift
        )
        if holdings.classes is not None:
            targets = self.spec.targets(holdings)
            found = targets.combine(found[0]), targets.combine(found[1])
        dtype = holdings.rows.dtype
        return found[0].astype(dtype, copy=False), found[1].astype(dtype, copy=False)

    def loo(self, holdings: Holdings) -> Array:
        if isinstance(self.spec.class_weight, str):
            return balanced_loo(self.spec, holdings)
        if holdings.codes is not None:
            queries = self._queries(holdings)
            F, some = queries.loo_groups(holdings.codes), self._doubtful_of(queries)
        else:
            Y, moments, ridge = self.system.B[:, 1:].real, cache(self.moments), self.spec.shift
            F = self._reading(lambda: self.spec.equations.loo(Y, moments, ridge))
            some = self._doubtful(F, Y, moments)
        values = self.spec.targets(holdings).combine_left_out(F)
        found = np.asarray(values.astype(holdings.rows.dtype))
        return fit_again(found, some, self.spec, holdings)

    def added(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, AddedBlock]]:
        """Yield blocks of queries with the left-out values of all samples if one were added.

        One product with P for a block, then O(n t) for each query and weight. If class weights
        are "balanced", all weights change with every sample, and every query costs two fits. Few
        samples of a classifier learn and forget each query where the ridge is too small for that.
        """
        if isinstance(self.spec.class_weight, str) or self._rounding_decides(holdings):
            return AddedByEdits.blocks(self.fresh, holdings, X)
        return self._queries(holdings).added(X)

    def without_each(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with their outputs (m, n, t) without each held sample.

        One product with P for a block, then O(n t) for each query.
        """
        if isinstance(self.spec.class_weight, str):
            return balanced_without_each(self.spec, holdings, X)
        queries = self._queries(holdings)
        some = self._doubtful_of(queries)
        return (
            (rows, fit_each_again(F, some, self.spec, holdings, X[rows]))
            for rows, F in queries.without_each(X)
        )

    def without_pairs(self, holdings: Holdings) -> Iterator[tuple[Array, Array]]:
        """Yield samples i with outputs (k, n, t) at all samples j without i and j, O(k n t).

        Where rounding would decide, they are those of a fit without i.
        """
        if isinstance(self.spec.class_weight, str):
            raise ValueError(PAIRS_REFUSED)
        queries, targets = self._queries(holdings), self.spec.targets(holdings)
        some = self._doubtful_of(queries)
        rounding = self._reading(lambda: self.system.rounding(queries.moments(1).p))

        def rows_of(at: Array) -> Array:
            found = np.asarray(self._reading(lambda: self.system.inverse_columns(at)))
            return found.T.astype(float, copy=False)

        for at, found in queries.pairs(rows_of):
            values = np.subtract(queries.Y, found.residuals, out=found.residuals)
            F = targets.combine_left_out(values)
            again = np.isin(at, some) | (found.clearance * PAIR_DIGITS < rounding)
            yield at, fit_pairs_again(F, at, again, self.spec, holdings)

    def smoother(self, holdings: Holdings, X: Any) -> Array:
        """``∂f(x)/∂y_i`` at queries, (m, n, 1), by one product with P."""
        return self._queries(holdings).smoother(X)

    def variances(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with the variances of their outputs, by one product with P."""
        return self._queries(holdings).variances(X)

    def moments(self, power: int) -> Moments:
        """``M Y``, ``M 1`` and ``diag M`` of M = P, or of P D P."""
        system, D = self.system, 1.0 / self._weight
        # The diagonal comes first: where P has drifted, it is rebuilt and X is solved for again.
        p = system.inverse_diagonal() if power == 1 else system.inverse_square_diagonal(D)
        X = system.solution()
        solved = X if power == 1 else system.solve(D[:, None] * X)
        return Moments(solved[:, 1:], solved[:, 0], p)

    def drift(self, holdings: Holdings) -> float:
        return self._reading(self.system.drift)

    def solve(self, B: Array) -> Array:
        """``Re P B``."""
        return self._reading(lambda: self.system.solve(B)).real

    def fresh(self, holdings: Holdings, reason: str | None = None) -> Engine:
        """Return the same estimator built from scratch."""
        return self.spec.build(holdings, self.history).recorded(reason, len(holdings))

    def deferred(self, holdings: Holdings) -> Engine:
        """Return what a pickle stores: coefficients without a matrix."""
        return DeferredEngine(self.spec, self.history, self.state(holdings))

    def state(self, holdings: Holdings) -> DenseState:
        intercept, Z = self.coefficients(holdings)
        return DenseState((np.asarray(intercept), np.asarray(Z)))

    # -- inside ---------------------------------------------------------------------------------

    def _queries(self, holdings: Holdings) -> DenseQueries:
        spec = self.spec
        return DenseQueries(
            spec.equations,
            spec.predicts_with,
            spec.shift,
            holdings.rows.samples(),
            spec.targets(holdings),
            self._weight,
            spec.class_factors(holdings),
            np.asarray(self.system.B[:, 1:].real),
            self._known_moments(holdings),
            self._apply_inverse,
            self._squares,
        )

    def _apply_inverse(self, B: Array) -> Array:
        """``P b`` for each row b, where the rows are."""
        found = self._reading(lambda: self.system.apply_inverse(B.T)).T
        return found if on_device(B) else np.asarray(found)

    def _squares(self, members: Array, power: int) -> Array:
        """Blocks (g, k, k) of P, or of P D P, for groups of k samples (g, k)."""
        out, D = [], np.asarray(1.0 / self._weight)
        for rows in row_blocks(len(members), members.shape[1] * len(D)):
            some = members[rows]
            P = np.asarray(self._reading(partial(self.system.inverse_columns, some.ravel())))
            P = np.moveaxis(P.reshape(len(D), *some.shape), 0, 1)  # (g, n, k)
            if power == 2:
                out.append(np.swapaxes(P, 1, 2) @ (D[:, None] * P))
            else:
                out.append(P[np.arange(len(some))[:, None], some])
        return np.concatenate(out)

    def _doubtful(self, F: Array | None, Y: Array, moments: Callable[[int], Moments]) -> Array:
        """Positions of leave-one-out values F, if known already, that are not good enough."""
        if self.spec.factor == SINGLE or not isinstance(Y, np.ndarray):
            return np.empty(0, dtype=int)  # digits are few there by consent, and refits are dear
        rounding = self._reading(lambda: self.system.rounding(moments(1).p))
        scale = float(np.abs(Y).max(initial=0.0))
        equations, ridge = self.spec.equations, self.spec.shift
        F = equations.loo(Y, moments, ridge) if F is None else F
        return doubtful(F, lambda known: equations.loo(Y, known, ridge), moments, rounding, scale)

    def _doubtful_of(self, queries: DenseQueries) -> Array:
        """The same for one version, whose samples may leave in groups."""
        codes, moments = queries.targets.groups, queries.moments
        if codes is None or self.spec.factor == SINGLE:
            return self._doubtful(None, queries.Y, moments)
        rounding = self._reading(lambda: self.system.rounding(moments(1).p))
        scale = float(np.abs(queries.Y).max(initial=0.0))

        def loo(known: Callable[[int], Moments], squares: SquaresOf) -> Array:
            return self.spec.equations.loo_groups(queries.Y, codes, known, squares, self.spec.shift)

        return doubtful_groups(loo, moments, queries.squares, rounding, scale)

    def _rounding_decides(self, holdings: Holdings) -> bool:
        """Whether few samples have a ridge below which the closed forms lose their digits."""
        known = holdings.classes is not None and holdings.rows.dtype == np.float64
        if not known or len(holdings) > FEW or self.spec.factor == SINGLE:
            return False
        own = np.asarray(self.spec.predicts_with.diagonal(holdings.rows.samples()))
        size = float(np.sum(own * np.asarray(self._weight)))
        return self.spec.shift < self.spec.equations.least_ridge(size, float(np.finfo(float).eps))

    def _known_moments(self, holdings: Holdings) -> Callable[[int], Moments]:
        """`moments` of these holdings, each computed once, in host memory."""
        if self._known[0] is not holdings.version:
            self._known = holdings.version, {}
        known = self._known[1]  # values alone: a function that knows the engine would be a cycle

        def moments(power: int) -> Moments:
            if power not in known:
                found = self._reading(lambda: self.moments(power))
                known[power] = Moments(*map(np.asarray, found))
            return known[power]

        return moments

    def _reading(self, read: Callable[[], T]) -> T:
        """Run a read that may change the system in place, so that an interrupt is noticed."""
        serves, self.serves = self.serves, None
        found = read()
        self.serves = serves
        return found

    def _columns_of(self, after: Holdings, n: int) -> tuple[Array, Array | None]:
        """1 and the targets of new samples, known classes first, and the order that sorts them."""
        y, order = after.y[n:], self._columns
        if order is None:
            columns = y.reshape(len(y), -1)
        else:
            if len(after.classes) > len(order):  # an added sample takes no class away
                order = np.concatenate([order, np.setdiff1d(after.classes, order)])
            columns = y[:, None] == order
        B = np.empty((len(y), 1 + columns.shape[1]))
        B[:, 0], B[:, 1:] = 1.0, columns
        known = order is None or len(order) == len(self._columns)
        return B, None if known else np.argsort(order)


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
