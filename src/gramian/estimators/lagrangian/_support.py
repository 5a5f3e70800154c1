"""What the solvers of the Lagrangian support vector machine share: supports that follow edits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from gramian.arrays import Array
from gramian.estimators.lagrangian._linear_space import LinearSpace
from gramian.gram import Refactorization
from gramian.machines._lagrangian import left_out_values


class SupportSolver(ABC):
    """One machine per class against the rest (one for two classes), on one shared space.

    Each output has a support of its own, and feels of an edit only what concerns it: a new sample
    beyond its margin, or one that leaves from outside its support, changes nothing. Otherwise its
    solution is found from the present one when it is next read.

    Parameters
    ----------
    space : GramSpace, SolvedGramSpace or LinearSpace
    targets : ndarray of shape (n, c)
        Class indicators.
    ridge : float
        λ; that of a new sample is λ_i = λ / weight_i.
    """

    def __init__(self, space: Any, targets: Array, ridge: float) -> None:
        n, c = targets.shape
        self._space, self._ridge = space, ridge
        self.targets = targets
        self._Z = np.zeros((n, c), dtype=space.dtype)
        self._inside = np.zeros((n, c), dtype=bool)
        self._stale = np.ones(c, dtype=bool)
        self._started = False
        self.n_iter = 0

    def __getstate__(self) -> dict[str, Any]:
        """Settle first: what is written down holds no trace of a removed sample."""
        self.settle()
        return self.__dict__.copy()

    # -- edits ----------------------------------------------------------------------------------

    def append(self, cross: Array, corner: Array, targets: Array, weight: Array) -> None:
        """Enter samples: ``cross`` is K[held, new], ``corner`` is K[new, new]."""
        c = self._Z.shape[1]
        self._space.append(cross, corner, self._ridge / weight)
        missing = (2.0 * targets[:, :c] - 1.0) * (cross.T @ self._Z) < 1.0
        self._extend(targets, missing)

    def append_rows(self, X: Any, targets: Array, weight: Array) -> None:
        """Enter samples that the store of a `LinearSpace` is about to hold."""
        self._space.append(self._ridge / weight)
        self._extend(targets, np.zeros((len(targets), self._Z.shape[1]), dtype=bool))
        self._stale = np.ones_like(self._stale)

    def remove(self, positions: Array) -> None:
        """Take samples out."""
        self._stale = self._stale | self._inside[positions].any(axis=0)
        self._space.remove(positions)
        self.targets = np.delete(self.targets, positions, axis=0)
        self._Z = np.delete(self._Z, positions, axis=0)
        self._inside = np.delete(self._inside, positions, axis=0)

    def select_columns(self, columns: Array) -> None:
        self.targets, self._Z = self.targets[:, columns], self._Z[:, columns]
        self._inside, self._stale = self._inside[:, columns], self._stale[columns]

    @abstractmethod
    def refactor(self, reason: str) -> None:
        """Rebuild what is factored, and solve anew on the next read."""

    # -- reads ----------------------------------------------------------------------------------

    @property
    def in_sums(self) -> bool:
        """Whether features are summed over, and no n×n matrix is held."""
        return isinstance(self._space, LinearSpace)

    @property
    def rows(self) -> Any:
        """The store of samples that a `LinearSpace` reads."""
        return self._space.store

    @rows.setter
    def rows(self, store: Any) -> None:
        self._space.store = store

    @property
    def refactorizations(self) -> list[Refactorization]:
        return self._space.refactorizations

    @property
    @abstractmethod
    def factor_name(self) -> str:
        """How what is factored is held."""

    def settle(self) -> None:
        """Bring every output to its solution."""
        if not self._stale.any():
            return
        outputs = self._outputs()
        if not self._started:
            self._start(outputs)
        self._solve(outputs[self._stale[outputs]])
        if len(outputs) == 1:  # the other class is its mirror image
            self._Z = np.column_stack([-self._Z[:, 1], self._Z[:, 1]])
            self._inside = self._inside[:, [1, 1]]
        self._stale = np.zeros_like(self._stale)

    def coefficients(self) -> tuple[Array, Array]:
        """No intercepts (c,), and coefficients (n, c)."""
        self.settle()
        Z = self._Z.astype(self._space.sample_dtype, copy=False)
        return np.zeros(Z.shape[1], dtype=Z.dtype), Z

    def weights(self) -> tuple[Array, Array]:
        """Intercepts (c,) and weights of the features (d, c), of a `LinearSpace`."""
        self.settle()
        B = self._space.project(self._Z).astype(self._space.sample_dtype)
        return B[-1], B[:-1]

    def support(self) -> Array:
        """Which samples are support vectors of which outputs, (n, c)."""
        self.settle()
        return self._inside

    def loo(self) -> Array:
        """Leave-one-out decision values (n, c); see `left_out_values`."""
        self.settle()
        F = np.empty_like(self._Z)
        for j in self._outputs():
            F[:, j] = self._left_out(self._inside[:, j], self._signs(j))
        F = F.astype(self._space.sample_dtype, copy=False)
        return F if F.shape[1] != 2 else np.column_stack([-F[:, 1], F[:, 1]])

    def drift(self) -> float:
        """How far the optimality conditions are off: ``|ρ|`` on the support, ``(y ρ)₊`` outside."""
        self.settle()
        Y = np.column_stack([self._signs(j) for j in range(self._Z.shape[1])])
        rho = Y * (Y - self._space.multiply(self._Z))
        return float(np.where(self._inside, np.abs(rho), rho).max())

    def solve(self, B: Array) -> Array:
        """``A⁻¹ B``."""
        return self._space.solve(B)

    def gram_rows(self) -> Array:
        return self._space.gram_rows()

    # -- inside ---------------------------------------------------------------------------------

    @abstractmethod
    def _solve(self, outputs: Array) -> None:
        """Find Z and the supports of these outputs, from what they are."""

    def _outputs(self) -> Array:
        c = self.targets.shape[1]
        return np.array([1]) if c == 2 else np.arange(c)

    def _signs(self, output: Any) -> Array:
        return (2.0 * self.targets[:, output] - 1.0).astype(self._space.dtype)

    def _start(self, outputs: Array) -> None:
        """The first support: samples with ``y f(x) < 1`` for the least-squares solution."""
        Y = self._signs(outputs)
        Z, inside = self._Z.copy(), self._inside.copy()
        Z[:, outputs] = guess = self._space.guess(Y)
        values = self._space.multiply(guess) - self._space.ridges[:, None] * guess
        inside[:, outputs] = Y * values < 1.0
        self._Z, self._inside, self._started = Z, inside, True

    def _extend(self, targets: Array, missing: Array) -> None:
        """Append to the arrays; samples with ``y f(x) < 1``, as they are now, join the support."""
        k, extra = targets.shape[0], targets.shape[1] - self._Z.shape[1]
        self.targets = np.vstack([np.pad(self.targets, ((0, 0), (0, extra))), targets])
        self._Z = np.pad(self._Z, ((0, k), (0, extra)))
        inside = np.vstack([self._inside, missing])
        everyone = np.repeat(inside.any(axis=1, keepdims=True), extra, axis=1)
        self._inside = np.hstack([inside, everyone])
        self._stale = np.append(self._stale | missing.any(axis=0), np.ones(extra, dtype=bool))

    def _left_out(self, support: Array, y: Array) -> Array:
        tableau = self._space.tableau(support)
        z = tableau.solve(y[support, None])
        q = y - tableau.multiply(z)[:, 0]
        q[support] = z[:, 0]
        return left_out_values(tableau, q, y, self._space.ridges, self._space.largest)
