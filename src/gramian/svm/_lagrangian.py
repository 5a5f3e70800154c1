"""The Lagrangian support vector machine (duan2008)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from gramian.core.arrays import Array, RandomSource
from gramian.core.engines import PRIMAL, Spec, check_choice, is_number
from gramian.core.equations import KERNEL_RIDGE
from gramian.core.estimators import LiveClassifier, StrengthAttribute, shaped
from gramian.core.gram import FACTORS
from gramian.core.kernels import GammaLike, KernelLike
from gramian.core.search import Trial
from gramian.svm._lagrangian_engine import LagrangianEngine
from gramian.svm._lagrangian_spec import LagrangianSpec

SOLVERS = ("pivot", "lagrangian")


class LagrangianSVC(StrengthAttribute, LiveClassifier):
    """Lagrangian support vector classifier that learns and forgets samples exactly.

    Use it when few samples are support vectors, because most edits then change nothing. It is
    the support vector machine with squared errors and a penalised bias (duan2008, eqs. 1 and 2)::

        min ½(‖w‖² + b²) + C/2 Σ ξ_i²,      y_i f(x_i) ≥ 1 − ξ_i,      f(x) = k(x, X) diag(y) α
        min ½ αᵀQα − 1ᵀα,   α ≥ 0,          Q = I/C + diag(y) K diag(y)

    The solution is the least-squares solution on the support vectors alone, the samples with α > 0.
    Learning a sample beyond the margin, or forgetting one that is no support vector, therefore
    changes nothing. Every other edit starts from the present support and finds the new one by
    principal pivoting on an updated inverse. Several classes are separate models, one against the
    rest, that share the kernel matrix.

    The kernel includes the bias, because the paper extends each sample by a constant, ``[A −e]``:
    the linear kernel becomes x·y + 1 and the polynomial one ``(γ (x·y + 1) + coef0)^degree``. RBF
    and Laplacian kernels depend on differences of samples, where the constant cancels: they have no
    bias. Callable and precomputed kernels are used unchanged.

    Leave-one-out values are exact: outside the support ``f₋ᵢ = f(x_i)``; for a support vector,
    pivoting continues from the support without it.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "exponential", "linear", "poly", "precomputed", "loo"} or callable
        ``"loo"`` chooses one of the first three, as gamma; ``"rbf"`` by default. A callable takes
        two sets of samples and returns their kernel matrix.
    gamma : {"loo", "scale", "auto"}, float or array, default="loo"
        Width of the kernel, or one for each feature. ``"loo"`` takes the one that the leave-one-out
        of `LeastSquaresSVC` chooses.
    degree, coef0, kernel_params, metric
        See `LeastSquaresSVC`.
    C : {"loo"} or float, default="loo"
        Weight of the errors, 1/λ. ``"loo"`` takes the one that the leave-one-out of
        `LeastSquaresSVC` chooses: that of this estimator has no closed form along a path.
    solver : {"pivot", "lagrangian"}, default="pivot"
        Principal pivoting, or the paper's iteration ``α ← Q⁻¹(1 + ((Qα − 1) − γα)₊)`` (eqs. 3
        and 10), which starts at the previous α and needs Q⁻¹ of all samples.
    step : float, default=1.9
        γ of the iteration in units of 1/C (of 1/(C weight), with weights); it converges for
        0 < step < 2.
    tol : float, default=1e-6
        The iteration stops when α changes by no more than this.
    max_iter : int, default=10000
        The iteration stops with a warning after this many steps.
    factor : {"auto", "inverse", "cholesky", "qr", "primal"}, default="auto"
        How the inverse is stored. ``"primal"``, for the linear kernel with d features, stores
        (d+1)×(d+1) sums in place of the n×n matrix and makes passes over the samples; ``"auto"``
        uses it for more than 2 (d+1) samples.
    class_weight : dict or "balanced", optional
        Factors for the sample weights. ``"balanced"`` depends on all samples, so every edit starts
        from scratch.
    criterion, random_state, callback, tuning_fraction, verbose, n_jobs
        See `LeastSquaresSVC`.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Positions, in the order of `ids_`, of the samples that are support vectors of some output.
    support_ids_ : ndarray of shape (n_support,)
        Their ids.
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        ``y_i α_i``, zero outside the support.
    intercept_ : float or ndarray of shape (n_classes,)
        The bias of the linear kernel, 0 for the others.
    coef_ : ndarray of shape (n_features,) or (n_classes, n_features)
        Weights of the features; linear kernel only.
    n_iter_ : int
        Number of exchanges or iterations that led to the present solution.
    classes_, gamma_, C_, kernel_, metric_, selection_, ids_, X_fit_, y_fit_, factor_, rebuilds_
        See `LeastSquaresSVC`.

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
    (569, 82, 0.984)
    >>> bystanders = [i for i in model.ids_ if i not in model.support_ids_]
    >>> before = model.decision_function(X[:1])
    >>> model.forget(bystanders[:100]).decision_function(X[:1]) == before
    array([ True])
    """

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        *,
        gamma: GammaLike = "loo",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: Mapping[str, Any] | None = None,
        metric: str | None = None,
        C: float | str = "loo",
        solver: str = "pivot",
        step: float = 1.9,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        factor: str = "auto",
        class_weight: Mapping[Any, float] | str | None = None,
        criterion: str | None = None,
        random_state: RandomSource = None,
        callback: Callable[[Trial], object] | None = None,
        tuning_fraction: float | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.metric = metric
        self.C = C
        self.solver = solver
        self.step = step
        self.tol = tol
        self.max_iter = max_iter
        self.factor = factor
        self.class_weight = class_weight
        self.criterion = criterion
        self.random_state = random_state
        self.callback = callback
        self.tuning_fraction = tuning_fraction
        self.verbose = verbose
        self.n_jobs = n_jobs

    @property
    def support_(self) -> Array:
        """Positions of the support vectors, in the order of `ids_`."""
        return np.flatnonzero(self._dense_state()[1].coefficients[1].any(axis=1))

    @property
    def support_ids_(self) -> Array:
        """Ids of the support vectors."""
        with self._lock:
            return self._fitted().holdings.ids[self.support_]

    @property
    def intercept_(self) -> Any:
        """The bias of the linear kernel; 0 for the others."""
        now, state = self._dense_state()
        intercept, Z = state.coefficients
        linear = isinstance(now.spec, LagrangianSpec) and now.spec.is_linear
        return shaped(now, Z.sum(axis=0) if linear else intercept)

    @property
    def n_iter_(self) -> int:
        """Number of exchanges or iterations that led to the present solution."""
        engine = self._serving().engine
        assert isinstance(engine, LagrangianEngine)
        return engine.n_iter

    def _spec(self) -> Spec[Any]:
        if not (is_number(self.step) and 0 < self.step < 2):
            raise ValueError(
                f"step must be between 0 and 2, in units of 1/C, for the iteration to converge; "
                f"got {self.step!r}."
            )
        if not (is_number(self.tol) and self.tol > 0):
            raise ValueError(f"tol must be > 0, got {self.tol!r}.")
        if not (isinstance(self.max_iter, Integral) and int(self.max_iter) >= 1):
            raise ValueError(f"max_iter must be an integer >= 1, got {self.max_iter!r}.")
        solver = check_choice("solver", self.solver, SOLVERS)
        return self._make_c_spec(
            KERNEL_RIDGE,
            LagrangianSpec,
            factor=check_choice("factor", self.factor, (*FACTORS, PRIMAL)),
            iteration=None if solver == "pivot" else (self.step, self.tol, int(self.max_iter)),
        )
