"""The kernel fuzzy classifier with ellipsoidal regions (kaieda2004)."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.ellipsoidal._members import MatrixSamples
from gramian.estimators.ellipsoidal._regions import KernelRegion, Regions
from gramian.estimators.ellipsoidal._settings import EllipsoidalSettings
from gramian.estimators.live._classifier import LiveClassifier
from gramian.estimators.live._history import KeepsHistory
from gramian.machines._novelty import novelties, novelty_units, weighted_quantile
from gramian.machines._slopes import class_nearest, memberships, slopes_scale, slopes_tune


class EllipsoidalFuzzyClassifier(KeepsHistory, EllipsoidalSettings, MatrixSamples, LiveClassifier):
    """Fuzzy classifier with an ellipsoid for each class, which learns and forgets exactly.

    A sample belongs to class i to the degree ``exp(−δᵢ²(x)/αᵢ)`` (kaieda2004, eqs. 9 and 10). δᵢ is
    its Mahalanobis distance from the class in the feature space of the kernel::

        δ² = Σⱼ yⱼ² / max(λⱼ, ε)

    over the kernel principal components y of the class. They are computed in the coordinates of
    *independent vectors*, picked from the class by a Cholesky factorisation: a sample whose
    squared distance from the span of those before it, its Schur complement, is below τ adds none.
    The slopes αᵢ are tuned until the training samples are recognised best (§7), up to a common
    factor, which gives half of them a degree of ½ or more in their own class. A sample goes to the
    class with the largest degree, which is the smallest *tuned distance* δᵢ²/αᵢ. Decision
    values are ``−log(δᵢ²/αᵢ)``, −709.78 for a class without samples; of two classes their
    difference, second less first.

    A sample enters and leaves its own class only, and the result is that of a fit to the same
    samples in order of arrival, with the same hyper-parameters. An edit leaves the slopes as they
    are, and gives a new class their mean; `retune` tunes them to what the model holds. Values by
    leave-one-out are those of the ellipsoid without the sample, and the slopes as they are.

    Cost for a class of n samples with m independent vectors: O(n m² + m³) to fit, O(n m) to enter,
    O(n m) to leave (O(n m²) for an independent vector), O(m²) for a query, and O(n m³) for all
    leave-one-out values, on which ``tune="loo"``, `predict_proba` and `novelty` stand.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "laplacian", "precomputed"} or callable, default="rbf"
        A callable takes two sets of samples and returns their kernel matrix.
    gamma : {"scale", "auto", "cv"}, float or array, default="scale"
        Width of the kernel.
    degree, coef0 : float
        Of the polynomial kernel.
    kernel_params : dict, optional
        Keyword arguments of a callable kernel.
    normalize : bool, default=False
        Take ``gamma / n_features`` (rbf, eq. 73), or divide by the largest value for features in
        [0, 1] (poly, eq. 72): for many features.
    distance : {"kpca", "svd", "input"}, default="kpca"
        By kernel principal components; by the decomposition of the class's Gram matrix, which all
        samples take part in (eq. 25), O(n³) after every edit and O(n⁴) for leave-one-out values,
        which is minutes at a thousand samples in a class; or of the samples themselves without a
        kernel (§2.1).
    transductive : {"queries", "basis", None}, default="queries"
        Directions of variance ε besides those of the class, for ``distance="kpca"``: those of the
        unit vectors of the input space and of the query itself (§6.3, "KPCA III"), of the unit
        vectors alone (§6.2, "KPCA II"), or none ("KPCA I"). No prediction depends on other
        queries; see `transduce`. A precomputed kernel has no input space, and needs None.
    tau : float or "cv", default=1e-5
        τ, in units of the kernel's values.
    epsilon : float or "cv", default=1e-4
        ε, the least variance of a direction, for ``distance="kpca"``.
    sigma : float or "cv", default=1e-8
        σ, the least variance for ``distance="svd"``.
    inverse_of_small : {"sigma", "zero"}, default="sigma"
        What the inverse of a variance below σ is: 1/σ (eq. 27) or 0.
    zeta : float or "cv", default=1e-6
        ζ, the least pivot of the covariance for ``distance="input"``.
    tune : {"loo", True, False}, default="loo"
        Tune the slopes in `fit` to distances that samples have when left out of their own class;
        or to distances from all classes as they are, which is the paper's way, O(n m²), and does
        harm where most samples are independent vectors; or leave them at 1. Where "loo" takes too
        long with ``distance="svd"``, take True, or ``distance="kpca"``; with True, `predict_proba`
        and `novelty` still take the leave-one-out values when they are first asked.
    max_sacrifice : int, default=10
        l_M: a change of a slope may give up the samples at ``l_M − 1`` bounds, for more others.
    eta : float, default=0.1
        Where in the interval of equally good values a slope comes to lie, in (0, 1).
    novelty_quantile : float, default=0.95
        Share of held samples, each left out, that lie below `novelty_threshold_`.
    random_state : int, RandomState or None, default=0
        Of the folds of "cv": five, stratified, the same for all candidates. Parameters are chosen
        one after the other, gamma, tau, epsilon, by the accuracy on left-out samples (§8).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    slopes_ : ndarray of shape (n_classes,)
        α, in the order of `classes_`, which is also the order in which they are tuned.
    gamma_, tau_, epsilon_, sigma_, zeta_ : float
        What was chosen or given.
    cv_scores_ : dict
        For each parameter chosen by "cv", the candidates and their accuracies.
    novelty_threshold_ : float
    ids_, X_fit_, y_fit_ : ndarray
        What the model holds now, in order of arrival.
    refactorizations_ : list
        When and why the independent vectors were selected anew.

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

    _regions: Regions
    _rebuilt = "cholesky"

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma="scale",
        degree=3,
        coef0=1.0,
        kernel_params=None,
        normalize=False,
        distance="kpca",
        transductive="queries",
        tau=1e-5,
        epsilon=1e-4,
        sigma=1e-8,
        inverse_of_small="sigma",
        zeta=1e-6,
        tune="loo",
        max_sacrifice=10,
        eta=0.1,
        novelty_quantile=0.95,
        random_state=0,
    ):
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

    # -- the contract ---------------------------------------------------------------------------

    def mahalanobis(self, X):
        """Squared Mahalanobis distances δ² from each class, shape (n_samples, n_classes).

        A class without samples is infinitely far.
        """
        X = self._check_queries(X)
        return self._regions.distances(X, self.classes_)

    def predict_membership(self, X):
        """Degrees of membership ``exp(−δ²/α)``, in [0, 1], shape (n_samples, n_classes).

        They need not add up to 1. Far from all classes every degree rounds to 0; `predict` still
        tells the nearest.
        """
        return memberships(self.mahalanobis(X), self.slopes_)

    def novelty(self, X):
        """How far samples lie outside every class; 1 is usual for samples of a class.

        ``minᵢ δᵢ²(x)/mᵢ`` with mᵢ the median of the leave-one-out distances of class i. A sample is
        new if this exceeds `novelty_threshold_`. Its part outside the span of a class counts as
        for ``transductive="queries"``, whatever `transductive` is.
        """
        X = self._check_queries(X)
        return novelties(self._regions.distances(X, self.classes_, True), self._novelty()[0])

    @property
    def novelty_threshold_(self):
        """The quantile ``novelty_quantile`` of the novelty of the held samples, each left out."""
        check_is_fitted(self)
        return self._novelty()[1]

    def transduce(self, X):
        """The classes of a batch of samples that enter the training as unlabelled, all at once.

        KPCA III as the paper evaluates it (§8.1.1): samples that the span of a class does not
        hold add directions to it, in their order, and the slopes are tuned anew. So a prediction
        depends on the whole batch. The model itself is not changed.
        """
        X = self._check_queries(X)
        if not isinstance(self._regions.empty, KernelRegion) or self._regions.precomputed:
            raise ValueError(
                'transduce needs distance="kpca" and a kernel of samples, got '
                f"distance={self.distance!r} and kernel={self.kernel!r}."
            )
        regions = self._regions.with_unlabelled(X)
        slopes = self.slopes_
        if self.tune:
            slopes = self._tuned_slopes(regions, self._rows.rows, self._weight)
        return self.classes_[class_nearest(regions.distances(X, self.classes_), slopes)]

    def retune(self):
        """Tune the slopes to what the model holds (kaieda2004, §7.6). Returns self."""
        check_is_fitted(self)
        with self._transaction():
            self.slopes_ = self._tuned_slopes(self._regions, self._rows.rows, self._weight)
            self._changed()
        return self

    def reselect(self):
        """Choose what was "cv" anew, and the slopes, on what the model holds. Returns self."""
        check_is_fitted(self)
        with self._transaction():
            past = self._refactorizations
            self._check_parameters()
            self._build(self._rows.rows, self._y, self._weight)
            self._refactorizations = past
            self._record("the hyper-parameters were chosen anew")
            self._changed()
        return self

    def drift(self):
        """Measured relative error of the kept coordinates: ``max |k(x, b) − v(x)·v(b)|``, O(n m²).

        Edits do not let it grow: a column of coordinates is computed once, and stays or goes.
        """
        check_is_fitted(self)
        return self._regions.drift()

    def refactor(self):
        """Select the independent vectors of every class anew. Returns self."""
        check_is_fitted(self)
        with self._transaction():
            none = Regions(self._regions.empty, self._y[:0])
            self._regions = none.append(self._rows.rows, self._y, self._weight)
            self._record("asked for")
            self._changed()
        return self

    # -- learning -------------------------------------------------------------------------------

    def _build(self, X, y, weight):
        self.classes_ = self._classes_of(y)
        self._choose_hyperparameters(X, y, weight)
        self._regions = Regions(self._empty_region(X), y[:0]).append(X, y, weight)
        self._begin_history()
        self._regions.distances(X[:1], self.classes_)  # now, so that a kernel's errors are fit's
        self.slopes_ = np.ones(len(self.classes_))
        if self.tune:
            self.slopes_ = self._tuned_slopes(self._regions, X, weight)

    def _enter(self, X, y, weight):
        self._keep_slopes(self._classes_of(np.append(self.classes_, y)))
        self._regions = self._regions.append(X, y, weight)
        self._edits += len(y)

    def _leave(self, positions):
        self._keep_slopes(self._classes_without(positions))
        self._regions = self._regions.remove(positions)
        self._edits += len(positions)

    def _keep_slopes(self, classes):
        """Change the classes; those that were there keep their slopes, others begin with the mean.

        The geometric mean, since a common factor of the slopes is of no consequence.
        """
        before = dict(zip(self.classes_.tolist(), self.slopes_, strict=True))
        mean = np.exp(np.log(self.slopes_).mean())
        self.classes_ = classes
        self.slopes_ = np.array([before.get(label, mean) for label in classes.tolist()])

    def _tuned_slopes(self, regions, X, weight):
        left_out = isinstance(self.tune, str)
        distances = (regions.loo_distances if left_out else regions.distances)(X, self.classes_)
        labels = np.searchsorted(self.classes_, regions.labels)
        tuned = slopes_tune(
            distances, labels, weight=weight, max_sacrifice=self.max_sacrifice, eta=self.eta
        )
        return slopes_scale(distances, labels, tuned.alpha, weight)

    def _get_state(self):
        return {**super()._get_state(), "kept": self._regions.kept()}

    def _set_state(self, state):
        super()._set_state(state)
        X = self._rows.rows
        none = Regions(self._empty_region(X), self._y[:0])
        self._regions = none.restore(X, self._y, self._weight, state["kept"])
        self._begin_history()

    # -- predicting -----------------------------------------------------------------------------

    def _outputs(self, X):
        return self._decide(self.mahalanobis(X))

    def _loo_outputs(self):
        check_is_fitted(self)
        return self._derive(
            "loo", lambda: self._decide(self._regions.loo_distances(self._rows.rows, self.classes_))
        )

    def _shown(self, outputs):
        """Finite also where a class has no samples."""
        largest = np.log(np.finfo(float).max)
        return super()._shown(np.clip(outputs, -largest, largest))

    def _decide(self, distances):
        """``−log(δ²/α)``; for two classes the difference, second less first."""
        with np.errstate(over="ignore"):
            logs = np.log(np.maximum(distances / self.slopes_, np.finfo(float).tiny))
        return logs[:, :1] - logs[:, 1:] if logs.shape[1] == 2 else -logs

    def _novelty(self):
        """Units of the classes, and the threshold."""
        return self._derive("novelty", self._measure_novelty)

    def _measure_novelty(self):
        distances = self._regions.loo_distances(self._rows.rows, self.classes_, True)
        labels = np.searchsorted(self.classes_, self._y)
        own = distances[np.arange(len(labels)), labels]
        units = novelty_units(own, labels, len(self.classes_), self._weight)
        left_out = novelties(distances, units)
        return units, weighted_quantile(left_out, self._weight, self.novelty_quantile)
