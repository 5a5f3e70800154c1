"""The kernel Fisher discriminant, tuned by its leave-one-out error (saadi2004)."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from gramian.arrays import Array
from gramian.estimators.dense._classifier import GramClassifier
from gramian.estimators.dense._solvers import RidgeSolver
from gramian.estimators.live._parameters import is_number
from gramian.gram import LiveResolvent
from gramian.gram._slots import RowBlock
from gramian.machines._fisher import fisher_coefficients, fisher_loo
from gramian.machines._left_out import TARGETS
from gramian.machines._paths import KFD, KFD_PENALIZED, Machine

SEARCHES = ("path", "nelder-mead", "gradient")


class FisherSolver(RidgeSolver):
    """A `RidgeSolver` of the resolvent: ``A = K + iσ diag(1 / weight)`` with σ² the ridge.

    Its columns are complex while they are carried along, and real where they are read.
    """

    def __init__(
        self,
        machine: Machine,
        diagonal: Array,
        row_block: RowBlock,
        targets: Array,
        *,
        weight: Array,
        ridge: float,
    ) -> None:
        assert machine.squared and machine.intercept_penalty is not None
        self._options = {"sigma": ridge**0.5, "penalty": machine.intercept_penalty}
        super().__init__(
            machine,
            diagonal.astype(np.result_type(diagonal, np.complex64)),
            row_block,
            targets,
            weight=weight,
            ridge=1j * ridge**0.5,
            factor=LiveResolvent.name,
        )

    @property
    def targets(self) -> Array:
        return super().targets.real

    def coefficients(self) -> tuple[Array, Array]:
        """O(n t) after an edit."""
        X = self.system.solution()
        return fisher_coefficients(X[:, 1:], X[:, 0], **self._options)

    def loo(self) -> Array:
        """Of the discriminant fitted without the sample, O(n t)."""
        resolvent = self._moments(self.system.solution(), self.system.inverse_diagonal())
        return fisher_loo(self.targets, resolvent, **self._options)

    def solve(self, B: Array) -> Array:
        """``Re P B``, where ``Re P`` is the inverse of ``K + μ D K⁻¹ D``."""
        return super().solve(B).real

    def gram_rows(self) -> Array:
        return super().gram_rows().real


class KernelFisherDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GramClassifier):
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

    factor = LiveResolvent.name
    _factors = (LiveResolvent.name,)

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
        return self._outputs(X)

    # -- inside ---------------------------------------------------------------------------------

    @property
    def _n_features_out(self):
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _check_parameters(self):
        super()._check_parameters()
        if self.ridge != "loo" and not (is_number(self.ridge) and 0 < self.ridge < np.inf):
            raise ValueError(f'ridge must be > 0 and finite, or "loo", got {self.ridge!r}.')
        if self.targets not in TARGETS:
            raise ValueError(f"targets must be one of {TARGETS}, got {self.targets!r}.")
        if self.search not in SEARCHES:
            raise ValueError(f"search must be one of {SEARCHES}, got {self.search!r}.")
        if not isinstance(self.penalize_bias, bool | np.bool_):
            raise ValueError(f"penalize_bias must be True or False, got {self.penalize_bias!r}.")

    def _freeze(self):
        super()._freeze()
        self._machine = KFD_PENALIZED if self.penalize_bias else KFD

    def _make_solver(self, diagonal, block, columns, weight):
        return FisherSolver(
            self._machine, diagonal, block, columns, weight=weight, ridge=self._strength()
        )

    def _given_strength(self):
        return self.ridge

    def _set_strength(self, strength):
        self.ridge_ = strength

    def _strength(self):
        return self.ridge_

    def _target_kind(self):
        return self.targets

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
