"""The sparse regressor by order-recursive orthogonal least squares (andelic2007)."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.live._regressor import LiveRegressor
from gramian.estimators.orthogonal._chunked import ChunkedOrthogonal
from gramian.estimators.orthogonal._chunks import is_chunked


class OrthogonalKernelRegressor(ChunkedOrthogonal, LiveRegressor):
    """Sparse kernel regressor that learns and forgets samples exactly, in memory O(n m).

    The machine of `OrthogonalKernelClassifier` with numbers for targets, one or several per sample
    on one basis.

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
        Largest number of centres; None: as many as samples.
    tol : float, default=1e-3
        Smallest relative improvement that counts.
    stopping : {"gcv", "loo", "bic", "lambda"}, default="gcv"
        Stop when the criterion has not improved for ``patience`` centres, and go back to the size
        where it was best. ``"loo"`` takes fewer centres. ``"lambda"`` (the paper's): when λ
        settles, with ``ridge`` ``"cv"`` or ``"gcv"``.
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
    epsilon : float, default=0.0
        Added to the diagonal of K, where a centre meets itself.
    patience : int, default=20
    penalize_bias : bool, default=False
        Whether λ also acts on the bias, as in the paper.
    random_state : int, RandomState or None, default=0
        Of the candidates of ``selection="gain"`` and the samples of ``"cv"``.

    Attributes
    ----------
    basis_ : ndarray or CSR of shape (n_basis, n_features)
        The centres.
    n_basis_ : int
    basis_ids_ : ndarray
        Ids of the centres.
    dual_coef_ : ndarray of shape (n_basis,) or (n_basis, n_targets)
    intercept_ : float or ndarray of shape (n_targets,)
    gamma_ : float, array or list
    ridge_ : float
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
        self.epsilon = epsilon
        self.patience = patience
        self.penalize_bias = penalize_bias
        self.random_state = random_state

    # -- learning -------------------------------------------------------------------------------

    def _enter(self, X, y, weight):
        self._check_alike(y)
        self._append(self._bases, X, y, weight)

    def _leave(self, positions):
        self._check_some_stay(len(positions), self.n_rows_)
        self._remove(self._bases, positions)

    def _groups(self, y):
        return [np.arange(y.reshape(len(y), -1).shape[1])]

    @staticmethod
    def _targets(y, outputs):
        return y.reshape(len(y), -1)[:, outputs].astype(float, copy=False)

    # -- Dask arrays ----------------------------------------------------------------------------

    def predict(self, X):
        """Predicted targets, of shape (n_samples,) or (n_samples, n_targets)."""
        if is_chunked(X):
            check_is_fitted(self)
            return self._lazily("predict", X, self._width(), self._rows.dtype)
        return super().predict(X)

    def _expect_first(self, chunks):
        """Targets are numbers, whatever they are."""

    def _expect_more(self, chunks):
        one = self._y.ndim == 1 and chunks.y.shape[1] == 1
        self._check_alike(chunks.y[:, 0] if one else chunks.y)
        return self._bases

    def _calibrate_on(self, X, y, weight):
        """There are no probabilities."""
