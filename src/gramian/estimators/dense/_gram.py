"""Estimators that stand on the Gram matrix of all held samples."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from gramian.arrays import row_blocks
from gramian.estimators.dense._solvers import MinimumNormSolver, RidgeSolver
from gramian.estimators.live._base import LiveEstimator
from gramian.estimators.live._parameters import default_gamma
from gramian.estimators.live._precomputed import (
    PrecomputedRows,
    check_extension,
    check_precomputed,
    check_precomputed_queries,
)
from gramian.gram import FACTORS, Refactorization
from gramian.kernels import make_kernel
from gramian.machines._paths import Machine
from gramian.selection import Problem, select

GAMMAS = ("loo", "loo-ard", "scale", "auto")


class GramEstimator(LiveEstimator):
    """Kernel, solver, and predictions as ``K(x, held) Z + b``.

    A machine says which formula it is (`_machine`), how strong its ridge is (`_ridge`), and how
    its targets become columns (`_columns`).
    """

    _machine: Machine
    _kernel: Any
    _live: Any
    _unbuilt: Any
    _factors: tuple[str, ...] = FACTORS
    search = "path"  # of gamma and ridge; a parameter of some machines

    # -- the contract ---------------------------------------------------------------------------

    @property
    def X_fit_(self):
        """The samples that the model holds, in the order of `ids_`.

        With ``kernel="precomputed"``, their kernel matrix.
        """
        check_is_fitted(self)
        return self._solver.gram_rows() if self._precomputed else super().X_fit_

    @property
    def dual_coef_(self):
        """Coefficients of the held samples, of shape (n_samples,) or (n_samples, n_outputs)."""
        return self._shaped(self._coefficients()[1]).copy()

    @property
    def intercept_(self):
        """Intercept, a number or an array of shape (n_outputs,)."""
        return self._shaped(self._coefficients()[0]).copy()

    @property
    def factor_(self):
        """Name of the factor in use: "inverse", "cholesky", "qr", or "svd" at ridge 0."""
        check_is_fitted(self)
        return self._solver.factor_name

    @property
    def refactorizations_(self):
        """Records of when and why the factor was rebuilt since the last fit."""
        check_is_fitted(self)
        return list(self._solver.refactorizations)

    def drift(self):
        """Measured relative residual of the present solution in the true system, O(n²)."""
        check_is_fitted(self)
        return self._solver.drift()

    def refactor(self):
        """Rebuild the factor from the kernel matrix, O(n³). Returns self."""
        check_is_fitted(self)
        with self._transaction("refactor"):
            self._solver.refactor("asked for")
            self._changed()
        return self

    # -- for the machines -----------------------------------------------------------------------

    @abstractmethod
    def _columns(self, y):
        """Targets y as columns for the solver, shape (n, t)."""

    @abstractmethod
    def _strength(self):
        """The ridge λ in use, once hyper-parameters are chosen."""

    def _combine(self, values):
        """What is linear in the targets, from its values for the solver's columns."""
        return values

    def _shaped(self, values):
        """Values of the outputs (..., t) as a caller sees them: one output stands for itself."""
        return _flat(values)

    @abstractmethod
    def _given_strength(self):
        """The ridge λ as a parameter says it: a number or "loo"."""

    @abstractmethod
    def _set_strength(self, strength):
        """Take a ridge λ over into the attribute that the machine shows."""

    @abstractmethod
    def _selection_targets(self, y, weight):
        """The targets as `gramian.selection` takes them."""

    def _solver_weight(self, y, weight):
        """The weights that the solver sees."""
        return weight

    # -- hyper-parameters -----------------------------------------------------------------------

    def reselect(self, *, fresh=False):
        """Choose the hyper-parameters anew on what the model holds.

        Parameters
        ----------
        fresh : bool
            False searches from where they are, which takes fewer evaluations; samples forgotten
            since then had a say in where that is. True searches as `fit` does: after this,
            nothing in the model has seen a sample that was forgotten.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        with self._transaction("reselect"):
            self._check_parameters()
            X = self.X_fit_
            start = None if fresh else self._search_start()
            self._choose_hyperparameters(X, self._y, self._weight, start=start)
            weight = self._solver_weight(self._y, self._weight)
            self._rebuild(X, self._y, weight, "the hyper-parameters were chosen anew")
            self._changed()
        return self

    def _search_start(self):
        """The present hyper-parameters, unless there is no width or no ridge to start from."""
        here = self.gamma_, self._strength()
        return None if here[0] is None or here[1] == 0 else here

    def _choose_hyperparameters(self, X, y, weight, start=None):
        """Set ``gamma_`` and the ridge, searching for those that are "loo"."""
        gamma, strength = self._given_gamma(X, weight), self._given_strength()
        self.selection_ = None
        if isinstance(gamma, str) or isinstance(strength, str):
            self.selection_ = select(
                self._selection_problem(X, y, weight),
                gamma=gamma,
                ridge=strength,
                criterion=self.criterion,
                search=self.search,
                start=start,
                random_state=self.random_state,
                callback=self.callback,
            )
            gamma, strength = self.selection_.gamma, self.selection_.ridge
        if np.ndim(gamma) and len(gamma) != X.shape[1]:
            raise ValueError(
                f"gamma must be one number, or one per feature: got {len(gamma)} for "
                f"{X.shape[1]} features."
            )
        self.gamma_ = gamma
        self._set_strength(strength)
        self._kernel = self._make_kernel(gamma)

    def _selection_problem(self, X, y, weight):
        kernel = None if self._precomputed else self._make_kernel
        return Problem(self._machine, self._selection_targets(y, weight), X, kernel)

    def _given_gamma(self, X, weight):
        """A number, "loo" or "loo-ard"; None for kernels without gamma."""
        if self.kernel not in ("rbf", "laplacian", "poly"):
            return None
        searched = isinstance(self.gamma, str) and self.gamma in ("loo", "loo-ard")
        if not isinstance(self.gamma, str) or (searched and self.kernel != "poly"):
            return self.gamma
        return default_gamma("scale" if searched else self.gamma, X, weight)

    def _make_kernel(self, gamma):
        if self._precomputed:
            return None
        return make_kernel(
            self.kernel,
            gamma=1.0 if gamma is None else gamma,
            degree=self.degree,
            coef0=self.coef0,
            params=self.kernel_params,
        )

    # -- state ----------------------------------------------------------------------------------

    @property
    def _solver(self):
        """The solver; of a model that was read from a file, built when it is first needed."""
        if self._live is None:
            X = self._unbuilt if self._precomputed else self._rows.rows
            weight = self._solver_weight(self._y, self._weight)
            self._live = self._solve_from_scratch(X, self._y, weight)
            self._unbuilt = None
        return self._live

    @_solver.setter
    def _solver(self, solver):
        self._live = solver

    def _get_state(self):
        return {**super()._get_state(), "coefficients": self._coefficients()}

    def _set_state(self, state):
        self._live, self._kernel = None, self._make_kernel(state["public"]["gamma_"])
        self._unbuilt = state["X"] if self._precomputed else None
        super()._set_state(state)
        self._derived["coefficients"] = tuple(state["coefficients"])

    # -- learning -------------------------------------------------------------------------------

    def _solve_from_scratch(self, X, y, weight):
        """A solver for these samples with the chosen hyper-parameters."""
        if self._precomputed:
            diagonal, block = np.diagonal(X).copy(), lambda rows, cols: X[rows, cols]
        else:
            diagonal = self._kernel.diagonal(X)
            block = lambda rows, cols: self._kernel(X[rows], X[cols])  # noqa: E731
        return self._make_solver(diagonal, block, self._columns(y).astype(X.dtype), weight)

    def _make_solver(self, diagonal, block, columns, weight):
        """A solver for K, given by its diagonal and its blocks."""
        if self._strength() == 0:
            return MinimumNormSolver(diagonal, block, columns, weight)
        return RidgeSolver(
            self._machine,
            diagonal,
            block,
            columns,
            weight=weight,
            ridge=self._strength(),
            factor=self.factor,
        )

    def _append_to_solver(self, X, columns, weight):
        """Let new samples enter the solver, in O(n²) for one."""
        n = len(self._ids)
        if self._precomputed:
            cross, corner = X[:, :n].T, X[:, n:]
            check_extension(corner, cross, self._solver)
        else:
            cross, corner = self._kernel(self._rows.rows, X), self._kernel(X, X)
        self._solver.append(cross, corner, columns.astype(X.dtype), weight)

    def _rebuild(self, X, y, weight, reason):
        """Solve from scratch, and keep the record of it."""
        past = self._solver.refactorizations
        self._solver = self._solve_from_scratch(X, y, weight)
        event = Refactorization(reason, len(y), 0, self._solver.factor_name)
        self._solver.refactorizations.extend([*past, event])

    def _samples_with(self, X):
        """The held samples followed by new ones."""
        if not self._precomputed:
            stack = sparse.vstack if sparse.issparse(X) else np.vstack
            return stack([self._rows.rows, X])
        n = len(self._ids)
        return np.block([[self._solver.gram_rows(), X[:, :n].T], [X]])

    def _samples_at(self, positions):
        """Some of the held samples."""
        if self._precomputed:
            return self._solver.gram_rows()[np.ix_(positions, positions)]
        return self._rows.rows[positions]

    def _make_rows(self, X):
        return PrecomputedRows(X.dtype) if self._precomputed else super()._make_rows(X)

    # -- predicting -----------------------------------------------------------------------------

    def _coefficients(self):
        """Intercepts (t,) and coefficients (n, t) of the outputs."""
        check_is_fitted(self)
        return self._derive(
            "coefficients", lambda: tuple(map(self._combine, self._solver.coefficients()))
        )

    def _outputs(self, X):
        """``K(x, held) Z + b`` for queries, in blocks of bounded memory; shape (n, t)."""
        X = self._check_queries(X)
        intercept, Z = self._coefficients()
        out = np.empty((X.shape[0], Z.shape[1]), dtype=Z.dtype)
        for rows in row_blocks(X.shape[0], len(Z), Z.itemsize):
            K = X[rows] if self._precomputed else self._kernel(X[rows], self._rows.rows)
            out[rows] = K @ Z + intercept
        return out

    # -- validation -----------------------------------------------------------------------------

    @property
    def _precomputed(self):
        """Whether samples come as kernel values; of a fitted model, whether they came so."""
        if hasattr(self, "_kernel"):
            return self._kernel is None
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _reset(self):
        super()._reset()
        self.__dict__.pop("_kernel", None)

    def _keep(self, X, some):
        if not self._precomputed:
            return super()._keep(X, some)
        n_held = X.shape[1] - len(X)
        return X[np.ix_(some, np.concatenate([np.ones(n_held, dtype=bool), some]))]

    def _check_samples(self, X, y, *, reset):
        if not self._precomputed:
            return super()._check_samples(X, y, reset=reset)
        n_held = 0 if reset else len(self._ids)
        X = check_precomputed(X, n_held, dtype=None if reset else self._rows.dtype)
        y = check_array(y, ensure_2d=False, allow_nd=False, dtype=None, input_name="y")
        check_consistent_length(X, y)
        return X, self._check_targets(y)

    def _check_queries(self, X):
        if not self._precomputed:
            return super()._check_queries(X)
        check_is_fitted(self)
        return check_precomputed_queries(X, len(self._ids), dtype=self._rows.dtype)

    def _check_parameters(self):
        if self.factor not in self._factors:
            raise ValueError(f"factor must be one of {self._factors}, got {self.factor!r}.")
        if self.gamma is None or (isinstance(self.gamma, str) and self.gamma not in GAMMAS):
            raise ValueError(f"gamma must be > 0 or one of {GAMMAS}, got {self.gamma!r}.")
        if isinstance(self.gamma, str) and self.gamma == "loo-ard" and self.kernel != "rbf":
            raise ValueError(
                f'gamma="loo-ard" needs the "rbf" kernel, got kernel={self.kernel!r}. Set gamma to '
                f'"loo" or a number.'
            )
        if not self._precomputed:
            self._make_kernel(1.0 if isinstance(self.gamma, str) else self.gamma)


def _flat(values):
    """One output stands for itself."""
    return values[..., 0] if values.shape[-1] == 1 else values
