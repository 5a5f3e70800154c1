"""The engine of the Lagrangian support vector machine, which updates its supports at each edit."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramian.core.arrays import Array
from gramian.core.engines import (
    AddedBlock,
    AddedByEdits,
    DeferredEngine,
    DenseState,
    Engine,
    Holdings,
    Predictor,
    balanced_loo,
    balanced_without_each,
    fit_again,
    outputs_without,
    query_blocks,
)
from gramian.core.engines._removed import left_out_by_removal, without_each_by_removal
from gramian.core.gram import Rebuild
from gramian.svm._lagrangian_dense import GramPart, GramSpace
from gramian.svm._lagrangian_equations import (
    Solved,
    Tableau,
    lagrangian_iteration,
    left_out_groups,
    left_out_solutions,
    principal_pivot,
    slack_tolerance,
)
from gramian.svm._lagrangian_primal import LinearPart, LinearSpace

if TYPE_CHECKING:
    from gramian.svm._lagrangian_spec import LagrangianSpec

# The search for a support starts from this many samples, or from a quarter of them if more.
_FEW = 400
# Slacks, which are of the order of one, are lost in rounding errors of this size.
_BLURRED = 1e-4
# A solution is reliable if it violates its conditions by less than so many rounding errors.
_ROOM = 16.0
# Number of left-out solutions that are compared with A at once.
_AT_ONCE = 128
# Key of the least-squares system of all samples; no label is None.
_ALL = None


class LeftOut(NamedTuple):
    """Solutions of one output without each member of its support."""

    members: Array
    """Positions (b,)."""
    Z: Array
    """Coefficients (n, b)."""
    values: Array
    """f₋ᵢ(x_i), NaN where pivoting did not end."""
    reliable: Array
    """Whether the true A confirms the solution."""


class LagrangianEngine(Engine):
    """One model per class against the rest, or one for two classes, on one matrix A.

    Each output has its own support. Adding a sample beyond its margin, or removing one outside its
    support, does not change an output. Every other edit solves for it again, starting from the
    previous solution.

    Parameters
    ----------
    spec : LagrangianSpec
    holdings : Holdings
    history : tuple of Rebuild
        Records of earlier rebuilds.
    """

    serves: object = None
    factor = ""

    def __init__(
        self, spec: LagrangianSpec, holdings: Holdings, history: tuple[Rebuild, ...] = ()
    ) -> None:
        self.spec, self.past, self.n_iter = spec, history, 0
        n, d, ridges = len(holdings), holdings.rows.width, spec.shift / spec.weights(holdings)
        self.sums = spec.uses_primal(n, d)
        self._live: dict[Any, Any] = {}  # least-squares system of each output's support, or of all
        self._rounding: dict[Any, float] = {}  # of the slacks of each output
        self._labels = _labels(holdings)
        self._space: Any = (
            LinearSpace(holdings.rows, ridges) if self.sums else GramSpace(spec, holdings, ridges)
        )
        shape = n, len(self._labels)
        self._Z, self._inside = np.zeros(shape, self._space.dtype), np.zeros(shape, bool)
        self._B = np.zeros((d + 1, shape[1])) if self.sums else None
        some = np.arange(max(_FEW, n // 4)) * 0.6180339887498949 % 1.0 * n
        self._inside[some.astype(int) if n > _FEW else slice(None)] = True
        self._follow(holdings, np.ones(shape[1], dtype=bool))

    @property
    def history(self) -> tuple[Rebuild, ...]:
        return (*self.past, *(event for live in self._live.values() for event in live.events))

    # -- edits ----------------------------------------------------------------------------------

    def append(self, before: Holdings, after: Holdings) -> LagrangianEngine:
        """Add samples, O(n) for one beyond all margins."""
        n, k = len(before), len(after) - len(before)
        if isinstance(self.spec.class_weight, str):
            return self.fresh(after, "the class weights changed")
        if not self.sums and self.spec.uses_primal(n + k, after.rows.width):
            return self.fresh(after, "more than 2 (d + 1) samples")
        met, values = self._space.meet(after, self._Z, self._B)
        own = after.y[n:, None] == np.asarray(self._labels)
        missing = np.where(own, values, -values) < 1.0
        ridges = self.spec.shift / self.spec.weights(after)[n:]
        kept, self.serves = vars(self).copy(), None
        try:
            self._space = self._space.append(after, met, ridges)
            self._Z = np.pad(self._Z, ((0, k), (0, 0)))
            self._inside = np.vstack([self._inside, missing])
            self._follow(after, missing.any(axis=0))
        except (np.linalg.LinAlgError, MemoryError):  # restore the previous state
            if len(kept["_space"].ridges) > n:
                kept["_space"].remove(before, np.arange(n, n + k))
            vars(self).update(kept, past=self.history, _live={})
            raise
        return self._unblurred(after, kept["_rounding"])

    def remove(self, before: Holdings, after: Holdings, positions: Array) -> LagrangianEngine:
        """Remove samples, O(n) for one outside all supports."""
        if isinstance(self.spec.class_weight, str):
            return self.fresh(after, "the class weights changed")
        self.serves, rounding = None, self._rounding
        for live in self._live.values():
            live.leave(self._space, positions)
        stale = self._inside[positions].any(axis=0)
        self._space = self._space.remove(after, positions)
        self._Z = np.delete(self._Z, positions, axis=0)
        self._inside = np.delete(self._inside, positions, axis=0)
        self._follow(after, stale)
        return self._unblurred(after, rounding)

    def _unblurred(self, holdings: Holdings, before: Mapping[Any, float]) -> LagrangianEngine:
        """This engine, or a fresh one where the signs of slacks are, or were, lost in rounding.

        There, as next to an outlier in an unbounded kernel, the support that is found depends on
        where the search begins, and so on the past.
        """
        limit = max(_BLURRED, 2.0**18 * float(np.finfo(self._Z.dtype).eps))
        were, are = (max(sizes.values(), default=0.0) > limit for sizes in (before, self._rounding))
        if not (were or are):
            return self
        reason = "slacks are lost in rounding error"
        noted_before = any(event.reason == reason for event in self.history)
        try:
            return self.fresh(holdings, None if noted_before else reason)
        except np.linalg.LinAlgError:  # it serves as well as it can
            return self

    def settle(self) -> None:
        """Add pending updates to the inverses of the supports."""
        for part in self._live.values():
            part.settle()

    def fresh(self, holdings: Holdings, reason: str | None = None) -> LagrangianEngine:
        """Return the same estimator built from scratch."""
        engine = LagrangianEngine(self.spec, holdings, self.history)
        return engine.recorded(reason, len(holdings))

    # -- reads ----------------------------------------------------------------------------------

    def predictor(self, holdings: Holdings) -> Predictor:
        return self.spec.predictor(holdings, self.state(holdings))

    def loo(self, holdings: Holdings) -> Array:
        """Decision values without each sample, see `left_out_solutions`."""
        if isinstance(self.spec.class_weight, str):
            return balanced_loo(self.spec, holdings)
        if holdings.codes is not None:
            return self._loo_groups(holdings, holdings.codes)
        F = self._space.multiply(self._Z)  # right outside the support, where nothing changes
        doubtful: set[int] = set()
        for j, (members, _, values, reliable) in enumerate(self._left_out(holdings)):
            F[members, j] = values
            doubtful.update(members[~reliable].tolist())
        found = fit_again(F.astype(holdings.rows.dtype), sorted(doubtful), self.spec, holdings)
        if np.isnan(found).any():
            raise np.linalg.LinAlgError(
                "leave-one-out is lost in rounding error: without some sample no support set is "
                "found. Lower `C`, or scale the samples."
            )
        return found

    def _loo_groups(self, holdings: Holdings, codes: Array) -> Array:
        """Decision values without each sample's group; a group outside the support has no effect.

        Where rounding keeps pivoting from its end, it is fitted again without each group.
        """
        F = self._space.multiply(self._Z)
        for j, y in enumerate(self._signs(holdings).T):
            found = list(left_out_groups(*self._tableau(self._inside[:, j], y), codes))
            Z = np.array([z for _, z in found], dtype=self._space.dtype).reshape(-1, len(y)).T
            if np.isnan(Z).any():
                return left_out_by_removal(DeferredEngine(self.spec), holdings)
            values = self._space.multiply(Z)  # A z, which is f where z is 0
            for g, (together, _) in enumerate(found):
                F[together, j] = values[together, g]
        return np.asarray(F.astype(holdings.rows.dtype))

    def added(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, AddedBlock]]:
        """Yield blocks of queries; a copy of this engine learns and forgets each of them."""
        return AddedByEdits.blocks(self.fresh, holdings, X)

    def drift(self, holdings: Holdings) -> float:
        """Violation of the optimality conditions: ``|ρ|`` on the support, ``(y ρ)₊`` outside."""
        Y = self._signs(holdings)
        rho = Y * (Y - self._space.multiply(self._Z))
        return float(np.where(self._inside, np.abs(rho), rho).max())

    def without_each(self, holdings: Holdings, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of queries with their outputs (m, n, t) without each held sample.

        Pivots once for each sample of a support; O(n |S|) numbers for each output. Removing any
        other sample changes nothing.
        """
        if holdings.codes is not None:
            yield from without_each_by_removal(DeferredEngine(self.spec), holdings, X)
            return
        if isinstance(self.spec.class_weight, str):
            yield from balanced_without_each(self.spec, holdings, X)
            return
        outputs, left = self.predictor(holdings).outputs, []
        doubtful: set[int] = set()
        for members, Z, _, reliable in self._left_out(holdings):
            doubtful.update(members[~reliable].tolist())
            Z = self._space.project(Z[:, reliable]) if self.sums else Z[:, reliable]
            left.append((members[reliable], Z))
        for rows in query_blocks(X.shape[0], len(holdings), len(left)):
            F = np.repeat(outputs(X[rows])[:, None, :], len(holdings), axis=1)
            K = X[rows] if self.sums else self.spec.predicts_with(X[rows], holdings.rows.samples())
            for j, (members, Z) in enumerate(left):
                F[:, members, j] = K @ Z[:-1] + Z[-1] if self.sums else K @ Z
            for i in sorted(doubtful):
                F[:, i] = outputs_without(self.spec, holdings, i, X[rows])
            yield rows, F

    def deferred(self, holdings: Holdings) -> Engine:
        """Return what a pickle stores: coefficients without a matrix."""
        return DeferredEngine(self.spec, self.history, self.state(holdings))

    def state(self, holdings: Holdings) -> DenseState:
        # Contiguous, as when read from a file: the memory layout can affect the rounding of a
        # product.
        Z = np.ascontiguousarray(self._Z, dtype=holdings.rows.dtype)
        coefficients = np.zeros(Z.shape[1], dtype=Z.dtype), Z
        if self._B is None:
            return DenseState(coefficients)
        B = np.ascontiguousarray(self._B, dtype=holdings.rows.dtype)
        return DenseState(coefficients, (B[-1], B[:-1]))  # intercepts and weights of the features

    # -- solving --------------------------------------------------------------------------------

    def _follow(self, after: Holdings, stale: Any) -> None:
        """Solve for the outputs that an edit changed, and become valid for the new holdings.

        A new output starts from the samples that are in any support.
        """
        labels, known = _labels(after), self._labels
        columns = [known.index(label) if label in known else -1 for label in labels]
        changed = np.flatnonzero(np.append(stale, True)[columns])
        inside = np.column_stack([self._inside, self._inside.any(axis=1)])
        self._labels, self._inside = labels, inside[:, columns]
        self._Z = np.pad(self._Z, ((0, 0), (0, 1)))[:, columns]
        if self._B is not None:
            self._B = np.pad(self._B, ((0, 0), (0, 1)))[:, columns]
        gone = [label for label in self._live if label not in (*labels, _ALL)]
        self.past = (*self.past, *(event for k in gone for event in self._live.pop(k).events))
        if len(changed):
            self.n_iter = 0
            self._rounding = {k: size for k, size in self._rounding.items() if k in labels}
            solve = self._iterate if self.spec.iteration else self._pivot
            solve(self._signs(after), changed)
        self.serves = after.version

    def _pivot(self, Y: Array, changed: Array) -> None:
        """Solve by principal pivoting, one output at a time."""
        for j in changed:
            label, y = self._labels[j], Y[:, j]
            live = self._part(label)

            def solve(support: Array, label: Any = label, live: Any = live, y: Any = y) -> Solved:
                self.n_iter += 1
                found: Solved = live.solve(self._space, support, y)
                self._rounding[label] = found.rounding
                return found

            found = principal_pivot(solve, self._inside[:, j], y, self._space.ridges)
            self._inside[:, j], self._Z[:, j] = found
            self.factor = live.factor
            if self._B is not None:
                self._B[:, j] = live.weights

    def _iterate(self, Y: Array, changed: Array) -> None:
        """Solve by the paper's iteration, all outputs at once with P of all samples.

        First uses P as it is; if ε requires more, then uses solutions refined against the true A.
        """
        assert self.spec.iteration is not None
        (step, tol, max_iter), space, live = self.spec.iteration, self._space, self._part(_ALL)
        Z = self._Z[:, changed]
        for inverse, accuracy in live.inverses(space, np.ones(len(Y), dtype=space.dtype)):
            found = lagrangian_iteration(
                inverse,
                Y[:, changed],
                Z,
                space.multiply(Z),
                step=step * space.ridges[:, None],
                tol=max(tol, accuracy),
                max_iter=max_iter,
            )
            Z = found.Z
            self.n_iter += found.iterations
            if accuracy <= tol:
                break
        self._Z[:, changed] = Z = np.where(found.support, found.Z, 0.0)
        self._inside[:, changed] = found.support
        self.factor = live.factor
        if self._B is not None:
            self._B[:, changed] = space.project(Z)
        if found.unfinished:
            warnings.warn(
                f"the iteration did not reach tol={tol:g} in max_iter={max_iter} steps (the last "
                f'one was {found.unfinished:.1e}). Raise max_iter, or take solver="pivot".',
                ConvergenceWarning,
                stacklevel=2,
            )

    def _left_out(self, holdings: Holdings) -> Iterator[LeftOut]:
        """Yield, for each output, its solutions without each member of its support.

        A product with A shows what pivoting has lost to rounding: residuals on the support, and
        slacks of the wrong sign outside.
        """
        for j, y in enumerate(self._signs(holdings).T):
            members, Z = self._without_members(self._inside[:, j], y)
            values, reliable = np.empty(len(members), Z.dtype), np.empty(len(members), bool)
            for start in range(0, len(members), _AT_ONCE):
                some = slice(start, start + _AT_ONCE)
                z, own = np.ascontiguousarray(Z[:, some]), members[some]
                rho = y[:, None] - self._space.multiply(z)
                wrong = np.where(z != 0.0, np.abs(rho), y[:, None] * rho)
                wrong[own, np.arange(len(own))] = 0.0
                rounding = [slack_tolerance(column, self._space.largest) for column in z.T]
                values[some] = y[own] - rho[own, np.arange(len(own))]
                reliable[some] = wrong.max(axis=0) <= _ROOM * np.array(rounding)
            yield LeftOut(members, Z, values, reliable)

    def _without_members(self, support: Array, y: Array) -> tuple[Array, Array]:
        """Members of a support, and the coefficients (n, b) without each; NaN where unknown."""
        members = np.flatnonzero(support)
        Z = np.empty((len(y), len(members)), dtype=self._space.dtype)
        try:
            for k, (_, z) in enumerate(left_out_solutions(*self._tableau(support, y))):
                Z[:, k] = z
        except np.linalg.LinAlgError:  # the support has no factor: each needs a fit
            Z[:] = np.nan
        return members, Z

    def _tableau(self, support: Array, y: Array) -> tuple[Tableau, Array, Array, Array, float]:
        """Return the arguments of `left_out_solutions` for one output."""
        tableau = self._space.tableau(support)
        z = tableau.solve(y[support, None])
        q = y - tableau.multiply(z)[:, 0]
        q[support] = z[:, 0]
        return tableau, q, y, self._space.ridges, self._space.largest

    def _part(self, label: Any) -> Any:
        """Return the least-squares system of an output's support, or of all samples."""
        return self._live.setdefault(label, LinearPart() if self.sums else GramPart())

    def _signs(self, holdings: Holdings) -> Array:
        """Targets ±1, of shape (n, t)."""
        return self.spec.targets(holdings).own.astype(self._space.dtype)


def _labels(holdings: Holdings) -> list[Any]:
    """The class that each output separates from the rest; for two classes, the second."""
    assert holdings.classes is not None
    result: list[Any] = holdings.classes[1 if len(holdings.classes) == 2 else 0 :].tolist()
    return result
