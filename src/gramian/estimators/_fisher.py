"""The kernel Fisher discriminant, tuned by its leave-one-out error (saadi2004)."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from gramian.estimators._classifier import LiveClassifier
from gramian.estimators._gram import SEARCHED_GAMMAS, GramSettings, dual_coef, factor, intercept
from gramian.estimators._live import learned
from gramian.estimators._parameters import (
    KernelSettings,
    check_choice,
    check_positive,
)
from gramian.machines import KFD, KFD_PENALIZED, TARGETS

SEARCHES = ("path", "nelder-mead", "gradient")


class KernelFisherDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LiveClassifier):
    """Kernel Fisher discriminant that learns and forgets samples exactly.

    Fisher's discriminant in the feature space of a kernel is a ridge regression on the columns of
    the kernel matrix (saadi2004, eqs. 4 and 5)::

        min ‖y − Kα − b1‖² + μ‖α‖²,    f(x) = k(x, X) α + b

    With the complex ``P = (K + i√μ I)⁻¹``, ``r = P y`` and ``s = P 1`` the solution is
    ``b = Im 1ᵀr / Im 1ᵀs`` and ``α = Re (r − b s)``. Learning a sample adds a row and a column to
    ``K + i√μ I``, so that samples enter and leave by one rank-one update of P, in O(n²) and O(n).
    Leave-one-out values are in closed form too, O(n) after an update. Several classes are so many
    outputs, one against the rest, on the same P.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "laplacian", "precomputed"} or callable, default="rbf"
        A callable takes two sets of samples and returns their kernel matrix.
    gamma : {"loo", "loo-ard", "scale", "auto"}, float or array, default="loo"
        Width of the kernel. ``"loo"`` chooses it by leave-one-out, ``"loo-ard"`` one per feature.
    degree, coef0 : float
        Of the polynomial kernel.
    kernel_params : dict, optional
        Keyword arguments of a callable kernel.
    ridge : {"loo"} or float, default="loo"
        Regularisation μ > 0 of the coefficients.
    targets : {"signs", "fisher"}, default="signs"
        ±1, or ``n/n₁`` and ``−n/n₂``. The direction is Fisher's with both. A threshold of zero
        makes the fewest errors with the first, and takes classes as equally frequent with the
        second.
    search : {"path", "nelder-mead", "gradient"}, default="path"
        How gamma and ridge are sought: the width in an outer loop, the ridge in an inner one; both
        by the simplex of the paper's §2.4; or both along analytic gradients.
    penalize_bias : bool, default=False
        Whether μ b² is added to what is minimised (eq. 5), or b is free (eq. 4).
    class_weight : dict or "balanced", optional
        Multiplies the sample weights. ``"balanced"`` depends on all samples, so that every edit
        then is a rebuild in O(n³).
    criterion : {"log", "squared", "hinge", "error"}, optional
        What leave-one-out minimises; the log-loss by default, the error rate in the paper.
    random_state : int, RandomState or None
        Of the subsample on which the search by leave-one-out begins.
    callback : callable, optional
        Called with a record of every setting that the search tries.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    gamma_, ridge_ : float
        What was chosen or given.
    selection_ : Selection or None
        The searched path, where something was searched.
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
    intercept_ : float or ndarray of shape (n_classes,)
    ids_, X_fit_, y_fit_ : ndarray
        What the model holds now, in order of arrival.
    factor_ : str
        ``"resolvent"``.
    refactorizations_ : list
        When and why the factor was rebuilt.

    Notes
    -----
    Gamma and ridge are chosen by the leave-one-out of the paper, which keeps the left-out sample
    among the centres of the kernel: its whole path of ridges comes from one eigendecomposition.
    The ``loo_`` methods say what a fit without the sample would. docs/maths/fisher.md derives both.

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

    cli_name = "fisher"
    _state_names = ("classes_", "gamma_", "ridge_", "selection_")
    gamma_ = learned("gamma", "Width of the kernel; None where it has none.")
    ridge_ = learned("ridge", "Regularisation μ.")
    selection_ = learned("selection", "The searched path, or None.")
    dual_coef_, intercept_, factor_ = dual_coef, intercept, factor

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma="loo",
        degree=3,
        coef0=1.0,
        kernel_params=None,
        ridge="loo",
        targets="signs",
        search="path",
        penalize_bias=False,
        class_weight=None,
        criterion=None,
        random_state=None,
        callback=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.ridge = ridge
        self.targets = targets
        self.search = search
        self.penalize_bias = penalize_bias
        self.class_weight = class_weight
        self.criterion = criterion
        self.random_state = random_state
        self.callback = callback

    def transform(self, X):
        """Projections of samples on the discriminant directions, of shape (n_samples, n_outputs).

        The decision values as columns: one for two classes, else one per class. Those of several
        classes lie on a plane of one dimension less while the bias is free.
        """
        return self._outputs(X)[1]

    # -- inside ---------------------------------------------------------------------------------

    @property
    def _n_features_out(self):
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _settings(self):
        if not isinstance(self.penalize_bias, bool | np.bool_):
            raise ValueError(f"penalize_bias must be True or False, got {self.penalize_bias!r}.")
        words = (self.kernel, self.gamma, self.degree, self.coef0, self.kernel_params)
        kind = check_choice("targets", self.targets, TARGETS)
        return GramSettings(
            KernelSettings(*words, words=SEARCHED_GAMMAS),
            KFD_PENALIZED if self.penalize_bias else KFD,
            check_positive("ridge", self.ridge, "loo"),
            kind=kind,
            class_weight=self.class_weight,
            criterion=self.criterion,
            search=check_choice("search", self.search, SEARCHES),
            random_state=self.random_state,
            callback=self.callback,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
