"""The engine of the Lagrangian support vector machine: supports that follow edits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.arrays import Array
from gramian.engines._engine import noted
from gramian.engines._gram import Unbuilt
from gramian.engines._holdings import Holdings
from gramian.engines._sums import LinearPlan, LinearReader
from gramian.engines.lagrangian._gram import GramSpace, SolvedSpace
from gramian.engines.lagrangian._solvers import IterationSolver, PivotSolver
from gramian.engines.lagrangian._sums import LinearSpace
from gramian.gram import Refactorization
from gramian.kernels import KernelExpansion
from gramian.machines import left_out_values


@dataclass(frozen=True, eq=False)
class LagrangianPlan(LinearPlan):
    """All that the engine is made with, besides the samples.

    The bias is in the kernel. With ``linear`` that is x·y + 1, for which "woodbury" and "auto" may
    hold sums over features.

    Parameters
    ----------
    solver : {"pivot", "lagrangian"}
    step, tol, max_iter : float, float, int
        Of the iteration.
    """

    linear: bool = False
    solver: str = "pivot"
    step: float = 1.9
    tol: float = 1e-6
    max_iter: int = 10_000

    def sums_up(self, n: int, d: int) -> bool:
        """Whether sums serve n samples of d features."""
        return self.linear and super().sums_up(n, d)

    def engine(self, held: Holdings, history: tuple[Refactorization, ...] = ()) -> LagrangianEngine:
        """An engine for these holdings, built from scratch."""
        return LagrangianEngine(self, held, history)

    def reader(self, held: Holdings, state: Mapping[str, Any]) -> Any:
        """What predictions need: weights of features, or the support vectors alone."""
        if state.get("weights") is not None:
            return LinearReader(*state["weights"])
        intercept, Z = state["coefficients"]
        support = np.flatnonzero(Z.any(axis=1))
        return KernelExpansion(self.kernel, held.rows.take(support), Z[support], intercept)


class LagrangianEngine:
    """One machine per class against the rest, or one for two classes, on one matrix A.

    Each output has a support of its own, and feels of an edit only what concerns it: a new sample
    beyond its margin, or one that leaves from outside its support, changes nothing. Otherwise its
    solution is found from the one before the edit.

    Parameters
    ----------
    plan : LagrangianPlan
    held : Holdings
    history : tuple of Refactorization
        What was rebuilt before.
    sums : bool
        Whether to hold sums over features where the number of samples does not ask for them.
    """

    def __init__(
        self,
        plan: LagrangianPlan,
        held: Holdings,
        history: tuple[Refactorization, ...] = (),
        sums: bool = False,
    ) -> None:
        self.plan, self.past, self.n_iter = plan, history, 0
        self.serves: object = None
        self.sums = sums or plan.sums_up(len(held), held.rows.width)
        pivot = plan.solver == "pivot"
        self._solver: Any = PivotSolver() if pivot else IterationSolver(plan)
        self._space = space = self._made_space(held)
        self._labels, Y = _labels(held), self._signs(held)
        self._B = np.zeros((held.rows.width + 1, Y.shape[1])) if self.sums else None
        Z = space.guess(Y)  # the first support: samples with y f(x) < 1 for this solution
        values = space.multiply(Z) - space.ridges[:, None] * Z
        self._follow(held, space, Z, Y * values < 1.0, np.ones(Y.shape[1], dtype=bool))

    @property
    def history(self) -> tuple[Refactorization, ...]:
        return (*self.past, *self._space.events)

    @property
    def factor(self) -> str:
        """Name of the factor in use: of the first output's support, or of all samples."""
        return self._solver.factor

    # -- edits ----------------------------------------------------------------------------------

    def append(self, before: Holdings, after: Holdings) -> LagrangianEngine:
        """O(n) for a sample beyond the margins; a kernel that is not positive definite is refused."""
        n, k = len(before), len(after) - len(before)
        if self.plan.reweighs:
            return self.fresh(after, "the class weights changed")
        if not self.sums and self.plan.sums_up(n + k, after.rows.width):
            return self.fresh(after, "more than 2 (d + 1) samples")
        met = self._space.meet(after)
        own = after.y[n:, None] == np.asarray(self._labels)
        missing = np.where(own, 1.0, -1.0) * self._space.values(met, self._Z, self._B) < 1.0
        ridges = self.plan.ridge / self.plan.weights(after)[n:]
        serves, self.serves = self.serves, None
        try:
            space = self._space.append(after, met, ridges)
            Z, inside = np.pad(self._Z, ((0, k), (0, 0))), np.vstack([self._inside, missing])
            self._follow(after, space, Z, inside, missing.any(axis=0))
        except (np.linalg.LinAlgError, MemoryError):  # refused: back to what was
            if len(self._space.ridges) > n:
                self._space.remove(before, np.arange(n, n + k))
            self._solver.keep([])
            self.serves = serves
            raise
        return self

    def remove(self, before: Holdings, after: Holdings, positions: Array) -> LagrangianEngine:
        """O(n) for a sample outside the supports."""
        if self.plan.reweighs:
            return self.fresh(after, "the class weights changed")
        self.serves = None
        self._solver.leave(self._space, positions, self._signs(before), self._labels)
        space = self._space.remove(after, positions)
        Z, inside = (np.delete(part, positions, axis=0) for part in (self._Z, self._inside))
        self._follow(after, space, Z, inside, self._inside[positions].any(axis=0))
        return self

    def refactor(self, held: Holdings, reason: str) -> LagrangianEngine:
        """Build everything anew from the samples."""
        return self.fresh(held, reason)

    def fresh(self, held: Holdings, reason: str | None = None) -> LagrangianEngine:
        """The same machine built from scratch."""
        engine = LagrangianEngine(self.plan, held, self.history, self.sums)
        return noted(engine, reason, len(held))

    # -- reads ----------------------------------------------------------------------------------

    def reader(self, held: Holdings) -> Any:
        return self.plan.reader(held, self.state(held))

    def feature_weights(self, held: Holdings) -> tuple[Array, Array]:
        """Intercepts (t,) and weights of the features (d, t), of the linear kernel."""
        if self._B is None:
            return self._Z.sum(axis=0), held.rows.samples().T @ self._Z
        B = self._B.astype(held.rows.dtype)
        return B[-1], B[:-1]

    def loo(self, held: Holdings) -> Array:
        """Decision values without each sample, see `left_out_values`."""
        F, Y = np.empty_like(self._Z), self._signs(held)
        for j, y in enumerate(Y.T):
            tableau = self._space.tableau(self._inside[:, j])
            z = tableau.solve(y[tableau.support, None])
            q = y - tableau.multiply(z)[:, 0]
            q[tableau.support] = z[:, 0]
            F[:, j] = left_out_values(tableau, q, y, self._space.ridges, self._space.largest)
        return F.astype(held.rows.dtype)

    def drift(self, held: Holdings) -> float:
        """How far the optimality conditions are off: ``|ρ|`` on the support, ``(y ρ)₊`` outside."""
        Y = self._signs(held)
        rho = Y * (Y - self._space.multiply(self._Z))
        return float(np.where(self._inside, np.abs(rho), rho).max())

    def frozen(self, held: Holdings) -> Unbuilt:
        """What a pickle holds: no matrix."""
        return Unbuilt(self.plan, self.state(held), self.history)

    def seen_by(self) -> tuple[str, ...]:
        return ()

    def state(self, held: Holdings) -> dict[str, Any]:
        Z = self._Z.astype(held.rows.dtype)
        weights = {"weights": self.feature_weights(held)} if self.sums else {}
        return {"coefficients": (np.zeros(Z.shape[1], dtype=Z.dtype), Z), **weights}

    # -- inside ---------------------------------------------------------------------------------

    def _made_space(self, held: Holdings) -> Any:
        ridges = self.plan.ridge / self.plan.weights(held)
        if self.sums:
            return LinearSpace(held.rows, ridges, [])
        return (GramSpace if self.plan.solver == "pivot" else SolvedSpace)(self.plan, held, ridges)

    def _signs(self, held: Holdings) -> Array:
        """±1, of shape (n, t)."""
        return self.plan.targets(held).own.astype(self._space.dtype)

    def _follow(self, after: Holdings, space: Any, Z: Array, inside: Array, stale: Array) -> None:
        """Solve for the outputs that an edit has changed, and serve the new holdings.

        An output that is new starts from the samples that are in some support.
        """
        labels = _labels(after)
        columns = [self._labels.index(each) if each in self._labels else -1 for each in labels]
        Z = np.pad(Z, ((0, 0), (0, 1)))[:, columns]
        inside = np.column_stack([inside, inside.any(axis=1)])[:, columns]
        B = None if self._B is None else np.pad(self._B, ((0, 0), (0, 1)))[:, columns]
        changed = np.flatnonzero(np.append(stale, True)[columns])
        self._solver.keep(labels)
        if len(changed):
            Z, inside = self._solver.solve(space, self._signs(after), Z, inside, changed, labels)
            if B is not None:
                B[:, changed] = self._solver.weights(space, Z, changed, labels)
            self.n_iter = self._solver.n_iter
        self._space, self._labels = space, labels
        self._Z, self._inside, self._B = Z, inside, B
        self.serves = after.version


def _labels(held: Holdings) -> list[Any]:
    """The class that each output tells from the rest; for two classes, the second."""
    assert held.classes is not None
    return held.classes[1 if len(held.classes) == 2 else 0 :].tolist()
