"""Sparse kernel estimators by order-recursive orthogonal least squares (andelic2007)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gramian.core.arrays import Array, Device, MatrixLike, RandomSource
from gramian.core.engines import Holdings, check_choice
from gramian.core.estimators import LiveClassifier, LiveRegressor, check_two_classes, is_chunked
from gramian.core.kernels import GammaLike, KernelLike
from gramian.core.search import Trial
from gramian.orthogonal._chunked import ChunkedRows
from gramian.orthogonal._spec import BasisSpec

# Replaces infinite left-out values in a model that does not hold the samples they come from.
_LARGE = 1e100


class OrthogonalKernelClassifier(ChunkedRows, LiveClassifier):
    """Sparse kernel classifier that learns and forgets samples exactly, in memory O(n m).

    Use it when the n×n kernel matrix does not fit into memory or when predictions must be fast.
    Forward selection picks m samples as *centres* (andelic2007, Alg. 1)::

        f(x) = w_0 + Σ_j w_j k(x, x_j),    min Σ_i v_i (y_i − f(x_i))² + λ ‖f‖²

    Each new column is made orthogonal to the earlier ones, ``K_m = Q U``. A step then costs O(n m),
    its ridge regression is one division, and λ is re-estimated at each step. Only the columns of
    candidate centres are ever computed. Targets are ±1, one output per class.

    Centres and λ then stay fixed. Learning or forgetting a sample changes the sums of the m×m
    normal equations in O(m²), and the result equals a new solution over the samples held.
    Forgetting a centre also removes it from the basis with its weight, in O(m³). The forgotten
    sample has still influenced λ, the choice of the other centres and, with
    ``penalty="orthogonal"``, U, until you call `grow` or `reselect`.

    Leave-one-out values are ``y_i − e_i / (1 − h_i)``: the sample leaves the sums, but all centres
    stay, even if the sample is one.

    `fit`, `partial_fit` and predictions also accept Dask arrays. Their rows are not stored and have
    no ids; pass them again to `forget_rows` to forget them. Width, centres and λ are chosen on
    20,000 random rows; with ``ridge`` ``"gcv"`` or ``"loo"``, generalised cross-validation over all
    rows then estimates λ. `learn_rows` learns chunks of a generator in the same way, one by one.

    Cost: O(n m² + 64 n m) to fit and O(n m) memory, of which O(m²) with centres that are drawn;
    O(m²) to learn or forget a sample; O(m) for a query; O(n m²) for all leave-one-out values.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "exponential", "linear", "poly", "loo"} or callable
        A callable takes two sets of samples and returns their kernel matrix. ``"loo"`` chooses
        among the first three, each with its width, as ``gamma="cv"`` chooses among widths.
    gamma : {"cv", "scale", "auto"}, float, array or list, default="cv"
        Width of the kernel. ``"cv"`` takes the width that leave-one-out chooses for least squares
        on at most 512 samples, its half or its double, whichever is best in cross-validation with
        at most 2,000 samples and 200 centres. An array has one width per feature (RBF). With a list
        of widths, each centre uses the one that helps most. With ``selection="random"``, ``"cv"``
        is the width of leave-one-out on at most 1,024 samples, and kernels are compared by the
        leave-one-out error of bases of at most 500 centres on at most 8,192 samples.
    degree, coef0 : float
        Parameters of the polynomial kernel.
    kernel_params : dict, optional
        Keyword arguments of a callable kernel.
    metric : {"diagonal", "ard"}, optional
        Weights of the features: factors from the slopes of a model without them, if that is
        clearly better, for one number or ``"cv"`` as gamma; or, for ``"cv"``, a width for each by
        leave-one-out. Both by least squares on at most 1,024 samples.
    max_basis : int or None, default=500
        Largest number of centres of a basis; None allows as many as samples.
    tol : float, default=1e-3
        Smallest relative improvement that counts.
    stopping : {"gcv", "loo", "bic", "lambda"}, default="gcv"
        Stop when the criterion has not improved for ``patience`` centres, and return to the size
        where it was best. ``"loo"`` chooses fewer centres. ``"lambda"`` (the paper's) stops when λ
        settles: far too early for many classes, and only with ``ridge`` ``"cv"`` or ``"gcv"``.
    selection : {"gain", "residual", "random"}, default="gain"
        The next centre is the one with the largest gain among 64 candidates, or the sample with
        the largest residual (the paper's). ``"random"`` draws ``max_basis`` samples instead: less
        is learned by as many centres, but several times as many take little longer; ``tol``,
        ``stopping`` and ``patience`` have no effect.
    penalty : {"kernel", "orthogonal"}, default="kernel"
        λ‖f‖², the norm of the kernel's own space, or λ‖U w‖² with the U of the selection (the
        paper's), which shrinks little where the kernel is smooth.
    ridge : {"cv", "loo", "gcv"} or float, default="cv"
        λ, or how to choose it: by cross-validation, leave-one-out or generalised cross-validation
        (the paper's). The last two ignore that the centres were chosen on the same samples, and
        give too small a λ for few samples. ``"cv"`` tries at most 2,000 samples; for more it is
        replaced by ``"loo"``.
    basis : {"shared", "one-vs-rest"}, default="shared"
        One basis for all classes, which predicts faster, or one per class (the paper's).
    epsilon : float, default=0.0
        Added to the diagonal of K, where a centre meets itself.
    patience : int, default=20
        Number of centres without improvement after which the selection stops.
    penalize_bias : bool, default=False
        Whether λ also penalises the bias, as in the paper.
    criterion : {"log", "squared", "hinge", "error"}, optional
        Of the search for the widths that ``gamma="cv"`` tries, by least squares on some samples;
        see `LeastSquaresSVC`. Trials compare squared errors.
    random_state : int, RandomState or None, default=0
        Draws the candidates of ``selection="gain"``, the centres of ``"random"`` and the samples
        of ``"cv"``.
    callback : callable, optional
        Called with a `Trial` after every evaluation, of that search and of trials.
    tuning_fraction : float, optional
        Fraction of the samples, drawn at random, on which width, centres and λ are chosen. They are
        then set aside: the model does not hold them, and nothing that it holds was seen by a
        choice, as prediction sets and intervals require.
    verbose : int, default=0
        1 prints what `fit` and `reselect` try and choose.
    n_jobs : int, optional
        Threads that work side by side: at widths, kernels and blocks of large matrices. None means
        one for each 250 samples, two at least and as many as cores at most, unless a joblib context
        or a limit on BLAS says otherwise; -1 means all cores. Results are the same to the bit.
    device : str or torch.device, optional
        Where the model computes, such as ``"cuda"``; answers are arrays of NumPy. By default where
        X is: samples that are tensors stay on their device, and answers are tensors there.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    basis_ : ndarray or CSR of shape (n_basis, n_features)
        The centres.
    n_basis_ : int
    basis_ids_ : ndarray
        Ids of the centres, in the order of `basis_`. With ``"one-vs-rest"``, the id of a sample
        that is a centre for several classes occurs several times.
    dual_coef_ : ndarray of shape (n_basis,) or (n_basis, n_classes)
    intercept_ : float or ndarray of shape (n_classes,)
    kernel_ : Kernel or list of Kernel
        The kernel that predicts, with its width: ``model.kernel_(X, Y)``.
    gamma_ : float, array or list
    metric_ : ndarray of shape (n_features,) or None
        Factors of the features that ``metric="diagonal"`` has found.
    ridge_ : float, or ndarray of one for each basis
    gcv_path_, path_, stop_reason_
        Records of the selection, which uses the orthogonal penalty; empty where centres are drawn.
    ids_, X_fit_, y_fit_ : ndarray
        The samples that the model holds now, in order of arrival.
    rebuilds_ : list

    References
    ----------
    andelic2007 in docs/references.bib.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from gramian import OrthogonalKernelClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OrthogonalKernelClassifier(gamma=1e-3, max_basis=100).fit(X[::2], y[::2])
    >>> model.n_basis_, model.score(X[1::2], y[1::2]) > 0.97
    (100, True)
    >>> model = model.partial_fit(X[1:100:2], y[1:100:2])      # learns 50 samples more
    >>> model = model.forget(model.basis_ids_[:3])             # forgets three centres
    >>> model.n_basis_, len(model.ids_)
    (97, 946)
    """

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        *,
        gamma: GammaLike = "cv",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: Mapping[str, Any] | None = None,
        metric: str | None = None,
        max_basis: int = 500,
        tol: float = 1e-3,
        stopping: str = "gcv",
        selection: str = "gain",
        penalty: str = "kernel",
        ridge: float | str = "cv",
        basis: Any = "shared",
        epsilon: float = 0.0,
        patience: int = 20,
        penalize_bias: bool = False,
        criterion: str | None = None,
        random_state: RandomSource = 0,
        callback: Callable[[Trial], object] | None = None,
        tuning_fraction: float | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        device: Device = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.metric = metric
        self.max_basis = max_basis
        self.tol = tol
        self.stopping = stopping
        self.selection = selection
        self.penalty = penalty
        self.ridge = ridge
        self.basis = basis
        self.epsilon = epsilon
        self.patience = patience
        self.penalize_bias = penalize_bias
        self.criterion = criterion
        self.random_state = random_state
        self.callback = callback
        self.tuning_fraction = tuning_fraction
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.device = device

    def decision_function(self, X: MatrixLike) -> Array:
        """Decision values, shape (n_samples,) for two classes, else (n_samples, n_classes)."""
        if is_chunked(X):
            return self._lazy_outputs("decision_function", X)
        return super().decision_function(X)

    def predict(self, X: MatrixLike) -> Array:
        """The class of each sample."""
        if is_chunked(X):
            return self._lazily("predict", X, None, self.classes_.dtype)
        return super().predict(X)

    def predict_proba(self, X: MatrixLike) -> Array:
        """Class probabilities, calibrated on leave-one-out decision values.

        A model fitted to Dask arrays uses the rows on which its centres were chosen.
        """
        if is_chunked(X):
            scale = self._calibration()[1]
            return self._lazily("predict_proba", X, len(self.classes_), float, scale)
        return super().predict_proba(X)

    # -- inside ---------------------------------------------------------------------------------

    def _spec(self) -> BasisSpec:
        check_choice("basis", self.basis, ("shared", "one-vs-rest"))
        return BasisSpec.read(self, one_vs_rest=self.basis == "one-vs-rest")

    def _classes_after_remove(self, before: Holdings, after: Holdings) -> Holdings:
        if self._holds_all():
            return super()._classes_after_remove(before, after)
        present = np.unique(after.y)
        if after.declared:  # among them all classes of rows that are not held
            present = np.union1d(present, np.asarray(after.declared))
        check_two_classes(present, after)
        return replace(after, classes=present)

    def _calibration(self) -> tuple[float, float]:
        scale = self._engine().calibration
        return super()._calibration() if scale is None else (_LARGE, scale)


class OrthogonalKernelRegressor(ChunkedRows, LiveRegressor):
    """Sparse kernel regressor that learns and forgets samples exactly, in memory O(n m).

    Selection, updates and costs are those of `OrthogonalKernelClassifier`. Targets are numbers, one
    or several per sample, that share one basis.

    Parameters
    ----------
    kernel, gamma, degree, coef0, kernel_params, metric, max_basis, tol, stopping, selection
        See `OrthogonalKernelClassifier`.
    penalty, ridge, epsilon, patience, penalize_bias, random_state, callback, tuning_fraction
        See `OrthogonalKernelClassifier`.
    criterion : {"squared"}, optional
    verbose, n_jobs, device
        See `OrthogonalKernelClassifier`.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_basis,) or (n_basis, n_targets)
    intercept_ : float or ndarray of shape (n_targets,)
    ridge_ : float
    basis_, n_basis_, basis_ids_, kernel_, gamma_, metric_, gcv_path_, path_, stop_reason_
        See `OrthogonalKernelClassifier`.
    ids_, X_fit_, y_fit_, rebuilds_
        See `OrthogonalKernelClassifier`.

    References
    ----------
    andelic2007 in docs/references.bib.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import OrthogonalKernelRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-10, 10, (100, 1))
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.2 * rng.standard_normal(100)
    >>> model = OrthogonalKernelRegressor().fit(X, y)
    >>> grid = np.linspace(-10, 10, 200)[:, None]
    >>> error = model.predict(grid) - np.sinc(grid[:, 0] / np.pi)
    >>> bool(np.sqrt(np.mean(error**2)) < 0.1), model.n_basis_ < 15
    (True, True)
    """

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        *,
        gamma: GammaLike = "cv",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: Mapping[str, Any] | None = None,
        metric: str | None = None,
        max_basis: int = 500,
        tol: float = 1e-3,
        stopping: str = "gcv",
        selection: str = "gain",
        penalty: str = "kernel",
        ridge: float | str = "cv",
        epsilon: float = 0.0,
        patience: int = 20,
        penalize_bias: bool = False,
        criterion: str | None = None,
        random_state: RandomSource = 0,
        callback: Callable[[Trial], object] | None = None,
        tuning_fraction: float | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        device: Device = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.metric = metric
        self.max_basis = max_basis
        self.tol = tol
        self.stopping = stopping
        self.selection = selection
        self.penalty = penalty
        self.ridge = ridge
        self.epsilon = epsilon
        self.patience = patience
        self.penalize_bias = penalize_bias
        self.criterion = criterion
        self.random_state = random_state
        self.callback = callback
        self.tuning_fraction = tuning_fraction
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.device = device

    def predict(self, X: MatrixLike) -> Array:
        """Predicted targets, of shape (n_samples,) or (n_samples, n_targets)."""
        if is_chunked(X):
            return self._lazy_outputs("predict", X)
        return super().predict(X)

    # -- inside ---------------------------------------------------------------------------------

    def _spec(self) -> BasisSpec:
        return BasisSpec.read(self)

    def _classes_after_remove(self, before: Holdings, after: Holdings) -> Holdings:
        return super()._classes_after_remove(before, after) if self._holds_all() else after
