"""Several kernel estimators in one, weighted by what they say of samples out of fold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gramian.core.arrays import Array, ArrayLike, Device, RandomSource
from gramian.core.engines import Spec
from gramian.core.estimators import LiveClassifier, LiveEstimator, LiveRegressor
from gramian.core.kernels import GammaLike, Kernel, KernelLike
from gramian.core.search import Trial
from gramian.stack._spec import CLASS_KERNELS, NUMBER_KERNELS, StackSpec, stack_spec


class StackAttributes(LiveEstimator):
    """What a stack has chosen."""

    @property
    def weights_(self) -> Array:
        """Weight of each part's outputs, ≥ 0, of shape (n_parts,)."""
        return self._stack_spec().shares

    @property
    def offset_(self) -> Any:
        """Number that is added to the weighted sum, for each target."""
        return self._stack_spec().offset

    @property
    def kernel_(self) -> list[Kernel]:
        """The kernel of each part, with its width and the factors of features in use."""
        return [part.predicts_with for part in self._stack_spec().parts]

    @property
    def parts_(self) -> list[dict[str, Any]]:
        """Kernel, gamma, C, metric, searched path and thresholds of each part, a list of dicts."""
        return [part.chosen() for part in self._stack_spec().parts]

    def _stack_spec(self) -> StackSpec:
        spec = self._fitted().spec
        assert isinstance(spec, StackSpec)
        return spec

    def _spec(self) -> Spec[Any]:
        return stack_spec(self)


class StackedKernelClassifier(StackAttributes, LiveClassifier):
    """Several least squares SVMs with different kernels, learning and forgetting as one.

    Use it where accuracy on a small table matters more than time: it takes about as many times the
    time and the memory of a `LeastSquaresSVC` as it has parts. Its decision values are

        f(x) = Σ_s a_s f_s(x),    a_s ≥ 0,

    where the weights minimise the log-loss of softmax(f) on values of the parts *out of fold*: each
    part is tuned again without each of 5 folds, on 400 samples at most, so that no samples are set
    aside and `nested_score` is known from the fit. Weights are hyper-parameters: they stay until
    `reselect`, and with them leave-one-out values of the stack are the same sum of those of its
    parts. Each part follows every edit exactly, and so does the stack.

    Parameters
    ----------
    kernel : str, callable, or list or tuple of them
        A part for each: "rbf", "laplacian", "exponential", "linear", "poly" or a callable. With
        "+diagonal" or "+ard" the part has this metric, as ``LeastSquaresSVC(metric="ard")``. With
        "+thresholds", alone or after "+diagonal", the part sees on which side of up to 16
        thresholds each feature lies, as a tree does. By default
        "rbf", "laplacian", "laplacian+diagonal" and "exponential+diagonal".
    gamma : {"loo", "scale", "auto"}, float, array or list, default="loo"
        Width of the kernels; a list has one for each part, an array one for each feature.
    degree, coef0 : float
        Parameters of polynomial kernels.
    kernel_params : dict, optional
        Keyword arguments of callable kernels.
    C : {"loo"}, float or list, default="loo"
        Weight of the errors; a list has one for each part.
    weights : {"loo"}, float or list of float, default="loo"
        Weight of each part. ``"loo"`` fits them to values out of fold.
    criterion : {"log", "squared", "hinge", "error"}, optional
        Leave-one-out loss that the search of each part minimises; the log-loss by default.
    random_state : int, RandomState or None
        Draws the subsample on which each search starts; None draws it by a hash of the samples,
        whatever their order.
    callback : callable, optional
        Called with a record of every setting that a search tries.
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
    weights_ : ndarray of shape (n_parts,)
        The scale is such that softmax(f) are probabilities.
    kernel_ : list of Kernel
        The kernel of each part.
    parts_ : list of dict
        ``kernel``, ``gamma``, ``C``, ``metric`` and ``selection`` of each part.
    ids_, X_fit_, y_fit_ : ndarray
        The samples that the model holds now, in order of arrival.
    rebuilds_ : list
        When and why a part was rebuilt.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import StackedKernelClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = StackedKernelClassifier(("rbf", "laplacian+diagonal"), gamma=0.1, C=100)
    >>> model = model.fit(X[::2], y[::2])
    >>> model = model.partial_fit(X[1::2], y[1::2])      # learns 75 samples more
    >>> model = model.forget([3, 14, 15])                # forgets three by id
    >>> len(model.ids_), round(model.loo_score(), 3)     # exact, without a refit
    (147, 0.952)
    """

    def __init__(
        self,
        kernel: KernelLike | Sequence[KernelLike] = CLASS_KERNELS,
        *,
        gamma: GammaLike | Sequence[GammaLike] = "loo",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: Mapping[str, Any] | None = None,
        C: float | str = "loo",
        weights: str | ArrayLike = "loo",
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
        self.C = C
        self.weights = weights
        self.criterion = criterion
        self.random_state = random_state
        self.callback = callback
        self.tuning_fraction = tuning_fraction
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.device = device


class StackedKernelRegressor(StackAttributes, LiveRegressor):
    """Several least squares SVMs for regression with different kernels, learning as one.

    The regression of `StackedKernelClassifier`: predictions are ``Σ_s a_s f_s(x) + b`` with
    non-negative least-squares weights on predictions of the parts out of fold, and
    ``b = ȳ (1 − Σ_s a_s)``.

    Parameters
    ----------
    kernel : str, callable, or list or tuple of them
        A part for each: "rbf", "laplacian", "exponential", "linear", "poly" or a callable. With
        "+diagonal" or "+ard" the part has this metric, as ``LeastSquaresSVR(metric="ard")``. With
        "+thresholds", alone or after "+diagonal", the part sees on which side of up to 16
        thresholds each feature lies, as a tree does. By default
        "rbf+ard", "laplacian" and "exponential+diagonal".
    gamma : {"loo", "scale", "auto"}, float, array or list, default="loo"
        Width of the kernels; a list has one for each part, an array one for each feature.
    degree, coef0 : float
        Parameters of polynomial kernels.
    kernel_params : dict, optional
        Keyword arguments of callable kernels.
    C : {"loo"}, float or list, default="loo"
        Weight of the errors; a list has one for each part.
    weights : {"loo"}, float or list of float, default="loo"
        Weight of each part. ``"loo"`` fits them to predictions out of fold; with given ones, b is
        0.
    criterion : {"squared"}, optional
        Leave-one-out loss that the search of each part minimises: the squared error.
    random_state : int, RandomState or None
        Draws the subsample on which each search starts; None draws it by a hash of the samples,
        whatever their order.
    callback : callable, optional
        Called with a record of every setting that a search tries.
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
    weights_ : ndarray of shape (n_parts,)
    offset_ : ndarray of shape (n_targets,)
        b, which stays with the weights until `reselect`.
    kernel_ : list of Kernel
        The kernel of each part.
    parts_ : list of dict
        ``kernel``, ``gamma``, ``C``, ``metric`` and ``selection`` of each part.
    ids_, X_fit_, y_fit_ : ndarray
        The samples that the model holds now, in order of arrival.
    rebuilds_ : list
        When and why a part was rebuilt.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from gramian import StackedKernelRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = StackedKernelRegressor(("rbf", "exponential+diagonal"), gamma=1.0, C=10)
    >>> model = model.fit(X[:400], y[:400]).partial_fit(X[400:], y[400:]).forget([7])
    >>> len(model.ids_), round(model.loo_score(), 2)     # R² of exact leave-one-out predictions
    (441, 0.5)
    """

    def __init__(
        self,
        kernel: KernelLike | Sequence[KernelLike] = NUMBER_KERNELS,
        *,
        gamma: GammaLike | Sequence[GammaLike] = "loo",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: Mapping[str, Any] | None = None,
        C: float | str = "loo",
        weights: str | ArrayLike = "loo",
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
        self.C = C
        self.weights = weights
        self.criterion = criterion
        self.random_state = random_state
        self.callback = callback
        self.tuning_fraction = tuning_fraction
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.device = device
