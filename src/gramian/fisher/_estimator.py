"""The kernel Fisher discriminant, tuned by its leave-one-out error (saadi2004)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.utils import Tags

from gramian.core.arrays import Array, Device, MatrixLike, RandomSource
from gramian.core.engines import Spec, check_choice, check_positive
from gramian.core.equations import TARGETS
from gramian.core.estimators import LiveClassifier, RidgeAttribute
from gramian.core.estimators._scikit_learn import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from gramian.core.kernels import GammaLike, KernelLike
from gramian.core.search import Trial
from gramian.fisher._equations import KFD, KFD_PENALIZED

SEARCHES = ("ladder", "path", "nelder-mead", "gradient")


class KernelFisherDiscriminant(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    RidgeAttribute,
    LiveClassifier,
):
    """Kernel Fisher discriminant that learns and forgets samples exactly.

    Use it for classification, or to project samples on discriminant directions with `transform`.
    Fisher's discriminant in the feature space of a kernel is a ridge regression
    on the columns of the kernel matrix (saadi2004, eqs. 4 and 5)::

        min ‖y − Kα − b1‖² + μ‖α‖²,    f(x) = k(x, X) α + b

    With the complex ``P = (K + i√μ I)⁻¹``, ``r = P y`` and ``s = P 1`` the solution is
    ``b = Im 1ᵀr / Im 1ᵀs`` and ``α = Re (r − b s)``. Fitting costs O(n³) and O(n²) memory. One
    rank-one update of P learns a sample in O(n²) or forgets one in O(n); leave-one-out values then
    cost O(n). Several classes are separate outputs, one against the rest, that share P.

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
        Regularisation μ > 0 of the coefficients. ``"loo"`` chooses it by leave-one-out.
    targets : {"signs", "fisher"}, default="signs"
        ±1, or ``n/n₁`` and ``−n/n₂``. Both give Fisher's direction. Predictions with "signs"
        minimise errors; with "fisher" they treat the classes as equally frequent.
    search : {"ladder", "path", "nelder-mead", "gradient"}, default="ladder"
        How gamma and ridge are searched: by slopes on larger and larger parts of the samples, by a
        path of ridges for each width, by the simplex method of the paper (§2.4), or by slopes on
        all samples.
    penalize_bias : bool, default=False
        Whether to add μ b² to the objective (eq. 5), or to leave b free (eq. 4).
    class_weight : dict or "balanced", optional
        Factors for the sample weights. ``"balanced"`` rebuilds the model in O(n³) at every edit.
    criterion : {"log", "squared", "hinge", "error"}, optional
        Leave-one-out loss that the search minimises; the log-loss by default, the error rate in the
        paper.
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
        ``"resolvent"``.
    rebuilds_ : list
        When and why the factor was rebuilt.

    Notes
    -----
    The search for gamma and ridge uses the paper's leave-one-out, which keeps the left-out sample
    as a kernel centre, because one eigendecomposition gives its values for all ridges. The ``loo_``
    methods return what a fit without the sample would predict. docs/maths/fisher.md derives both.

    References
    ----------
    saadi2004 in docs/references.bib.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import KernelFisherDiscriminant
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelFisherDiscriminant(gamma=0.1, ridge=1e-2).fit(X[::2], y[::2])
    >>> model = model.partial_fit(X[1::2], y[1::2])      # learns 75 samples more
    >>> model = model.forget([3, 14, 15])                # forgets three by id
    >>> len(model.ids_), round(model.loo_score(), 3)     # exact, without a refit
    (147, 0.973)
    >>> model.transform(X).shape                         # coordinates for a plot
    (150, 3)
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
        search: str = "ladder",
        penalize_bias: bool = False,
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
        self.search = search
        self.penalize_bias = penalize_bias
        self.class_weight = class_weight
        self.criterion = criterion
        self.random_state = random_state
        self.callback = callback
        self.tuning_fraction = tuning_fraction
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.device = device

    def transform(self, X: MatrixLike) -> Array:
        """Projections of samples on the discriminant directions, of shape (n_samples, n_outputs).

        These are the decision values as columns: one for two classes, else one per class. With a
        free bias the values of several classes lie on a hyperplane.
        """
        return self._outputs(X)[1]

    # -- inside ---------------------------------------------------------------------------------

    @property
    def _n_features_out(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _spec(self) -> Spec[Any]:
        if not isinstance(self.penalize_bias, bool | np.bool_):
            raise ValueError(f"penalize_bias must be True or False, got {self.penalize_bias!r}.")
        return self._make_spec(
            KFD_PENALIZED if self.penalize_bias else KFD,
            check_positive("ridge", self.ridge, "loo"),
            kind_of_targets=check_choice("targets", self.targets, TARGETS),
            search=check_choice("search", self.search, SEARCHES),
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
