"""The sparse classifier by order-recursive orthogonal least squares (andelic2007)."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.live._classifier import LiveClassifier
from gramian.estimators.orthogonal._basis import NOT_HELD
from gramian.estimators.orthogonal._chunked import ChunkedOrthogonal
from gramian.estimators.orthogonal._chunks import is_chunked
from gramian.machines._calibration import Calibration, fit_calibration

_BASES = ("shared", "one-vs-rest")


class OrthogonalKernelClassifier(ChunkedOrthogonal, LiveClassifier):
    """Sparse kernel classifier that learns and forgets samples exactly, in memory O(n m).

    Forward selection picks m samples as *centres* (andelic2007, Alg. 1)::

        f(x) = w_0 + Σ_j w_j k(x, x_j),    min Σ_i v_i (y_i − f(x_i))² + λ ‖f‖²

    Each new column is made orthogonal to those before, ``K_m = Q U``, so that a step costs O(n m)
    and its ridge regression one division; its λ is re-estimated on the way. Only columns of K that
    are candidates are ever computed. Targets are ±1, one output per class.

    The basis then stays: centres and λ. Samples enter and leave the sums of the m×m normal
    equations in O(m²), and the result is that of solving anew over the samples held. A centre that
    is forgotten leaves the basis with its weight, in O(m³). λ and the choice of the other centres
    have seen it, as hyper-parameters have, until `grow` or `reselect`; so has U with
    ``penalty="orthogonal"``.

    Leave-one-out values are ``y_i − e_i / (1 − h_i)``: the sample leaves the sums, while the
    centres, itself among them, stay.

    Cost: O(n m² + 64 n m) to fit, O(n m) memory; O(m²) to learn or forget a sample; O(m) for a
    query; O(n m²) for all leave-one-out values.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "laplacian"} or callable, default="rbf"
        A callable takes two sets of samples and returns their kernel matrix.
    gamma : {"cv", "scale", "auto"}, float, array or list, default="cv"
        Width of the kernel. ``"cv"`` chooses among nine by cross-validation on 2,000 samples and
        with 200 centres at most. An array has one width per feature (RBF). In a list of widths,
        each centre takes the one that helps most.
    degree, coef0 : float
        Of the polynomial kernel.
    kernel_params : dict, optional
        Keyword arguments of a callable kernel.
    max_basis : int or None, default=500
        Largest number of centres of a basis; None: as many as samples.
    tol : float, default=1e-3
        Smallest relative improvement that counts.
    stopping : {"gcv", "loo", "bic", "lambda"}, default="gcv"
        Stop when the criterion has not improved for ``patience`` centres, and go back to the size
        where it was best. ``"loo"`` takes fewer centres. ``"lambda"`` (the paper's): when λ
        settles; far too early for many classes, and only with ``ridge`` ``"cv"`` or ``"gcv"``.
    selection : {"gain", "residual"}, default="gain"
        The next centre: the largest gain among 64 candidates, or the sample with the largest
        residual (the paper's).
    penalty : {"kernel", "orthogonal"}, default="kernel"
        λ‖f‖², the norm of the kernel's own space, or λ‖U w‖² with the U of the selection (the
        paper's), which shrinks little where the kernel is smooth.
    ridge : {"cv", "loo", "gcv"} or float, default="cv"
        λ, by cross-validation, by leave-one-out, or by generalised cross-validation (the paper's).
        The closed forms do not know that the centres were chosen to suit these samples, and take
        it too small where samples are few. With more than 2,000, of which ``"cv"`` would try a
        part only, it is ``"loo"``. A number is taken as it is.
    basis : {"shared", "one-vs-rest"}, default="shared"
        One basis for all classes, which predicts faster, or one for each (the paper's).
    epsilon : float, default=0.0
        Added to the diagonal of K, where a centre meets itself.
    patience : int, default=20
    penalize_bias : bool, default=False
        Whether λ also acts on the bias, as in the paper.
    random_state : int, RandomState or None, default=0
        Of the candidates of ``selection="gain"`` and the samples of ``"cv"``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    basis_ : ndarray or CSR of shape (n_basis, n_features)
        The centres.
    n_basis_ : int
    basis_ids_ : ndarray
        Ids of the centres, in the order of `basis_`; a sample that is a centre for several classes
        (``"one-vs-rest"``) stands there several times.
    dual_coef_ : ndarray of shape (n_basis,) or (n_basis, n_classes)
    intercept_ : float or ndarray of shape (n_classes,)
    gamma_ : float, array or list
    ridge_ : float, or ndarray of one for each basis
    gcv_path_, path_, stop_reason_
        Of the selection, whose penalty is the orthogonal one.
    ids_, X_fit_, y_fit_ : ndarray
        What the model holds now, in order of arrival.
    refactorizations_ : list

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
        kernel="rbf",
        *,
        gamma="cv",
        degree=3,
        coef0=1.0,
        kernel_params=None,
        max_basis=500,
        tol=1e-3,
        stopping="gcv",
        selection="gain",
        penalty="kernel",
        ridge="cv",
        basis="shared",
        epsilon=0.0,
        patience=20,
        penalize_bias=False,
        random_state=0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
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
        self.random_state = random_state

    # -- learning -------------------------------------------------------------------------------

    def _build(self, X, y, weight):
        self.classes_ = self._classes_of(y)
        self._choose(X, y, weight)

    def _enter(self, X, y, weight):
        self.classes_ = self._classes_of(np.append(self.classes_, y))
        fresh = self._classes_with_own_basis(y)
        kept = np.setdiff1d(self.classes_, fresh)
        self._append(self._bases_for(kept), X, y, weight)
        if len(fresh):
            self._select_for(fresh, X, y, weight)

    def _leave(self, positions):
        self.classes_ = self._classes_without(positions)
        self._remove(self._bases_for(self.classes_), positions)

    def _groups(self, y):
        """Two classes share a basis in any case: their targets differ in sign only."""
        apart = self.basis == "one-vs-rest" and len(self.classes_) > 2
        return list(self.classes_[:, None]) if apart else [self.classes_]

    @staticmethod
    def _targets(y, outputs):
        return np.where(y.reshape(-1, 1) == outputs, 1.0, -1.0)

    def _bases_for(self, classes):
        """The bases with an output for each of these classes and for no other.

        A class that has none enters the first basis: no sample so far was of it.
        """
        known = [basis.outputs[np.isin(basis.outputs, classes)] for basis in self._bases]
        new = np.setdiff1d(classes, np.concatenate(known))
        outputs = [np.concatenate([known[0], new]), *known[1:]]
        pairs = zip(self._bases, outputs, strict=True)
        return [basis.with_outputs(labels, -1.0) for basis, labels in pairs if len(labels)]

    def _classes_with_own_basis(self, y):
        """Classes without samples so far that get a basis of their own now."""
        if self.basis == "shared" or not self._holds_all():
            return self.classes_[:0]
        return np.setdiff1d(y, self._y)

    def _select_for(self, classes, X, y, weight):
        """A basis for each of these classes, on the samples held and the new ones."""
        X, y = self._stacked(X), np.concatenate([self._y, y])
        weight, kernels = np.concatenate([self._weight, weight]), self._bases[0].kernels
        ridge = self._tune_ridge(self.gamma_, X, y, weight)
        new = [
            self._select_basis(kernels, X, y, weight, classes[[k]], ridge)
            for k in range(len(classes))
        ]
        self._bases = (*self._bases, *new)

    # -- Dask arrays ----------------------------------------------------------------------------

    def decision_function(self, X):
        """Decision values, shape (n_samples,) for two classes, else (n_samples, n_classes)."""
        if is_chunked(X):
            return self._lazily("decision_function", X, self._width(), self._rows.dtype)
        return super().decision_function(X)

    def predict(self, X):
        """The class of each sample."""
        if is_chunked(X):
            check_is_fitted(self)
            return self._lazily("predict", X, None, self.classes_.dtype)
        return super().predict(X)

    def predict_proba(self, X):
        """Class probabilities, calibrated on leave-one-out decision values.

        Of a model fitted to Dask arrays, on those of the rows that its centres were chosen on.
        """
        if is_chunked(X):
            check_is_fitted(self)
            self._calibration()
            return self._lazily("predict_proba", X, len(self.classes_), float)
        return super().predict_proba(X)

    def _expect_first(self, chunks):
        self._declare(chunks)
        self.classes_ = self._classes_of(self._declared)

    def _expect_more(self, chunks):
        self._declare(chunks)
        self.classes_ = self._classes_of(self.classes_)
        return self._bases_for(self.classes_)

    def _declare(self, chunks):
        """Keep the classes of rows that are not held."""
        labels = self._check_targets(chunks.labels())
        self._declared = np.unique([*self._declared_classes(), *labels])

    def _calibrate_on(self, X, y, weight):
        positions = np.full(len(y), NOT_HELD)
        blocks = [
            basis.loo_outputs(X, self._targets(y, basis.outputs), weight, positions)
            for basis in self._bases
        ]
        labels = np.searchsorted(self.classes_, y)
        self._fit_calibration = fit_calibration(
            self._ordered(blocks), labels, len(self.classes_), weight, biases=False
        )

    def _calibration(self):
        if self._holds_all() or not hasattr(self, "_fit_calibration"):
            return super()._calibration()
        return self._fit_calibration

    def _get_state(self):
        calibration = getattr(self, "_fit_calibration", None)
        return {**super()._get_state(), "calibration": calibration and tuple(calibration)}

    def _set_state(self, state):
        super()._set_state(state)
        if state["calibration"]:
            self._fit_calibration = Calibration(*state["calibration"])

    def _reset(self):
        super()._reset()
        self.__dict__.pop("_fit_calibration", None)

    # -- inside ---------------------------------------------------------------------------------

    def _shown_outputs(self):
        """In the order of `classes_`; of two, the second."""
        order = np.argsort(self._joined("outputs"))
        return order[1:] if len(order) == 2 else order

    def _check_parameters(self):
        super()._check_parameters()
        if self.basis not in _BASES:
            raise ValueError(f"basis must be one of {_BASES}, got {self.basis!r}.")
