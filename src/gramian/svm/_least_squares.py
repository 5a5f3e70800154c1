"""Least squares support vector machines for classification and regression (duan2008)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gramian.core.arrays import Device, RandomSource
from gramian.core.engines import PRIMAL, Spec, check_choice
from gramian.core.equations import LS_SVM
from gramian.core.estimators import LiveClassifier, LiveRegressor, StrengthAttribute
from gramian.core.gram import FACTORS
from gramian.core.gram._single import SINGLE
from gramian.core.kernels import GammaLike, KernelLike
from gramian.core.search import Trial

_FACTORS = (*FACTORS, SINGLE, PRIMAL)


class LeastSquaresSVC(StrengthAttribute, LiveClassifier):
    """Least squares support vector classifier that learns and forgets samples exactly.

    Use it for classification with up to some ten thousand samples, or with any number of samples
    and a linear kernel. LS-SVM (duan2008, eqs. 4 to 7) replaces the inequalities of the support
    vector machine by equations::

        min ½‖w‖² + C/2 Σ ξ_i²,    w·φ(x_i) + b = y_i − ξ_i y_i,    f(x) = k(x, X) α + b

    With ``P = (K + I/C)⁻¹``, ``r = P y`` and ``s = P 1`` the solution is ``b = 1ᵀr / 1ᵀs`` and
    ``α = r − b s``. Fitting costs O(n³) and O(n²) memory. A low-rank update of P forgets a sample
    in O(n), the paper's decrement (section 3.3), or learns one in O(n²), which the paper does not
    have. Several classes are separate outputs, one against the rest, that share P.

    Leave-one-out values are ``f₋ᵢ = y_i − α_i / (p_i − s_i² / 1ᵀs)`` with ``p = diag P``. Updates
    maintain α, s and p, so `loo_score` costs O(n) after an update.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "exponential", "linear", "poly", "precomputed", "loo"} or callable
        ``"loo"`` chooses one of the first three by leave-one-out; ``"rbf"`` by default. A callable
        takes two sets of samples and returns their kernel matrix.
    gamma : {"loo", "scale", "auto"}, float or array, default="loo"
        Width of the kernel, or one for each feature. ``"loo"`` chooses it by leave-one-out.
    degree, coef0 : float
        Parameters of the polynomial kernel.
    kernel_params : dict, optional
        Keyword arguments of a callable kernel.
    metric : {"diagonal", "ard"}, optional
        How the features get weights. ``"ard"`` chooses a width for each by leave-one-out.
        ``"diagonal"`` multiplies each feature by a factor, from the mean squared slopes of the
        tuned estimator in its direction, and tunes the estimator again. Both stay until `reselect`.
        The factors are all 1 unless they clearly help on samples that they were not fitted to.
    C : {"loo"} or float, default="loo"
        Weight of the errors, 1/λ. ``"loo"`` chooses it by leave-one-out.
    factor : {"auto", "inverse", "single", "cholesky", "qr", "primal"}, default="auto"
        How P is stored. ``"auto"`` stores the explicit inverse, or the Cholesky factor when the
        condition number of K + I/C is too large. ``"primal"``, for the linear kernel, stores
        (d+1)×(d+1) sums, so an edit costs O(d²) for any n; ``"auto"`` uses it for more than
        2 (d+1) samples. C="loo" is then chosen on at most 20,000 samples.
        ``"single"`` stores the inverse in single precision, half the memory, and refines what it
        solves in double: decision values keep their digits, leave-one-out values about five. The
        first read after an edit evaluates the kernel for all pairs a few times.
    class_weight : dict or "balanced", optional
        Factors for the sample weights. ``"balanced"`` rebuilds the model in O(n³) at every edit.
    criterion : {"log", "squared", "hinge", "error"}, optional
        Leave-one-out loss that the search minimises; the log-loss by default.
    random_state : int, RandomState or None
        Draws the subsample on which the leave-one-out search starts; None draws it by a hash of the
        samples, whatever their order.
    callback : callable, optional
        Called with a record of every setting that the search tries.
    tuning_fraction : float, optional
        Fraction of the samples, drawn at random, on which hyper-parameters are chosen. They are
        then set aside: the model does not hold them, and nothing that it holds was seen by a
        choice, as prediction sets and intervals require.
    verbose : int, default=0
        1 prints what `fit` and `reselect` do while they choose: a line for each stage of the
        search and the choice.
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
    gamma_, C_ : float
        The values in use, whether given or chosen.
    kernel_ : Kernel
        The kernel that predicts: a callable with a name, a width and factors of features.
    metric_ : ndarray of shape (n_features,) or None
        Factors of the features that ``metric="diagonal"`` has found.
    selection_ : Selection or None
        The searched path, or None if nothing was searched.
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
    intercept_ : float or ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_features,) or (n_classes, n_features)
        Weights of the features; linear kernel only.
    ids_, X_fit_, y_fit_ : ndarray
        The samples that the model holds now, in order of arrival.
    factor_ : str
    rebuilds_ : list
        When and why the factor was rebuilt.

    References
    ----------
    duan2008 in docs/references.bib.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import LeastSquaresSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LeastSquaresSVC(gamma=0.1, C=100).fit(X[::2], y[::2])
    >>> model = model.partial_fit(X[1::2], y[1::2])      # learns 75 samples more
    >>> model = model.forget([3, 14, 15])                # forgets three by id
    >>> len(model.ids_), round(model.loo_score(), 3)     # exact, without a refit
    (147, 0.966)
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
        factor: str = "auto",
        class_weight: Mapping[Any, float] | str | None = None,
        criterion: str | None = None,
        random_state: RandomSource = None,
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
        self.C = C
        self.factor = factor
        self.class_weight = class_weight
        self.criterion = criterion
        self.random_state = random_state
        self.callback = callback
        self.tuning_fraction = tuning_fraction
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.device = device

    def _spec(self) -> Spec[Any]:
        factor = check_choice("factor", self.factor, _FACTORS)
        return self._make_c_spec(LS_SVM, factor=factor)


class LeastSquaresSVR(StrengthAttribute, LiveRegressor):
    """Least squares support vector regression that learns and forgets samples exactly.

    Kernel ridge regression with λ = 1/C and a free intercept, for one or several targets per
    sample. The equations and costs are those of `LeastSquaresSVC`.

    Parameters
    ----------
    kernel, gamma, degree, coef0, kernel_params, metric, C, factor
        See `LeastSquaresSVC`.
    criterion : {"squared"}, optional
        Leave-one-out loss that the search minimises: the squared error.
    random_state, callback, tuning_fraction, verbose, n_jobs, device
        See `LeastSquaresSVC`.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
    intercept_ : float or ndarray of shape (n_targets,)
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Weights of the features; linear kernel only.
    gamma_, C_, kernel_, metric_, selection_, ids_, X_fit_, y_fit_, factor_, rebuilds_
        See `LeastSquaresSVC`.

    References
    ----------
    duan2008 in docs/references.bib.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from gramian import LeastSquaresSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LeastSquaresSVR(gamma=1.0, C=10).fit(X[:400], y[:400])
    >>> model = model.partial_fit(X[400:], y[400:]).forget([7])
    >>> len(model.ids_), round(model.loo_score(), 2)     # R² of exact leave-one-out predictions
    (441, 0.5)
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
        factor: str = "auto",
        criterion: str | None = None,
        random_state: RandomSource = None,
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
        self.C = C
        self.factor = factor
        self.criterion = criterion
        self.random_state = random_state
        self.callback = callback
        self.tuning_fraction = tuning_fraction
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.device = device

    def _spec(self) -> Spec[Any]:
        factor = check_choice("factor", self.factor, _FACTORS)
        return self._make_c_spec(LS_SVM, factor=factor)
