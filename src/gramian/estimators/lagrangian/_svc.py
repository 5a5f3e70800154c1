"""The Lagrangian support vector machine (duan2008)."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.arrays import row_blocks
from gramian.estimators.dense._classifier import GramClassifier
from gramian.estimators.dense._linear import LinearForm
from gramian.estimators.dense._penalty import PenaltyC
from gramian.estimators.lagrangian._iteration import IterationSolver
from gramian.estimators.lagrangian._linear_space import LinearSpace
from gramian.estimators.lagrangian._pivot import PivotSolver
from gramian.estimators.lagrangian._spaces import GramSpace, SolvedGramSpace
from gramian.estimators.live._parameters import is_number
from gramian.machines._paths import KERNEL_RIDGE

SOLVERS = ("pivot", "lagrangian")


class LagrangianSVC(LinearForm, PenaltyC, GramClassifier):
    """Lagrangian support vector classifier that learns and forgets samples exactly.

    The support vector machine with squared errors and a penalised bias (duan2008, eqs. 1 and 2)::

        min ½(‖w‖² + b²) + C/2 Σ ξ_i²,      y_i f(x_i) ≥ 1 − ξ_i,      f(x) = k(x, X) diag(y) α
        min ½ αᵀQα − 1ᵀα,   α ≥ 0,          Q = I/C + diag(y) K diag(y)

    Its solution is the least-squares solution on the support vectors, the samples with α > 0,
    alone: the others are as good as forgotten. So a sample beyond the margin may come, and one
    that is no support vector may go, and nothing changes; for the rest, the support is found from
    the present one, by principal pivoting on a live inverse of the support. Several classes are
    so many machines, one against the rest, on the same kernel matrix.

    The bias is in the kernel, by the paper's augmentation of the samples with a constant,
    ``[A −e]``: the linear kernel becomes x·y + 1 and the polynomial one
    ``(γ (x·y + 1) + coef0)^degree``. RBF and Laplacian kernels read differences of samples, from
    which a constant vanishes: they have no bias. Callable and precomputed kernels are taken as
    they are.

    Leave-one-out is exact too: outside the support ``f₋ᵢ = f(x_i)``; a support vector is removed,
    and pivoting goes on from the present support.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "laplacian", "precomputed"} or callable, default="rbf"
        A callable takes two sets of samples and returns their kernel matrix.
    gamma : {"scale", "auto"}, float or array, default="scale"
        Width of the kernel.
    degree, coef0 : float
        Of the polynomial kernel.
    kernel_params : dict, optional
        Keyword arguments of a callable kernel.
    C : float, default=1.0
        Weight of the errors, 1/λ. Neither it nor gamma can be ``"loo"``: there is no closed form
        along a path of them.
    solver : {"pivot", "lagrangian"}, default="pivot"
        Principal pivoting, or the paper's iteration ``α ← Q⁻¹(1 + ((Qα − 1) − γα)₊)`` (eqs. 3
        and 10) from the previous α, with Q⁻¹ of all samples.
    step : float, default=1.9
        γ of the iteration in units of 1/C (of 1/(C weight), with weights); it converges for
        0 < step < 2.
    tol : float, default=1e-6
        The iteration ends when α changes by no more than this.
    max_iter : int, default=10000
        Or after this many steps, with a warning.
    factor : {"auto", "inverse", "cholesky", "qr", "woodbury"}, default="auto"
        How the inverse is held. ``"woodbury"`` is for the linear kernel: sums of (d+1)×(d+1)
        numbers and passes over the samples in place of the n×n matrix; ``"auto"`` takes it for
        more than 2 (d+1) samples.
    class_weight : dict or "balanced", optional
        Multiplies the sample weights. ``"balanced"`` depends on all samples, so that every edit
        then starts from scratch.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    gamma_, C_ : float
    support_ : ndarray of shape (n_support,)
        Positions, in the order of `ids_`, of the samples that are support vectors of some output.
    support_ids_ : ndarray of shape (n_support,)
        Their ids.
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        ``y_i α_i``, zero outside the support.
    intercept_ : float or ndarray of shape (n_classes,)
        The bias of the linear kernel, 0 for the others.
    coef_ : ndarray of shape (n_features,) or (n_classes, n_features)
        With the linear kernel.
    n_iter_ : int
        Exchanges or iterations that the present solution took.
    ids_, X_fit_, y_fit_ : ndarray
        What the model holds now, in order of arrival.
    factor_ : str
    refactorizations_ : list
        When and why a factor was rebuilt.

    References
    ----------
    duan2008 in docs/references.bib.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from gramian import LagrangianSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = LagrangianSVC().fit(X[:400], y[:400]).partial_fit(X[400:], y[400:])
    >>> len(model.ids_), len(model.support_), round(model.loo_score(), 3)
    (569, 201, 0.979)
    >>> bystanders = [i for i in model.ids_ if i not in model.support_ids_]
    >>> before = model.decision_function(X[:1])
    >>> model.forget(bystanders[:100]).decision_function(X[:1]) == before
    array([ True])
    """

    _machine = KERNEL_RIDGE  # on the support

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma="scale",
        degree=3,
        coef0=1.0,
        kernel_params=None,
        C=1.0,
        solver="pivot",
        step=1.9,
        tol=1e-6,
        max_iter=10_000,
        factor="auto",
        class_weight=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.C = C
        self.solver = solver
        self.step = step
        self.tol = tol
        self.max_iter = max_iter
        self.factor = factor
        self.class_weight = class_weight

    # -- the contract ---------------------------------------------------------------------------

    def fit(self, X, y, sample_weight=None, ids=None):
        super().fit(X, y, sample_weight=sample_weight, ids=ids)
        self._solver.settle()
        return self

    fit.__doc__ = GramClassifier.fit.__doc__

    @property
    def support_(self):
        """Positions of the support vectors, in the order of `ids_`."""
        check_is_fitted(self)
        return np.flatnonzero(self._solver.support().any(axis=1))

    @property
    def support_ids_(self):
        """Ids of the support vectors."""
        return self._ids[self.support_]

    @property
    def intercept_(self):
        """The bias of the linear kernel; 0 for the others."""
        intercept, Z = self._coefficients()
        return self._shaped(Z.sum(axis=0) if self.kernel == "linear" else intercept)

    @property
    def n_iter_(self):
        """Exchanges or iterations that the present solution took."""
        check_is_fitted(self)
        self._solver.settle()
        return self._solver.n_iter

    # -- learning -------------------------------------------------------------------------------

    def _make_kernel(self, gamma):
        """The kernel of samples with a constant: duan2008's ``H = [A −e]`` in place of A."""
        kernel = super()._make_kernel(gamma)
        if self.kernel == "linear":
            return replace(kernel, name="poly", gamma=1.0, degree=1, coef0=1.0)
        if self.kernel == "poly":
            return replace(kernel, coef0=kernel.coef0 + kernel.gamma)
        return kernel

    def _make_solver(self, diagonal, block, columns, weight):
        space = GramSpace if self.solver == "pivot" else SolvedGramSpace
        return self._on(space(diagonal, block, self._strength() / weight, self.factor), columns)

    def _linear_solver(self, X, columns, weight):
        return self._on(LinearSpace(X.shape[1], self._strength() / weight), columns)

    def _on(self, space, columns):
        """The solver that was asked for, on a space."""
        if self.solver == "pivot":
            return PivotSolver(space, columns, self._strength())
        return IterationSolver(
            space,
            columns,
            self._strength(),
            step=self.step,
            tol=self.tol,
            max_iter=self.max_iter,
        )

    # -- predicting -----------------------------------------------------------------------------

    def _combine(self, values):
        """The solver's columns are the classes; two classes have one output."""
        return values[..., 1:] if len(self.classes_) == 2 else values

    def _loo_outputs(self):
        check_is_fitted(self)
        return self._derive("loo", lambda: self._combine(self._solver.loo()))

    def _outputs(self, X):
        """``K(x, support) Z``, in blocks of bounded memory."""
        check_is_fitted(self)
        if self._sum_weights() is not None:
            return super()._outputs(X)
        X, support = self._check_queries(X), self.support_
        Z = self._coefficients()[1][support]
        basis = None if self._precomputed else self._rows.rows[support]
        out = np.empty((X.shape[0], Z.shape[1]), dtype=Z.dtype)
        for rows in row_blocks(X.shape[0], len(Z), Z.itemsize):
            K = X[rows][:, support] if self._precomputed else self._kernel(X[rows], basis)
            out[rows] = K @ Z
        return out

    # -- validation -----------------------------------------------------------------------------

    def _check_parameters(self):
        super()._check_parameters()
        words = [value for value in (self.C, self.gamma) if isinstance(value, str)]
        if "loo" in words or "loo-ard" in words:
            raise ValueError(
                "LagrangianSVC has no closed form along a path of C or gamma, so that neither can "
                'be "loo". Give numbers, for example those that LeastSquaresSVC chooses.'
            )
        if self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {SOLVERS}, got {self.solver!r}.")
        if not (is_number(self.step) and 0 < self.step < 2):
            raise ValueError(
                f"step must be between 0 and 2, in units of 1/C, for the iteration to converge; "
                f"got {self.step!r}."
            )
        if not (is_number(self.tol) and self.tol > 0):
            raise ValueError(f"tol must be > 0, got {self.tol!r}.")
        if not (isinstance(self.max_iter, Integral) and int(self.max_iter) >= 1):
            raise ValueError(f"max_iter must be an integer >= 1, got {self.max_iter!r}.")
