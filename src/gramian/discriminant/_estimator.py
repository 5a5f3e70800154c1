"""Kernel discriminant analysis by regularised least squares (kim2006)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gramian.core.arrays import Device, RandomSource
from gramian.core.engines import Spec, check_choice, check_positive
from gramian.core.equations import TARGETS
from gramian.core.estimators import LiveClassifier, RidgeAttribute
from gramian.core.gram import FACTORS
from gramian.core.gram._single import SINGLE
from gramian.core.kernels import GammaLike, KernelLike
from gramian.core.search import Trial
from gramian.discriminant._equations import KDA_RMSE


class KernelDiscriminant(RidgeAttribute, LiveClassifier):
    """Kernel discriminant analysis that learns and forgets samples exactly.

    A good default for classification with up to some ten thousand samples when the model must be
    updated. KDA/RMSE (kim2006, eqs. 16 to 20) computes the minimum-norm solution of

        min ‖[1, K + λI] [β; z] − y‖₂,        f(x) = k(x, X) z + β.

    With ``P = (K + λI)⁻¹``, ``r = P y`` and ``s = P 1`` the solution is ``β = sᵀr / (1 + sᵀs)`` and
    ``z = r − β s``. Fitting costs O(n³) and O(n²) memory. One rank-one update of P learns a sample
    in O(n²) or forgets one in O(n) (Algorithms 5 and 6). All leave-one-out values together cost
    O(n²) in closed form (Algorithm 7). Several classes are separate outputs, one against the rest,
    that share P.

    ``ridge=0`` is KDA/MSE, the minimum-norm solution by the singular value decomposition (eq. 14).
    It also exists when the scatter matrices are singular. For two classes and Fisher targets, its
    component in the range of the total scatter is the direction of kernel linear discriminant
    analysis by generalised singular values. Each edit solves it again in O(n³).

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
    ridge : {"loo"} or float, default="loo"
        Regularisation λ ≥ 0. ``"loo"`` chooses it by leave-one-out.
    targets : {"signs", "fisher"}, default="signs"
        ±1, or ``n/n₁`` and ``−n/n₂``, for which z is the direction of Fisher's discriminant.
    factor : {"auto", "inverse", "single", "cholesky", "qr"}, default="auto"
        How P is stored. ``"auto"`` stores the explicit inverse, or the Cholesky factor when the
        measured condition number of K + λI is too large for the inverse. ``"single"`` stores the
        inverse in single precision, half the memory, and refines what it solves in double: decision
        values keep their digits, leave-one-out values about five. The first read after an edit
        evaluates the kernel for all pairs a few times.
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
    gamma_, ridge_ : float
        The values in use, whether given or chosen.
    kernel_ : Kernel
        The kernel that predicts: a callable with a name, a width and factors of features.
    metric_ : ndarray of shape (n_features,) or None
        Factors of the features that ``metric="diagonal"`` has found.
    selection_ : Selection or None
        The searched path, or None if nothing was searched.
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
    intercept_ : float or ndarray of shape (n_classes,)
    ids_, X_fit_, y_fit_ : ndarray
        The samples that the model holds now, in order of arrival.
    factor_ : str
    rebuilds_ : list
        When and why the factor was rebuilt.

    References
    ----------
    kim2006 in docs/references.bib.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import KernelDiscriminant
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelDiscriminant(gamma=0.1, ridge=1e-2).fit(X[::2], y[::2])
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
        ridge: float | str = "loo",
        targets: str = "signs",
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
        self.ridge = ridge
        self.targets = targets
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
        return self._make_spec(
            KDA_RMSE,
            check_positive("ridge", self.ridge, "loo", zero=True),
            factor=check_choice("factor", self.factor, (*FACTORS, SINGLE)),
            kind_of_targets=check_choice("targets", self.targets, TARGETS),
        )
