"""The kernel fuzzy classifier with ellipsoidal regions (kaieda2004)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Self

import numpy as np

from gramian.core.arrays import Array, MatrixLike, RandomSource
from gramian.core.engines import KernelSpec
from gramian.core.estimators import Fitted, LiveClassifier, edits
from gramian.core.kernels import GammaLike, Kernel, KernelLike
from gramian.ellipsoidal._engine import RegionsEngine, RegionsPredictor
from gramian.ellipsoidal._novelty import novelties, novelty_units, weighted_quantile
from gramian.ellipsoidal._slopes import memberships
from gramian.ellipsoidal._spec import CV, RegionSpec


class EllipsoidalFuzzyClassifier(LiveClassifier):
    """Fuzzy classifier with one ellipsoid per class, which learns and forgets samples exactly.

    Use it when you need degrees of membership or the detection of samples unlike every class. The
    membership of a sample in class i is ``exp(−δᵢ²(x)/αᵢ)`` (kaieda2004, eqs. 9 and 10), where δᵢ
    is its Mahalanobis distance from the class in the feature space of the kernel::

        δ² = Σⱼ yⱼ² / max(λⱼ, ε)

    over the kernel principal components y of the class. They are computed in the coordinates of
    *independent vectors*: members that a Cholesky factorisation picks because their squared
    distance from the span of the members picked before, the Schur complement, is at least τ. The
    slopes αᵢ are tuned to recognise as many training samples as possible (§7), then scaled by a
    common factor so that half of the samples have a degree of ½ or more in their own class.
    `predict` returns the class with the largest degree, that is the smallest *tuned distance*
    δᵢ²/αᵢ. Decision values are ``−log(δᵢ²/αᵢ)``, and −709.78 for a class without samples; for two
    classes the value is their difference, second minus first.

    An edit changes the class of the sample only. The result equals a fit to the same samples in
    order of arrival with the same hyper-parameters and slopes. An edit keeps the slopes and gives a
    new class their mean; call `retune` to tune them to the present samples. Leave-one-out values
    use the ellipsoid without the sample and the present slopes.

    Cost for a class of n samples with m independent vectors: O(n m² + m³) to fit, O(n m) to learn a
    sample, O(n m) to forget one (O(n m²) for an independent vector) and O(m²) for a query. All
    leave-one-out values cost O(n m²), and O(n m² + m³) more for each sample whose removal makes
    another sample independent; ``tune="loo"``, `predict_proba` and `novelty` need these values.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "exponential", "linear", "poly", "precomputed"} or callable
        ``"rbf"`` by default. A callable takes two sets of samples and returns their kernel matrix.
    gamma : {"scale", "auto", "cv"}, float or array, default="scale"
        Width of the kernel.
    degree, coef0 : float
        Parameters of the polynomial kernel.
    kernel_params : dict, optional
        Keyword arguments of a callable kernel.
    normalize : bool, default=False
        For many features: use ``gamma / n_features`` (rbf, eq. 73), or divide the kernel by its
        largest value for features in [0, 1] (poly, eq. 72).
    distance : {"kpca", "svd", "input"}, default="kpca"
        ``"kpca"`` uses kernel principal components. ``"svd"`` decomposes the Gram matrix of all
        samples of the class (eq. 25): O(n³) after every edit and O(n⁴) for leave-one-out values,
        minutes for a thousand samples in a class. ``"input"`` uses the samples without a kernel
        (§2.1).
    transductive : {"queries", "basis", None}, default="queries"
        Directions of variance ε that ``distance="kpca"`` adds to those of the class: the unit
        vectors of the input space and the query itself (§6.3, "KPCA III"), the unit vectors alone
        (§6.2, "KPCA II"), or none ("KPCA I"). A prediction never depends on other queries; see
        `transduce` for that. A precomputed kernel has no input space and needs None.
    tau : float or "cv", default=1e-5
        τ, in units of the kernel's values.
    epsilon : float or "cv", default=1e-4
        ε, the smallest variance of a direction, for ``distance="kpca"``.
    sigma : float or "cv", default=1e-8
        σ, the smallest variance for ``distance="svd"``.
    inverse_of_small : {"sigma", "zero"}, default="sigma"
        Inverse of a variance below σ: 1/σ (eq. 27) or 0.
    zeta : float or "cv", default=1e-6
        ζ, the smallest pivot of the covariance for ``distance="input"``.
    tune : {"loo", True, False}, default="loo"
        How `fit` tunes the slopes. ``"loo"`` uses distances of samples left out of their own class.
        True uses distances from the complete classes, as the paper does: O(n m²), but harmful where
        most samples are independent vectors. False leaves the slopes at 1. If "loo" is too slow
        with ``distance="svd"``, use True or ``distance="kpca"``; the first call of `predict_proba`
        or `novelty` still computes the leave-one-out values.
    max_sacrifice : int, default=10
        l_M: changing a slope may give up the samples at ``l_M − 1`` bounds to win more others.
    eta : float, default=0.1
        Position of a slope within the interval of equally good values, in (0, 1).
    novelty_quantile : float, default=0.95
        Share of held samples, each left out, that lie below `novelty_threshold_`.
    random_state : int, RandomState or None, default=0
        Draws the five stratified folds of "cv", the same for all candidates. "cv" chooses gamma,
        tau and epsilon one after the other by the accuracy on left-out samples (§8).
    tuning_fraction : float, optional
        Fraction of the samples, drawn at random, on which hyper-parameters and slopes are chosen.
        They are then set aside: the model does not hold them, and nothing that it holds was seen by
        a choice, as prediction sets and intervals require.
    verbose : int, default=0
        1 prints what `fit` and `reselect` have chosen.
    n_jobs : int, optional
        Threads that work side by side: at widths, kernels and blocks of large matrices. None means
        one for each 250 samples, two at least and as many as cores at most, unless a joblib context
        or a limit on BLAS says otherwise; -1 means all cores. Results are the same to the bit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    slopes_ : ndarray of shape (n_classes,)
        α, in the order of `classes_`, which is also the order in which they are tuned.
    kernel_ : Kernel or None
        The kernel in use: ``model.kernel_(X, Y)``.
    gamma_, tau_, epsilon_, sigma_, zeta_ : float
        The values in use, whether given or chosen.
    cv_scores_ : dict
        For each parameter chosen by "cv", the candidates and their accuracies.
    novelty_threshold_ : float
    ids_, X_fit_, y_fit_ : ndarray
        The samples that the model holds now, in order of arrival.
    rebuilds_ : list
        When and why the independent vectors were selected again.

    References
    ----------
    kaieda2004 in docs/references.bib.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import EllipsoidalFuzzyClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = EllipsoidalFuzzyClassifier().fit(X[::2], y[::2])
    >>> model = model.partial_fit(X[1::2], y[1::2])      # learns 75 samples more
    >>> model = model.forget([3, 14, 15]).retune()       # forgets three by id
    >>> len(model.ids_), round(model.loo_score(), 3)     # exact, without a refit
    (147, 0.973)
    >>> flowers = [[5.0, 3.4, 1.5, 0.2], [6.0, 2.9, 4.5, 1.5], [6.0, 6.0, 6.0, 6.0]]
    >>> model.predict_membership(flowers).round(2)       # the last is like none of them
    array([[0.99, 0.  , 0.  ],
           [0.  , 0.62, 0.01],
           [0.  , 0.  , 0.  ]])
    >>> model.novelty(flowers) > model.novelty_threshold_
    array([False, False,  True])
    """

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        *,
        gamma: GammaLike = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: Mapping[str, Any] | None = None,
        normalize: bool = False,
        distance: str = "kpca",
        transductive: str | None = "queries",
        tau: float = 1e-5,
        epsilon: float = 1e-4,
        sigma: float = 1e-8,
        inverse_of_small: str = "sigma",
        zeta: float = 1e-6,
        tune: str | None = "loo",
        max_sacrifice: int = 10,
        eta: float = 0.1,
        novelty_quantile: float = 0.95,
        random_state: RandomSource = 0,
        tuning_fraction: float | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.normalize = normalize
        self.distance = distance
        self.transductive = transductive
        self.tau = tau
        self.epsilon = epsilon
        self.sigma = sigma
        self.inverse_of_small = inverse_of_small
        self.zeta = zeta
        self.tune = tune
        self.max_sacrifice = max_sacrifice
        self.eta = eta
        self.novelty_quantile = novelty_quantile
        self.random_state = random_state
        self.tuning_fraction = tuning_fraction
        self.verbose = verbose
        self.n_jobs = n_jobs

    @property
    def kernel_(self) -> Kernel | None:
        """The kernel of the distances, normalised with ``normalize``; None in the input space."""
        return self._region_spec().kernel_in_use(self.n_features_in_)

    @property
    def gamma_(self) -> Any:
        """Width of the kernel; None where it has none."""
        return self._region_spec().gamma

    @property
    def tau_(self) -> float:
        """τ, whether given or chosen."""
        return float(self._region_spec().tau)

    @property
    def epsilon_(self) -> float:
        """ε, whether given or chosen."""
        return float(self._region_spec().epsilon)

    @property
    def sigma_(self) -> float:
        """σ, whether given or chosen."""
        return float(self._region_spec().sigma)

    @property
    def zeta_(self) -> float:
        """ζ, whether given or chosen."""
        return float(self._region_spec().zeta)

    @property
    def cv_scores_(self) -> dict[str, list[tuple[float, float]]]:
        """Candidates and accuracies of what was chosen by cross-validation."""
        return self._region_spec().cv_scores

    @property
    def slopes_(self) -> Array:
        """α, in the order of `classes_`."""
        return self._engine().predictor(self._fitted().holdings).slopes

    def decision_function(self, X: MatrixLike) -> Array:
        """Decision values, shape (n_samples,) for two classes, else (n_samples, n_classes).

        The values are finite even for a class without samples.
        """
        return _finite(super().decision_function(X))

    def loo_decision_function(self) -> Array:
        """Exact leave-one-out decision values of the held samples, in the order of `ids_`."""
        return _finite(super().loo_decision_function())

    def mahalanobis(self, X: MatrixLike) -> Array:
        """Squared Mahalanobis distances δ² from each class, shape (n_samples, n_classes).

        The distance from a class without samples is infinite.
        """
        now, predictor = self._region_predictor()
        return predictor.distances(now.samples.queries(self, now.holdings, X))

    def predict_membership(self, X: MatrixLike) -> Array:
        """Degrees of membership ``exp(−δ²/α)``, in [0, 1], shape (n_samples, n_classes).

        They need not add up to 1. Far from all classes every degree rounds to 0, but `predict`
        still returns the nearest class.
        """
        now, predictor = self._region_predictor()
        X = now.samples.queries(self, now.holdings, X)
        return memberships(predictor.distances(X), predictor.slopes)

    def novelty(self, X: MatrixLike) -> Array:
        """How far each sample lies outside every class, where 1 is typical for members of a class.

        Returns ``minᵢ δᵢ²(x)/mᵢ`` with mᵢ the median leave-one-out distance of class i. A sample is
        new if the value exceeds `novelty_threshold_`. The part of a sample outside the span of a
        class counts as with ``transductive="queries"``, whatever `transductive` is.
        """
        with self._lock:
            units, _ = self._derived("novelty", _novelty)
            now, predictor = self._region_predictor()
        X = now.samples.queries(self, now.holdings, X)
        return novelties(predictor.distances(X, True), units)

    @property
    def novelty_threshold_(self) -> float:
        """The quantile ``novelty_quantile`` of the novelty of the held samples, each left out."""
        return float(self._derived("novelty", _novelty)[1])

    def transduce(self, X: MatrixLike) -> Array:
        """Predict the classes of a batch whose samples join the training set without labels.

        This is KPCA III as the paper evaluates it (§8.1.1): samples outside the span of a class add
        directions to it, in their order, and the slopes are tuned again. A prediction therefore
        depends on the whole batch. The model itself does not change.
        """
        with self._lock:
            now, classes = self._serving(), self.classes_
            X = now.samples.queries(self, now.holdings, X)
            if self._region_spec().distance != "kpca" or now.spec.precomputed:
                raise ValueError(
                    'transduce needs distance="kpca" and a kernel of samples, got '
                    f"distance={self.distance!r} and kernel={self.kernel!r}."
                )
            engine, spec = self._engine().with_unlabelled(X), self._region_spec()
            if spec.tune:
                engine = engine.retuned(now.holdings, spec.tuning)
        return classes[engine.predictor(now.holdings).nearest(X)]

    @edits
    def retune(self) -> Self:
        """Tune the slopes to the samples held now (kaieda2004, §7.6) and return self."""
        now = self._serving()
        engine = self._engine().retuned(now.holdings, self._spec().tuning)
        self._now = now.moved(now.holdings, engine)
        return self

    def _spec(self) -> RegionSpec:
        words = (self.kernel, self.gamma, self.degree, self.coef0, self.kernel_params)
        _, *names = (field.name for field in fields(RegionSpec))
        own = {name: getattr(self, name) for name in names if name in self.get_params()}
        return RegionSpec(KernelSpec.read(*words, searches=(CV,)), **own)

    def _region_spec(self) -> RegionSpec:
        spec = self._fitted().spec
        assert isinstance(spec, RegionSpec)
        return spec

    def _region_predictor(self) -> tuple[Fitted, RegionsPredictor]:
        now, predictor = self._reading()
        assert isinstance(predictor, RegionsPredictor)
        return now, predictor

    def _engine(self) -> RegionsEngine:
        engine = self._serving().engine
        assert isinstance(engine, RegionsEngine)
        return engine


def _finite(decision: Array) -> Array:
    largest = float(np.log(np.finfo(float).max))
    return np.clip(decision, -largest, largest)


def _novelty(now: Fitted) -> tuple[Array, float]:
    """Return the unit of distance of each class and the novelty threshold."""
    holdings = now.holdings
    assert isinstance(now.engine, RegionsEngine)
    assert isinstance(now.spec, RegionSpec)
    distances = now.engine.held_distances(holdings, True, left_out=True)
    own = distances[np.arange(len(holdings)), holdings.labels]
    units = novelty_units(own, holdings.labels, distances.shape[1], holdings.weight)
    left_out = novelties(distances, units)
    return units, weighted_quantile(left_out, holdings.weight, now.spec.novelty_quantile)
